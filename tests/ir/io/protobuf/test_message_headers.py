from collections.abc import Callable

import onnx
import pytest
import straightline as sl
from google.protobuf.unknown_fields import UnknownFieldSet
from hypothesis import given
from hypothesis import strategies as st
from onnx import OperatorSetIdProto, helper
from straightline import ir
from straightline.ir import ModelError
from straightline.ir.io.protobuf.message_headers import (
    are_plain,
    copy_without,
    encode,
    encode_imports,
    function_header,
    graph_header,
    imports_of,
    model_header,
    update_imports,
    versions_of,
)
from straightline.ir.io.protobuf.node_bytes import to_bytes
from straightline.ir.model import FunctionName
from tables import table


def function(domain: str = "own") -> onnx.FunctionProto:
    imports = [helper.make_opsetid("", 21)]
    nodes = [helper.make_node("Neg", ["x"], ["y"])]
    return helper.make_function(domain, "f", ["x"], ["y"], nodes, imports)


def header_of(proto: onnx.FunctionProto) -> onnx.FunctionProto | FunctionName:
    return function_header(proto, imports_of(proto.opset_import))


def test_a_name_is_all_that_most_functions_say() -> None:
    assert header_of(function()) == FunctionName("own", "f")
    assert FunctionName("own", "f").header() == onnx.FunctionProto(domain="own", name="f")
    assert FunctionName("", "f").header() == onnx.FunctionProto(name="f")


SAYS_MORE: list[Callable[[onnx.FunctionProto], object]] = [
    lambda f: f.attribute.append("alpha"),
    lambda f: f.attribute_proto.append(helper.make_attribute("alpha", 1)),
    lambda f: f.metadata_props.add(key="k", value="v"),
    lambda f: setattr(f, "doc_string", ""),
    lambda f: setattr(f, "overload", "1"),
    lambda f: setattr(f, "domain", ""),
    lambda f: f.opset_import.append(helper.make_opsetid("", 21)),
    lambda f: f.opset_import[0].ClearField("domain"),
    lambda f: f.MergeFromString(b"\x98\x06\x07"),
]


@pytest.mark.parametrize("change", SAYS_MORE)
def test_all_else_that_is_said_is_kept(change: Callable[[onnx.FunctionProto], object]) -> None:
    proto = function()
    change(proto)
    kept = header_of(proto)
    assert isinstance(kept, onnx.FunctionProto)
    for field in ("input", "output", "node"):
        getattr(kept, field).extend(getattr(proto, field))
    assert kept == proto


def test_headers_of_models_and_graphs() -> None:
    graph = onnx.GraphProto(name="g", doc_string="d", node=[helper.make_node("Neg", [], [])])
    graph.metadata_props.add(key="k", value="v")
    header = graph_header(graph)
    del graph.node[:]
    assert header == graph
    model = helper.make_model(graph, functions=[function()], producer_name="p")
    kept = model_header(model)
    model.ClearField("graph")
    del model.functions[:]
    assert kept == model


DOMAINS = st.sampled_from(["", "own", "é", "x" * 200])


def entry(domain: str | None, version: int | None) -> OperatorSetIdProto:
    message = OperatorSetIdProto()
    if domain is not None:
        message.domain = domain
    if version is not None:
        message.version = version
    return message


@given(st.lists(st.tuples(st.none() | DOMAINS, st.none() | st.integers(-1, 2**40)), max_size=3))
def test_plain_imports_keep_their_bytes(said: list[tuple[str | None, int | None]]) -> None:
    function = onnx.FunctionProto(opset_import=[entry(*pair) for pair in said])
    imports = imports_of(function.opset_import)
    assert [pair[:2] for pair in imports] == [(d or "", v or 0) for d, v in said]
    domains = [domain or "" for domain, _ in said]
    complete = all(domain is not None and version is not None for domain, version in said)
    assert are_plain(imports) == (complete and len(set(domains)) == len(domains))
    if are_plain(imports):
        written = to_bytes([encode_imports(versions_of(imports, "it"))])
        assert written == function.SerializeToString()


