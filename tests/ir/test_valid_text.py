"""Text that is no UTF-8 is found, with its place."""

from __future__ import annotations

import onnx
import pytest
from straightline.ir.valid_text import first_odd_text, has_odd_text

MODEL = onnx.parser.parse_model(
    """<ir_version: 10, opset_import: ["": 21]>
    main (float[width] x) => (float[width] y) { y = Concat <axis = 0> (x) }"""
)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("main", "graph.name"),
        ("width", "graph.input[0].type.tensor_type.shape.dim[0].dim_param"),
        ("Concat", "graph.node[0].op_type"),
        ("axis", "graph.node[0].attribute[0].name"),
    ],
)
def test_the_first_place_is_named(text: str, place: str) -> None:
    broken = text[:-1].encode() + b"\xe2"
    content = MODEL.SerializeToString().replace(text.encode(), broken)
    proto = onnx.ModelProto.FromString(content)
    said = first_odd_text(proto)
    assert has_odd_text(proto) and said is not None
    assert said.startswith(f"{place} is {broken!r}, which is not UTF-8; rename it")
    assert not has_odd_text(proto, ("graph",)), "a field that is left out"


def test_bytes_need_be_no_text() -> None:
    proto = onnx.ModelProto()
    proto.CopyFrom(MODEL)
    proto.graph.node[0].attribute.add(name="s", s=b"\xff", strings=[b"\xfe"])
    proto.graph.initializer.add(name="ü", raw_data=b"\xff")
    assert first_odd_text(proto) is None and not has_odd_text(proto)
