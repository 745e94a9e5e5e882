import onnx
from hypothesis import example, given
from hypothesis import strategies as st
from onnx import helper
from straightline.ir import Node, Operator, Value
from straightline.ir.io.protobuf.node_bytes import (
    OF_FUNCTION,
    OF_GRAPH,
    after_names,
    characters,
    encode_nodes,
    encode_operator,
    to_bytes,
    with_sizes,
)

NAMES = st.sampled_from(["", "a", "é" * 63, "é" * 64, "x" * 127, "x" * 128, "x" * 20_000])
CONCAT = Operator("Concat")
SAID = helper.make_node("Concat", [], [], axis=1, doc_string="x" * 200)


@given(st.lists(NAMES, max_size=3), st.lists(NAMES, max_size=3), NAMES)
@example(["a", "é"] * 20, ["b"], "")
def test_protobuf_reads_what_is_written(inputs: list[str], outputs: list[str], name: str) -> None:
    said = SAID.SerializeToString()
    expected = helper.make_node("Concat", inputs, outputs, name or None, axis=1)
    expected.doc_string = SAID.doc_string
    graph, function = onnx.GraphProto(node=[SAID]), onnx.FunctionProto(node=[SAID])
    for holder, field in ((graph, OF_GRAPH), (function, OF_FUNCTION)):
        read = [Value(each) if each else None for each in inputs]
        names = dict(zip([None, *read], with_sizes(["", *inputs]), strict=True))
        node = Node(CONCAT, read, outputs, "another name" if name else "")
        written, varying = encode_nodes(
            field, [node], {CONCAT: characters(said)}, {node: name}, names
        )
        holder.MergeFromString(to_bytes(written))
        assert holder.node[1] == expected
        assert varying is None
    assert after_names(expected.SerializeToString(), inputs, outputs, name) == said


def test_a_node_that_varies_defines_its_outputs() -> None:
    first, second = Node(CONCAT, [], ["a"]), Node(Operator("Neg"), [], ["b", "", "c"])
    names: dict[Value | None, str] = {}
    rests = {CONCAT: "", second.op: None}
    written, varying = encode_nodes(OF_GRAPH, iter([first, second, first]), rests, {}, names)
    assert written == ["\n\x03\x12\x01a"]
    assert varying is second
    assert list(names.values()) == ["\x01a", "\x01b", "\x01c"]


@given(NAMES, NAMES, NAMES)
def test_an_operator_alone(op_type: str, domain: str, overload: str) -> None:
    said = to_bytes([encode_operator(op_type or "Neg", domain, overload)])
    expected = onnx.NodeProto(op_type=op_type or "Neg")
    if domain:
        expected.domain = domain
    if overload:
        expected.overload = overload
    assert onnx.NodeProto.FromString(said) == expected
    assert said == expected.SerializeToString()


def test_fields_after_the_names() -> None:
    assert after_names(b"", [], [], "") == b""
    assert after_names(onnx.NodeProto(input=["a"]).SerializeToString(), ["a"], [], "") == b""
    empty = onnx.NodeProto(name="", op_type="Neg")
    assert after_names(empty.SerializeToString(), [], [], "") == empty.SerializeToString()
