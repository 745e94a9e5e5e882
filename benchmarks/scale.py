"""Each class of large models at two sizes: twice the size takes at most 2.3 times the time.

Times are processor time, each the least of some runs, in one process; models are made by the
generators in tests/support/hostile.

    python benchmarks/scale.py [CASE ...] [--commands rewrite inspect convert]
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import straightline as sl

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support" / "hostile"))

import calls
import wide

MOST = 2.3
RUNS = 2
SIZES: dict[str, tuple[Callable[[int], Any], int]] = {
    "chained calls": (calls.chain, 5_000),
    "doubled calls": (calls.branching, 40),
    "captures": (wide.captures, 5_000),
    "carried values": (wide.carried, 1_000),
    "carried values, unrolled": (wide.carried_thrice, 1_000),
    "readers of a value": (wide.readers, 50_000),
    "nodes in a row": (wide.row, 50_000),
    "initializers": (wide.initializers, 50_000),
    "branches": (wide.branches, 500),
}
COMMANDS: dict[str, Callable[[Any], Any]] = {
    "rewrite": sl.rewrite,
    "inspect": sl.inspect,
    "convert": lambda model: sl.convert_version(model, 18),
    "prove": lambda model: sl.prove(model, model, search=False),
}


def seconds(work: Callable[[Any], Any], model: Any) -> float:
    """The least processor time of some runs."""
    best = float("inf")
    for _ in range(RUNS):
        gc.collect()
        started = time.process_time()
        work(model)
        best = min(best, time.process_time() - started)
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cases", nargs="*", help="parts of their names")
    parser.add_argument("--commands", nargs="*", default=list(COMMANDS), choices=list(COMMANDS))
    options = parser.parse_args()
    over = 0
    print(f"{'case':>26} {'size':>8} {'command':>8} {'once':>8} {'twice':>8} {'ratio':>6}")
    for name, (make, size) in SIZES.items():
        if options.cases and not any(part in name for part in options.cases):
            continue
        once, twice = make(size), make(2 * size)
        for command in options.commands:
            COMMANDS[command](make(20))  # what is loaded at first
            short, long = (seconds(COMMANDS[command], model) for model in (once, twice))
            over += long > MOST * short
            mark = " over" if long > MOST * short else ""
            print(
                f"{name:>26} {size:>8} {command:>8} {short:>6.2f} s {long:>6.2f} s"
                f" {long / short:>6.2f}{mark}",
                flush=True,
            )
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
