"""Mutants of rewritten models: what a run tells apart, or what fails, is never proved to be equal.

    PYTHONPATH=tests/support python dev/fuzz/proof_mutants.py --models 500 --seed 0

Each model is rewritten, and the rewritten model changed in one place or two. The reference runs the
original and the mutant; where they differ in a type, a shape or a bit, or the mutant alone fails,
`prove` must not say that they are equal. Model N of a seed always gives the same mutants.
"""

import argparse
import dataclasses
import multiprocessing
import queue
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import loop_forms
import numpy as np
import onnx
import random_loops
from backend import CASES, array
from dice import Dice
from fuzz import DRAWS
from straightline import Error, convert_version, reference
from straightline.analysis.constants.evaluation import IterationBudget, counted_loop
from straightline.facts.notions import NOTIONS, Equality
from straightline.passes import straighten
from straightline.verification.proof import prove
from wrong_rewrites import MUTATIONS, Place

Feeds = dict[str, Any]
MUTANTS = 24
"""Number of mutants of each model."""

SECONDS = 300
"""The mutants of one number take less, on a busy machine too."""

ITERATIONS = 300
"""A loop that a mutation made longer than that fails."""


@dataclasses.dataclass
class Origin:
    """A model, what it is rewritten to, and inputs."""

    name: str
    model: onnx.ModelProto
    rewritten: onnx.ModelProto
    feeds: list[Feeds]


def origins(seed: int, models: int, every: bool = False) -> Iterator[Origin]:
    """Models in turn from all sources.

    Args:
        seed: the first of their numbers.
        models: how many numbers.
        every: whether all are converted to other opsets, not only those that hold a Scan 8.
    """
    backend = [case for case in CASES if case.data_sets and case.model is not None]
    for number in range(seed, seed + models):
        for draws, strategy in DRAWS.items():
            model, feeds = Dice(number)(strategy)
            yield _origin(f"{draws}-{number}", model, [feeds])
            if every or draws == "scan-8":
                yield from _converted(f"{draws}-{number}-converted", model, [feeds])
        model = random_loops.random_loop(random.Random(number))
        feeds_of_loop = [random_loops.feeds(length, length != 2) for length in (0, 1, 2, 4)]
        yield _origin(f"loop-{number}", model, feeds_of_loop)
        dice = random.Random(number)
        model = loop_forms.loop_of_forms(dice)
        drawn = [loop_forms.feeds(model, dice, length, "integers") for length in (0, 1, 2, 4)]
        yield _origin(f"form-{number}", model, drawn)
        if number < len(backend):
            case = backend[number]
            names = [info.name for info in case.model.graph.input]
            given = [dict(zip(names, map(array, ins), strict=False)) for ins, _ in case.data_sets]
            yield _origin(case.name, case.model, given)


def _origin(name: str, model: onnx.ModelProto, feeds: list[Feeds]) -> Origin:
    return Origin(name, model, straighten(max_nodes=20_000).run(model).model, feeds)


def _converted(name: str, model: onnx.ModelProto, feeds: list[Feeds]) -> Iterator[Origin]:
    """A model in the form of another opset, where that can be had."""
    for opset in (9, 13) if model.opset_import[0].version < 9 else (11, 21):
        try:
            yield Origin(f"{name}-{opset}", model, convert_version(model, opset), feeds)
        except Error:
            continue


def mutated(origin: Origin, number: int) -> tuple[onnx.ModelProto, str]:
    """Mutant `number` of a rewritten model, and what was done to it."""
    dice = random.Random(f"{origin.name}:{number}")
    model = onnx.ModelProto()
    model.CopyFrom(origin.rewritten)
    done: list[str] = []
    wanted = 1 if dice.random() < 0.8 else 2
    for _ in range(20):
        mutation = dice.choice(MUTATIONS)
        if mutation(Place(model, dice)) is not False:
            done.append(mutation.__name__)
        if len(done) >= wanted:
            break
    return model, " and ".join(done)


def bits(value: Any) -> Any:
    """A value down to its type, its shape and its bits; any NaN is a NaN."""
    if isinstance(value, list | tuple):
        return [bits(element) for element in value]
    if value is None:
        return None
    content = np.asarray(value)
    if content.dtype.kind in "OUS":
        return "str", content.shape, [str(element) for element in content.reshape(-1)]
    if content.dtype.kind == "f":
        content = np.where(np.isnan(content), np.array(np.nan, content.dtype), content)
    return str(content.dtype), content.shape, content.tobytes()


