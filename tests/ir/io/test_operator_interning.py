from collections.abc import Set

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper, numpy_helper
from straightline import ir
from straightline.ir.io.operator_interning import Operators
from straightline.ir.operator import Operator

names = st.sampled_from(
    ["a", "", "x" * 127, "x" * 128, "é" * 70, "x" * 20_000, '"\x03Add', "\x1a\x00"]
)
TENSOR = numpy_helper.from_array(np.array([1, 2]))
VALUES = [0, 1, 0.0, -0.0, float("nan"), "a", [1], [1.0], ["a"], TENSOR]


def read(
    nodes: list[onnx.NodeProto], functions: Set[tuple[str, str, str]] = frozenset()
) -> tuple[list[Operator], list[onnx.NodeProto]]:
    """The operators of some nodes, and the nodes that were looked at."""
    asked: list[onnx.NodeProto] = []
    operators = Operators(functions)
    made = [
        operators.of(n, n.input[:], n.output[:], lambda node, *_: asked.append(node)) for n in nodes
    ]
    return made, asked


@st.composite
def nodes(draw: st.DrawFn) -> onnx.NodeProto:
    """A node that may write out anything, also what is empty."""
    node = onnx.NodeProto()
    node.input.extend(draw(st.lists(names, max_size=3)))
    node.output.extend(draw(st.lists(names, max_size=2)))
    node.op_type = draw(st.sampled_from(["Add", "Concat", "Constant", ""]))
    for field in ("name", "domain", "overload", "doc_string"):
        if draw(st.booleans()):
            setattr(node, field, draw(names) if field in ("name", "doc_string") else "")
    for kind in draw(st.lists(st.sampled_from(["axis", "to"]), unique=True)):
        node.attribute.append(helper.make_attribute(kind, draw(st.sampled_from(VALUES))))
    if draw(st.booleans()):
        node.metadata_props.add(key="k", value=draw(names))
    return node


def nameless(node: onnx.NodeProto) -> tuple[object, ...]:
    """All that a node says but names, by another way."""
    rest = onnx.NodeProto()
    rest.CopyFrom(node)
    del rest.input[:], rest.output[:]
    if rest.name:
        rest.ClearField("name")
    there = [bool(name) for name in node.input], [bool(name) for name in node.output]
    return rest.SerializeToString(deterministic=True), str(there)


@given(st.lists(nodes(), min_size=2, max_size=6))
def test_one_operator_for_what_says_the_same_and_never_for_another(
    given: list[onnx.NodeProto],
) -> None:
    given = [onnx.NodeProto.FromString(node.SerializeToString()) for node in given]
    made, asked = read(given)
    first: dict[object, int] = {}
    for index, (node, op) in enumerate(zip(given, made, strict=True)):
        same = first.setdefault(nameless(node), index)
        plain = not (node.attribute or node.overload or op.extra)
        assert (op is made[same]) == (bool(node.op_type) or plain or same == index)
        proto = op.node_proto()
        proto.input.extend(node.input)
        proto.output.extend(node.output)
        if node.name:
            proto.name = node.name
        assert proto.SerializeToString() == node.SerializeToString()
    # What ONNX does not know is looked at each time.
    known = [op for op in made if op.op_type]
    assert sum(bool(node.op_type) for node in asked) == len({id(op) for op in known})


def test_operators_of_other_domains_are_interned() -> None:
    node = helper.make_node("Neg", ["x"], ["y"], domain="own", axis=1)
    made, asked = read([node, node])
    assert len(asked) == 1 and made[0] is made[1]


def test_large_or_naming_attributes_are_not_interned() -> None:
    tensor = numpy_helper.from_array(np.zeros(17))
    body = helper.make_graph([], "b", [], [])
    placed = helper.make_node("Neg", ["x"], ["y"])
    placed.device_configurations.add(configuration_id="c").sharding_spec.add(tensor_name="x")
    holder = helper.make_node("Neg", ["x"], ["y"], body=body)
    calls: list[tuple[onnx.NodeProto, set[tuple[str, str, str]]]] = [
        (helper.make_node("Constant", [], ["y"], value=tensor), set()),
        (helper.make_node("If", ["x"], ["y"], then_branch=body, else_branch=body), set()),
        (helper.make_node("NoSuchOperator", ["x"], ["y"]), set()),
        (helper.make_node("Neg", ["x"], ["y"], domain="own", body=body), set()),
        (helper.make_node("Neg", ["x"], ["y"]), {("", "Neg", "")}),
        (placed, set()),
        (holder, set()),
    ]
    for node, functions in calls:
        made, asked = read([node, node], functions)
        assert len(asked) == 2
        assert (made[0] is made[1]) == (not node.attribute and node is not placed)


CONSTANTS = '<ir_version: 8, opset_import: ["" : 17]> g () => (int64[N] y, int64[N] z) {'


