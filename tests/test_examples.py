"""What the README tells a newcomer to run works."""

import subprocess
import sys
from pathlib import Path

import onnx

ROOT = Path(__file__).resolve().parent.parent


def test_the_demo(tmp_path):
    command = [sys.executable, str(ROOT / "examples" / "demo.py"), str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "none of them control flow" in done.stdout and "proved: equal for every" in done.stdout
    after = onnx.load(tmp_path / "after.onnx")
    assert not {"Loop", "Scan", "If"} & {node.op_type for node in after.graph.node}
