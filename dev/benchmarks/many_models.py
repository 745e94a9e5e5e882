"""Many small models in one run, and in a run each: what it saves that workers are used again.

    python dev/benchmarks/many_models.py [--models N] [--singles N]
    python dev/benchmarks/many_models.py --bulk 1000 10000

Each model has a Loop of its own length, is rewritten, proved and written. Single runs are processes
of their own, one after the other. `--bulk` measures the growth of a run and of a resume instead:
seconds and processor seconds for each model, memory of the parent process, files.
"""

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
    iterations = Constant <value_int = {iterations}> ()
    y = Loop (iterations, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {{
        d = Identity (c) f = Exp (a) e = Tanh (f)
    }}>
}}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument("--singles", type=int, default=0, help="run so many; all if 0")
    parser.add_argument("--bulk", type=int, nargs="+", default=[], metavar="N")
    options = parser.parse_args()
    for count in options.bulk:
        bulk(count)
    if options.bulk:
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_models(options.models)
        files = sorted(Path("models").rglob("*.onnx"))[: options.singles or None]
        share = options.models / len(files)
        single = sum(seconds(["rewrite", str(f), f"alone-{f.name}"]) for f in files) * share
        print(f"{options.models} single runs: {single:.1f} s")
        together = seconds(["rewrite", "models", "-o", "out", "--jobs", "2"])
        print(f"one run, two workers: {together:.1f} s, {together / single:.3f} of that")
        again = seconds(["rewrite", "models", "-o", "out", "--jobs", "2", "--resume"])
        print(f"--resume with nothing to do: {again:.1f} s, {again / single:.3f}")


def write_models(count: int) -> None:
    """Write small models, a hundred to a folder."""
    texts = [onnx.parser.parse_model(MODEL.format(iterations=2 + n)) for n in range(5)]
    for number in range(count):
        file = Path(f"models/{number // 100:03}/m{number:05}.onnx")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(texts[number % 5].SerializeToString())


def bulk(count: int) -> None:
    """Print the figures of a run of many models, of a resume, and of a table of differences."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_models(count)
        command = ["rewrite", "models", "-o", "out", "--jobs", "2", "--summary"]
        for arguments in (
            [*command, "first.html"],
            [*command, "again.html", "--resume"],
            ["diff", "out", "out"],
        ):
            started, before = time.perf_counter(), os.times()
            program = [sys.executable, "-c", MEASURED, *arguments]
            done = subprocess.run(program, check=True, capture_output=True, text=True)
            took, after = time.perf_counter() - started, os.times()
            work = after.children_user + after.children_system
            work -= before.children_user + before.children_system
            print(
                f"{count} models, {' '.join(arguments[-2:])}: {took:.1f} s, {work:.1f} s of"
                f" processors, {work / count * 1000:.2f} ms each; the parent took"
                f" {done.stderr.split()[-1]} MB",
                flush=True,
            )
        files = [path for path in Path("out").rglob("*") if path.is_file()]
        own = [path for path in files if path.is_relative_to("out/.straightline")]
        state = Path("out/.straightline/state.jsonl").stat().st_size
        page = Path("first.html").stat().st_size
        print(
            f"{count} models: {len(files) - len(own)} results, {len(own)} files of the state with"
            f" {state / count:.0f} bytes each model, a page with {page / count:.0f}"
        )
        os.chdir("/")


MEASURED = """
import atexit, resource, sys
def tell():
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10, file=sys.stderr)
atexit.register(tell)
sys.argv[0] = "straightline"
from straightline.__main__ import main
main()
"""


def seconds(arguments: Sequence[str]) -> float:
    """How long a command takes, from its start to its end."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "straightline", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
