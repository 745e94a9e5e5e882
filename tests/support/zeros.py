"""Results of an operator on operands that differ in the signs of zeros only."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from depth import examples
from harness import run_in_onnxruntime
from operator_cases import cases
from operator_draws import Case
from sessions import by_reference
from special_values import model_of


class Twins(NamedTuple):
    """Two runs of one node.

    Attributes:
        case: the node.
        results: the outputs of both runs; None for a failure.
    """

    case: Case
    results: tuple[list[Any] | None, list[Any] | None]


def twins(count: int, seed: int, places: Mapping[str, range]) -> Iterator[Twins]:
    """Runs in the reference and in onnxruntime.

    Args:
        count: cases with floats for each operator, many more in the longer run.
        seed: the seed of the draws.
        places: for each operator the operands that differ.
    """
    drawn = list(cases(examples(3), seed, only=places))
    random.Random(seed).shuffle(drawn)
    done = Counter[str]()
    for case in drawn:
        kind = case.node.op_type
        floats = [n for n in places[kind] if n < len(case.operands) and _differs(case.operands[n])]
        if not floats or done[kind] >= examples(count):
            continue
        done[kind] += 1
        rng = np.random.default_rng([seed, case.opset])
        one = {f"i{n}": each for n, each in enumerate(case.operands) if each is not None}
        other = dict(one)
        for name in [f"i{n}" for n in floats]:
            one[name], other[name] = _other_zeros(one[name], rng)
        for run in (by_reference, run_in_onnxruntime):
            model = model_of(case)
            yield Twins(case, (_results(run, model, one), _results(run, model, other)))


def _differs(operand: Any) -> bool:
    return operand is not None and is_float(operand) and operand.size > 0


def is_float(array: Any) -> bool:
    """Test for an array of floats, of those with few bits, too."""
    dtype = np.asarray(array).dtype
    return dtype.kind == "f" or "float" in dtype.name


def values(array: Any) -> Any:
    """Elements in which -0.0 and 0.0 are alike."""
    return np.asarray(array, np.float64) if is_float(array) else np.asarray(array)


def _other_zeros(operand: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """The operand with zeros in some places, and with others there."""
    zeros = rng.random(operand.shape) < 0.5
    zeros.reshape(-1)[0] = True
    signs = np.where(rng.random(operand.shape) < 0.5, 0.0, -0.0)
    one, other = operand.copy(), operand.copy()
    one[zeros] = signs[zeros].astype(operand.dtype)
    other[zeros] = (-signs[zeros]).astype(operand.dtype)
    return one, other


def _results(run: Any, model: Any, feed: Any) -> list[Any] | None:
    try:
        return list(run(model, feed))
    except Exception:  # noqa: BLE001 - the node fails, or the runtime lacks it
        return None
