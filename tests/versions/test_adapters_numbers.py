"""Adapters that say a node in other ones: the numbers stay, at the edges of what it takes too."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from conversions import assert_carried, converted, model, written
from straightline import reference
from straightline.versions import ConversionError, convert_version

X = np.array([[0.5, -2.0, 3.5], [1.0, 7.0, -4.25]], np.float32)


def assert_refuses(body, source, target, reason, signature):
    with pytest.raises(ConversionError, match=reason):
        converted(body, source, target, signature)


# missing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("shift", [None, -3, -1, 0, 1, 3])
@pytest.mark.parametrize("shape", ["2, 4", "3, 3", "2, 3, 2"])
def test_triangles(upper, shift, shape):
    before = "" if shift is None else f"k = Constant <value_int = {shift}> () "
    body = f"{before}y = Trilu <upper = {upper}> (x{', k' if before else ''})"
    x = np.arange(1, 1 + np.prod([int(d) for d in shape.split(",")]), dtype=np.int32)
    x = x.reshape([int(d) for d in shape.split(",")])
    assert_carried(body, 14, (13, 12), {"x": x}, f"int32[{shape}] x")


def test_casts_to_a_type_that_is_not_known_are_refused():
    assert_refuses(
        "y = CastLike (x, z)", 15, 14, "the type to cast to is not known", "float[2] x, z"
    )
    assert converted("y = CastLike (x, z)", 15, 14, "float[2] x, int8 z") == ["Cast <to = 3> (x)"]


@pytest.mark.parametrize("value", ["", "<value = int32[1] {7}>", "<value = float[1] {2.5}>"])
def test_constants_of_a_shape(value):
    for sizes in ([2, 3], [0, 2], [1]):
        fed = {"s": np.array(sizes, np.int64)}
        assert_carried(f"y = ConstantOfShape {value} (s)", 9, (8,), fed, f"int64[{len(sizes)}] s")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_what_is_no_number(dtype):
    x = np.array([np.nan, 0.0, -0.0, 0.5, 1.0, -3, np.inf, -np.inf], dtype)
    type_ = {2: "float16", 4: "float", 8: "double"}[x.itemsize]
    assert_carried("y = IsNaN (x)", 9, (8,), {"x": x}, f"{type_}[8] x")


@pytest.mark.parametrize("signs", list(itertools.product([0, 1], repeat=2)))
@pytest.mark.parametrize("type_", ["float", "double"])
def test_what_is_infinite(signs, type_):
    dtype = np.float32 if type_ == "float" else np.float64
    largest = np.finfo(dtype).max
    x = np.array([np.nan, 0, 1e30, largest, -largest, np.inf, -np.inf], dtype)
    how = f"<detect_positive = {signs[0]}, detect_negative = {signs[1]}>"
    assert_carried(f"y = IsInf {how} (x)", 10, (9,), {"x": x}, f"{type_}[7] x")


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_remainders_have_the_sign_of_the_divisor(dtype):
    pairs = [(a, b) for a in (-7, -6, -1, 0, 1, 6, 7) for b in (-3, -2, 2, 3)]
    a, b = (np.array(numbers, dtype) for numbers in zip(*pairs, strict=True))
    signature = f"{a.dtype}[28] x, {a.dtype}[28] z"
    assert_carried("y = Mod (x, z)", 10, (9,), {"x": a, "z": b}, signature)


def test_remainders_that_opset_9_cannot_say():
    reason = "only that of 32 and 64-bit integers with fmod = 0"
    for type_, how in (
        ("int8", ""),
        ("uint32", ""),
        ("int32", "<fmod = 1>"),
        ("float", "<fmod = 1>"),
    ):
        assert_refuses(f"y = Mod {how} (x, x)", 10, 9, reason, f"{type_}[2] x")


def test_choices_are_gathered_in_opset_8():
    c = np.array([[True], [False]])
    for type_, dtype in (("float", np.float32), ("int32", np.int32), ("bool", np.bool_)):
        x, z = np.arange(3).astype(dtype), np.arange(6, 12).reshape(2, 3).astype(dtype)
        signature = f"bool[2, 1] c, {type_}[3] x, {type_}[2, 3] z"
        assert_carried("y = Where (c, x, z)", 9, (8,), {"c": c, "x": x, "z": z}, signature)
    for shape in ("N", ""):
        signature = f"bool[{shape or 2}] c, float{'[N]' if shape else ''} x"
        if shape:
            assert_refuses("y = Where (c, x, x)", 9, 8, "needs the shape of its output", signature)


@pytest.mark.parametrize("mode", ["CRD", "DCR"])
@pytest.mark.parametrize("size", [2, 3])
def test_depth_becomes_space_in_both_orders(mode, size):
    shape = (2, 2 * size * size, 2, 3)
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    body = f'y = DepthToSpace <blocksize = {size}, mode = "{mode}"> (x)'
    signature = f"float[N, {shape[1]}, 2, 3] x"
    before = model(body, 11, signature)
    wanted = x.reshape((2, 2, size, size, 2, 3) if mode == "CRD" else (2, size, size, 2, 2, 3))
    wanted = wanted.transpose((0, 1, 4, 2, 5, 3) if mode == "CRD" else (0, 3, 4, 1, 5, 2))
    wanted = wanted.reshape(2, 2, 2 * size, 3 * size)
    for target in (11, 10):
        (found,) = reference.run(convert_version(before, target), {"x": x})
        np.testing.assert_array_equal(found, wanted)
    if mode == "CRD":
        for signature in (f"float[1, {shape[1]}, H, 3] x", "x"):
            assert_refuses(body, 11, 10, "not all known|needs channels", signature)


# positions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [0, 1, 4])
@pytest.mark.parametrize(
    "ones",
    [
        "z = ConstantOfShape <value = int64[1] {1}> (n)",
        "a = ConstantOfShape <value = float[1] {2}> (n) z = Cast <to = 7> (a)",
        "o = Constant <value = int64 {3}> () z = Expand (o, n)",
    ],
)
def test_positions_in_a_vector_without_zeros_are_counted(ones, length):
    fed = {"n": np.array([length], np.int64)}
    assert_carried(f"{ones} y = NonZero (z)", 9, (8,), fed, "int64[1] n")


@pytest.mark.parametrize(
    "maybe",
    [
        "z = ConstantOfShape (n)",
        "z = ConstantOfShape <value = int64[1] {0}> (n)",
        "o = Constant <value = int64 {0}> () z = Expand (o, n)",
        "z = Expand (n, n)",
        "z = Cast <to = 1> (n)",
        "z = Abs (n)",
    ],
)
def test_positions_among_what_may_be_zero_are_refused(maybe):
    reason = "only that of a vector without zeros can be said"
    assert_refuses(f"{maybe} y = NonZero (z)", 9, 8, reason, "int64[1] n")


def test_positions_in_a_matrix_are_refused():
    body = "z = ConstantOfShape <value = int64[1] {1}> (n) y = NonZero (z)"
    assert_refuses(body, 9, 8, "only that of a vector without zeros", "int64[2] n")


# comparing ----------------------------------------------------------------------------------------

INTEGERS = np.array([[-5, 3, 0], [2, -1, 9]], np.int32)


@pytest.mark.parametrize("op_type", ["Max", "Min"])
@pytest.mark.parametrize("inputs", ["x", "x, z", "x, z, w"])
def test_extremes_of_integers(op_type, inputs):
    fed = {"x": INTEGERS, "z": INTEGERS[:, ::-1].copy(), "w": np.array([1], np.int32)}
    signature = "int32[2, 3] x, int32[2, 3] z, int32[1] w"
    assert_carried(f"y = {op_type} ({inputs})", 12, (11, 9), fed, signature)
    floats = signature.replace("int32", "float")
    wanted = [f"{op_type} ({inputs})"]
    assert converted(f"y = {op_type} ({inputs})", 12, 11, floats) == wanted


@pytest.mark.parametrize("inputs", ["x", "x, l", "x, , h", "x, l, h"])
@pytest.mark.parametrize("bounds", [(-1, 2), (2, -1)])
def test_clips_of_integers_end_at_the_upper_bound(inputs, bounds):
    low, high = (np.array(bound, np.int32) for bound in bounds)
    fed = {"x": INTEGERS, "l": low, "h": high}
    signature = "int32[2, 3] x, int32 l, int32 h"
    before = model(f"y = Clip ({inputs})", 12, signature)
    wanted = INTEGERS
    if "l" in inputs:
        wanted = np.maximum(wanted, low)
    if "h" in inputs:
        wanted = np.minimum(wanted, high)
    (found,) = reference.run(convert_version(before, 11), fed)
    np.testing.assert_array_equal(found, wanted)
    assert found.dtype == np.int32


@pytest.mark.parametrize("type_", ["int8", "int16", "int32", "int64"])
def test_relu_of_integers(type_):
    fed = {"x": INTEGERS.astype(type_)}
    if type_ in ("int32", "int64"):
        assert_carried("y = Relu (x)", 14, (13, 12, 11), fed, f"{type_}[2, 3] x")
    assert converted("y = Relu (x)", 14, 13, f"{type_}[2, 3] x") == ["Max (x, 0)"]
    assert converted("y = Relu (x)", 14, 13) == ["Relu (x)"]


@pytest.mark.parametrize("type_", ["float", "double"])
def test_equality_of_floats(type_):
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0]
    pairs = np.array(list(itertools.product(special, repeat=2)), "f4" if type_ == "float" else "f8")
    fed = {"x": pairs[:, 0].copy(), "z": pairs[:, 1].copy()}
    assert_carried("y = Equal (x, z)", 11, (10, 9), fed, f"{type_}[36] x, {type_}[36] z")


def test_exponents_get_the_type_of_the_base():
    for value, exact in (("int32 {3}", True), ("double {0.5}", True), ("double {0.1}", False)):
        body = f"e = Constant <value = {value}> () y = Pow (x, e)"
        if exact:
            assert_carried(body, 13, (11,), {"x": np.abs(X)}, rtol=1e-6)
        else:
            assert_refuses(body, 13, 11, "exponents are not exact", "float[2, 3] x")
    assert converted("y = Pow (x, x)", 12, 11) == ["Pow (x, x)"]
    reason = "the exponent .of another type than the base"
    assert_refuses("y = Pow (x, e)", 12, 11, reason, "float[2] x, int32[2] e")


# slicing ------------------------------------------------------------------------------------------


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


# shaping ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how", ["start = 1", "start = -2", "end = 2", "start = 1, end = -1", "start = 0"]
)
def test_parts_of_a_shape(how):
    fed = {"x": np.zeros((2, 3, 4), np.float32)}
    assert_carried(f"y = Shape <{how}> (x)", 15, (14, 13, 9), fed, "float[A, B, C] x")
    if how == "start = 0":
        assert converted(f"y = Shape <{how}> (x)", 15, 14) == ["Shape (x)"]


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


@pytest.mark.parametrize(
    ("value", "held"),
    [
        ("value_float = 1.5", 1.5),
        ("value_floats = [1.5, 2.0]", [1.5, 2.0]),
        ("value_int = 3", 3),
        ("value_ints = [3, 4]", [3, 4]),
    ],
)
def test_numbers_of_a_constant_become_a_tensor(value, held):
    body = f"y = Constant <{value}> ()"
    assert converted(body, 12, 11) == [f"Constant <value = {held}> ()"]
    assert_carried(body, 12, (11, 10, 9, 8), {"x": X})


def test_a_constant_of_integers_is_an_initializer_in_opset_8():
    after = convert_version(model("c = Constant <value = int32[2] {1, 2}> () y = Neg (c)", 9), 8)
    assert written(after.graph) == ["Neg ([1, 2])"]
    floats = convert_version(model("c = Constant <value = float[2] {1, 2}> () y = Neg (c)", 9), 8)
    assert written(floats.graph)[0] == "Constant <value = [1.0, 2.0]> ()"


@pytest.mark.parametrize("axes", [[0], [-1], [1, 0], [0, 2], [-3, -1]])
@pytest.mark.parametrize("known", [True, False])
def test_pads_of_some_axes(axes, known):
    pads = np.arange(1, 1 + 2 * len(axes), dtype=np.int64)
    given = f"p = Constant <value_ints = {pads.tolist()}> () " if known else ""
    body = f"{given}a = Constant <value_ints = {axes}> () y = Pad (x, p, , a)"
    x = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    signature = "float[2, 2, 2] x" + ("" if known else f", int64[{len(pads)}] p")
    fed = {"x": x} if known else {"x": x, "p": pads}
    assert_carried(body, 18, (17, 13) if known else (17, 16), fed, signature)
    if known:
        assert_carried(body, 18, (10,), fed, signature)


def test_pads_of_some_axes_need_the_rank():
    body = "a = Constant <value_ints = [0]> () y = Pad (x, p, , a)"
    assert_refuses(body, 18, 17, "'axes' needs the rank", "x, int64[2] p")
    assert_refuses("y = Pad (x, p, , a)", 18, 17, "'axes'", "float[2] x, int64[2] p, int64[1] a")


# selection ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("output", ["y, i", "i, y"])
def test_the_smallest(axis, output):
    body = f"{output} = TopK <largest = 0, axis = {axis}> (x, k)"
    fed = {"x": X, "k": np.array([2], np.int64)}
    assert_carried(body, 11, (10,), fed, "float[2, 3] x, int64[1] k")
    reason = "largest = 0 of integers cannot be said in opset 10"
    assert_refuses(body, 11, 10, reason, "int64[2, 3] x, int64[1] k")


@pytest.mark.parametrize("op_type", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("last", [0, 1])
def test_the_first_or_last_of_equal_elements(op_type, axis, keep, last):
    how = f"<axis = {axis}, keepdims = {keep}, select_last_index = {last}>"
    x = np.array([[1, 1, 2, 2], [2, 1, 2, 1], [1, 2, 2, 1]], np.float32)
    assert_carried(f"y = {op_type} {how} (x)", 12, (11, 10), {"x": x}, "float[3, 4] x")


@pytest.mark.parametrize("type_", ["int32", "int64", "float"])
def test_indices_that_count_from_the_back_are_wrapped(type_):
    """What is out of range either way stays so, and gives a row of the off value."""
    signature = f"{type_}[6] i, int64 d, float[2] v"
    fed = {
        "i": np.array([0, 2, -1, -3, 3, -4]).astype(type_.replace("float", "float32")),
        "d": np.array(3, np.int64),
        "v": np.array([5, 6], np.float32),
    }
    after = convert_version(model("y = OneHot (i, d, v)", 11, signature), 10)
    rows = np.full((6, 3), 5, np.float32)
    for row, column in ((0, 0), (1, 2), (2, 2), (3, 0)):
        rows[row, column] = 6
    np.testing.assert_array_equal(reference.run(after, fed)[0], rows)


def test_indices_that_are_not_negative_stay():
    plain = "OneHot (i, d, v)"
    assert converted(f"y = {plain}", 11, 10, "uint8[2] i, int64 d, float[2] v") == [plain]
    for given, there in (("0, 2", True), ("0, -2", False)):
        body = f"i = Constant <value_ints = [{given}]> () y = {plain}"
        lines = converted(body, 11, 10, "int64 d, float[2] v")
        assert (plain in lines) == there
    reason = "of type int8 that may be negative cannot be wrapped in opset 10"
    assert_refuses(f"y = {plain}", 11, 10, reason, "int8[2] i, int64 d, float[2] v")


# softmax ------------------------------------------------------------------------------------------


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


# loops --------------------------------------------------------------------------------------------


def test_a_loop_that_carries_nothing_carries_something_in_opset_10():
    body = (
        "y = Loop (n, c) <body = b (int64 i, bool d) => (bool e, float[2, 3] r)"
        " { e = Identity (d) r = Identity (x) }>"
    )
    signature = "float[2, 3] x, int64 n, bool c"
    for trips in (0, 2):
        fed = {"x": X, "n": np.array(trips, np.int64), "c": np.array(True)}
        assert_carried(body, 11, (10, 8), fed, signature)
    after = convert_version(model(body, 11, signature), 10)
    assert written(after.graph)[0].endswith("(n, c, 0.0)")
    carrying = body.replace("(n, c)", "(n, c, x)").replace("y = L", "z, y = L")
    carrying = carrying.replace("bool d)", "bool d, float[2, 3] s)")
    carrying = carrying.replace("bool e,", "bool e, float[2, 3] t,").replace(
        "e = ", "t = Neg (s) e = "
    )
    same = convert_version(model(carrying, 11, signature), 10)
    assert written(same.graph)[0].endswith("(n, c, x)")


@pytest.mark.parametrize(
    ("one", "other", "fits"),
    [
        ("float[2, 3] p", "float[2, 3] q", True),
        ("float[2, 3] p", "float[3, 2] q", False),
        ("float[2, 3] p", "float[2] q", False),
        ("float[2, N] p", "float[2, 3] q", True),
        ("float[N, 3] p", "float[M, 3] q", True),
        ("float[3, N] p", "float[2, N] q", False),
        ("p", "float[2, 3] q", True),
        ("float[2, 3] p", "q", True),
    ],
)
def test_branches_of_one_shape_before_opset_11(one, other, fits):
    body = (
        "y = If (c) <then_branch = t () => (a) { a = Identity (p) },"
        " else_branch = e () => (b) { b = Identity (q) }>"
    )
    signature = f"bool c, {one}, {other}"
    if fits:
        assert converted(body, 11, 10, signature)[0].startswith("If <")
    else:
        assert_refuses(body, 11, 10, "its branches give the shapes", signature)


# axes of a scan -----------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", [(-1, 0), (1, -1), (-2, -2), (0, 1)])
def test_axes_of_a_scan_are_counted_from_the_front(axes):
    body = (
        f"z, y = Scan (s, x) <num_scan_inputs = 1, scan_input_axes = [{axes[0]}],"
        f" scan_output_axes = [{axes[1]}], body = b (float[K] a, float[K] v)"
        " => (float[K] c, float[K] w)"
        " { c = Add (a, v) w = Neg (c) }>"
    )
    length = 2 if axes[0] in (-1, 1) else 3
    fed = {"s": np.zeros(length, np.float32), "x": X}
    signature = f"float[{length}] s, float[2, 3] x"
    assert_carried(body.replace("K", str(length)), 11, (10, 9), fed, signature)


def test_axes_of_a_scan_need_the_rank():
    body = "y = Scan (x) <num_scan_inputs = 1, {} = [-1], body = b (v) => (w) {{ w = Neg (v) }}>"
    for name in ("scan_input_axes", "scan_output_axes"):
        reason = f"a negative axis in '{name}' needs a rank that is not known"
        assert_refuses(body.format(name), 11, 10, reason, "x")
