import itertools

import numpy as np
import pytest
from conversions import (
    X,
    assert_becomes,
    assert_carried,
    assert_carried_everywhere,
    assert_refuses,
    assert_writes,
    converted,
    model,
)
from straightline import convert_version, reference
from tables import cases

test_nodes_of_each_step = cases(
    assert_writes,
    ("y = Slice <starts = [1], ends = [2], axes = [1]> (x)", 9, 10, ["Slice (x, [1], [2], [1])"],
     "float[2, 3] x")
)  # fmt: skip


def test_a_slice_with_bounds_of_run_time_is_a_gather():
    bound = """{0} = Gather <axis = 0> ({1}, [0])
        {0}_back = Add ({0}, length)
        {0}_negative = Less ({0}, [0])
        {0}_front = Where ({0}_negative, {0}_back, {0})
        {0}_below = Less ({0}_front, [0])
        {0}_low = Where ({0}_below, [0], {0}_front)
        {0}_above = Greater ({0}_low, length)
        {0}_in = Where ({0}_above, length, {0}_low)"""
    after = f"""shape = Shape (x)
        length = Gather <axis = 0> (shape, [0])
        {bound.format("first", "b")}
        {bound.format("end", "e")}
        distance = Sub (end_in, first_in)
        none = Less (distance, [0])
        count = Where (none, [0], distance)
        ones = ConstantOfShape <value = [1]> (count)
        places = NonZero (ones)
        iterations = Reshape (places, [-1])
        picked = Add (iterations, first_in)
        y = Gather <axis = 0> (x, picked)"""
    assert_becomes(f"""10 to 9, float[5] x, int64[1] b, int64[1] e: y = Slice (x, b, e) =>
        {after}""")


@pytest.mark.sample(12)
@pytest.mark.parametrize("step", [1, 2, 3, -1, -2])
@pytest.mark.parametrize("bounds", list(itertools.product([-9, -2, 0, 1, 4, 9], repeat=2)))
def test_slices_with_bounds_of_run_time(step, bounds):
    body = f"t = Constant <value_ints = [{step}]> () y = Slice (x, b, e, a, t)"
    body = body.replace("y =", "a = Constant <value_ints = [1]> () y =")
    fed = {
        "x": np.arange(10, dtype=np.float32).reshape(2, 5),
        "b": np.array([bounds[0]], np.int64),
        "e": np.array([bounds[1]], np.int64),
    }
    assert_carried(body, 13, (9,), fed, "float[2, M] x, int64[1] b, int64[1] e")


