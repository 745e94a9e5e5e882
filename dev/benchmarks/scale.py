"""Each class of large models at two sizes: twice the size takes at most 2.3 times the time.

Times are processor time, each the least of some runs, of which each has a process of its own. The
memory is the most that twice the size ever took, with the model that was given. Models are made by
the generators in dev/fuzz/hostile.

    python dev/benchmarks/scale.py [CASE ...] [--commands rewrite inspect accelerate report convert]
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import straightline as sl

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz" / "hostile"))

import calls
import nests
import wide

MOST = 2.3
RUNS = 3
SIZES: dict[str, tuple[Callable[[int], Any], int]] = {
    "chained calls": (calls.chain, 20_000),
    "chained calls of constants": (calls.constant_chain, 5_000),
    "chained calls in a Loop": (calls.looped_chain, 5_000),
    "doubled calls": (calls.branching, 80),  # deeper than inference looks into calls at both sizes
    "captures": (wide.captures, 5_000),
    "carried values": (wide.carried, 1_000),
    "carried values, unrolled": (wide.carried_thrice, 1_000),
    "readers of a value": (wide.readers, 50_000),
    "nodes in a row": (wide.row, 50_000),
    "initializers": (wide.initializers, 50_000),
    "branches": (wide.branches, 500),
}
REFUSED = {"Ifs, 300 deep": (nests.in_branches, 300), "Ifs, 2,000 deep": (nests.in_branches, 2_000)}
"""What is refused by a clear error, and at once: no file holds graphs nested over 30 deep."""
COMMANDS: dict[str, Callable[[Any], Any]] = {
    "rewrite": sl.rewrite,
    "inspect": sl.inspect,
    "accelerate": lambda model: sl.rewrite(model, "accelerate", verify=False),
    "report": lambda model: sl.report.page(
        sl.report.of_outcome(sl.transform(model, verify=False, hints=False))
    ),
    "convert": lambda model: sl.convert_version(model, 18),
    "prove": lambda model: sl.prove(model, model, search=False),
}


def once(name: str, size: int, command: str) -> tuple[float, float, str]:
    """Processor time, the most memory in MB, and the error if there was one."""
    make = {**SIZES, **REFUSED}[name][0]
    model, told = make(size), ""
    COMMANDS[command](make(20))  # what is loaded at first
    started = time.process_time()
    try:
        COMMANDS[command](model)
    except sl.Error as error:
        told = str(error)
    spent = time.process_time() - started
    return spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, told


def measured(name: str, size: int, command: str) -> tuple[float, float, str]:
    """The least of some runs, each in a process of its own."""
    own = [sys.executable, __file__, "--once", name, str(size), command]
    runs = [json.loads(subprocess.check_output(own)) for _ in range(RUNS)]
    best: tuple[float, float, str] = tuple(min(runs))
    return best


def main() -> int:
    if sys.argv[1:2] == ["--once"]:
        name, size, command = sys.argv[2:]
        print(json.dumps(once(name, int(size), command)))
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cases", nargs="*", help="parts of their names")
    parser.add_argument("--commands", nargs="*", default=list(COMMANDS), choices=list(COMMANDS))
    options = parser.parse_args()
    over = 0
    columns = ("size", "command", "once", "twice", "ratio", "memory")
    print(f"{'case':>26} " + " ".join(f"{column:>8}" for column in columns))
    for name, (_, size) in {**SIZES, **REFUSED}.items():
        if options.cases and not any(part in name for part in options.cases):
            continue
        for command in options.commands:
            over += _is_over(name, size, command)
    return 1 if over else 0


def _is_over(name: str, size: int, command: str) -> bool:
    """Measure one row and print it; whether it takes too long."""
    short, memory, told = measured(name, size, command)
    if name in REFUSED:
        print(f"{name:>26} {size:>8} {command:>8} {short:>6.2f} s  {told or 'done'}", flush=True)
        return not told
    long, memory, told = measured(name, 2 * size, command)
    over = long > MOST * short or bool(told)
    print(
        f"{name:>26} {size:>8} {command:>8} {short:>6.2f} s {long:>6.2f} s {long / short:>8.2f}"
        f" {memory:>5.0f} MB{' over' if over else ''}{told and ': ' + told}",
        flush=True,
    )
    return over


if __name__ == "__main__":
    sys.exit(main())
