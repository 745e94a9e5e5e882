import numpy as np
import pytest
from conversions import (
    assert_becomes,
    assert_carried,
    assert_carried_everywhere,
    assert_writes,
    converted,
)
from tables import cases

test_nodes_of_each_step = cases(
    assert_writes,
    ("y, z = Split <axis = -1> (x)", 11, 10, ["Split <axis = 1> (x)"], "float[2, 4] x"),
    ("y, z = Split <split = [1, 2], axis = 1> (x)", 12, 13, ["Split <axis = 1> (x, [1, 2])"],
     "float[2, 3] x"),
    ("s = Constant <value_ints = [1, 2]> () y, z = Split <axis = 1> (x, s)", 13, 12,
     ["Split <axis = 1, split = [1, 2]> (x)"], "float[2, 3] x"),
    ("y, z, w = Split <axis = 1> (x)", 17, 18, ["Split <axis = 1, num_outputs = 3> (x)"],
     "float[2, 3] x"),
    ("y, z = Split <axis = 1, num_outputs = 2> (x)", 18, 17, ["Split <axis = 1> (x, [2, 1])"],
     "float[2, 3] x"))  # fmt: skip


def test_lengths_that_are_not_known_are_computed():
    assert_becomes("""18 to 17, float[L] x: y, z = Split <num_outputs = 2> (x) =>
        shape = Shape (x)
        length = Gather <axis = 0> (shape, [0])
        rounded = Add (length, [1])
        part = Div (rounded, [2])
        before = Mul (part, [1])
        last = Sub (length, before)
        lengths = Concat <axis = 0> (part, last)
        y, z = Split (x, lengths)""")


@pytest.mark.parametrize(("length", "count"), [(6, 3), (7, 3), (5, 2), (4, 4), (3, 2)])
@pytest.mark.parametrize("known", [True, False])
def test_splits_into_a_number_of_parts(length, count, known):
    parts = ", ".join(["a", "b", "c", "d"][:count])
    body = f"{parts} = Split <axis = -1, num_outputs = {count}> (x) y = Concat <axis = 0> ({parts})"
    body = body.replace("axis = 0> (", "axis = -1> (")
    x = np.arange(2 * length, dtype=np.float32).reshape(2, length)
    signature = f"float[2, {length if known else 'L'}] x"
    assert_carried(body, 18, (17, 13), {"x": x}, signature)
    lines = converted(body, 18, 17, signature)
    if known and length % count == 0:
        assert lines[0] == "Split <axis = -1> (x)"
    elif known:
        part = -(-length // count)
        lengths = [part] * (count - 1) + [length - part * (count - 1)]
        assert lines[0] == f"Split <axis = -1> (x, {lengths})"


def test_splits_whose_lengths_are_given_say_nothing_of_their_number():
    given = "s = Constant <value_ints = [1, 2]> () y, z = Split <axis = 1> (x, s)"
    assert converted(given, 17, 18)[-1] == "Split <axis = 1> (x, s)"
    assert converted(given, 18, 17)[-1] == "Split <axis = 1> (x, s)"
    even = "y, z, w = Split <axis = 1> (x)"
    assert converted(even, 17, 18) == ["Split <axis = 1, num_outputs = 3> (x)"]


def test_lengths_from_run_time_are_slices():
    assert_becomes("""13 to 12, float[2, 4] x, int64[2] n => y, z: y, z = Split <axis = 1> (x, n) =>
        one = Gather <axis = 0> (n, [0])
        y = Slice (x, [0], one, [1])
        two = Gather <axis = 0> (n, [1])
        end = Add (one, two)
        z = Slice (x, one, end, [1])""")


@pytest.mark.sample(4)
@pytest.mark.parametrize("lengths", [[1, 0, 3], [4, 0, 0], [0, 2, 2]])
@pytest.mark.parametrize("axis", [1, -1])
@pytest.mark.parametrize("index", [0, 1, 2])
def test_numbers_of_lengths_from_run_time(lengths, axis, index):
    names = ["p", "q", "r"]
    names[index] = "y"
    body = f"{', '.join(names)} = Split <axis = {axis}> (x, n)"
    feeds = {"x": np.arange(8, dtype=np.float32).reshape(2, 4), "n": np.array(lengths)}
    assert_carried_everywhere(body, 18, (12, 9), feeds, "float[A, B] x, int64[K] n", ["graph"])
