import numpy as np
import pytest
from conversions import assert_becomes, assert_carried, assert_refuses, assert_writes, converted
from tables import cases

test_nodes_of_each_step = cases(
    assert_writes,
    ("y = Softmax <axis = -2> (x)", 11, 10, ["Softmax <axis = 1> (x)"], "float[2, 3, 4] x"),
    ("y = LogSoftmax <axis = -2> (x)", 11, 10, ["LogSoftmax <axis = 1> (x)"], "float[2, 3, 4] x"),
    ("y = Hardmax <axis = -2> (x)", 11, 10, ["Hardmax <axis = 1> (x)"], "float[2, 3, 4] x"),
)


def test_rows_of_a_flattened_input_are_normalised():
    assert_becomes("""12 to 13, float[2, 3, 4] x: y = Softmax (x) =>
        rows = Flatten <axis = 1> (x)
        normal = Softmax <axis = -1> (rows)
        shape = Shape (x)
        y = Reshape (normal, shape)""")


def test_an_axis_moves_to_the_end_and_back():
    assert_becomes("""13 to 12, float[2, 3, 4] x: y = Softmax <axis = 0> (x) =>
        moved = Transpose <perm = [1, 2, 0]> (x)
        normal = Softmax <axis = 2> (moved)
        y = Transpose <perm = [2, 0, 1]> (normal)""")


@pytest.mark.sample(9)
@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, -2])
def test_normalised_along_one_axis_or_over_rows(op_type, axis):
    how = "" if axis is None else f"<axis = {axis}>"
    x = np.arange(12, dtype=np.float32).reshape(2, 3, 2) % 5
    for shape in ("2, 3, 2", "A, B, C"):
        body = f"y = {op_type} {how} (x)"
        assert_carried(body, 12, (13, 14), {"x": x}, f"float[{shape}] x", rtol=1e-6)
        assert_carried(body, 13, (12, 11), {"x": x}, f"float[{shape}] x", rtol=1e-6)


@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax", "Hardmax"])
def test_the_last_axis_needs_nothing(op_type):
    last = f"{op_type} <axis = {{}}> (x)"
    assert converted(f"y = {last.format(1)}", 12, 13) == [last.format(-1)]
    assert converted(f"y = {last.format(-1)}", 12, 13, "x") == [last.format(-1)]
    assert converted(f"y = {last.format(1)}", 13, 12) == [last.format(1)]
    assert converted(f"y = {last.format(-1)}", 13, 12, "x") == [last.format(-1)]
    reason = "an axis that may not be the last needs the rank"
    assert_refuses(f"y = {last.format(1)}", 13, 12, reason, "x")


@pytest.mark.parametrize("axis", [0, 1])
def test_bfloat16_is_refused_below_opset_13(axis):
    body, signature = f"y = Softmax <axis = {axis}> (x)", "bfloat16[2, 3] x"
    assert_refuses(body, 13, 12, "bfloat16", signature)


def test_nothing_is_left_as_it_is():
    """Reshape takes lengths of 0 for lengths to be copied."""
    assert_writes("y = Hardmax <axis = 0> (x)", 12, 13, ["Identity (x)"], "float[2, 3, 0] x")


@pytest.mark.sample(8)
@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(
    "sizes", [(0, 3, 2, 2), (2, 0, 2, 2), (2, 3, 0, 2), (2, 3, 2, 0), (2, 3, 2, 2)]
)
def test_a_tensor_that_is_empty_at_run_time_keeps_its_shape(op_type, axis, sizes):
    body = f"y = {op_type} <axis = {axis}> (x)"
    x = np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes)
    for signature in ("float[A, B, C, D] x", "float[A, 3, 2, 2] x"):
        if signature.startswith("float[A, B") or sizes[1:] == (3, 2, 2):
            assert_carried(body, 12, (13,), {"x": x}, signature)


def test_an_open_batch_needs_no_padding():
    """Reshape copies the size of the first axis."""
    nodes = converted("y = Softmax <axis = 1> (x)", 12, 13, "float[N, 3, 2] x")
    assert not any(node.startswith("Pad") for node in nodes)
