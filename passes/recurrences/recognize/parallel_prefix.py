"""What an associative operator makes of the rows up to each, in as many steps as the number of
rows has binary digits.

After the step of distance k row t holds what the operator makes of the rows t - 2k + 1 to t:

    y = Concat <axis = 0> (x[:k], Op (x[:-k], x[k:]))
"""

from __future__ import annotations

import numpy as np
import onnx

from ....facts.fact import Fact
from ....ir import Operator, Value
from ....ir.copying import empty_header
from ....ops.builder import Builder
from ...scans.layout import add_holder, declaration

_END = np.iinfo(np.int64).max
_MOST_ROWS = 1 << 40
"""No machine has room for more. The steps for them take 0.1 ms under onnxruntime where there are
few rows, as 30 to 50 trips of a Loop do."""

_DISTANCES = tuple([1 << digit for digit in range(63)])


def parallel_prefix(
    emit: Builder,
    op: Operator,
    rows: Value,
    row: Fact,
    most: int | None,
    straight: bool = False,
) -> Value:
    """What an associative operator makes of the rows up to each.

    Args:
        emit: makes the nodes.
        op: takes two rows, the earlier one first, and gives one like them.
        rows: one row at least, along the first axis.
        row: what is known of one.
        most: how many there are at most; None where only run time tells. Then a Loop makes the
            steps, which are few.
        straight: whether there may be no Loop; then there are steps for all lengths.
    """
    if most is None and not straight:
        return _by_loop(emit, op, rows, row)
    most = _MOST_ROWS if most is None else most
    for distance in _DISTANCES:
        if distance >= most:
            break
        here, back = (emit.vector((number,), "distance") for number in (distance, -distance))
        rows = _step(emit, op, rows, here, back)
    return rows


def _step(emit: Builder, op: Operator, rows: Value, here: Value, back: Value) -> Value:
    """One step; where its distance is the number of rows or more, nothing changes."""
    zero = emit.vector((0,), "zero")
    head = emit.add("Slice", [rows, zero, here, zero], "head")
    early = emit.add("Slice", [rows, zero, back, zero], "early")
    late = emit.add("Slice", [rows, here, emit.vector((_END,), "end"), zero], "late")
    return emit.concat([head, emit.apply(op, [early, late], "joined")], 0, rows.name)


def _by_loop(emit: Builder, op: Operator, rows: Value, row: Fact) -> Value:
    distances = emit.vector(_DISTANCES, "distances")
    shape = emit.add("Shape", [rows], "shape")
    count = emit.add("Gather", [shape, emit.vector((0,), "zero")], "count")
    needed = emit.add("Less", [distances, count], "needed")
    needed = emit.add("Cast", [needed], "needed", to=onnx.TensorProto.INT64)
    steps = emit.reduce("ReduceSum", needed, (0,), "steps")
    holds = emit.constant(np.array(True), "holds")
    given = [steps, holds, rows]
    loop = add_holder(emit.graph, Operator("Loop"), {}, ["body"], given, [f"{rows.name}_all"])
    body = emit.graph.add_body(loop, "body", empty_header("doubling"))
    told = onnx.helper.make_tensor_value_info("holds", onnx.TensorProto.BOOL, ())
    number = onnx.helper.make_tensor_value_info("step", onnx.TensorProto.INT64, ())
    step, condition = body.add_input("step", number), body.add_input("holds", told)
    every = declaration("rows", _rows_type(row))
    before = body.add_input("rows", every)
    inside = Builder(body, opset=emit.opset)
    distance = inside.add("Gather", [distances, step], "distance")
    here = inside.unsqueeze(distance, 0, "here")
    after = _step(inside, op, before, here, inside.add("Neg", [here], "back"))
    body.set_outputs([condition, after], [told, every])
    return loop.output()


def _rows_type(row: Fact) -> onnx.TypeProto:
    sizes = [dim.value for dim in row.shape or ()]
    return onnx.helper.make_tensor_type_proto(row.elem_type, [None, *sizes])
