"""What the README tells a newcomer to run works."""

import subprocess
import sys
from pathlib import Path

import onnx

ROOT = Path(__file__).resolve().parent.parent


def run(example, *arguments):
    command = [sys.executable, str(ROOT / "examples" / example), *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)


def test_a_demo_that_has_no_place(tmp_path):
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "folder"):
        done = run("demo.py", place)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"error: the models cannot be kept in '{place}': ")
        assert done.stderr.count("\n") == 1


def test_the_models_of_the_documentation(tmp_path):
    done = run("models.py", tmp_path / "a" / "b")
    assert done.returncode == 0, done.stderr
    for file in (tmp_path / "a" / "b").glob("*.onnx"):
        onnx.checker.check_model(onnx.load(file), full_check=True)


def test_the_demo(tmp_path):
    tmp_path = tmp_path / "a" / "new"
    done = run("demo.py", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "none of them control flow" in done.stdout and "proved: equal for every" in done.stdout
    after = onnx.load(tmp_path / "after.onnx")
    assert not {"Loop", "Scan", "If"} & {node.op_type for node in after.graph.node}
