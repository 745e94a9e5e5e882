import ml_dtypes
import numpy as np
import onnx
import pytest
import straightline as sl
from onnx import TensorProto
from straightline import reference
from straightline.driver.specialize import bind_inputs, typed_values
from straightline.ir.errors import BindingError
from tables import table


def model(declared="int64", ir_version=11):
    text = """<ir_version: %d, opset_import: ["" : 23]>
    g (float[N, 4] x, float[N, M] w, %s v) => (float[N, 4] y, float[2] z) <float[2] z = {1, 2}> {
        c = Constant <value = bool {1}> ()
        y = If (c) <
            then_branch = t () => (float[N, 4] r) { r = Relu (x) },
            else_branch = f () => (float[N, 4] s) { s = Neg (x) } >
        used = Identity (v)
        also = Identity (w) }"""
    return sl.ir.parse(text % (ir_version, declared))


def bound(declared, value):
    """What an input of that type becomes when it is set to a value."""
    found = model(declared)
    arrays = bind_inputs(found, {"v": value}, {})
    assert [v.name for v in found.graph.inputs] == ["x", "w"]
    sl.ir.verify(found)
    onnx.checker.check_model(sl.ir.to_proto(found), full_check=True)
    return arrays["v"]


@pytest.mark.sample(27)
@table(
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
    # At the edges of what is exact.
    ("double", 2**53, np.float64(2**53)),
    ("double", 2**53 + 2, np.float64(2**53 + 2)),
    ("float", 2**24, np.float32(2**24)),
    ("float", -(2**24), np.float32(-(2**24))),
    ("float", 3.4028235e38, np.float32(3.4028235e38)),
    ("float16", 65504, np.float16(65504)),
    ("float16", 65519.9, np.float16(65504)),
    ("float16", -65519.9, np.float16(-65504)),
    ("bfloat16", 256, np.array(256, ml_dtypes.bfloat16)),
    ("float8e4m3fn", 463.9, np.array(448, ml_dtypes.float8_e4m3fn)),
    ("float8e4m3fn", float("nan"), np.array(np.nan, ml_dtypes.float8_e4m3fn)),
    ("float8e5m2", float("inf"), np.array(np.inf, ml_dtypes.float8_e5m2)),
    ("float8e5m2", float("-inf"), np.array(-np.inf, ml_dtypes.float8_e5m2)),
    ("float8e5m2", -0.0, np.array(-0.0, ml_dtypes.float8_e5m2)),
    ("float8e4m3fnuz", 0.0, np.array(0, ml_dtypes.float8_e4m3fnuz)),
    ("float8e4m3fnuz", -1e-9, np.array(0, ml_dtypes.float8_e4m3fnuz)),
    ("float4e2m1", 6.9, np.array(6, ml_dtypes.float4_e2m1fn)),
    ("float4e2m1", -0.0, np.array(-0.0, ml_dtypes.float4_e2m1fn)),
    ("float16", float("nan"), np.float16("nan")),
    ("float16", float("-inf"), np.float16("-inf")),
    ("uint64", 2**64 - 1, np.uint64(2**64 - 1)),
    ("int64", 2**63 - 1, np.int64(2**63 - 1)),
    ("int64", -(2**63), np.int64(-(2**63))),
    ("int64", 2.0**62, np.int64(2**62)),
    ("int8", -128, np.int8(-128)),
    ("int8", 127.0, np.int8(127)),
    ("bool", 1, np.bool_(True)),
    ("bool[2]", [True, False], np.array([True, False])),
    ("complex64", 1 + 2j, np.complex64(1 + 2j)),
    ("complex64", 0.1, np.complex64(0.1)),
    ("complex128", 2**53, np.complex128(2**53)),
    ("double[2]", [2**53, 0.5], np.float64([2**53, 0.5])),
    ("int64[2]", [2**53 + 1, 1], np.int64([2**53 + 1, 1])),
    ("int64[2]", [5, 1.0], np.int64([5, 1])),
)
def test_a_value_is_converted_where_that_is_exact(declared, value, expected):
    found = bound(declared, value)
    assert found.dtype == expected.dtype
    if expected.dtype.kind == "V":  # numpy does not know their NaN
        found, expected = found.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(found, expected)


