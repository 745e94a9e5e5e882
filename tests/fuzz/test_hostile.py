"""A share of `make hostile`: attacks of each kind from a few seeds, and that faults are seen."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "dev/fuzz/hostile"
SEEDS = 1
FAULTY = """
import json, signal, subprocess, sys, time
from pathlib import Path
sys.path.insert(0, {folder!r})
import forks
from attack import Attack

def commands():
    def endless(attack):
        while True:
            pass
    def lost(attack):
        Path("model.onnx").unlink()
        return 0
    def half(attack):
        Path("out.onnx").write_bytes(b"\\x3a\\xff\\xff")
        return 0
    def told(attack):
        print("secretsecret")
        raise KeyError("a fault")
    def left(attack):
        Path("x.tmp").write_bytes(b"")
        return 1
    def heavy(attack):
        whole = bytearray(400 << 20)
        print(len(whole))
        return 0
    def helped(attack):
        whole = "print(len(bytearray(400 << 20)))"
        return subprocess.run([sys.executable, "-c", whole]).returncode
    return endless, lost, half, told, left, heavy, helped

found, forks.PEAK_MB = {{}}, 300
for command in commands():
    files = Path({scratch!r}) / command.__name__
    files.mkdir()
    (files / "model.onnx").write_bytes(b"")
    forks._command = command
    seconds = 1 if command.__name__ == "endless" else 20
    outcome = forks.run(Attack("a", (), files / "out.onnx"), files, seconds)
    found[command.__name__] = outcome.faults
print(json.dumps(found))
"""


def run(*arguments):
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "support")},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="limits are set as Linux has them")
def test_nothing_hangs_is_lost_or_told_wrong():
    code, said = run(FOLDER / "seeded.py", "--seeds", SEEDS)
    assert code == 0, said
    assert f"{2 * SEEDS} runs of bombs" in said and f"{SEEDS} runs of faults" in said


@pytest.mark.skipif(sys.platform != "linux", reason="limits are set as Linux has them")
def test_faults_are_seen(tmp_path):
    code, said = run("-c", FAULTY.format(folder=str(FOLDER), scratch=str(tmp_path)))
    assert code == 0, said
    assert json.loads(said.splitlines()[-1]) == {
        "endless": ["hang"],
        "lost": ["file lost"],
        "half": ["half written"],
        "told": ["traceback", "secret told", "exit 70"],
        "left": ["no word", "left behind x.tmp"],
        "heavy": ["peak"],
        "helped": ["peak"],
    }
