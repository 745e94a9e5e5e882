"""CumSum and CumProd: running sums and products.

- 11: CumSum appears.
- 14: 16-bit floats.
- 26: CumProd appears.
"""

from collections.abc import Sequence

import numpy as np
import onnx

from ...facts.types import INTEGER_BITS
from ...ir import Graph, Node, Operator, Value, empty_header
from ..loops import counted_loop
from ..registry import AdapterResult, NodeDraft, longer_form
from ..snippets import length_of, numbers_below

_SCAN = 8
"""The opset that has Scans."""
_EMPTY_SCAN = 9
"""The opset from which a Scan may have no iteration."""


_JOINS = {"CumSum": "Add", "CumProd": "Mul"}


@longer_form(26, "CumProd")
@longer_form(14, "CumSum")
@longer_form(11, "CumSum")
def join_in_a_scan(draft: NodeDraft) -> AdapterResult:
    """Below opset 26, 14 or 11: a Scan along the first axis, which adds or multiplies in the same
    order; or a Loop for a target without Scans.

    Along another axis of a tensor without elements, onnxruntime's Scan ends the process.
    """
    data, elem_type = draft.data, draft.required_elem_type(0, "a Scan")
    rank, axis = draft.required_rank("a Scan"), draft.required_constant(1, "the axis")
    if not rank:
        draft.refuse("a scalar has no axis to add along")
    place = draft.required_axis(draft.one_number(axis, "its axis"), "a Scan")
    if draft.length(place) == 0:  # along which onnxruntime runs no Scan
        return [draft.emit("Identity", [data], "nothing")]
    around = draft.emit("Shape", [data], "shape")
    order = [place, *[a for a in range(rank) if a != place]]
    if rank > 1:
        others = draft.ints(order[1:], "others")
        sizes = draft.emit("Gather", [around, others], "sizes", axis=0)
    else:
        sizes = draft.ints([], "sizes")
    # -0 + -0 is -0, which a sum from 0 on is not; before the first element runtimes write 0.
    keeps_zero_sign = elem_type not in INTEGER_BITS and not draft.attribute("exclusive")
    neutral = 1 if draft.op_type == "CumProd" else -0.0 if keeps_zero_sign else 0
    none = onnx.helper.make_tensor("value", elem_type, [1], [neutral])
    start = draft.emit("ConstantOfShape", [sizes], "start", value=none)
    if place:
        data = draft.emit("Transpose", [data], "rows", perm=order)
    type_ = onnx.helper.make_tensor_type_proto(elem_type, [None] * (rank - 1))
    is_short = draft.final < _EMPTY_SCAN and draft.length(place) is None
    if is_short:
        data = _with_neutral_row(draft, data, start)
    run = _in_a_loop if draft.final < _SCAN else _in_a_scan
    sums = run(draft, data, start, type_, bool(draft.attribute("exclusive")) and not is_short)
    if is_short:
        sums = _without_neutral_row(draft, sums)
    if not place:
        return [sums]
    back = [order.index(axis) for axis in range(rank)]
    return [draft.emit("Transpose", [sums], "turned", perm=back)]


def _with_neutral_row(draft: NodeDraft, data: Value, start: Value) -> Value:
    """The rows and one more, at which the sums begin: of no iteration, a Loop does not know the
    lengths of rows, and a Scan before opset 9 has no result."""
    row = draft.unsqueeze(start, [0])
    rows = [data, row] if draft.attribute("reverse") else [row, data]
    return draft.emit("Concat", rows, "one_more", axis=0)


def _without_neutral_row(draft: NodeDraft, sums: Value) -> Value:
    """The sums without the one that was added, at either end."""
    first = bool(draft.attribute("reverse")) == bool(draft.attribute("exclusive"))
    ends = (1, np.iinfo(np.int64).max) if first else (0, -1)
    places = [draft.ints([number], "place") for number in (*ends, 0)]
    return draft.emit("Slice", [sums, *places], "inside")


def _in_a_loop(
    draft: NodeDraft, data: Value, start: Value, type_: onnx.TypeProto, exclusive: bool
) -> Value:
    """The sums of the rows before each, and of it but for exclusive ones."""
    count = length_of(draft, draft.emit("Shape", [data], "shape"), 0)
    one = draft.const(np.array(1), "one")
    last = draft.emit("Sub", [count, one], "last")
    backward = draft.attribute("reverse")

    def iterate(_: Graph, number: Value, states: Sequence[Value]) -> list[Value]:
        place = draft.emit("Sub", [last, number], "place") if backward else number
        row = draft.emit("Gather", [data, place], "row", axis=0)
        after = draft.emit(_JOINS[draft.op_type], [states[0], row], "after")
        partial = states[0] if exclusive else after
        return [after, draft.emit("Identity", [partial], "sum")]

    sums = counted_loop(draft, count, [start], [type_], iterate, [type_])[1]
    if not backward:
        return sums
    numbers = numbers_below(draft, draft.emit("Reshape", [count, draft.ints([1], "row")]))
    order = draft.emit("Sub", [last, numbers], "backward")
    return draft.emit("Gather", [sums, order], "sums", axis=0)


def _in_a_scan(
    draft: NodeDraft, data: Value, start: Value, type_: onnx.TypeProto, exclusive: bool
) -> Value:
    backward = [draft.attribute("reverse")]
    scan_of = Operator.make(
        "Scan", num_scan_inputs=1, scan_input_directions=backward, scan_output_directions=backward
    )
    labels = [draft.label("last"), draft.label("sums")]
    scan = draft.graph.add_node(scan_of, [start, data], labels)
    _add_body(draft, scan, type_, exclusive)
    draft.note(scan)
    return scan.output(1)


def _add_body(draft: NodeDraft, scan: Node, type_: onnx.TypeProto, exclusive: bool) -> None:
    body = draft.graph.add_body(scan, "body", empty_header("add_up"))

    def declared(name: str) -> onnx.ValueInfoProto:
        return onnx.helper.make_value_info(name, type_)

    before, element = (body.add_input(name, declared(name)) for name in ("before", "element"))
    after = body.add_node(Operator(_JOINS[draft.op_type]), [before, element], ["after"]).output()
    partial: Value = before if exclusive else after
    output = body.add_node(Operator("Identity"), [partial], ["sum"]).output()
    body.set_outputs([after, output], [declared("after"), declared("sum")])
