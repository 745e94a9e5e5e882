"""Nodes in functions whose attributes come from the caller: nothing is decided before inlining."""

import contextlib

import numpy as np
import onnx
import pytest
import straightline as sl
from harness import assert_equal, check_model
from onnx import AttributeProto, TensorProto, helper
from straightline import ir, reference
from straightline.passes.manager import registry
from straightline.passes.manager.pipeline_parser import parse_pipeline

HEAD = '<ir_version: 10, opset_import: ["" : 18, "lib" : 1]>\n'
FUNCTION = '<opset_import: ["" : 18, "lib" : 1], domain: "lib">\n'
LIST = np.arange(6, dtype=np.float32).reshape(2, 3)

CONCAT = """g (float[2, 3] a, float[2, 3] b) => (float[N, M] y) { y = lib.f <CALL> (a, b) }
FUNCTIONf <DEFAULT> (a, b) => (y) {
  s = SequenceConstruct (a, b)
  y = ConcatFromSequence <axis: int = @d> (s) }"""
NEW_AXIS = """g (float[2, 3] a, float[2, 3] b) => (float[N, M] y) { y = lib.f <CALL> (a, b) }
FUNCTIONf <DEFAULT> (a, b) => (y) {
  s = SequenceConstruct (a, b)
  x = ConcatFromSequence <axis = 0, new_axis: int = @d> (s)
  shape = Constant <value_ints = [3, 4]> ()
  y = Reshape (x, shape) }"""
SPLIT = """g (float[2, 3] a) => (float[N, M] y) { y = lib.f <CALL> (a) }
FUNCTIONf <DEFAULT> (a) => (y) {
  s = SplitToSequence <axis: int = @d> (a)
  first = Constant <value_int = 0> ()
  y = SequenceAt (s, first) }"""
SCAN = """g (float[2, 3] a, float[2, 3] b) => (float[N, M] y) { y = lib.f <CALL> (a, b) }
FUNCTIONf <DEFAULT> (a, b) => (y) {
  y = Scan <num_scan_inputs = 2, scan_input_axes: ints = @d, body = b
    (float[K] r, float[K] s) => (float[K] t) { t = Add (r, s) }> (a, b) }"""
COUNT = """g (float[3] a, float[2, 3] b) => (float[N, M] y) { y = lib.f <CALL> (a, b) }
FUNCTIONf <DEFAULT> (a, b) => (y) {
  u, y = Scan <num_scan_inputs: int = @d, body = b
    (float[3] r, float[3] s) => (float[3] t, float[3] v) { t = Add (r, s) v = Identity (t) }> (a, b)
}"""
ITERATIONS = """g (float[3] a) => (float[M] y) { y = lib.f <CALL> (a) }
FUNCTIONf <DEFAULT> (a) => (y) {
  n = Constant <value_int: int = @d> ()
  t = Constant <value = bool {1}> ()
  y = Loop (n, t, a) <body = b (int64 i, bool c, float[3] s) => (bool c2, float[3] s2) {
    c2 = Identity (c)
    k = Cast <to: int = @d> (i)
    s2 = Add (s, k) }> }"""
CASES = [
    (CONCAT, "d = 1", "d"),
    (CONCAT, "", "d: int = 1"),
    (CONCAT, "d = 1", "d: int = 0"),
    (NEW_AXIS, "d = 1", "d"),
    (NEW_AXIS, "", "d"),
    (SPLIT, "d = 1", "d"),
    (SPLIT, "", "d"),
    (SPLIT, "", "d: int = 1"),
    (SCAN, "d = [1, 1]", "d"),
    (SCAN, "", "d"),
    (SCAN, "", "d: ints = [1, 1]"),
    (COUNT, "d = 1", "d"),
    (COUNT, "", "d: int = 1"),
    (ITERATIONS, "d = 1", "d"),
    (ITERATIONS, "", "d: int = 1"),
]
EVERY = pytest.mark.parametrize(("text", "call", "default"), CASES)


