"""Random models at the edges through each way to rewrite them: outputs, proofs, second runs.

    PYTHONPATH=tests/support python dev/fuzz/fuzz_rewrites.py --draws loops --models 1000 --seed 0

Each model goes through the default pipeline, accelerate, simplify in each notion of equality and
conversions, of which one goes to opset 8 or 9. The result is compared in onnxruntime and in the
reference; it is proved, and rewritten once more.
"""

import argparse
import functools
import random
import sys
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence

import edge_loops
import numpy as np
import onnx
import random_flat
import straightline as sl
from fuzz import in_processes
from rewrite_faults import WAYS, Feeds, Original, Run, Way, isolated
from straightline.verification.proof import prove


def edge_loop(number: int) -> tuple[onnx.ModelProto, list[Feeds]]:
    """A Loop or a Scan, with inputs of several lengths."""
    dice = random.Random(number)
    model = edge_loops.edge_loop(dice)
    return model, [edge_loops.feeds(model, dice, *edge) for edge in edge_loops.EDGES]


def flat_model(number: int) -> tuple[onnx.ModelProto, list[Feeds]]:
    """A flat model, with inputs of its own sizes and of others."""
    flat = random_flat.Flat(number)
    return flat.model, [*flat.feeds()]


HELD_BACK = "verification refuses the result"
UNDONE = "verification undoes it"
DRAWS = {"loops": edge_loop, "flat": flat_model}


def check(draws: str, ways: Sequence[str], number: int, run: Run = isolated) -> list[str]:
    """The faults of the model of a number."""
    warnings.simplefilter("ignore", RuntimeWarning)
    np.seterr(all="ignore")
    original, seen = Original(*DRAWS[draws](number), run), set[tuple[bytes, str]]()
    # Constants of opset 8 are floats, which functions cast: no rank is inferred of an output that
    # an integer of them decides, and without the types of arguments none can be declared there.
    other = "opset 8" if number % 2 or original.model.functions else "opset 9"
    names = [name for name in ways if name != other]
    return [f"{name}: {fault}" for name in names for fault in faults(original, WAYS[name], seen)]


def faults(original: Original, way: Way, seen: set[tuple[bytes, str]]) -> Iterator[str]:
    """The faults of one way to rewrite a model: of its outputs, its proof and a second run.

    Args:
        original: the model.
        way: the way.
        seen: rewrites that were compared, and by which notion of equality; this one is added.
    """
    try:
        rewrite = way.rewrite(original.model)
        key = rewrite.SerializeToString(), way.equality
        if key not in seen:
            seen.add(key)
            if found := list(original.faults_of(rewrite, way)):
                yield from [*_returned(original, way)] or [f"{found[0]}: {UNDONE}"]
            proof = prove(original.model, rewrite, equality=way.equality)
            if proof.status == "refuted":
                yield f"refuted: {proof}"
        if way.rewrite(rewrite).SerializeToString() != key[0]:
            yield "a second run changes the result"
    except sl.Error as error:
        if not way.converts:
            yield f"refused: {error}"
    except Exception:  # noqa: BLE001 - any other one is a fault
        yield traceback.format_exc()


def _returned(original: Original, way: Way) -> Iterator[str]:
    """The faults of a rewrite with verification, which may undo what it refutes."""
    try:
        yield from original.faults_of(way.rewrite(original.model, verify=True), way)
    except sl.MismatchError:
        yield HELD_BACK


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", choices=DRAWS, default="loops")
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=[*WAYS])
    arguments = parser.parse_args()
    begin, wrong, held = time.perf_counter(), 0, 0
    work = functools.partial(check, arguments.draws, arguments.ways)
    for number, found in in_processes(work, arguments.models, arguments.seed):
        for fault in ["the process ended"] if found is None else found:
            print(f"{number}: {fault}", flush=True)
        is_held = bool(found) and all(fault.endswith((HELD_BACK, UNDONE)) for fault in found or ())
        wrong, held = wrong + (found != [] and not is_held), held + is_held
    seconds = time.perf_counter() - begin
    counts = f"{wrong} with a fault, {held} that only verification notices"
    print(f"{arguments.models} {arguments.draws} in {seconds:.0f} s, {counts}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
