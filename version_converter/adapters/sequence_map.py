"""SequenceMap: a body applied to each element of a sequence.

- 17: the operator appears.

    t = SequenceMap (s, w) <body = b (e, v) => (r) { r = MatMul (e, v) }>
->  (opset 17 to 16)
    t = Loop (SequenceLength (s), yes, SequenceEmpty ()) <body = l (i, c, before) => (d, after) {
        d = Identity (c)
        r = MatMul (SequenceAt (s, i), w)
        after = SequenceInsert (before, r)
    }>
"""

from collections.abc import Sequence

import onnx

from ...ir import Graph, Template, Value
from ..loops import counted_loop
from ..node_draft import NodeDraft, for_outputs
from ..registry import AdapterResult, longer_form


@longer_form(17, "SequenceMap")
def insert_in_a_loop(draft: NodeDraft) -> AdapterResult:
    """Below opset 17: a Loop over the elements, as in the operator's function."""
    body = draft.body("body")
    kinds = [draft.types.of(value) for value in draft.inputs]
    slots = zip(body.outputs, body.output_infos, strict=True)
    elem_types = [_element(draft, *slot) for slot in slots]
    if None in kinds[1:]:
        draft.refuse("a Loop needs to know which of its inputs are sequences")
    sequences = [
        index == 0 or (kind is not None and kind.HasField("sequence_type"))
        for index, kind in enumerate(kinds)
    ]
    starts = [draft.emit("SequenceEmpty", [], "none", dtype=elem_type) for elem_type in elem_types]
    types = [
        onnx.helper.make_sequence_type_proto(onnx.helper.make_tensor_type_proto(elem_type, None))
        for elem_type in elem_types
    ]

    def iterate(inside: Graph, number: Value, before: Sequence[Value]) -> list[Value]:
        arguments = [
            draft.emit("SequenceAt", [value, number], "element") if is_sequence else value
            for value, is_sequence in zip(draft.inputs, sequences, strict=True)
        ]
        results = Template(body, inside, keep_infos=False).instantiate(arguments)
        pairs = zip(before, results, strict=True)
        return [draft.emit("SequenceInsert", pair, "after") for pair in pairs]

    trip_count = draft.emit("SequenceLength", [draft.input(0)], "count")
    return for_outputs(draft.node, counted_loop(draft, trip_count, starts, types, iterate))


def _element(draft: NodeDraft, value: Value, info: onnx.ValueInfoProto) -> int:
    """The element type of one of the body's outputs."""
    elem_type = info.type.tensor_type.elem_type or draft.types.elem_type(value)
    if not elem_type:
        draft.refuse(f"an empty sequence needs the element type of '{value.name}'")
    return elem_type
