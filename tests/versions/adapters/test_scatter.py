"""Scatter, ScatterElements and ScatterND: names and reductions."""

import numpy as np
import pytest
from conversions import assert_carried, assert_refuses, assert_writes


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


@pytest.mark.parametrize("sizes", ["3, 4, 5", "A, B, C"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_below_opset_11_slices_are_scattered_as_elements(sizes, depth):
    x = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    places = np.stack([[0, -1], [1, -2], [-3, 2]][:depth], -1)
    updates = -np.arange(1, 1 + 2 * np.prod(x.shape[depth:]), dtype=np.float32)
    updates = updates.reshape(2, *x.shape[depth:])
    rest = "".join(f", {size}" for size in x.shape[depth:])
    signature = f"float[{sizes}] x, int64[2, {depth}] i, float[2{rest}] u"
    feeds = {"x": x, "i": places, "u": updates}
    assert_carried("y = ScatterND (x, i, u)", 13, (10, 9), feeds, signature)
