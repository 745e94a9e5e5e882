"""Binding inputs: what is converted, what is refused by name, where symbols are replaced."""

import ml_dtypes
import numpy as np
import onnx
import pytest
import straightline as sl
from onnx import TensorProto
from straightline.binding import BindingError, bind_inputs

MODEL = """<ir_version: %d, opset_import: ["" : 23]>
g (float[N, 4] x, float[N, M] w, %s v) => (float[N, 4] y, float[2] z) <float[2] z = {1, 2}> {
    c = Constant <value = bool {1}> ()
    y = If (c) <
        then_branch = t () => (float[N, 4] r) { r = Relu (x) },
        else_branch = f () => (float[N, 4] s) { s = Neg (x) }
    >
    used = Identity (v)
    also = Identity (w)
}"""


def model(declared="int64", ir_version=11):
    return sl.ir.parse(MODEL % (ir_version, declared))


def bound(declared, value):
    """What an input of that type becomes when it is set to a value."""
    found = model(declared)
    arrays = bind_inputs(found, {"v": value}, {})
    assert [v.name for v in found.graph.inputs] == ["x", "w"]
    sl.ir.verify(found)
    onnx.checker.check_model(sl.ir.to_proto(found), full_check=True)
    return arrays["v"]


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        ("int64", 5, np.int64(5)),
        ("int64", 5.0, np.int64(5)),
        ("uint8", 255, np.uint8(255)),
        ("float", 3, np.float32(3)),
        ("float", 0.1, np.float32(0.1)),
        ("float16", 1e-9, np.float16(0)),
        ("double", float("inf"), np.float64("inf")),
        ("bool", True, np.bool_(True)),
        ("bool", 0, np.bool_(False)),
        ("int64[1]", 5, np.int64([5])),
        ("int64[1, 1]", 5, np.int64([[5]])),
        ("int64[2]", [1, 2], np.int64([1, 2])),
        ("int64[P]", [], np.zeros(0, np.int64)),
        ("float[2, 2]", [[1, 2], [3, 4]], np.float32([[1, 2], [3, 4]])),
        ("string", "text", np.array("text", object)),
        ("int4", -8, np.array(-8, ml_dtypes.int4)),
        ("bfloat16", 3, np.array(3, ml_dtypes.bfloat16)),
        ("float[2]", np.float32([1, 2]), np.float32([1, 2])),
        ("float", np.float32(2), np.float32(2)),
    ],
)
def test_a_value_is_converted_where_that_is_exact(declared, value, expected):
    found = bound(declared, value)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ("int64", 1.5),
        ("int64", True),
        ("int64", "5"),
        ("int64", None),
        ("int64", [1, 2]),
        ("int64", 2**63),
        ("int64", 1e30),
        ("int64", float("nan")),
        ("uint8", 256),
        ("uint8", -1),
        ("float", 2**24 + 1),
        ("float16", 1e6),
        ("int4", 8),
        ("bfloat16", 257),
        ("float8e4m3fn", 1e6),
        ("float", "nan"),
        ("bool", 2),
        ("string", 5),
        ("int64[2]", 5),
        ("int64[2]", [[1], [2]]),
        ("int64[2]", [[1], [2, 3]]),
        ("float", np.float64(1)),
        ("float[2]", np.float32([1, 2, 3])),
        ("int64", np.int32(1)),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_name(declared, value):
    with pytest.raises(sl.Error, match="input 'v'"):
        bound(declared, value)


def test_what_is_no_tensor_or_no_input_is_refused():
    with pytest.raises(sl.Error, match="no input 'q'; it has 'x', 'w', 'v'"):
        bind_inputs(model(), {"q": 1}, {})
    text = '<ir_version: 8, opset_import: ["" : 17]> g (seq(float[2]) s) => (int64 n)'
    found = sl.ir.parse(text + " { n = SequenceLength (s) }")
    with pytest.raises(BindingError, match="input 's' is not a tensor"):
        bind_inputs(found, {"s": [1]}, {})
    with pytest.raises(BindingError, match="input 's' is not a tensor"):
        bind_inputs(found, {}, {"s": [1]})


@pytest.mark.parametrize("ir_version", [3, 8])
def test_a_bound_input_leaves_the_signature_at_every_ir_version(ir_version):
    text = '<ir_version: %d, opset_import: ["" : 7]> g (float[2] x, float[2] v) => (float[2] y)'
    found = sl.ir.parse(text % ir_version + " { y = Add (x, v) }")
    bind_inputs(found, {"v": [1, 2]}, {})
    proto = sl.ir.to_proto(found)
    onnx.checker.check_model(proto, full_check=True)
    assert [info.name for info in proto.graph.input] == ["x"]
    (y,) = sl.reference.run(proto, {"x": np.float32([1, 1])})
    np.testing.assert_array_equal(y, [2, 3])


def test_a_symbol_is_replaced_everywhere():
    found = model()
    bind_inputs(found, {}, {"x": (3, None)})
    sl.ir.verify(found)
    assert [v.shape for v in found.graph.inputs] == [(3, 4), (3, "M"), ()]
    text = sl.ir.to_text(found)
    assert "N" not in text.replace("Neg", "")
    assert "float[3,4] r" in text and "float[3,4] y" in text


def test_dimensions_without_a_symbol_and_unknown_ranks_are_fixed():
    found = model("float[?, 2]")
    bind_inputs(found, {}, {"v": (7, 2)})
    assert found.graph.inputs[2].shape == (7, 2)
    found = model("float[]")
    found.graph.inputs[2].type = onnx.helper.make_tensor_type_proto(TensorProto.FLOAT, None)
    bind_inputs(found, {}, {"v": (1, None)})
    assert found.graph.inputs[2].shape == (1, None)


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ({"q": (1,)}, "no input 'q'"),
        ({"x": (1,)}, "input 'x' has rank 2"),
        ({"x": (1, 5)}, "input 'x': dimension 1 is 4, not 5"),
        ({"x": (-1, 4)}, "input 'x': -1 is not a dimension"),
        ({"x": ("N", 4)}, "input 'x': 'N' is not a dimension"),
        ({"x": (True, 4)}, "input 'x': True is not a dimension"),
        ({"w": (2, 2), "x": (3, 4)}, "input 'x': dimension 'N' would be 3, but input 'w'"),
        ({"v": (2,)}, "input 'v' has rank 0"),
    ],
)
def test_a_shape_that_contradicts_is_refused_by_name(shapes, words):
    with pytest.raises(BindingError, match=words):
        bind_inputs(model(), {}, shapes)


def test_a_default_that_contradicts_is_refused():
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[N] x) => (float[N] y)'
    found = sl.ir.parse(text + " <float[2] x = {1, 2}> { y = Abs (x) }")
    with pytest.raises(BindingError, match="input 'x' has a default of shape"):
        bind_inputs(found, {}, {"x": (3,)})


def test_a_value_must_fit_the_shape_that_is_set():
    found = model("float[P]")
    with pytest.raises(sl.Error, match="input 'v'"):
        bind_inputs(found, {"v": [1, 2]}, {"v": (3,)})
