"""Models of at most 100 KB that ask for much: processor time and memory of each command.

Each run has a process of its own under a limit of processor time. The models come from
dev/fuzz/hostile; tests/fuzz/test_growth.py counts the work of small ones.

    python dev/benchmarks/growth.py [CASE ...] [--commands ...] [--seconds N] [--quick]
"""

import argparse
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import straightline as sl

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz" / "hostile"))

import calls
import chains
import nests
import rows
import wide

MOST_BYTES = 100_000
MOST_SECONDS, MOST_MB = 10.0, 500
CASES = {case.name: case for file in (chains, rows, calls, nests, wide) for case in file.CASES}


def _rewrite(passes: str | None = None, **options: Any) -> Callable[[Any], Any]:
    return lambda model: sl.transform(model, passes, verify=False, hints=False, **options)


def _prove(model: Any) -> str:
    after = sl.rewrite(model, verify=False)
    return str(sl.prove(model, after, search=False)).partition("\n")[0]


COMMANDS: dict[str, Callable[[Any], Any]] = {
    "rewrite": _rewrite(),
    "bits": _rewrite("simplify{exactness=bits}"),
    "values": _rewrite("simplify{exactness=values}"),
    "reals": _rewrite("simplify{exactness=reals}"),
    "accelerate": _rewrite("accelerate"),
    "onnxruntime": _rewrite(target="onnxruntime"),
    "tflite": _rewrite(target="tflite"),
    "to 9": lambda model: sl.convert_version(model, 9, verify=False),
    "to 21": lambda model: sl.convert_version(model, 21, verify=False),
    "prove": _prove,
    "inspect": sl.inspect,
}


def fitting(name: str, quick: bool) -> tuple[Any, int]:
    """The model of a case, with the largest size up to its own that fits into 100 KB."""
    size = CASES[name].quick if quick else CASES[name].size
    model = CASES[name].make(size)
    while model.ByteSize() > MOST_BYTES:
        size = size * 3 // 4
        model = CASES[name].make(size)
    return model, size


def measured(command: str, model: Any, seconds: int) -> tuple[float, float, str]:
    """Processor time, the most memory in MB, and how the command ended."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        try:
            answer = COMMANDS[command](model)
        except sl.Error as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(write, (answer if isinstance(answer, str) else "done").encode()[:200])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as said:
        text = said.read().decode(errors="replace") or "ended"
    _, _, usage = os.wait4(child, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cases", nargs="*", help="parts of their names")
    parser.add_argument("--commands", nargs="*", default=list(COMMANDS), choices=list(COMMANDS))
    parser.add_argument("--seconds", type=int, default=30, help="limit of one command")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    options = parser.parse_args()
    tiny, over = rows.loops(rows.running, False, 2), 0
    for command in options.commands:
        COMMANDS[command](tiny)  # what is loaded at first
    for name in CASES:
        if options.cases and not any(part in name for part in options.cases):
            continue
        model, size = fitting(name, options.quick)
        for command in options.commands:
            seconds, memory, told = measured(command, model, options.seconds)
            is_over = seconds > MOST_SECONDS or memory > MOST_MB
            over += is_over
            print(
                f"{name:>26} {size:>6} {command:>11} {seconds:>6.2f} s {memory:>5.0f} MB"
                f"{' over' if is_over else ''}  {told[:90]}",
                flush=True,
            )
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
