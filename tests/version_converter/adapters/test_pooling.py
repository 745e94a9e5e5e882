import numpy as np
import onnx
import pytest
import straightline as sl
from conversions import (
    assert_becomes,
    assert_carried,
    assert_refuses,
    assert_writes,
    converted,
    model,
)
from harness import assert_equal
from sessions import open_session
from tables import table


def test_small_integers_are_pooled_as_floats():
    assert_becomes("""12 to 11, int8[1, 1, 4] x: y = MaxPool <kernel_shape = [2]> (x) =>
        floats = Cast <to = 1> (x)
        pooled = MaxPool <kernel_shape = [2]> (floats)
        y = Cast <to = 3> (pooled)""")


def test_the_order_of_indices_that_are_not_given():
    node = "MaxPool <kernel_shape = [2, 2]> (x)"
    ordered = "MaxPool <storage_order = 1, kernel_shape = [2, 2]> (x)"
    assert_writes(f"y = {ordered}", 8, 7, [node], "float[1, 1, 4, 4] x")
    reason = "its output 1 is used and does not exist"
    assert_refuses(f"z, y = {ordered}", 8, 7, reason, "float[1, 1, 4, 4] x")


@pytest.mark.parametrize(
    ("op_type", "source", "target"),
    [
        (op_type, *versions)
        for op_type in ("AveragePool", "LpPool", "MaxPool")
        for versions in ((21, 22), (22, 21), (18, 19), (19, 18))
    ],
)
def test_last_windows_that_start_in_the_padding_are_refused(op_type, source, target):
    text = "ceil_mode = 1, kernel_shape = [3], pads = [1, 1], strides = [2]"
    inside = [f"{op_type} <{text}> (x)"]
    assert_writes(f"y = {op_type} <{text}> (x)", source, target, inside, "float[1, 1, 6] x")
    outside = "ceil_mode = 1, kernel_shape = [2], pads = [0, 1], strides = [3]"
    body = f"y = {op_type} <{outside}> (x)"
    if op_type != "AveragePool" and 18 in (source, target):
        assert_writes(body, source, target, [f"{op_type} <{outside}> (x)"], "float[1, 1, N] x")
    else:
        reason = f"may count windows in another way in opset {target}"
        assert_refuses(body, source, target, reason, "float[1, 1, N] x")


def test_windows_that_reach_as_far_as_the_padding_are_inside():
    """The last window starts before in + pad - reach + stride: with pad + stride = reach inside."""
    for more, inside in (
        ("kernel_shape = [2], strides = [2]", True),
        ("kernel_shape = [2], strides = [3]", False),
        ("kernel_shape = [2], strides = [2], pads = [0, 1]", False),
        ("kernel_shape = [2], strides = [2], pads = [1, 0]", True),
        ("kernel_shape = [2], strides = [3], dilations = [2]", True),
        ("kernel_shape = [2], strides = [4], dilations = [2]", False),
        ("kernel_shape = [2], pads = [0, 1]", True),
        ('kernel_shape = [2], strides = [2], auto_pad = "VALID"', True),
        ('kernel_shape = [2], strides = [2], auto_pad = "SAME_UPPER"', True),
    ):
        body = f"y = MaxPool <ceil_mode = 1, {more}> (x)"
        if inside:
            assert len(converted(body, 21, 22, "float[1, 1, N] x")) == 1, more
        else:
            assert_refuses(body, 21, 22, "may count windows in another way", "float[1, 1, N] x")


@table(("N, C, 7", True), ("1, 1, 6", False), ("1, 1, 7, 7", True), ("1, 1, 7, 6", False))
def test_windows_of_known_sizes_are_counted(shape, same):
    axes = shape.count(",") - 1
    pads = [0] * axes + [1] * axes
    how = f"ceil_mode = 1, kernel_shape = {[2] * axes}, pads = {pads}, strides = {[3] * axes}"
    node = f"MaxPool <{how}> (x)"
    if same:
        assert_writes(f"y = {node}", 21, 22, [node], f"float[{shape}] x")
    else:
        assert_refuses(f"y = {node}", 21, 22, "counts windows in another way", f"float[{shape}] x")


TEXT = """<ir_version: 8, opset_import: ["" : 13]>
g (float[B,1,6,W] x) => (float[B,1,E,F] y) { y = %s (x) }"""


@table(
    "MaxPool <kernel_shape = [3,3], strides = [2,2], ceil_mode = 1>",
    "AveragePool <kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1], ceil_mode = 1>",
)
def test_sizes_need_not_be_known_where_no_window_starts_in_the_padding(pool):
    model = onnx.parser.parse_model(TEXT % pool)
    x = np.random.default_rng(0).random((2, 1, 6, 7), np.float32)
    (expected,) = sl.reference.run(model, {"x": x})
    (got,) = sl.reference.run(sl.convert_version(model, 22), {"x": x})
    assert_equal(got, expected)


def test_a_window_that_may_start_in_the_padding_is_refused():
    pool = "MaxPool <kernel_shape = [2,2], strides = [3,3], pads = [1,1,1,1], ceil_mode = 1>"
    with pytest.raises(sl.versions.ConversionError, match="may count windows in another way"):
        sl.convert_version(onnx.parser.parse_model(TEXT % pool), 22)


@pytest.mark.sample(6)
@pytest.mark.parametrize("op_type", ["AveragePool", "LpPool", "MaxPool"])
@pytest.mark.parametrize("length", [5, 6, 7, 8, 9])
@pytest.mark.parametrize(
    "how",
    [
        "kernel_shape = [2, 2], strides = [2, 2], pads = [1, 1, 1, 1]",
        "kernel_shape = [2, 3], strides = [3, 2], pads = [0, 1, 1, 1]",
        "kernel_shape = [3, 2], strides = [2, 3]",
    ],
)
def test_windows_of_known_sizes_before_opset_22(op_type, length, how):
    """Windows that start in the padding go; windows that reach into it stay."""
    body = f"y = {op_type} <ceil_mode = 1, {how}> (x)"
    x = np.random.default_rng(0).normal(size=(1, 2, length, 7)).astype(np.float32)
    before = model(body, 22, f"float[1, 2, {length}, 7] x")
    (wanted,) = sl.reference.run(before, {"x": x})
    for target in (21, 18):
        after = sl.convert_version(before, target)
        assert_equal(sl.reference.run(after, {"x": x})[0], wanted)
        np.testing.assert_allclose(open_session(after).run(None, {"x": x})[0], wanted, 1e-5, 1e-6)


def test_a_mean_of_such_windows_counts_the_padding_of_the_node_only():
    how = "kernel_shape = [2, 2], strides = [2, 3], pads = [1, 0, 1, 0]"
    body = f"y = AveragePool <ceil_mode = 1, count_include_pad = 1, {how}> (x)"
    x = np.random.default_rng(0).normal(size=(1, 1, 7, 7)).astype(np.float32)
    assert_carried(body, 22, (21, 18), {"x": x}, "float[1, 1, 7, 7] x", 1e-6)