def test_equal_small_constants_share_operator_and_tensor() -> None:
    """Their elements are read once; other types, shapes, names and signs of zero make others."""
    text = "y = Constant <value = int64[2] {1, -1}> () z = Constant <value = int64[2] {1, -1}> () }"
    one, other = ir.parse(CONSTANTS + text).graph.nodes()
    assert one.op is other.op and one.output().constant is other.output().constant
    arrays = [np.array([0.0]), np.array([-0.0]), np.array(0.0), np.array([0], np.int64)]
    tensors = [numpy_helper.from_array(array) for array in arrays]
    tensors.append(numpy_helper.from_array(arrays[0], "named"))
    made, asked = read([helper.make_node("Constant", [], ["y"], value=t) for t in tensors])
    assert len({id(op) for op in made}) == len(asked) == len(tensors)


def test_a_fault_in_a_constant_like_another_one() -> None:
    text = "y = Constant <value = int64[1] {1}> () z = Constant <value = int64[1] {1}> () }"
    model = onnx.parser.parse_model(CONSTANTS + text)
    model.graph.node[1].attribute[0].t.int64_data.append(2)
    with pytest.raises(ir.ModelError, match="has 2 elements where its shape"):
        ir.load(model)


@pytest.mark.parametrize("count", [1, 17])
def test_constants_are_written_as_they_were_read(count: int) -> None:
    array = np.arange(count)
    nodes = [
        helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array))
        for name in "ab"
    ]
    nodes.append(helper.make_node("Add", ["a", "b"], ["c"]))
    output = helper.make_tensor_value_info("c", onnx.TensorProto.INT64, [count])
    graph = helper.make_graph(nodes, "g", [], [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    assert ir.to_proto(ir.load(model)).SerializeToString() == model.SerializeToString()


def test_an_attribute_twice_is_refused() -> None:
    node = helper.make_node("Concat", ["x"], ["y"], axis=0)
    node.attribute.append(node.attribute[0])
    with pytest.raises(ir.ModelError, match="Concat '' has two attributes 'axis'"):
        read([node])


def test_faults_are_found_behind_nodes_that_look_almost_alike() -> None:
    """The element type of a Cast is a part of what it says."""
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) {{ {} }}'
    right = "a = Cast <to = 7> (x) b = Cast <to = 7> (a) y = Cast <to = 1> (b)"
    model = ir.parse(text.format(right))
    first, second, last = (node.op for node in model.graph.nodes())
    assert first is second and last is not first
    with pytest.raises(ir.ModelError, match="Cast 'y' has 99 as its attribute 'to'"):
        ir.parse(text.format(right.replace("to = 1>", "to = 99>")))


@given(nodes())
def test_the_bytes_for_writing_are_those_of_the_operator(node: onnx.NodeProto) -> None:
    (op,), _ = read([node])
    message = op.node_proto()
    assert op.encoding in (None, message.SerializeToString())
    assert message.metadata_props == node.metadata_props and message.doc_string == node.doc_string
    assert op.has_extra == (op.extra is not None)


@given(nodes())
def test_rows_read_what_protobuf_reads(node: onnx.NodeProto) -> None:
    node.input[:] = node.input[:] or ["x"]
    operators = Operators(set())
    operators.of(node, node.input[:], node.output[:])  # most random nodes are refused at first
    for op, inputs, output, name in operators.rows([node], lambda *_: None):
        assert (inputs, [output], name) == (node.input[:], node.output[:], node.name)
        assert op is operators.of(node, node.input[:], node.output[:])
    is_short = all(0 < len(n) < 128 and n.isascii() for n in (*node.input, *node.output))
    if is_short and len(node.output) == 1 and node.op_type == "Add" and node.name == "a":
        assert list(operators.rows([node], lambda *_: None))


def test_rows_end_at_the_first_node_that_is_not_plain() -> None:
    plain = [helper.make_node("Neg", ["x"], ["a"], name="n"), helper.make_node("Neg", ["a"], ["b"])]
    others = [
        helper.make_node("Split", ["a"], ["b", "c"]),
        helper.make_node("Clip", ["a", "", "b"], ["c"]),
        helper.make_node("Neg", ["a"], [""]),
        helper.make_node("Constant", [], ["a"], value=TENSOR),
        helper.make_node("Neg", ["a"], ["b"], domain="own"),
        helper.make_node("NoSuchOperator", ["a"], ["b"]),
        onnx.NodeProto(),
        onnx.NodeProto(input=["a"]),
        onnx.NodeProto(input=["a"], output=["b"]),
        onnx.NodeProto(input=["a"], output=["b"], name="n"),
    ]
    for other in others:
        asked: list[onnx.NodeProto] = []
        left = iter([*plain, other, *plain])
        rows = list(Operators(set()).rows(left, lambda node, *_, to=asked: to.append(node)))
        assert [row[1:] for row in rows] == [(["x"], "a", "n"), (["a"], "b", "")]
        assert rows[0][0] is rows[1][0] and asked == plain[:1]
        assert list(left) == plain
    assert not list(Operators({("", "Neg", "")}).rows(iter(plain), lambda *_: None))