def test_unknown_fields_of_a_newer_onnx_are_not_plain() -> None:
    newer = OperatorSetIdProto.FromString(entry("", 17).SerializeToString() + b"\x18\x07")
    assert not are_plain(imports_of([newer])) and are_plain(imports_of([entry("", 17)]))


def test_two_of_one_domain() -> None:
    same = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx", 17)]
    assert versions_of(imports_of(same), "it") == {"": 17, "ai.onnx": 17}
    same[1].version = 18
    with pytest.raises(ModelError, match=r"it imports two versions of domain 'ai.onnx'"):
        versions_of(imports_of(same), "it")


def test_entries_follow_the_versions() -> None:
    message = onnx.FunctionProto(opset_import=[entry(None, 17), entry("gone", 1), entry("own", 1)])
    update_imports(message.opset_import, {"": 18, "own": 1, "new": 2})
    assert list(message.opset_import) == [entry(None, 18), entry("own", 1), entry("new", 2)]


# Of field 999: a text, a number, 64 and 32 bits, and a group that holds a number.
FIELDS = bytes.fromhex(
    "ba3e03616263" + "b83e9601" + "b93e0102030405060708" + "bd3e01020304" + "bb3e0805bc3e"
)

MODEL = """<ir_version: 10, opset_import: ["": 21, "local": 1]>
    g (float[2] x, bool c) => (float[2] y) <float[2] w = {1, 2}> {
        a = Add (x, w)
        b = If (c) <then_branch = t () => (p) { p = Relu (a) },
                    else_branch = e () => (q) { q = Neg (a) }>
        y = local.F (b) }
    <domain: "local", opset_import: ["": 21]> F (v) => (z) { z = Abs (v) }"""


@table(
    ("model", lambda m: m),
    ("graph", lambda m: m.graph),
    ("node", lambda m: m.graph.node[0]),
    ("node with a body", lambda m: m.graph.node[1]),
    ("body", lambda m: m.graph.node[1].attribute[0].g),
    ("node of a body", lambda m: m.graph.node[1].attribute[0].g.node[0]),
    ("function", lambda m: m.functions[0]),
    ("node of a function", lambda m: m.functions[0].node[0]),
    ("initializer", lambda m: m.graph.initializer[0]),
    ("input", lambda m: m.graph.input[0]),
    ("attribute", lambda m: m.graph.node[1].attribute[0]),
)
def test_headers_come_back(place, call):
    proto = onnx.parser.parse_model(MODEL)
    call(proto).MergeFromString(FIELDS)
    assert FIELDS in proto.SerializeToString()
    back = ir.to_proto(ir.load(proto))
    assert encode(UnknownFieldSet(call(back))) == FIELDS


def test_a_rewrite_keeps_those_of_what_stays():
    proto = onnx.parser.parse_model(MODEL)
    proto.graph.node[0].MergeFromString(FIELDS)
    back = sl.convert_version(sl.rewrite(proto, values={"c": True}), 18)
    assert [node.op_type for node in back.graph.node][:2] == ["Add", "Relu"]
    (add, *rest) = back.graph.node
    assert encode(UnknownFieldSet(add)) == FIELDS
    assert not any(len(UnknownFieldSet(node)) for node in rest)


def test_nodes_of_one_kind_with_and_without_them():
    proto = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float x) => (float y)'
        "{ a = Abs (x) y = Abs (a) }"
    )
    proto.graph.node[1].MergeFromString(FIELDS)
    model = ir.load(proto)
    first, second = model.graph.nodes()
    assert first.op != second.op
    assert ir.to_proto(model) == proto


def test_a_copy_without_fields():
    tensor = onnx.TensorProto(name="w", dims=[600], raw_data=bytes(2400))
    tensor.segment.SetInParent()
    made = copy_without(tensor, {"raw_data"})
    assert (made.name, made.dims, made.HasField("raw_data")) == ("w", [600], False)
    assert made.HasField("segment") and not made.HasField("doc_string")