@table(
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
    # At the edges of what is exact.
    ("double", 2**53 + 1),
    ("double", -(2**53) - 1),
    ("float", -(2**24) - 1),
    ("float", 2**31 - 1),
    ("float", 3.5e38),
    ("float16", 65520),
    ("float16", 65520.0),
    ("float16", -65520.0),
    ("float16", 2049),
    ("bfloat16", 3.4e38),
    ("float8e4m3fn", 464.0),
    ("float8e4m3fn", 449),
    ("float8e4m3fn", float("inf")),
    ("float8e4m3fn", float("-inf")),
    ("float8e4m3fnuz", float("inf")),
    ("float8e4m3fnuz", -0.0),
    ("float8e5m2fnuz", float("-inf")),
    ("float8e5m2fnuz", -0.0),
    ("float8e5m2", 1e6),
    ("float4e2m1", float("inf")),
    ("float4e2m1", float("-inf")),
    ("float4e2m1", float("nan")),
    ("float4e2m1", 7.0),
    ("float4e2m1", -1000.0),
    ("float4e2m1", 5),
    ("uint64", 2**64),
    ("uint64", -1),
    ("int64", -(2**63) - 1),
    ("int64", 2.0**63),
    ("int64", float("inf")),
    ("int8", 128),
    ("int8", -129),
    ("int32", 2**31),
    ("uint4", 16),
    ("bool", -1),
    ("bool", 1.0),
    ("int64", 1j),
    ("double", 1j),
    ("complex64", 2**24 + 1),
    ("complex64", complex(0, 1e39)),
    ("complex128", 2**53 + 1),
    ("double[2]", [2**53 + 1, 0.5]),
    ("int64[2]", [2**53 + 1, 1.0]),
    ("uint64[2]", [2**63 + 1, -1]),
    ("string[2]", ["a", 1]),
    ("string[2]", [1, 2]),
)
def test_a_value_that_does_not_fit_is_refused_by_name(declared, value):
    with pytest.raises(BindingError, match="input 'v'"):
        bound(declared, value)


@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("-inf"), 1e39, 0.0, -0.0])
def test_a_type_of_powers_of_two_has_neither_zero_nor_sign(value):
    text = '<ir_version: 12, opset_import: ["" : 24]> g (float8e8m0 v) => (float8e8m0 y)'
    found = sl.ir.parse(text + " { y = Identity (v) }")
    with pytest.raises(BindingError, match="input 'v' is float8e8m0"):
        bind_inputs(found, {"v": value}, {})
    assert float(bind_inputs(found, {"v": 3.9}, {})["v"]) == 4


def test_a_sign_that_is_kept_is_that_of_zero_too():
    assert np.signbit(bound("float", -0.0))
    assert np.signbit(bound("float16", -1e-9))
    assert not np.signbit(bound("float8e4m3fnuz", -1e-9).astype(np.float32))


VALUES = """<ir_version: 8, opset_import: ["" : 18]>
g (float[N] a, float[N] b, float[N, M] c, float[K] d) => (float[N] y, float[N, M] z) {
    y = Add (a, b)
    z = Relu (c)
    used = Relu (d) }"""


def test_a_value_fixes_the_symbols_of_its_shape_wherever_they_stand():
    found = sl.ir.parse(VALUES)
    bind_inputs(found, {"a": [1, 2, 3]}, {})
    sl.ir.verify(found)
    assert [v.shape for v in found.graph.inputs] == [(3,), (3, "M"), ("K",)]
    proto = sl.ir.to_proto(found)
    onnx.checker.check_model(proto, full_check=True)
    dims = [
        [d.dim_value or d.dim_param for d in o.type.tensor_type.shape.dim]
        for o in proto.graph.output
    ]
    assert dims == [[3], [3, "M"]]


@table(
    ({"a": [1, 2, 3], "b": [1, 2]}, {},
     "input 'b': dimension 'N' would be 2, but input 'a' makes it 3"),
    ({"c": [[1, 2]], "a": [1, 2]}, {},
     "input 'a': dimension 'N' would be 2, but input 'c' makes it 1"),
    ({"a": 5, "b": [1, 2]}, {}, "input 'b': dimension 'N' would be 2, but input 'a' makes it 1"),
    ({"a": [1, 2]}, {"b": (3,)}, r"input 'a' is float\[3\]"),
    ({"a": [1, 2]}, {"a": (3,)}, r"input 'a' is float\[3\]"))  # fmt: skip