def build(text: str, call: str, default: str) -> onnx.ModelProto:
    filled = text.replace("<CALL>", f"<{call}>" if call else "").replace("DEFAULT", default)
    return onnx.parser.parse_model(HEAD + filled.replace("FUNCTION", FUNCTION))


def feeds_of(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    shapes = {
        i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input
    }
    return {n: np.arange(np.prod(s), dtype=np.float32).reshape(s) for n, s in shapes.items()}


def assert_same(one: onnx.ModelProto, other: onnx.ModelProto) -> None:
    feeds = feeds_of(one)
    pairs = zip(reference.run(one, feeds), reference.run(other, feeds), strict=True)
    for expected, got in pairs:
        assert_equal(got, expected)


@EVERY
def test_rewrite_and_inspect(text: str, call: str, default: str) -> None:
    model = build(text, call, default)
    assert_same(model, sl.rewrite(model))
    sl.inspect(model)


@EVERY
def test_inlining_decides(text: str, call: str, default: str) -> None:
    result = sl.rewrite(build(text, call, default))
    found = {node.op_type for node in result.graph.node}
    assert not result.functions
    assert not {op for op in found if "Sequence" in op or op in ("Scan", "Loop")}


@EVERY
def test_every_pass(text: str, call: str, default: str) -> None:
    model = build(text, call, default)
    loaded = ir.load(model)
    for kind in registry.PASSES:
        if kind.name != "inline-functions":
            parse_pipeline(kind.name).apply(loaded)
            ir.verify(loaded)
    result = ir.to_proto(loaded)
    check_model(result)
    assert len(result.functions) == 1
    assert_same(model, result)


@EVERY
@pytest.mark.parametrize("target", [13, 21, 25])
def test_conversion(text: str, call: str, default: str, target: int) -> None:
    model = build(text, call, default)
    try:
        assert_same(model, sl.convert_version(model, target))
    except sl.versions.ConversionError as error:
        assert all("attribute" in failure.reason for failure in error.failures)


def test_the_remark_says_what_to_do() -> None:
    result = parse_pipeline("lower-sequences,unroll-scans").run(build(*CASES[0]))
    assert "'axis' comes from the function around it; inline" in result.kept[1].reason
    result = parse_pipeline("unroll-scans").run(build(COUNT, "d = 1", "d"))
    assert "'num_scan_inputs' comes from the function around it" in result.kept[0].reason


def test_a_graph_from_the_caller() -> None:
    """ONNX lets a function take a graph as an attribute; its Loop and If then stay."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["c2"]), helper.make_node("Relu", ["s"], ["s2"])],
        "b",
        [onnx.ValueInfoProto(name=name) for name in ("i", "c", "s")],
        [onnx.ValueInfoProto(name=name) for name in ("c2", "s2")],
    )
    node = helper.make_node("Loop", ["n", "", "a"], ["y"], name="loop")
    node.attribute.add(name="body", ref_attr_name="d", type=AttributeProto.GRAPH)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("lib", 1)]
    function = helper.make_function("lib", "f", ["n", "a"], ["y"], [node], opsets, ["d"])
    graph = helper.make_graph(
        [helper.make_node("f", ["n", "a"], ["y"], domain="lib", d=body)],
        "g",
        [
            helper.make_tensor_value_info("n", TensorProto.INT64, []),
            helper.make_tensor_value_info("a", TensorProto.FLOAT, [2]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    model = helper.make_model(graph, opset_imports=opsets, functions=[function], ir_version=10)
    for kind in registry.PASSES:
        loaded = ir.load(model)
        parse_pipeline(kind.name).apply(loaded)
        (kept,) = ir.to_proto(loaded).functions
        assert kept.node[0].attribute[0].ref_attr_name == "d"
    found = sl.inspect(model)
    assert ("Loop", "kept") in {(c.op_type, c.outcome) for c in found.constructs}
    sl.convert_version(model, 17)
    with pytest.raises(sl.versions.ConversionError, match="Relu"):
        sl.convert_version(model, 10)


VALUES = {
    AttributeProto.INT: 1,
    AttributeProto.FLOAT: 1.0,
    AttributeProto.STRING: b"a",
    AttributeProto.INTS: [1, 1],
    AttributeProto.FLOATS: [1.0],
    AttributeProto.STRINGS: [b"a"],
    AttributeProto.TENSOR: helper.make_tensor("t", TensorProto.FLOAT, [1], [1.0]),
}


def operators() -> list[tuple[str, str]]:
    """Every attribute, not a graph, of every standard operator in its newest version."""
    schemas = [s for s in onnx.defs.get_all_schemas() if not s.domain and not s.deprecated]
    return [
        (schema.name, name)
        for schema in schemas
        for name, attribute in schema.attributes.items()
        if int(attribute.type) in VALUES and schema.name not in ("Scan", "Loop", "If")
    ]


@pytest.mark.sample(7)
@pytest.mark.parametrize("name", sorted({name for name, _ in operators()}))
def test_every_operator_with_attributes(name: str) -> None:
    """Whatever the operator makes of its inputs: no pass iterations over the reference."""
    for attribute in [a for n, a in operators() if n == name]:
        model = one_call(onnx.defs.get_schema(name), attribute)
        loaded = ir.load(model)
        for kind in registry.PASSES:
            parse_pipeline(kind.name).apply(loaded)
            ir.verify(loaded)
        sl.rewrite(model)
        sl.inspect(model)
        with contextlib.suppress(sl.Error):
            sl.convert_version(model, 18)


def one_call(schema: onnx.defs.OpSchema, attribute: str) -> onnx.ModelProto:
    """A model that calls a function around an operator, and gives it one attribute."""
    count = max(schema.min_input, 1) if schema.inputs else 0
    inputs = [f"i{index}" for index in range(count)]
    outputs = ["o", *(f"o{index}" for index in range(1, schema.min_output))]
    node = helper.make_node(schema.name, inputs, outputs, name="it")
    for formal in schema.attributes.values():
        if formal.name == attribute:
            node.attribute.add(name=attribute, ref_attr_name="d", type=int(formal.type))
        elif formal.required and int(formal.type) in VALUES:
            value = VALUES[int(formal.type)]
            node.attribute.append(helper.make_attribute(formal.name, value))
    opsets = [helper.make_opsetid("", 25), helper.make_opsetid("lib", 1)]
    tail = helper.make_node("Identity" if "Sequence" in schema.name else "Shape", ["o"], ["p"])
    function = helper.make_function("lib", "f", inputs, ["o", "p"], [node, tail], opsets, ["d"])
    given = VALUES[int(schema.attributes[attribute].type)]
    call = helper.make_node("f", inputs, ["o", "p"], domain="lib", d=given)
    kinds = [declared(schema, index) for index in range(count)]
    graph = helper.make_graph(
        [call],
        "g",
        [helper.make_value_info(n, kind) for n, kind in zip(inputs, kinds, strict=True)],
        [onnx.ValueInfoProto(name="o"), onnx.ValueInfoProto(name="p")],
    )
    return helper.make_model(graph, opset_imports=opsets, functions=[function], ir_version=10)


def declared(schema: onnx.defs.OpSchema, index: int) -> onnx.TypeProto:
    """A type that an input of an operator may have."""
    if not schema.inputs:
        return helper.make_tensor_type_proto(TensorProto.FLOAT, [2])
    kinds = sorted(schema.inputs[min(index, len(schema.inputs) - 1)].types)
    kind = next((k for k in kinds if k in ("tensor(float)", "seq(tensor(float))")), kinds[0])
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, [2])
    if kind.startswith("seq"):
        return helper.make_sequence_type_proto(tensor)
    name = kind.removeprefix("tensor(").removesuffix(")").upper()
    return helper.make_tensor_type_proto(getattr(TensorProto, name, TensorProto.FLOAT), [2])
