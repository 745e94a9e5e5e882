"""Parallel prefix: all prefix reductions of rows, in a logarithmic number of steps.

After the step of distance k, row t holds the reduction of the rows t - 2k + 1 to t:

    y = Concat <axis = 0> (x[:k], Op (x[:-k], x[k:]))

A row may consist of several values, such as the factor and the offset of a linear function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx

from ...facts.fact import Fact
from ...ir import Operator, Value
from ...ir.copying import empty_header
from ...ops.builder import Builder
from .layout import add_holder, declaration

_END = np.iinfo(np.int64).max
MOST_STEP_BYTES = 256
"""The size limit of a state for a parallel prefix, which moves rows several times.

For states of 64 floats it is 2 to 6 times as fast as a Loop (200 to 4,000 iterations, onnxruntime),
for 256 floats as slow.
"""
_MOST_ROWS = 1 << 40
"""The limit of rows that fit a machine's memory.

For few rows, all its steps take 0.1 ms in onnxruntime, like 30 to 50 iterations of a Loop.
"""

DISTANCES = tuple([1 << digit for digit in range(63)])
"""The distances of all steps."""


Monoid = Callable[[Builder, Sequence[Value], Sequence[Value], Value], Sequence[Value]]
"""An associative operation: a builder, the earlier rows, the later ones, and their distance."""


def monoid_of(op: Operator) -> Monoid:
    """The associative operation of an operator on rows of one value."""
    return lambda emit, early, late, _: [emit.apply(op, [*early, *late], "joined")]


def parallel_prefix(
    emit: Builder,
    monoid: Monoid,
    rows: Sequence[Value],
    facts: Sequence[Fact],
    most: int | None,
    straight: bool = False,
    first: int = 0,
    reach: Value | None = None,
) -> list[Value]:
    """Emit the reduction of each prefix of rows by an associative operation.

    Args:
        emit, monoid: the builder of the nodes, and the operation.
        rows, facts: the values of all rows, at least one, along their first axis; the fact of each
            in one row.
        most: the maximum number of rows; None if known only at run time. Then a Loop runs the few
            steps.
        straight: emit steps for all lengths instead of a Loop.
        first: the number of steps that the rows have taken.
        reach: the number of rows to join, a power of 2, as a vector of one int64 computed at run
            time; None for all earlier rows. It needs an open maximum.
    """
    if most is None and not straight:
        return _by_loop(emit, monoid, rows, facts, first, reach)
    most = _MOST_ROWS if most is None else most
    values = list(rows)
    for distance in DISTANCES[first:]:
        if distance >= most:
            break
        here, back = (emit.vector((number,), "distance") for number in (distance, -distance))
        values = _step(emit, monoid, values, here, back)
    return values


def _step(
    emit: Builder, monoid: Monoid, rows: Sequence[Value], here: Value, back: Value
) -> list[Value]:
    """Emit one step; no change for a distance of the number of rows or more."""
    zero, end = emit.vector((0,), "zero"), emit.vector((_END,), "end")
    bounds = {"head": (zero, here), "early": (zero, back), "late": (here, end)}
    heads, early, late = (
        [emit.add("Slice", [row, *cut, zero], label) for row in rows]
        for label, cut in bounds.items()
    )
    joined = monoid(emit, early, late, here)
    return [
        emit.concat([head, value], 0, row.name)
        for head, value, row in zip(heads, joined, rows, strict=True)
    ]


def _by_loop(
    emit: Builder,
    monoid: Monoid,
    rows: Sequence[Value],
    facts: Sequence[Fact],
    first: int,
    reach: Value | None,
) -> list[Value]:
    steps = _count_steps(emit, rows[0], first, reach)
    holds = emit.constant(np.array(True), "holds")
    labels = [f"{row.name}_all" for row in rows]
    loop = add_holder(emit.graph, Operator("Loop"), {}, ["body"], [steps, holds, *rows], labels)
    body = emit.graph.add_body(loop, "body", empty_header("doubling"))
    flag = onnx.helper.make_tensor_value_info("holds", onnx.TensorProto.BOOL, ())
    number = onnx.helper.make_tensor_value_info("step", onnx.TensorProto.INT64, ())
    step, condition = body.add_input("step", number), body.add_input("holds", flag)
    infos = [_declare_rows(fact) for fact in facts]
    before = [body.add_input("rows", info) for info in infos]
    inside = Builder(body, opset=emit.opset)
    # Tables, as few nodes as possible: these few steps take as long as what prepares them.
    here, back = (inside.add("Gather", [table, step], "distance") for table in _tables(emit, first))
    after = _step(inside, monoid, before, here, back)
    body.set_outputs([condition, *after], [flag, *infos])
    return [loop.output(index) for index in range(len(rows))]


def _tables(emit: Builder, first: int) -> list[Value]:
    """The distances of all steps as vectors of one number, forward and backward."""
    column = np.array(DISTANCES[first:], np.int64).reshape(-1, 1)
    return [emit.constant(array, "distances") for array in (column, -column)]


def _count_steps(emit: Builder, rows: Value, first: int, reach: Value | None) -> Value:
    """Emit the number of steps that some rows take."""
    distances, count = emit.vector(DISTANCES[first:], "distances"), reach
    if count is None:
        shape = emit.add("Shape", [rows], "shape")
        count = emit.add("Gather", [shape, emit.vector((0,), "zero")], "count")
    needed = emit.add("Less", [distances, count], "needed")
    needed = emit.add("Cast", [needed], "needed", to=onnx.TensorProto.INT64)
    return emit.reduce("ReduceSum", needed, (0,), "steps")


def _declare_rows(fact: Fact) -> onnx.ValueInfoProto:
    sizes = [dim.value for dim in fact.shape or ()]
    return declaration("rows", onnx.helper.make_tensor_type_proto(fact.elem_type, [None, *sizes]))