def test_values_that_contradict_each_other_or_the_shapes_are_refused(values, shapes, words):
    with pytest.raises(BindingError, match=words):
        bind_inputs(sl.ir.parse(VALUES), values, shapes)
    if not shapes:
        with pytest.raises(BindingError, match=words):
            typed_values(sl.ir.to_proto(sl.ir.parse(VALUES)), values)


def test_one_number_is_a_tensor_of_one_element_where_the_size_is_open():
    found = sl.ir.parse(VALUES)
    assert bind_inputs(found, {"a": 5}, {})["a"].shape == (1,)
    assert [v.shape for v in found.graph.inputs] == [(1,), (1, "M"), ("K",)]
    found = sl.ir.parse(VALUES)
    assert bind_inputs(found, {"c": 5}, {"b": (1,)})["c"].shape == (1, 1)
    found = sl.ir.parse(VALUES)
    with pytest.raises(sl.Error, match="input 'a'"):
        bind_inputs(found, {"a": 5}, {"b": (2,)})


def test_a_default_that_a_value_contradicts_is_refused():
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[N] x, float[N] w) => (float[N] y)'
    found = sl.ir.parse(text + " <float[2] w = {1, 2}> { y = Add (x, w) }")
    with pytest.raises(BindingError, match="input 'w' has a default of shape"):
        bind_inputs(found, {"x": [1, 2, 3]}, {})


def test_a_verified_rewrite_with_values_that_fix_symbols():
    flat = sl.rewrite(sl.ir.to_proto(sl.ir.parse(VALUES)), values={"a": [1, 2, 3]}, verify=True)
    assert [i.name for i in flat.graph.input] == ["b", "c", "d"]


def test_binding_what_is_no_input_or_no_tensor():
    with pytest.raises(BindingError, match="no input 'q'; it has 'x', 'w', 'v'"):
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


@table(
    ({"q": (1,)}, "no input 'q'"),
    ({"x": (1,)}, "input 'x' has rank 2"),
    ({"x": (1, 5)}, "input 'x': dimension 1 is 4, not 5"),
    ({"x": (-1, 4)}, "input 'x': -1 is not a dimension"),
    ({"x": ("N", 4)}, "input 'x': 'N' is not a dimension"),
    ({"x": (True, 4)}, "input 'x': True is not a dimension"),
    ({"w": (2, 2), "x": (3, 4)}, "input 'x': dimension 'N' would be 3, but input 'w'"),
    ({"v": (2,)}, "input 'v' has rank 0"),
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


@table(
    ("grows", ("v", "Concat <axis = 1> (w, last)")),
    ("grows under its name", ("t", "Concat <axis = 1> (w, last)")),
    ("stays", ("t", "Sub (w, last)")),
)
def test_a_size_does_not_reach_a_state_that_may_change_it(state, case):
    """Exporters name the size of a state that grows by that of its initial value."""
    growing = """<ir_version: 8, opset_import: ["" : 13]>
    g (int64[1, t] ids, int64 n) => (int64[1, u] out, int64[r, 2] sizes)
        <bool yes = {{1}}, int64[1] one = {{1}}, int64[1] zero = {{0}}> {{
        out, sizes = Loop (n, yes, ids) <body = b (int64 i, bool c, int64[1, t] s)
            => (bool d, int64[1, {}] e, int64[2] sh) {{
            d = Identity (c) sh = Shape (s) k = Expand (one, sh) w = Add (s, k)
            last = Slice (w, zero, one, one) e = {} }}> }}"""
    model = onnx.parser.parse_model(growing.format(*case))
    outcome = sl.transform(model, shapes={"ids": [1, 4]}, verify=False)
    for count in (0, 1, 3):
        feeds = {"ids": np.arange(4).reshape(1, 4), "n": np.array(count)}
        for one, other in zip(
            reference.run(model, feeds), reference.run(outcome.model, feeds), strict=True
        ):
            np.testing.assert_array_equal(one, other)
    loops = [node for node in outcome.model.graph.node if node.op_type == "Loop"]
    inside = {node.op_type for loop in loops for node in loop.attribute[0].g.node}
    assert ("Shape" in inside) == (state != "stays")  # inference finds what stays
