import onnx
import pytest
from harness import as_model
from straightline import convert_version, ir
from straightline.version_converter import ConversionError
from straightline.version_converter.ir_version import needed, released_with
from tables import table


def model(ir_version: int, opset: int) -> onnx.ModelProto:
    text = """<ir_version: {ir}, opset_import: ["": {opset}]>
    g (float[2] x) => (float[2] y) <float[2] w = {{1, 2}}> {{ y = Mul (x, w) }}"""
    return onnx.parser.parse_model(text.format(ir=ir_version, opset=opset))


def test_the_first_release_with_an_opset_decides() -> None:
    expected = {7: 3, 8: 3, 9: 4, 10: 5, 11: 6, 12: 7, 14: 7, 15: 8, 18: 8, 19: 9, 21: 10, 25: 13}
    assert {opset: released_with(opset) for opset in expected} == expected


@table(
    (8, 13, 8, 3), (8, 13, 10, 5), (3, 8, 13, 7), (10, 13, 18, 10), (4, 13, 11, 4), (8, 13, 13, 8)
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
    assert convert_version(proto, 8).ir_version == 4
    with pytest.raises(ConversionError, match="override"):
        convert_version(proto, 8, ir_version=3)


def test_constants_of_bodies_become_inputs_of_these() -> None:
    proto = as_model(
        """g (float[2] x, bool c) => (float[2] y) {
            y = If (c) <
                then_branch = t () => (float[2] p) <float[2] w = {1, 2}, int64[1] s = {2}> {
                    a = Add (x, w)
                    p = Reshape (a, s)
                },
                else_branch = e () => (float[2] q) { q = Identity (x) }> }""",
        13,
    )
    down = convert_version(proto, 8)
    onnx.checker.check_model(down, full_check=True)
    body = down.graph.node[0].attribute[0].g
    assert [n.op_type for n in body.node] == ["Add", "Reshape"]
    assert [t.name for t in body.initializer] == [i.name for i in body.input] == ["w", "s"]
    ir.verify(ir.load(down))


def test_constants_of_other_bodies_become_nodes_or_go_to_the_main_graph() -> None:
    proto = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13, "own": 1]>
        g (float[2] x) => (float[2] y) {
            y = own.Apply (x) <
                body = t (float[2] i) => (float[2] p) <float[2] w = {1, 2}, int64[1] s = {2}> {
                    a = Add (i, w)
                    p = Reshape (a, s) }> }""")
    down = convert_version(proto, 8)
    onnx.checker.check_model(down)
    body = down.graph.node[0].attribute[0].g
    assert [n.op_type for n in body.node] == ["Constant", "Add", "Reshape"]
    assert [t.name for t in down.graph.initializer] == ["s"]  # Constant 8 holds floats only


def test_it_can_be_chosen() -> None:
    assert convert_version(model(8, 13), 8, ir_version=6).ir_version == 6
    with pytest.raises(ConversionError, match="newest"):
        convert_version(model(8, 13), 8, ir_version=99)


def sparse(proto: onnx.ModelProto) -> None:
    tensor = proto.graph.sparse_initializer.add(dims=[4])
    tensor.values.CopyFrom(onnx.helper.make_tensor("k", onnx.TensorProto.FLOAT, [1], [2.0]))
    tensor.indices.CopyFrom(onnx.helper.make_tensor("", onnx.TensorProto.INT64, [1], [1]))


def function(proto: onnx.ModelProto) -> None:
    node = onnx.helper.make_node("Relu", ["a"], ["b"])
    opsets = [onnx.helper.make_opsetid("", 13)]
    proto.functions.append(onnx.helper.make_function("own", "F", ["a"], ["b"], [node], opsets))
    proto.opset_import.add(domain="own", version=1)


def optional_input(proto: onnx.ModelProto) -> None:
    tensor = onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [2])
    type_ = onnx.helper.make_optional_type_proto(tensor)
    proto.graph.input.append(onnx.helper.make_value_info("maybe", type_))


def quantization(proto: onnx.ModelProto) -> None:
    annotation = proto.graph.quantization_annotation.add(tensor_name="y")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="w")


def node_metadata(proto: onnx.ModelProto) -> None:
    proto.graph.node[0].metadata_props.add(key="k", value="v")


def element_type(elem_type: int):
    def declare(proto: onnx.ModelProto) -> None:
        proto.graph.input.append(onnx.helper.make_tensor_value_info("odd", elem_type, [2]))

    return declare


@table(
    (lambda proto: None, 3, "opset imports"),
    (sparse, 6, "sparse tensors"),
    (function, 8, "functions"),
    (optional_input, 8, "optional types"),
    (quantization, 5, "quantization annotations"),
    (node_metadata, 10, "metadata of nodes"),
    (element_type(onnx.TensorProto.BFLOAT16), 4, "element types"),
    (element_type(onnx.TensorProto.FLOAT8E5M2), 9, "element types"),
    (element_type(onnx.TensorProto.INT4), 10, "element types"),
    (element_type(onnx.TensorProto.FLOAT4E2M1), 11, "element types"),
)
def test_a_model_needs_what_its_features_do(feature, least: int, why: str) -> None:
    proto = model(13, 13)
    feature(proto)
    assert needed(ir.load(proto)) == (least, why)
    if least > 3:
        with pytest.raises(ConversionError, match=f"this model needs {least} .{why}."):
            convert_version(proto, 13, ir_version=least - 1)


def test_going_up_it_is_raised_to_what_the_model_needs() -> None:
    """Runtimes read metadata whatever the IR version of the file says."""
    proto = model(6, 17)
    proto.graph.output[0].metadata_props.add(key="k", value="v")
    assert convert_version(proto, 18).ir_version == 10
    assert convert_version(proto, 16).ir_version == 10
    assert convert_version(proto, 17).ir_version == 6
    with pytest.raises(ConversionError, match="metadata of values"):
        convert_version(proto, 18, ir_version=8)


def test_a_constant_that_is_named_from_outside_the_data_flow_is_so_where_it_goes() -> None:
    proto = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["": 13, "own": 1, "ai.onnx.preview.training": 1]>
        g (float[2] x) => (float[2] y) {
            y = own.Apply (x) <
                body = t (float[2] i) => (float[2] p) <int64[1] s = {2}> {
                    q = Reshape (i, s)
                    p = ai.onnx.preview.training.Gradient <xs = ["s"], y = "q"> (i) }> }""")
    down = convert_version(proto, 8)
    body = down.graph.node[0].attribute[0].g
    (gradient,) = [node for node in body.node if node.op_type == "Gradient"]
    (named,) = next(list(a.strings) for a in gradient.attribute if a.name == "xs")
    defined = {o for node in (*body.node, *down.graph.node) for o in node.output}
    defined |= {t.name for g in (body, down.graph) for t in g.initializer}
    assert named.decode() in defined
