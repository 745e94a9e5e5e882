"""The IR version that goes with an opset, and what it does to initializers."""

from __future__ import annotations

import onnx
import pytest
from straightline import convert_version, ir
from straightline.versions import ConversionError
from straightline.versions.ir_version import released_with

TEXT = """
<ir_version: {ir}, opset_import: ["": {opset}]>
g (float[2] x) => (float[2] y) <float[2] w = {{1, 2}}> {{ y = Mul (x, w) }}
"""


def model(ir_version: int, opset: int) -> onnx.ModelProto:
    return onnx.parser.parse_model(TEXT.format(ir=ir_version, opset=opset))


def test_the_first_release_with_an_opset_decides() -> None:
    expected = {7: 3, 8: 3, 9: 4, 10: 5, 11: 6, 12: 7, 14: 7, 15: 8, 18: 8, 19: 9, 21: 10, 25: 13}
    assert {opset: released_with(opset) for opset in expected} == expected


@pytest.mark.parametrize(
    ("before", "source", "target", "after"),
    [
        (8, 13, 8, 3),
        (8, 13, 10, 5),
        (3, 8, 13, 7),
        (10, 13, 18, 10),
        (4, 13, 11, 4),
        (8, 13, 13, 8),
    ],
)
def test_it_follows_the_opset(before: int, source: int, target: int, after: int) -> None:
    assert convert_version(model(before, source), target).ir_version == after


def test_below_4_initializers_are_inputs_and_above_they_are_not() -> None:
    down = convert_version(model(8, 13), 8)
    assert [i.name for i in down.graph.input] == ["x", "w"]
    assert [t.name for t in down.graph.initializer] == ["w"]
    onnx.checker.check_model(down, full_check=True)
    up = convert_version(down, 13)
    assert [i.name for i in up.graph.input] == ["x"]


def test_a_default_that_callers_may_override_keeps_the_version_up() -> None:
    proto = model(8, 13)
    proto.graph.input.append(onnx.helper.make_tensor_value_info("w", 1, [2]))
    down = convert_version(proto, 8)
    assert down.ir_version == 4
    with pytest.raises(ConversionError, match="override"):
        convert_version(proto, 8, ir_version=3)


def test_constants_of_bodies_become_inputs_of_these() -> None:
    proto = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["": 13]>
        g (float[2] x, bool c) => (float[2] y) {
            y = If (c) <
                then_branch = t () => (float[2] p) <float[2] w = {1, 2}, int64[1] s = {2}> {
                    a = Add (x, w)
                    p = Reshape (a, s)
                },
                else_branch = e () => (float[2] q) { q = Identity (x) }>
        }
    """)
    down = convert_version(proto, 8)
    onnx.checker.check_model(down, full_check=True)
    body = down.graph.node[0].attribute[0].g
    assert [n.op_type for n in body.node] == ["Add", "Reshape"]
    assert [t.name for t in body.initializer] == [i.name for i in body.input] == ["w", "s"]
    ir.verify(ir.load(down))


def test_constants_of_other_bodies_become_nodes_or_go_to_the_main_graph() -> None:
    proto = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["": 13, "own": 1]>
        g (float[2] x) => (float[2] y) {
            y = own.Apply (x) <
                body = t (float[2] i) => (float[2] p) <float[2] w = {1, 2}, int64[1] s = {2}> {
                    a = Add (i, w)
                    p = Reshape (a, s)
                }>
        }
    """)
    down = convert_version(proto, 8)
    onnx.checker.check_model(down)
    body = down.graph.node[0].attribute[0].g
    assert [n.op_type for n in body.node] == ["Constant", "Add", "Reshape"]
    assert [t.name for t in down.graph.initializer] == ["s"]  # Constant 8 holds floats only


def test_it_can_be_chosen() -> None:
    assert convert_version(model(8, 13), 8, ir_version=6).ir_version == 6
    with pytest.raises(ConversionError, match="newest"):
        convert_version(model(8, 13), 8, ir_version=99)
