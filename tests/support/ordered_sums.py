"""Kernels that fix what ONNX leaves open: the order of sums and products, and last bits.

Reductions and products of matrices go from the last element to the first, where CumSum goes from
the first to the last, so a pass that makes one of the other changes bits.
"""

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
from onnx.reference.op_run import OpRun
from straightline.reference.interpreter.evaluator import Evaluator


def _total(x: np.ndarray, axes: Any, keepdims: Any, add: np.ufunc) -> np.ndarray:
    listed = range(x.ndim) if axes is None or not np.size(axes) else np.ravel(axes)
    places = sorted({int(axis) % x.ndim for axis in listed}) if x.ndim else []
    kept = [axis for axis in range(x.ndim) if axis not in places]
    count = math.prod(x.shape[axis] for axis in places)
    rows = np.transpose(x, [*places, *kept]).reshape(count, *(x.shape[axis] for axis in kept))
    start = np.full(rows.shape[1:], add.identity, x.dtype)
    total = functools.reduce(add, rows[::-1], start) if len(rows) else start
    total = np.asarray(total, x.dtype)
    return np.expand_dims(total, tuple(places)) if keepdims in (None, 1) else total


def _reduction(name: str, add: np.ufunc, before: Callable[[Any], Any]) -> type[OpRun]:
    def run(
        self: Any,
        x: np.ndarray,
        axes: Any = None,
        keepdims: Any = None,
        noop_with_empty_axes: Any = None,
    ) -> tuple[np.ndarray]:
        if (axes is None or not np.size(axes)) and noop_with_empty_axes:
            return (before(x),)
        total = _total(before(x), axes, keepdims, add)
        if name != "ReduceMean":
            return (total,)
        count = x.size // max(total.size, 1)
        return ((total / max(count, 1)).astype(x.dtype),)

    return type(name, (OpRun,), {"op_domain": "", "_run": run})


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    rows, columns = np.atleast_2d(a), b[:, None] if b.ndim == 1 else b
    parts = rows[..., :, :, None] * columns[..., None, :, :]
    total = _total(parts, [parts.ndim - 2], 0, np.add)
    total = total[..., 0, :] if a.ndim == 1 else total
    return total[..., 0] if b.ndim == 1 else total


class MatMul(OpRun):
    """MatMul from the last product to the first."""

    op_domain = ""

    def _run(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray]:
        return (_product(a, b),)


class Gemm(OpRun):
    """Gemm from the last product to the first, then the bias."""

    op_domain = ""

    def _run(
        self,
        a: np.ndarray,
        b: np.ndarray,
        c: Any = None,
        alpha: Any = 1.0,
        beta: Any = 1.0,
        transA: Any = 0,
        transB: Any = 0,
    ) -> tuple[np.ndarray]:
        total = _product(a.T if transA else a, b.T if transB else b) * a.dtype.type(alpha)
        return (total if c is None else total + c * a.dtype.type(beta),)


def _one_by_one(name: str, function: Callable[[float], float]) -> type[OpRun]:
    def run(self: Any, x: np.ndarray) -> tuple[np.ndarray]:
        numbers = [_safely(function, number) for number in x.ravel()]
        return (np.array(numbers, x.dtype).reshape(x.shape),)

    return type(name, (OpRun,), {"op_domain": "", "_run": run})


def _safely(function: Callable[[float], float], number: Any) -> float:
    try:
        return function(float(number))
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


OPERATORS = [
    *(_reduction("ReduceSum", np.add, np.asarray), _reduction("ReduceMean", np.add, np.asarray)),
    *(_reduction("ReduceProd", np.multiply, np.asarray), _reduction("ReduceL1", np.add, np.abs)),
    _reduction("ReduceSumSquare", np.add, np.square),
    *(MatMul, Gemm, _one_by_one("Tanh", math.tanh), _one_by_one("Exp", math.exp)),
    *(_one_by_one("Sin", math.sin), _one_by_one("Log", math.log)),
    _one_by_one("Sigmoid", lambda number: 1 / (1 + math.exp(-number))),
]


def run(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Run a model in that order."""
    names = {value.name for value in model.graph.input}
    with np.errstate(all="ignore"):
        evaluator = Evaluator(model, operators=OPERATORS)
        return evaluator.run({name: v for name, v in feeds.items() if name in names})


def spread(feeds: Mapping[str, np.ndarray], seed: int) -> dict[str, np.ndarray]:
    """Inputs whose floats are of all magnitudes, so that each order rounds otherwise."""
    rng = np.random.default_rng(seed)
    return {
        name: (rng.normal(size=array.shape) * 10 ** rng.uniform(-4, 4, array.shape)).astype(
            array.dtype
        )
        if array.dtype.kind == "f"
        else array
        for name, array in feeds.items()
    }
