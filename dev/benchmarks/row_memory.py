"""Where computing all iterations at once stops to pay: how large the values of one may be.

    python dev/benchmarks/row_memory.py [--quick]

Loops over the rows of x, each of which computes values of some KB, run as they are and with all
iterations computed at once. Values of one iteration stay in the processor's cache; those of all
do not, once there are many. Each cell is the loop's time by that of all at once: below 1
the loop is faster. The limit is `row_bytes` in `limits/table.py`.
"""

import argparse
import dataclasses
import datetime
import functools
import platform
import time
from collections.abc import Callable

import numpy as np
import onnx.parser
import onnxruntime
from straightline.dev.benchmarks.loops.case import Arrays
from straightline.dev.benchmarks.session import open_session
from straightline.passes import parse_pipeline

SIZES = (4, 16, 64, 128, 256, 512, 1024, 4096)
"""KB of the largest value of one iteration."""
ITERATIONS = (8, 64, 256)
MOST = 1 << 30
"""Bytes that all iterations of one value may take here."""
HEADER = '<ir_version: 8, opset_import: ["" : 18]>\n'
AT_ONCE = f"vectorize-loops{{max_bytes={MOST},row_bytes={MOST}}},eliminate-dead-nodes"

BODIES = {
    "one operator": "t = Mul (w, f) r = ReduceMax <keepdims = 0> (t)",
    "elementwise": "a = Mul (w, f) b = Abs (a) c = Add (b, w) r = ReduceMax <keepdims = 0> (c)",
    "costly": "a = Mul (w, f) b = Tanh (a) c = Exp (b) r = ReduceMax <keepdims = 0> (c)",
}

TEXT = """g (float[N, 4] x, float[{width}] w, int64 n) => (float[Q] y)
   <bool yes = {{1}}, int64 zero = {{0}}> {{
   y = Loop (n, yes) <body = b (int64 i, bool ci) => (bool co, float r) {{
      co = Identity (ci) e = Gather (x, i) f = Gather (e, zero) {body} }}>
}}"""


@dataclasses.dataclass(frozen=True)
class Row:
    """One body with values of one size: the loop's time by that of all at once, for each count of
    iterations."""

    kind: str
    threads: int
    kilobytes: int
    ratios: tuple[float | None, ...]


def fastest(call: Callable[[], object], seconds: float) -> float:
    """The shortest wall time of a call, which others on the machine disturb least."""
    call()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)


def measured(kind: str, threads: int, kilobytes: int, seconds: float) -> Row:
    """Measure one body for each count of iterations."""
    width = kilobytes * 256
    loop = onnx.parser.parse_model(HEADER + TEXT.format(width=width, body=BODIES[kind]))
    flat = parse_pipeline(AT_ONCE).run(loop).model
    assert not any(node.op_type == "Loop" for node in flat.graph.node)
    one, other = (open_session(model, threads=threads) for model in (loop, flat))
    generator, ratios = np.random.default_rng(0), []
    for iterations in ITERATIONS:
        if iterations * kilobytes << 10 > MOST // 4:
            ratios.append(None)
            continue
        feeds: Arrays = {
            "x": generator.standard_normal((iterations, 4)).astype(np.float32),
            "w": generator.standard_normal(width).astype(np.float32),
            "n": np.array(iterations),
        }
        loops, at_once = (
            fastest(functools.partial(s.run, None, feeds), seconds) for s in (one, other)
        )
        ratios.append(loops / at_once)
    return Row(kind, threads, kilobytes, tuple(ratios))


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="measure for less time")
    seconds = 0.1 if parser.parse_args().quick else 0.5
    print(f"{datetime.date.today()}, onnxruntime {onnxruntime.__version__}, {platform.machine()}")
    for kind in BODIES:
        for threads in (1, 2):
            print(f"\n{kind}, threads: {threads}")
            print(
                "KB a row | " + " | ".join(f"{iterations} iterations" for iterations in ITERATIONS)
            )
            for kilobytes in SIZES:
                row = measured(kind, threads, kilobytes, seconds)
                cells = ["-" if r is None else f"{r:.2f}" for r in row.ratios]
                print(f"{kilobytes} | " + " | ".join(cells), flush=True)


if __name__ == "__main__":
    main()
