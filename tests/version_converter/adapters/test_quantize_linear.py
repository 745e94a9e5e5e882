import numpy as np
import pytest
from conversions import (
    assert_becomes,
    assert_carried,
    assert_refuses,
    assert_writes,
    convert_version,
    model,
)
from sessions import open_session
from straightline import reference
from tables import table


@pytest.mark.parametrize("op_type", ["QuantizeLinear", "DequantizeLinear"])
def test_before_opset_13_there_is_one_scale(op_type):
    data = "float" if op_type == "QuantizeLinear" else "int8"
    body = f"y = {op_type} <axis = 0> (x, s)"
    for scale in ("float s", "float[1] s"):
        assert_writes(body, 13, 12, [f"{op_type} (x, s)"], f"{data}[2, 3] x, {scale}")
    for scale in ("float[2] s", "float[N] s"):
        reason = "and this one has more.*(rank|element type) of input 0"
        assert_refuses(body, 13, 12, reason, f"x, {scale}")
    assert_refuses(body, 13, 12, "the shape of this one is not known", f"{data}[2, 3] x, s")


def test_the_type_of_a_quantized_tensor_is_that_of_its_zero_point():
    signature = "float[2, 3] x, float{} s, int8 z"
    body = "y = QuantizeLinear <output_dtype = {}> ({})"
    for shape, zero in (("", "0"), ("[3]", "[0, 0, 0]")):
        wanted = [f"QuantizeLinear (x, s, {zero})"]
        assert_writes(body.format(3, "x, s"), 21, 20, wanted, signature.format(shape))
    reason = "zero point of the shape of the scale, which is not known.*32-bit scales"
    half = signature.replace("float", "float16")
    assert_refuses(body.format(3, "x, s"), 21, 20, reason, half.format("[N]"))
    for given in ("2", "0"):
        wanted = ["QuantizeLinear (x, s)"]
        assert_writes(body.format(given, "x, s"), 21, 20, wanted, signature.format("[N]"))
    wanted = ["QuantizeLinear (x, s, z)"]
    assert_writes(body.format(3, "x, s, z"), 21, 20, wanted, signature.format(""))


def test_types_of_opset_23_that_22_cannot_say():
    body = "y = QuantizeLinear <precision = {}> (x, s)"
    signature = "float[2, 3] x, float s"
    assert_writes(body.format(1), 23, 22, ["QuantizeLinear (x, s)"], signature)
    assert_refuses(body.format(10), 23, 22, "it divides in another type", signature)
    body = "y = DequantizeLinear <output_dtype = {}> (x, s)"
    signature = "int8[2, 3] x, float s"
    assert_writes(body.format(1), 23, 22, ["DequantizeLinear (x, s)"], signature)
    assert_refuses(body.format(10), 23, 22, "another type than its scale", signature)


def test_how_8_bit_floats_saturate_is_dropped_where_there_are_none():
    signature = "float[2, 3] x, float k"
    wanted = ["QuantizeLinear (x, k)"]
    assert_writes("y = QuantizeLinear <saturate = 0> (x, k)", 19, 18, wanted, signature)


def test_one_scale_for_each_slice_is_written_out():
    assert_becomes("""13 to 12, int8[2, 3] x, float[2] s: y = DequantizeLinear <axis = 0> (x, s) =>
        slices = Reshape (s, [-1, 1])
        numbers = Cast <to = 1> (x)
        y = Mul (numbers, slices)""")
    assert_becomes("""13 to 12, float[2, 3] x, float[3] s, int8[3] z:
        y = QuantizeLinear (x, s, z) =>
        scales = Reshape (s, [-1])
        divided = Div (x, scales)
        rounded = Round (divided)
        starts = Reshape (z, [-1])
        start = Cast <to = 1> (starts)
        moved = Add (rounded, start)
        more = Greater (moved, -128.0)
        least = Where (more, moved, -128.0)
        most = Min (least, 127.0)
        y = Cast <to = 3> (most)""")


X = np.array([[-1e6, -3.5, -2.5, -0.5], [0.5, 1.5, 254.5, 1e6]], np.float32)


@pytest.mark.parametrize("elem_type", ["int8", "uint8", "int16", "uint16"])
def test_a_quantized_tensor_and_back_in_every_opset(elem_type):
    """Halves go to the even one; there is one scale, one for each slice, or one for each block."""
    dtype = np.dtype(elem_type)
    for how, shape in (("", ""), ("<axis = 0>", "[2]"), ("<axis = 1, block_size = 2>", "[2, 2]")):
        dims = [int(n) for n in shape.strip("[]").split(", ") if n]
        scale = np.resize(np.array([1, 0.5, 3, 0.25], np.float32), dims)
        zero = np.resize(np.array([3, 0, 100, 7], dtype), dims)
        there = f"y = QuantizeLinear {how} (x, s, z)"
        fed = {"x": X, "s": scale, "z": zero}
        signature = f"float[2, 4] x, float{shape} s, {elem_type}{shape} z"
        assert_carried(there, 21, (20, 12, 9, 7), fed, signature)
        given = np.resize(np.array([0, 1, 100, 127], dtype), X.shape)
        back = f"y = DequantizeLinear {how} (x, s, z)"
        fed["x"] = given
        signature = f"{elem_type}[2, 4] x, float{shape} s, {elem_type}{shape} z"
        assert_carried(back, 21, (20, 12, 9, 7), fed, signature)


