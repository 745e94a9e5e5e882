"""QuantizeLinear and DequantizeLinear: scales, and the types that they give."""

import pytest
from conversions import assert_refuses, assert_writes


@pytest.mark.parametrize("op_type", ["QuantizeLinear", "DequantizeLinear"])
def test_before_opset_13_there_is_one_scale(op_type):
    data = "float" if op_type == "QuantizeLinear" else "int8"
    body = f"y = {op_type} <axis = 0> (x, s)"
    for scale in ("float s", "float[1] s"):
        assert_writes(body, 13, 12, [f"{op_type} (x, s)"], f"{data}[2, 3] x, {scale}")
    for scale in ("float[2] s", "float[N] s"):
        assert_refuses(body, 13, 12, "and this one has more", f"{data}[2, 3] x, {scale}")
    assert_refuses(body, 13, 12, "the shape of this one is not known", f"{data}[2, 3] x, s")


def test_the_type_of_a_quantized_tensor_is_that_of_its_zero_point():
    signature = "float[2, 3] x, float{} s, int8 z"
    body = "y = QuantizeLinear <output_dtype = {}> ({})"
    for shape, zero in (("", "0"), ("[3]", "[0, 0, 0]")):
        wanted = [f"QuantizeLinear (x, s, {zero})"]
        assert_writes(body.format(3, "x, s"), 21, 20, wanted, signature.format(shape))
    reason = "zero point of the shape of the scale, which is not known"
    assert_refuses(body.format(3, "x, s"), 21, 20, reason, signature.format("[N]"))
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
