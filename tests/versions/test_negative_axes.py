"""Negative axes below opset 11: written out where they are negative."""

import onnx
import onnx.defs
import pytest
from conversions import assert_refuses, assert_writes
from straightline.versions.negative_axes import AXES


@pytest.mark.parametrize("op_type", sorted(AXES))
def test_every_operator_that_says_its_axes_is_known_by_that_attribute(op_type):
    axis = AXES[op_type]
    attributes = onnx.defs.get_schema(op_type, 10, "").attributes
    kind = attributes[axis.attribute].type
    assert kind == (
        onnx.defs.OpSchema.AttrType.INTS
        if axis.attribute == "axes"
        else onnx.defs.OpSchema.AttrType.INT
    )


def test_axes_from_the_front_need_no_rank():
    for body in ("Concat <axis = 1> (x, x)", "Squeeze <axes = [0, 1]> (x)", "Flatten (x)"):
        assert_writes(f"y = {body}", 11, 10, [body], "x")


def test_axes_from_the_back_do():
    reason = "a negative 'axis' needs the rank of input 0, which is not known"
    assert_refuses("y = Concat <axis = -1> (x, x)", 11, 10, reason, "x")
    reason = "a negative 'axes' needs the rank of input 0, which is not known"
    assert_refuses("y = Squeeze <axes = [0, -1]> (x)", 11, 10, reason, "x")


def test_upwards_they_stay():
    assert_writes("y = Concat <axis = 1> (x, x)", 10, 11, ["Concat <axis = 1> (x, x)"])