def test_onnxruntime_gives_the_same_without_the_operators():
    body = "q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, z)"
    proto = model(body, 13, "float[2, 4] x, float s, uint8 z", "float[2, 4] y")
    fed = {"x": X, "s": np.array(0.75, np.float32), "z": np.array(3, np.uint8)}
    (wanted,) = reference.run(proto, fed)
    for target in (9, 8, 7):
        (found,) = open_session(convert_version(proto, target)).run(None, fed)
        np.testing.assert_array_equal(found, wanted)


def test_forms_that_are_not_written_out():
    signature = "int32[2, 3] x, float s, int8 z"
    reason = "from 32-bit floats to integers of 8 or 16 bits only"
    assert_refuses("y = QuantizeLinear (x, s, z)", 10, 9, reason, signature)
    signature = "float[2, N] x, float[2, A] s, uint8[2, A] z"
    reason = "a scale for each block needs the length of axis 1"
    body = "y = QuantizeLinear <axis = 1, block_size = 2> (x, s, z)"
    assert_refuses(body, 21, 20, reason, signature)
    body = "y = QuantizeLinear <axis = 1, block_size = {}> (x, s, z)"
    for block, shape, reason in [
        (2, "1", "its scale has the shape \\[1\\], which is not one for each block of 2"),
        (2, "2, 1", "which is not one for each block of 2"),
        (0, "2, 2", "its scale has more than one axis, but there are no blocks"),
        (0, "3", "its scales are not as many as the slices along axis 1"),
    ]:
        signature = f"float[2, 4] x, float[{shape}] s, uint16[{shape}] z"
        assert_refuses(body.format(block), 21, 20, reason, signature)
    reason = "one scale for each slice needs the rank of input 0"
    body = "i = Cast <to = 3> (x) y = DequantizeLinear (i, s)"
    assert_refuses(body, 13, 12, reason, "x, float[2] s")
    reason = "writing it out needs the shape of its scale, which is not known"
    assert_refuses("y = QuantizeLinear (x, s)", 10, 9, reason, "float[2, 3] x, s")


def test_integers_of_32_bits_are_subtracted_before_they_are_rounded():
    x = np.array([2**31 - 1, 2**24 + 1, -7], np.int32)
    fed = {"x": x, "s": np.array(0.5, np.float32), "z": np.array(0, np.int32)}
    body = "y = DequantizeLinear (x, s, z)"
    assert_carried(body, 13, (9, 7), fed, "int32[3] x, float s, int32 z")


@table(("axis = 5, block_size = 2", "2, 2"), ("axis = -3", "3"))
def test_an_axis_that_is_not_there(how, shape):
    signature = f"float[2, 3] x, float[{shape}] s, uint16[{shape}] z"
    reason = "input 0 has no axis"
    target = 20 if "block" in how else 12
    source = 21 if "block" in how else 13
    signature = signature if "block" in how else signature.replace("uint16", "uint8")
    assert_refuses(f"y = QuantizeLinear <{how}> (x, s, z)", source, target, reason, signature)


def test_scales_of_half_floats_below_opset_19():
    x, z = np.array([[-128, 127], [0, 5]], np.int8), np.array([3, -7], np.int8)
    scale = np.array([0.37, 0.1], np.float16)
    feeds, signature = {"x": x, "s": scale, "z": z}, "int8[2, 2] x, float16[2] s, int8[2] z"
    assert_carried("y = DequantizeLinear (x, s, z)", 19, (18, 11), feeds, signature)
    reason = "data of 8-bit floats of it is computed at run time"
    assert_refuses("y = DequantizeLinear (x, s)", 19, 18, reason, "float8e4m3fn[2] x, float s")
    body = "q = Constant <value = float8e4m3fn[2] {1, 2}> () y = DequantizeLinear (q, s, z)"
    reason = "the zero point of it is computed at run time"
    assert_refuses(body, 19, 18, reason, "float s, float8e4m3fn z")
    blocks = {"x": x, "s": scale[None], "z": z[None]}
    signature = "int8[2, 2] x, float16[1, 2] s, int8[1, 2] z"
    body = "y = DequantizeLinear <axis = 0, block_size = 2> (x, s, z)"
    assert_carried(body, 21, (20, 13), blocks, signature)
