"""Scatter, ScatterElements and ScatterND: names and reductions."""

import pytest
from conversions import assert_refuses, assert_writes


def test_scatter_has_another_name_before_opset_11():
    signature = "float[3, 3] x, int64[1, 3] i, float[1, 3] u"
    old, new = "Scatter <axis = 1> (x, i, u)", "ScatterElements <axis = 1> (x, i, u)"
    assert_writes(f"y = {old}", 10, 11, [new], signature)
    assert_writes(f"y = {new}", 11, 10, [old], signature)


@pytest.mark.parametrize(("op_type", "indices"), [("ScatterElements", "i"), ("ScatterND", "j")])
@pytest.mark.parametrize(
    ("reduction", "fits"), [("max", False), ("min", False), ("add", True), ("mul", True)]
)
def test_reductions_that_came_later_are_refused(op_type, indices, reduction, fits):
    body = f'y = {op_type} <reduction = "{reduction}"> (x, {indices}, x)'
    signature = "float[2, 3] x, int64[2, 3] i, int64[2, 1] j"
    if fits:
        wanted = [f"{op_type} <reduction = {reduction}> (x, {indices}, x)"]
        assert_writes(body, 18, 17, wanted, signature)
    else:
        reason = f"reduction = '{reduction}' does not exist in opset 17"
        assert_refuses(body, 18, 17, reason, signature)
