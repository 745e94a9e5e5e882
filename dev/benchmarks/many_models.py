"""Many small models in one run, and in a run each: what it saves that workers are used again.

    python dev/benchmarks/many_models.py [--models N] [--singles N]

Each model has a Loop of its own length, is rewritten, proved and written. Single runs are processes
of their own, one after the other.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import onnx

MODEL = """<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) {{
    trips = Constant <value_int = {trips}> ()
    y = Loop (trips, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {{
        d = Identity (c) f = Exp (a) e = Tanh (f)
    }}>
}}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument("--singles", type=int, default=0, help="run so many; all if 0")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("models").mkdir()
        for number in range(options.models):
            model = onnx.parser.parse_model(MODEL.format(trips=2 + number % 5))
            onnx.save(model, f"models/m{number:03}.onnx")
        files = sorted(Path("models").iterdir())[: options.singles or None]
        share = options.models / len(files)
        single = sum(seconds(["rewrite", str(f), f"alone-{f.name}"]) for f in files) * share
        print(f"{options.models} single runs: {single:.1f} s")
        together = seconds(["rewrite", "models", "-o", "out", "--jobs", "2"])
        print(f"one run, two workers: {together:.1f} s, {together / single:.3f} of that")
        again = seconds(["rewrite", "models", "-o", "out", "--jobs", "2", "--resume"])
        print(f"--resume with nothing to do: {again:.1f} s, {again / single:.3f}")


def seconds(arguments: Sequence[str]) -> float:
    """How long a command takes, from its start to its end."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "straightline", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