@pytest.mark.sample(2)
@pytest.mark.parametrize("step", [1, 2, -1, -2, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("size", [5, 1, 0])
@pytest.mark.parametrize("type_", ["int64", "int32"])
def test_slices_with_steps_of_run_time(step, size, type_):
    info = np.iinfo(type_)
    body = f"a = Constant <value = {type_}[1] {{1}}> () y = Slice (x, b, e, a, t)"
    before = model(body, 13, f"float[2, M] x, {type_}[1] b, {type_}[1] e, {type_}[1] t")
    after = convert_version(before, 9)
    lower = convert_version(before, 8)
    for bounds in itertools.product([info.min, -2, 4, 2**30], repeat=2):
        numbers = dict(zip("bet", (*bounds, np.clip(step, info.min, info.max)), strict=True))
        feeds = {name: np.array([number], type_) for name, number in numbers.items()}
        feeds["x"] = np.arange(2 * size, dtype=np.float32).reshape(2, size)
        wanted = reference.run(before, feeds)[0]
        np.testing.assert_array_equal(reference.run(after, feeds)[0], wanted)
        np.testing.assert_array_equal(reference.run(lower, feeds)[0], wanted)


def test_known_bounds_and_lengths_are_known_numbers():
    for bounds, numbers in (
        ((-1, -9, -1), [2, 1, 0]),
        ((-9, -99, -1), [0]),
        ((9, 0, -2), [2]),
        ((0, 9, 2), [0, 2]),
        ((2, 2, -1), []),
        ((-(2**63), 2**63 - 1, 2**63 - 1), [0]),
        ((2**63 - 1, -(2**63), -(2**63)), [2]),
    ):
        names = zip("beta", (*bounds, 1), strict=True)
        given = [f"{name} = Constant <value = int64[1] {{{v}}}> ()" for name, v in names]
        body = " ".join([*given, "y = Slice (x, b, e, a, t)"])
        assert_writes(body, 10, 9, [f"Gather <axis = 1> (x, {numbers})"], "float[2, 3] x")
        feeds, signature = {"x": X}, "float[2, 3] x"
        assert_carried_everywhere(body, 13, (11, 10, 9, 8, 7), feeds, signature)


@pytest.mark.parametrize("steps", [(1, 1), (2, 1), (-1, 2)])
def test_slices_of_several_axes(steps):
    fed = {
        "x": np.arange(20, dtype=np.float32).reshape(4, 5),
        "b": np.array([3, -4], np.int32),
        "e": np.array([-9, 9] if steps[0] < 0 else [4, 9], np.int32),
    }
    constant = ", ".join(map(str, steps))
    body = f"t = Constant <value = int32[2] {{{constant}}}> () y = Slice (x, b, e, , t)"
    assert_carried(body, 13, (9,), fed, "float[4, 5] x, int32[2] b, int32[2] e")
    body = "y = Slice (x, b, e)"
    reason = "how many there are is not known"
    assert_refuses(body, 10, 9, reason, "float[4, 5] x, int64[N] b, int64[N] e")
    assert_refuses(body, 10, 9, reason, "float[4, 5] x, int64[M] b, int64[2] e")


def test_slices_that_opset_9_can_say():
    one = "Constant <value = int64[1] {1}> ()"
    bounds = f"b = {one} e = Constant <value = int64[1] {{3}}> () "
    one = f"t = {one} a = {one} "
    found = converted(f"{bounds}{one}y = Slice (x, b, e, a, t)", 10, 9)
    assert found[-1] == "Slice <axes = [1], ends = [3], starts = [1]> (x)"
    found = converted(f"{bounds}y = Slice (x, b, e)", 10, 9)
    assert found[-1] == "Slice <ends = [3], starts = [1]> (x)"


def test_axes_of_a_slice_are_counted_from_the_front():
    body = (
        "b = Constant <value_ints = [1, 1]> () a = Constant <value_ints = [-1, 0]> ()"
        " y = Slice (x, b, e, a)"
    )
    (line,) = converted(body, 13, 10, "float[2, 3] x, int64[2] e")[-1:]
    assert line == "Slice (x, b, e, [1, 0])"


@pytest.mark.sample(1)
@pytest.mark.parametrize("type_", ["int64", "int32"])
@pytest.mark.parametrize(
    ("axes", "starts", "ends", "steps"),
    [([1], [1], [3], None), ([-1, 0], [-2, 0], [9, 1], None), ([0, 1], [1, 3], [-9, -9], [-1, -2]),
     ([-2], [2**31 - 1], [-(2**31)], [-1]), ([1, -3], [0, 1], [0, 2], [1, 3]), ([], [], [], [])],
)  # fmt: skip
def test_axes_from_run_time(type_, axes, starts, ends, steps):
    given = {"s": starts, "e": ends, "a": axes} | ({} if steps is None else {"t": steps})
    feeds = {name: np.array(numbers, type_) for name, numbers in given.items()}
    feeds["x"] = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for sizes in ("2, 3, 4", "A, B, C"):
        signature = f"float[{sizes}] x" + "".join(f", {type_}[K] {name}" for name in given)
        body = f"y = Slice (x, {', '.join(given)})"
        assert_carried_everywhere(body, 13, (10, 9, 7), feeds, signature, ("graph", "function"))
