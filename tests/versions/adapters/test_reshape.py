"""Reshape: zeros in the wanted shape."""

import onnx.checker
from conversions import assert_refuses, converted, known_model
from straightline import convert_version


def test_reshapes_to_a_size_of_zero():
    node = "y = Reshape <allowzero = 1> (x, s)"
    for shape, fits in (("3, -1", True), ("0, 3", False)):
        body = f"s = Constant <value_ints = [{shape}]> () {node}"
        if fits:
            assert converted(body, 14, 13, "float[6] x")[-1] == "Reshape (x, s)"
        else:
            assert_refuses(body, 14, 13, "a dimension of 0 with allowzero", "float[0] x")
    assert_refuses(node, 14, 13, "computed at run time", "float[6] x, int64[2] s")
    assert converted("y = Reshape (x, s)", 14, 13, "float[6] x, int64[2] s") == ["Reshape (x, s)"]


def test_a_shape_that_is_computed_from_a_known_one_has_no_zeros():
    body = "s = Shape (x) y = Reshape <allowzero = 1> (x, s)"
    proto = known_model(body, "float[2, 3]", 14)
    onnx.checker.check_model(convert_version(proto, 13), full_check=True)
