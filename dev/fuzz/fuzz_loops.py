"""Random loops through accelerate and the default: outputs stay, and a second run changes nothing.

    PYTHONPATH=tests/support python dev/fuzz/fuzz_loops.py --loops 20000 --seed 0

Two of three loops are drawn as people write them, the others mix recurrences with what is none.
Each is rewritten for a goal and by the default pipeline, one of five a second time, and compared
in onnxruntime on ten inputs, within a tolerance, since sums are made in other orders. Inputs for
which numbers grow without bound are left out: partial sums and products may overflow earlier.
Integers, such as the index of an extreme, count where all inputs are whole numbers.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import loop_forms
import numpy as np
import onnx
import random_loops
import straightline as sl
from fuzz import in_processes
from sessions import open_session

TOLERANCE = 2e-3
LARGEST = 1e9
"""A larger output is on its way to infinity."""
LENGTHS = (0, 1, 2, 3, 5, 6, 9, 17, 33, 64)
INPUTS = [(n, "normal" if k % 2 else "integers") for k, n in enumerate(LENGTHS)]
GOALS = ("run", "run", "run", "load")
AGAIN = 5
"""One loop of so many is rewritten a second time."""
Feeds = Mapping[str, np.ndarray]


def draw(number: int) -> tuple[onnx.ModelProto, list[dict[str, np.ndarray]]]:
    """A loop and its inputs."""
    dice = random.Random(number)
    if number % 3:
        model = loop_forms.loop_of_forms(dice)
        return model, [loop_forms.feeds(model, dice, *which) for which in INPUTS]
    model = random_loops.random_loop(dice)
    is_loop = model.graph.node[0].op_type == "Loop"  # onnxruntime refuses Scans of no length
    lengths = [n for n in LENGTHS if n or is_loop]
    names = {value.name for value in model.graph.input}
    drawn = [random_loops.feeds(n, bool(dice.randrange(2))) for n in lengths]
    return model, [{k: v for k, v in feeds.items() if k in names} for feeds in drawn]


def unstable(result: onnx.ModelProto, options: dict[str, Any]) -> bool:
    """Test for a result that a second run changes."""
    again = sl.rewrite(result, verify=False, **options)
    return bool(again.SerializeToString() != result.SerializeToString())


def differences(
    model: onnx.ModelProto, result: onnx.ModelProto, inputs: list[Any]
) -> Iterator[str]:
    """Outputs of a loop that differ from those of its rewrite."""
    sessions = open_session(model), open_session(result)
    for feeds in inputs:
        whole = all((array == np.round(array)).all() for array in feeds.values())
        before, after = (session.run(None, feeds) for session in sessions)
        if any((np.abs(array) > LARGEST).any() for array in before if array.dtype.kind == "f"):
            continue
        for value, one, other in zip(model.graph.output, before, after, strict=True):
            if one.shape != other.shape:
                yield f"{value.name} has the shape {other.shape}, not {one.shape}"
            elif one.dtype.kind == "i" and not whole:
                continue
            elif not np.allclose(other, one, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
                largest = np.nanmax(np.abs(np.asarray(other - one, np.float64)))
                yield f"{value.name} differs by {largest:.3g} of {np.nanmax(np.abs(one)):.3g}"


def check(number: int) -> list[str]:
    """The faults of the loop of one number."""
    model, inputs = draw(number)
    goal = {"passes": "accelerate", "optimize_for": GOALS[number % len(GOALS)]}
    faults = []
    for name, options in (("accelerate", goal), ("default", {})):
        result = sl.rewrite(model, verify=False, **options)
        faults += [f"{name}: {fault}" for fault in sorted(set(differences(model, result, inputs)))]
        if number % AGAIN == 0 and unstable(result, options):
            faults.append(f"{name}: a second run changes the result")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loops", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    begin, wrong = time.perf_counter(), 0
    for number, faults in in_processes(check, arguments.loops, arguments.seed):
        for fault in ["the process ended"] if faults is None else faults:
            print(f"{number}: {fault}", flush=True)
        wrong += faults != []
        done = number + 1 - arguments.seed
        if done % 500 == 0:
            print(f"{done} loops so far, {wrong} with a fault", flush=True)
    seconds = time.perf_counter() - begin
    print(f"{arguments.loops} loops in {seconds:.0f} s, {wrong} with a fault")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
