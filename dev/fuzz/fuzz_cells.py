"""Drawn cells fed with infinities, NaN and extremes: a number of the loop stays a number.

    PYTHONPATH=tests/support python dev/fuzz/fuzz_cells.py --cells 200 --seed 0

Each cell is raised by several pipelines and compared in the reference and in onnxruntime. A NaN may
become a number, which onnxruntime's kernels make of it; the opposite is a failure.
"""

import argparse
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import straightline as sl
from cells import Spelling
from harness import run_in_onnxruntime
from straightline import reference

PIPELINES = ("raise-recurrences", "accelerate", "straighten{exact=false}", "vectorize-loops")
SPECIAL = (np.inf, -np.inf, np.nan, 300.0, -0.0, 1e-45)
SIZES = ((3, 2), (5, 1), (1, 2), (4, 3))


def faults(before: list[Any], after: list[Any]) -> Iterator[str]:
    """In what two runs differ, but for a NaN that became a number."""
    for one, other in zip(before, after, strict=True):
        number = ~np.isnan(one)
        if one.shape != other.shape:
            yield f"the shape is {other.shape}, not {one.shape}"
        elif np.isnan(other[number]).any():
            yield "a number became NaN"
        elif not np.allclose(other[number], one[number], rtol=1e-3, atol=1e-3):
            yield "another number"


def check(seed: int) -> Iterator[str]:
    """The faults of one cell."""
    cell, numbers = Spelling(seed), np.random.default_rng(seed)
    for pipeline in PIPELINES:
        after = sl.rewrite(cell.model, pipeline, verify=False)
        for iterations, rows in SIZES:
            feed = {name: np.array(array) for name, array in cell.feed(iterations, rows).items()}
            name = numbers.choice([n for n, a in feed.items() if a.dtype.kind == "f"])
            special = numbers.choice(SPECIAL)
            feed[name].reshape(-1)[numbers.integers(feed[name].size)] = special
            for run in (reference.run, run_in_onnxruntime):
                with np.errstate(all="ignore"):
                    pair = run(cell.model, dict(feed)), run(after, dict(feed))
                for fault in faults(*pair):
                    yield f"{seed} {cell.op_type} {pipeline} {special} in {name}: {fault}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    found = 0
    for seed in range(arguments.seed, arguments.seed + arguments.cells):
        for fault in check(seed):
            print(fault, flush=True)
            found += 1
    print(f"{arguments.cells} cells, {found} faults")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
