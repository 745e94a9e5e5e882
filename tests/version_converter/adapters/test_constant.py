import numpy as np
import onnx
import pytest
from conversions import X, assert_carried, converted, model, written
from straightline import convert_version, reference
from straightline.version_converter import ConversionError
from tables import table


@table(
    ("value_float = 1.5", 1.5),
    ("value_floats = [1.5, 2.0]", [1.5, 2.0]),
    ("value_int = 3", 3),
    ("value_ints = [3, 4]", [3, 4]),
)
def test_numbers_of_a_constant_become_a_tensor(value, held):
    body = f"y = Constant <{value}> ()"
    assert converted(body, 12, 11) == [f"Constant <value = {held}> ()"]
    assert_carried(body, 12, (11, 10, 9, 8), {"x": X})


def test_a_constant_of_integers_is_an_initializer_in_opset_8():
    after = convert_version(model("c = Constant <value = int32[2] {1, 2}> () y = Neg (c)", 9), 8)
    assert written(after.graph) == ["Neg ([1, 2])"]
    floats = convert_version(model("c = Constant <value = float[2] {1, 2}> () y = Neg (c)", 9), 8)
    assert written(floats.graph)[0] == "Constant <value = [1.0, 2.0]> ()"


def test_a_sparse_constant_becomes_a_dense_one():
    proto = model("y = Neg (x)", 11, "float[3] x")
    values = onnx.helper.make_tensor("", onnx.TensorProto.FLOAT, [1], [5.0])
    places = onnx.helper.make_tensor("", onnx.TensorProto.INT64, [1], [2])
    sparse = onnx.helper.make_sparse_tensor(values, places, [3])
    proto.graph.node.insert(0, onnx.helper.make_node("Constant", [], ["c"], sparse_value=sparse))
    proto.graph.node[1].CopyFrom(onnx.helper.make_node("Add", ["x", "c"], ["y"]))
    after = convert_version(proto, 10)
    assert written(after.graph) == ["Constant <value = [0.0, 0.0, 5.0]> ()", "Add (x, c)"]


def test_a_constant_of_integers_in_a_function_is_cast_in_opset_8():
    """Functions have no initializers."""
    proto = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 9, "f": 1]>
        g (int32[2] x) => (int32[2] y) { y = f.more (x) }
        <domain: "f", opset_import: ["": 9]>
        more (a) => (b) {
            c = Constant <value = int32[2] {1, 2}> ()
            b = Sub (a, c) }""")
    after = convert_version(proto, 8)
    assert [node.op_type for node in after.functions[0].node] == ["Constant", "Cast", "Sub"]
    (found,) = reference.run(after, {"x": np.array([5, 5], np.int32)})
    np.testing.assert_array_equal(found, np.array([4, 3], np.int32))


@pytest.mark.parametrize("target", [11, 10])
def test_a_value_that_calls_give(target):
    proto = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13, "local": 1]>
        g (float[2] x) => (float[2] y) { y = local.more <by = 2.0> (x) }
        <domain: "local", opset_import: ["": 13]> more <by> (p) => (r) {
            c = Constant <value_float: float = @by> ()
            r = Add (p, c) }""")
    with pytest.raises(ConversionError, match="its value comes from the calls of the function"):
        convert_version(proto, target, rewrite=False)
    assert convert_version(proto, 12)
    (found,) = reference.run(convert_version(proto, target), {"x": np.ones(2, np.float32)})
    np.testing.assert_array_equal(found, np.full(2, 3, np.float32))
