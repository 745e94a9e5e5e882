"""Linear recurrences of states that depend on each other, with constant factors.

A vector s of such states follows s = A s + b. The rows b[t] are joined in steps of doubling
distance d, each of which adds A^d b[t - d]; the powers are constants:

y = Concat <axis = 0> (b[:d], Add (b[d:], MatMul (b[:-d], A^d)))
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import onnx

from ....analysis.trips.trip_count import skip_identities
from ....facts.fact import Fact
from ....facts.polynomial import Dimension
from ....ir import Array, Value
from ....ops.builder import Builder
from ...scans.parallel_prefix import DISTANCES, Monoid
from ..weights import Unfit
from .recurrence import Recurrence, Replacement
from .scan_reductions import broadcast, describe, is_small, replace_all
from .step_functions import Step, StepReader

_FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
_WIDEST = 16
"""The largest width of a matrix of which powers pay."""
_LARGEST = 16.0
"""The largest element of a power; larger ones would amplify rounding, and may overflow."""


def raise_system(recurrence: Recurrence) -> Replacement | str:
    """Replace states that are linear functions of the previous values of all of them."""
    fact = recurrence.fact(recurrence.states[0].initial).without_content()
    if fact.elem_type not in _FLOATS or fact.shape is None:
        return "it is no linear recurrence of floats"
    for state in recurrence.states:
        own = recurrence.fact(state.initial)
        if (own.elem_type, own.shape) != (fact.elem_type, fact.shape):
            return "it is no linear recurrence of states of one shape"
    whole = Fact(fact.elem_type, (*fact.shape, Dimension.constant(len(recurrence.states))))
    if not is_small(whole):
        return "it is a linear recurrence of states too large for steps of doubling distance"
    recurrence.require_room(whole)
    reader = StepReader(recurrence, fact)
    try:
        functions = reader.read()
        matrix = _matrix(functions, reader)
        powers = _powers(matrix, onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type))
    except Unfit as reason:
        return f"it is no linear recurrence: {reason}"
    return _replace(recurrence, functions, reader, powers, whole)


# Factors -----------------------------------------------------------------------------------------


def _matrix(functions: Sequence[Step], reader: StepReader) -> Array:
    """The matrix of the factors: row i computes state i.

    Raises:
        Unfit: a factor that only run time tells, or that differs between elements.
    """
    rows = []
    for function in functions:
        factors = function.plain.factors
        if function.plain.is_bounded or (function.is_reset and not function.is_constant):
            raise Unfit("a condition or a bound may replace states that depend on each other")
        arrays = [reader.array_of(factor) for factor in factors]
        if any(factor.batched for factor in factors) or None in map(_size, arrays):
            raise Unfit("a factor of states that depend on each other is no constant number")
        rows.append([float(array.reshape(())) for array in arrays if array is not None])
    return np.array(rows, np.float64)


def _size(array: Array | None) -> int | None:
    return 1 if array is not None and array.size == 1 else None


def _powers(matrix: Array, dtype: np.dtype) -> Array:
    """The powers of a matrix for each distance.

    A zero in the second power or a later one would make NaN of an infinity in another state.

    Raises:
        Unfit: such a zero, or a large element.
    """
    table, paths = _bounded(matrix, dtype), [matrix != 0]
    for _ in DISTANCES[1:]:
        paths.append(paths[-1] @ paths[-1])
    if not all(path.all() for path in paths[1:]) or not table[1].all():
        raise Unfit("some state does not depend on some other one two iterations before")
    return table


def _bounded(matrix: Array, dtype: np.dtype) -> Array:
    """The powers of a matrix for each distance, which must stay small."""
    powers = [matrix.astype(np.float64)]
    with np.errstate(all="ignore"):
        for _ in DISTANCES[1:]:
            powers.append(powers[-1] @ powers[-1])
    table = np.stack(powers)
    if not np.isfinite(table).all() or np.abs(table).max(initial=0.0) > _LARGEST:
        raise Unfit("powers of its factors may overflow")
    return table.astype(dtype)


def raise_product(recurrence: Recurrence) -> Replacement | None:
    """Replace a state that each iteration multiplies by a constant matrix; None for others."""
    (state,) = recurrence.states
    fact, emit = recurrence.fact(state.initial).without_content(), recurrence.trips.emit
    match = _product(recurrence)
    if match is None or fact.elem_type not in _FLOATS or not fact.shape or not is_small(fact):
        return None
    matrix, added, is_left = match
    if not len(matrix) == matrix.shape[-1] <= _WIDEST or recurrence.fact(added).shape != fact.shape:
        return None
    try:
        powers = _bounded(matrix, onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type))
    except Unfit:
        return None
    recurrence.require_room(fact)
    first = emit.unsqueeze(recurrence.trips.feeding.same(state.initial).value, 0, "first")
    rows = emit.concat(
        [first, broadcast(recurrence, recurrence.trips.operand(added), fact)], 0, "rows"
    )
    if is_left and len(fact.shape) == 1:  # a row has no column to multiply
        powers, is_left = np.swapaxes(powers, 1, 2), False
    monoid = _multiply(emit, powers, is_left)
    (joined,) = recurrence.prefixes(monoid, [rows], [fact])
    return replace_all(recurrence, joined, "linear steps of doubling distance", False)


def _product(recurrence: Recurrence) -> tuple[Array, Value, bool] | None:
    """Match MatMul (s, matrix) + added.

    Returns:
        the matrix, the other addend, and true for MatMul (matrix, s).
    """
    (state,) = recurrence.states
    add = skip_identities(state.result).producer
    if add is None or not add.is_op("Add"):
        return None
    for product, added in (add.inputs, add.inputs[::-1]):
        node = None if product is None else product.producer
        if node is None or not node.is_op("MatMul") or node not in recurrence.nodes:
            continue
        is_left = node.inputs[1] is state.argument
        factor = node.inputs[0 if is_left else 1]
        if node.inputs[1 if is_left else 0] is not state.argument or factor is None:
            continue
        tensor = factor.constant
        if tensor is None or not tensor.is_readable or len(tensor.dims) != 2 or added is None:
            continue
        if added is not state.argument and added.producer not in recurrence.nodes:
            return tensor.numpy(), added, is_left
    return None


# Steps -------------------------------------------------------------------------------------------


def _replace(
    recurrence: Recurrence,
    functions: Sequence[Step],
    reader: StepReader,
    powers: Array,
    fact: Fact,
) -> Replacement:
    """Replace states by steps of doubling distance; the first step leaves out zeros."""
    emit, feeding, states = recurrence.trips.emit, recurrence.trips.feeding, recurrence.states
    firsts = [emit.unsqueeze(feeding.same(s.initial).value, 0, "first") for s in states]
    offsets = [reader.rows_of(function.plain.offset) for function in functions]
    rows = [emit.concat([*pair], 0, "rows") for pair in zip(firsts, offsets, strict=True)]
    rows = [_first_step(recurrence, rows, index, powers[0]) for index in range(len(rows))]
    rank = len(fact.shape or ())
    together = emit.concat([emit.unsqueeze(row, rank, "row") for row in rows], rank, "rows")
    monoid = _multiply(emit, np.swapaxes(powers, 1, 2))
    (joined,) = recurrence.prefixes(monoid, [together], [fact], first=1)
    every, finals = {}, {}
    for index, state in enumerate(states):
        at = emit.constant(np.array(index, np.int64), "k")
        values = emit.add("Gather", [joined, at], f"{state.argument.name}_all", axis=rank)
        every[state] = feeding.cut(values, [1], [np.iinfo(np.int64).max], [0])
        last = emit.add("Gather", [values, feeding.trips], "last", axis=0)
        final = emit.squeeze(last, 0, state.result.name)
        finals[state] = functools.partial(_identity, final)
    what = describe("linear steps of doubling distance", False)
    return Replacement(what, False, every, finals)


def _identity(value: Value) -> Value:
    return value


def _first_step(recurrence: Recurrence, rows: Sequence[Value], index: int, matrix: Array) -> Value:
    """Emit the step of distance 1 for one state: it adds what the rows before it give."""
    emit, feeding = recurrence.trips.emit, recurrence.trips.feeding
    total = feeding.cut(rows[index], [1], [np.iinfo(np.int64).max], [0])
    for row, factor in zip(rows, matrix[index], strict=True):
        if factor:
            before = feeding.cut(row, [0], [-1], [0])
            scaled = emit.add("Mul", [before, emit.constant(np.array(factor), "k")], "scaled")
            total = emit.add("Add", [total, scaled], "added")
    head = feeding.cut(rows[index], [0], [1], [0])
    return emit.concat([head, total], 0, "rows")


def _multiply(around: Builder, powers: Array, is_left: bool = False) -> Monoid:
    """The composition of linear functions by their distance, of which rows are the offsets."""
    table = around.constant(np.ascontiguousarray(powers), "powers")
    distances = around.vector(DISTANCES, "distances")

    def monoid(
        emit: Builder, early: Sequence[Value], late: Sequence[Value], distance: Value
    ) -> list[Value]:
        match = emit.add("Equal", [distances, distance], "match")
        numbers = emit.add("Cast", [match], "match", to=onnx.TensorProto.INT32)
        step = emit.add("ArgMax", [numbers], "step", axis=0, keepdims=0)
        power = emit.add("Gather", [table, step], "power", axis=0)
        factors = [power, *early] if is_left else [*early, power]
        scaled = emit.add("MatMul", factors, "scaled")
        return [emit.add("Add", [scaled, *late], "offsets")]

    return monoid
