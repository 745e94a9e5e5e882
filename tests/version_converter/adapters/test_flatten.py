import numpy as np
import pytest
from conversions import assert_becomes, assert_carried_everywhere, assert_writes, model
from sessions import open_session
from straightline import convert_version
from tables import cases, table

test_nodes_of_each_step = cases(
    assert_writes,
    ("y = Flatten <axis = -2> (x)", 11, 10, ["Flatten <axis = 1> (x)"], "float[2, 3, 4] x"),
)


@table(
    ("2, 3, 4", 1, [2, 12]),
    ("2, 3, 4", 0, [1, -1]),
    ("2, 3, 4", 3, [24, 1]),
    ("N, 3, 4", 1, [-1, 12]),
    ("2, N, 4", 1, [2, -1]),
    ("2, 0, 4", 1, [2, -1]),
    ("2, 0, 4", 2, [-1, 4]),
    ("N", 1, [-1, 1]),
    ("", 0, [1, -1]),
)
@pytest.mark.parametrize("type_", ["int64", "bool", "string"])
def test_below_opset_9_what_is_no_float_is_reshaped(sizes, axis, lengths, type_):
    wanted = [f"Reshape (x, {lengths})"]
    assert_writes(f"y = Flatten <axis = {axis}> (x)", 9, 8, wanted, f"{type_}[{sizes}] x")
    floats = [f"Flatten <axis = {axis}> (x)"]
    assert_writes(f"y = Flatten <axis = {axis}> (x)", 9, 8, floats, f"double[{sizes}] x")


def test_unknown_lengths_flatten_doubles():
    assert_becomes("""9 to 8, bool[M, N] x: y = Flatten <axis = 1> (x) =>
        doubles = Cast <to = 11> (x)
        matrix = Flatten <axis = 1> (doubles)
        y = Cast <to = 9> (matrix)""")
    assert_becomes("""9 to 8, int64[M, N] x: y = Flatten <axis = 1> (x) =>
        high = Div (x, 4294967296)
        whole = Mul (high, 4294967296)
        low = Sub (x, whole)
        doubles = Cast <to = 11> (high)
        matrix = Flatten <axis = 1> (doubles)
        doubles_2 = Cast <to = 11> (low)
        matrix_2 = Flatten <axis = 1> (doubles_2)
        high_2 = Cast <to = 7> (matrix)
        low_2 = Cast <to = 7> (matrix_2)
        whole_2 = Mul (high_2, 4294967296)
        y = Add (whole_2, low_2)""")


@pytest.mark.sample(3)
@table(
    ("int64", [-(2**63), 2**63 - 1, -(2**32) - 1, -1, 0, 2**53 + 1]),
    ("uint64", [2**64 - 1, 2**63, 2**63 + 1, 2**32 - 1, 0, 2**53 + 1]),
    ("int8", [-128, 127, -1, 0, 1, 2]),
    ("bool", [True, False, False, True, True, False]),
)
@pytest.mark.parametrize("sizes", ["2, 3, 1", "M, N, K", "2, N, 1"])
def test_numbers(type_, case, sizes):
    x = np.array(case, type_).reshape(2, 3, 1)
    for axis in range(4):
        body = f"y = Flatten <axis = {axis}> (x)"
        assert_carried_everywhere(body, 11, (9, 8, 7), {"x": x}, f"{type_}[{sizes}] x")


@pytest.mark.sample(4)
@pytest.mark.parametrize("type_", ["int64", "int32"])
@pytest.mark.parametrize("shape", [(0, 3, 2), (2, 0, 3), (0, 3, 0), (2, 0, 0), (0, 0, 0)])
@pytest.mark.parametrize("known", [True, False])
def test_empty_ones(type_, shape, known):
    # The reference, which is onnx's own here, does not flatten what is empty.
    sizes = ", ".join(map(str, shape)) if known else "M, N, K"
    for axis in range(4):
        before = model(f"y = Flatten <axis = {axis}> (x)", 9, f"{type_}[{sizes}] x")
        for target in (8, 7):
            after = convert_version(before, target).SerializeToString()
            (found,) = open_session(after).run(None, {"x": np.zeros(shape, type_)})
            sides = (np.prod(shape[:axis], dtype=int), np.prod(shape[axis:], dtype=int))
            assert (found.shape, found.dtype) == (sides, type_)
