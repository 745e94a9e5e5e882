"""Parallel prefix: all prefix reductions of rows, in a logarithmic number of steps.

After the step of distance k, row t holds the reduction of the rows t - 2k + 1 to t:

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
"""The limit of rows that fit a machine's memory.

For few rows, all its steps take 0.1 ms in onnxruntime, like 30 to 50 iterations of a Loop.
"""

_DISTANCES = tuple([1 << digit for digit in range(63)])


def parallel_prefix(
    emit: Builder, op: Operator, rows: Value, row: Fact, most: int | None, straight: bool = False
) -> Value:
    """Emit the reduction of each prefix of rows by an associative operator.

    Args:
        emit, op: the builder of the nodes, and the operator on two rows, the earlier one first.
        rows, row: the rows along the first axis, at least one, and the fact of one.
        most: the maximum number of rows; None if known only at run time. Then a Loop runs the few
            steps.
        straight: emit steps for all lengths instead of a Loop.
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
    """Emit one step; no change for a distance of the number of rows or more."""
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
    inputs = [steps, holds, rows]
    loop = add_holder(emit.graph, Operator("Loop"), {}, ["body"], inputs, [f"{rows.name}_all"])
    body = emit.graph.add_body(loop, "body", empty_header("doubling"))
    flag = onnx.helper.make_tensor_value_info("holds", onnx.TensorProto.BOOL, ())
    number = onnx.helper.make_tensor_value_info("step", onnx.TensorProto.INT64, ())
    step, condition = body.add_input("step", number), body.add_input("holds", flag)
    sizes = [dim.value for dim in row.shape or ()]
    type_ = onnx.helper.make_tensor_type_proto(row.elem_type, [None, *sizes])
    every = declaration("rows", type_)
    before = body.add_input("rows", every)
    inside = Builder(body, opset=emit.opset)
    distance = inside.add("Gather", [distances, step], "distance")
    here = inside.unsqueeze(distance, 0, "here")
    after = _step(inside, op, before, here, inside.add("Neg", [here], "back"))
    body.set_outputs([condition, after], [flag, every])
    return loop.output()