def ran(model: onnx.ModelProto, feeds: Sequence[Feeds]) -> list[Any] | None:
    """Outputs of a model for each input; None where it fails."""
    try:
        return [
            bits(
                reference.run(
                    model, dict(feed), operators=[counted_loop(IterationBudget(ITERATIONS))]
                )
            )
            for feed in feeds
        ]
    except Error:
        return None


def is_valid(model: onnx.ModelProto) -> bool:
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception:  # noqa: BLE001 - whatever onnx raises says that it is not
        return False
    return True


def judged(
    origin: Origin, number: int, expected: Any, equality: Equality = "bits"
) -> tuple[str, str]:
    """Class of a mutant: "invalid", "alike", "fails" when it is run, or "told apart"; with
    " proved" if the prover answers so, which is asked of the last two."""
    model, done = mutated(origin, number)
    if not is_valid(model):
        return "invalid", done
    actual = ran(model, origin.feeds)
    return compared(origin.model, model, expected, actual, equality=equality), done


def compared(
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    expected: Any,
    actual: Any,
    rounded: bool = False,
    equality: Equality = "bits",
) -> str:
    """Class of a pair of models that were run.

    Args:
        before: the original.
        after: the mutant.
        expected: outputs of the original.
        actual: outputs of the mutant; None where it failed.
        rounded: whether last bits may differ, whatever a proof takes for granted.
        equality: what is to be proved.
    """
    if actual == expected:
        return "alike"
    kind = "fails" if actual is None else "told apart"
    proof = prove(before, after, equality=equality)
    if proof.proved and (proof.assumptions or rounded) and is_near(expected, actual):
        return "alike but for rounding"
    if proof.proved and proof.equality == "values" and is_near(expected, actual, rtol=0, atol=0):
        return "alike but for signs of zeros"
    return f"{kind} proved" if proof.proved else kind


def is_near(expected: Any, actual: Any, rtol: float = 1e-3, atol: float = 1e-5) -> bool:
    """Test whether outputs differ in last bits only, which a proof with assumptions permits."""
    if isinstance(expected, list) and isinstance(actual, list):
        pairs = zip(expected, actual, strict=False)
        return len(expected) == len(actual) and all(is_near(*pair, rtol, atol) for pair in pairs)
    if expected == actual:
        return True
    if (
        actual is None
        or expected is None
        or expected[:2] != actual[:2]
        or "float" not in expected[0]
    ):
        return False
    one, other = (np.frombuffer(each[2], each[0]) for each in (expected, actual))
    return bool(np.allclose(one, other, rtol, atol, equal_nan=True))


def counted(
    models: Iterator[Origin], mutants: int = MUTANTS, equality: Equality = "bits"
) -> tuple[Counter[str], list[str]]:
    """Number of mutants of each class, and the false proofs among them."""
    counts: Counter[str] = Counter()
    wrong = []
    for origin in models:
        expected = ran(origin.model, origin.feeds)
        if expected is None or not origin.rewritten.graph.node:
            counts["nothing to change"] += 1
            continue
        proof = prove(origin.model, origin.rewritten)
        counts["originals"] += 1
        counts["originals proved"] += proof.proved
        for number in range(mutants):
            kind, done = judged(origin, number, expected, equality)
            counts[kind] += 1
            if kind.endswith("proved"):
                wrong.append(f"{origin.name}:{number} {kind}: {done}")
    return counts, wrong


def apart(number: int, mutants: int, equality: Equality) -> tuple[Counter[str], list[str]]:
    """The same for the models of one number, in a process of its own: onnx's checker may crash."""
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=_put, args=(results, number, mutants, equality))
    child.start()
    try:
        return results.get(timeout=SECONDS)
    except queue.Empty:
        child.kill()
        return Counter(crashed=1), []
    finally:
        child.join()


def _put(results: Any, number: int, mutants: int, equality: Equality) -> None:
    results.put(counted(origins(number, 1, every=True), mutants, equality))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--mutants", type=int, default=MUTANTS, help="of each model")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--equality", choices=NOTIONS, default="bits")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    begin = time.perf_counter()
    total: Counter[str] = Counter()
    failed = 0
    for number in range(arguments.seed, arguments.seed + arguments.models):
        counts, wrong = apart(number, arguments.mutants, arguments.equality)
        total += counts
        failed += len(wrong)
        for text in wrong:
            print(text, flush=True)
        if number % 20 == 19:
            print(f"{number + 1}: {dict(total)}", flush=True)
    print(f"{dict(sorted(total.items()))} in {time.perf_counter() - begin:.0f} s")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
