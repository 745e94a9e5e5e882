"""The longer run: draw many models and apply the checks to each.

    PYTHONPATH=tests/support python dev/fuzz/fuzz.py --models 1000 --seed 0

A check is a function of a case (a model with its feeds) that raises when something is wrong; add it
to CHECKS. Models that fail are kept under --keep, and --seed N --models 1 draws model N again. Each
batch runs in a process of its own, because a runtime may crash: that counts as a failure of the
model that was running.
"""

import argparse
import functools
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import strategies
from dice import Dice
from harness import check_model
from sessions import outputs

Feeds = dict[str, np.ndarray]
BATCH = 500

DRAWS = {
    "any": strategies.model_and_feeds(),
    "static": strategies.model_and_feeds(static_only=True),
    "scan-8": strategies.scan_8_model_and_feeds(),
    "shadowing": strategies.model_and_feeds(shadowing=True),
}


def run_onnxruntime(model: onnx.ModelProto, feeds: Feeds) -> list[Any]:
    """The outputs, on one thread and as the model says: the optimiser has faults of its own."""
    return outputs(model, feeds, optimized=False)


class Case:
    """A model, its feeds, and what it gives, run once for all checks."""

    def __init__(self, model: onnx.ModelProto, feeds: Feeds) -> None:
        self.model = model
        self.feeds = feeds

    @functools.cached_property
    def by_onnxruntime(self) -> list[Any]:
        return run_onnxruntime(self.model, self.feeds)

    @functools.cached_property
    def by_reference(self) -> list[Any]:
        from straightline.reference import run

        return run(self.model, self.feeds)

    def require_equal(self, actual: list[Any], expected: list[Any]) -> None:
        for output, one, other in zip(self.model.graph.output, actual, expected, strict=True):
            assert_equal(one, other, output.name)


Check = Callable[[Case], None]


def assert_equal(actual: Any, expected: Any, name: str) -> None:
    """Equal in type, shape and every element; sequences element by element."""
    if isinstance(expected, list):
        assert isinstance(actual, list) and len(actual) == len(expected), (name, actual, expected)
        for a, e in zip(actual, expected, strict=True):
            assert_equal(a, e, name)
        return
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), (
        name,
        actual,
        expected,
    )
    np.testing.assert_array_equal(actual, expected, err_msg=name)


def check_valid(case: Case) -> None:
    check_model(case.model)


def check_onnxruntime(case: Case) -> None:
    assert len(case.by_onnxruntime) == len(case.model.graph.output)


def check_reference(case: Case) -> None:
    """The reference evaluator gives what onnxruntime gives."""
    case.require_equal(case.by_reference, case.by_onnxruntime)


def check_rewrite(case: Case) -> None:
    """The default pipeline gives a valid model with the same outputs."""
    from straightline.passes import straighten
    from straightline.reference import run

    rewritten = straighten(max_nodes=200_000).run(case.model).model
    check_model(rewritten)
    case.require_equal(run(rewritten, case.feeds), case.by_reference)


CHECKS: dict[str, Check] = {
    "valid": check_valid,
    "onnxruntime": check_onnxruntime,
    "reference": check_reference,
    "rewrite": check_rewrite,
}


def failures(model: onnx.ModelProto, feeds: Feeds) -> list[tuple[str, Exception]]:
    """What each check says of a model."""
    found, case = [], Case(model, feeds)
    for name, check in CHECKS.items():
        try:
            check(case)
        except Exception as error:  # noqa: BLE001 - any failure of a check is what this counts
            found.append((name, error))
    return found


def batch(work: Callable[[int], list[Any]], count: int, seed: int, results: Any) -> None:
    """Apply the work to `count` numbers, and queue the number's faults."""
    for number in range(seed, seed + count):
        results.put(work(number))


def in_processes(
    work: Callable[[int], list[Any]], count: int, seed: int
) -> Iterator[tuple[int, list[Any] | None]]:
    """Each number with its faults, in batches in processes of their own; None after a crash."""
    context = multiprocessing.get_context("spawn")
    number, end = seed, seed + count
    while number < end:
        results = context.SimpleQueue()
        size = min(BATCH, end - number)
        child = context.Process(target=batch, args=(work, size, number, results))
        child.start()
        while child.is_alive() or not results.empty():
            if results.empty():
                child.join(0.05)
                continue
            yield number, results.get()
            number += 1
        if child.exitcode:
            yield number, None
            number += 1


def draw_and_check(draws: str, keep: Path, number: int) -> list[tuple[str, str]]:
    """Failures of the model of a number, which is kept if there are any."""
    model, feeds = Dice(number)(DRAWS[draws])
    faults = failures(model, feeds)
    if faults:
        save(keep / f"{draws}-{number}", model, feeds)
    return [(name, f"{type(error).__name__}: {error}") for name, error in faults]


def save(path: Path, model: onnx.ModelProto, feeds: Feeds) -> None:
    onnx.save(model, path.with_suffix(".onnx"))
    np.savez(path.with_suffix(".npz"), **feeds)


def fuzz(draws: str, models: int, seed: int, keep: Path) -> Counter[str]:
    """Counts of models and of failures by check."""
    counts: Counter[str] = Counter()
    work = functools.partial(draw_and_check, draws, keep)
    for number, faults in in_processes(work, models, seed):
        counts["models"] += 1
        if faults is None:
            faults = [("crash", "the process ended")]
            save(keep / f"{draws}-{number}", *Dice(number)(DRAWS[draws]))
        for name, message in faults:
            counts[name] += 1
            print(f"{draws} {number}: {name}: {' '.join(message.split())[:300]}", flush=True)
        if counts["models"] % BATCH == 0:
            print(f"{draws}: {counts['models']} models so far", flush=True)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", choices=[*DRAWS, "all"], default="any")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"))
    arguments = parser.parse_args()
    arguments.keep.mkdir(parents=True, exist_ok=True)
    failed = 0
    for draws in DRAWS if arguments.draws == "all" else [arguments.draws]:
        begin = time.perf_counter()
        counts = fuzz(draws, arguments.models, arguments.seed, arguments.keep)
        bad = {name: counts[name] for name in [*CHECKS, "crash"] if counts[name]}
        failed += sum(bad.values())
        seconds = time.perf_counter() - begin
        print(f"{draws}: {counts['models']} models in {seconds:.0f} s, failed: {bad or 'none'}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
