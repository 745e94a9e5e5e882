"""CumSum: running sums.

- 11: the operator appears.
- 14: 16-bit floats.
"""

from __future__ import annotations

import onnx

from ...facts.types import INTEGER_BITS
from ...ir import Node, Operator, Value, empty_header
from ..node_draft import NodeDraft
from ..registry import Outcome, longer_form


@longer_form(11, "CumSum")
def add_in_a_scan(draft: NodeDraft) -> Outcome:
    """Below opset 11: a Scan along the first axis, which adds in the same order.

    Along another axis of a tensor without elements, onnxruntime's Scan ends the process.
    """
    data, elem_type = draft.data, draft.required_elem_type(0, "a Scan")
    rank, axis = draft.required_rank("a Scan"), draft.required_constant(1, "the axis")
    if not rank:
        draft.refuse("a number alone has no axis to add along")
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
    none = onnx.helper.make_tensor("value", elem_type, [1], [-0.0 if keeps_zero_sign else 0])
    start = draft.emit("ConstantOfShape", [sizes], "start", value=none)
    backward = [draft.attribute("reverse")]
    scan_of = Operator.make(
        "Scan",
        num_scan_inputs=1,
        scan_input_directions=backward,
        scan_output_directions=backward,
    )
    if place:
        data = draft.emit("Transpose", [data], "rows", perm=order)
    labels = [draft.label("last"), draft.label("sums")]
    scan = draft.graph.add_node(scan_of, [start, data], labels)
    type_ = onnx.helper.make_tensor_type_proto(elem_type, [None] * (rank - 1))
    _add_body(draft, scan, type_)
    draft.note(scan)
    if not place:
        return [scan.output(1)]
    back = [order.index(axis) for axis in range(rank)]
    return [draft.emit("Transpose", [scan.output(1)], "turned", perm=back)]


def _add_body(draft: NodeDraft, scan: Node, type_: onnx.TypeProto) -> None:
    body = draft.graph.add_body(scan, "body", empty_header("add_up"))

    def declared(name: str) -> onnx.ValueInfoProto:
        return onnx.helper.make_value_info(name, type_)

    before, element = (body.add_input(name, declared(name)) for name in ("before", "element"))
    after = body.add_node(Operator("Add"), [before, element], ["after"]).output()
    partial: Value = before if draft.attribute("exclusive") else after
    output = body.add_node(Operator("Identity"), [partial], ["sum"]).output()
    body.set_outputs([after, output], [declared("after"), declared("sum")])
