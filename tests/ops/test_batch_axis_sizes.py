"""Run-time shapes, and what is made of them for all iterations."""

import numpy as np
import pytest
from sessions import outputs
from tables import table
from vectorized import assert_vectorizes, loop, numbers, untyped, vectorized, why_kept

DECLARED = "float[N, A, B] x, int64[2] s, int64[3] u, int64[2] v, int64 n"

K = "k0 = Constant <value = int64[1] {0}> () k1 = Constant <value = int64[1] {1}> ()"
K += " km = Constant <value = int64[1] {-1}> () two = Constant <value = int64[1] {2}> ()"

AT_RUN_TIME = {
    "shape": ("r = Shape (e)", "int64[2] r"),
    "size": ("r = Size (e)", "int64 r"),
    "a size as a number": (
        "h = Shape (e) f = Cast <to = 1> (h) g = ReduceMax <keepdims = 0> (f) r = Mul (e, g)",
        "float[A, B] r",
    ),
    "reshape to sizes": (f"{K} h = Shape (e) a = Gather (h, k0) b = Gather (h, k1)"
     " t = Concat <axis = 0> (b, a) r = Reshape (e, t)", "float[B, A] r"),
    "reshape to one size and the rest": (
        f"{K} h = Shape (e) b = Gather (h, k1) t = Concat <axis = 0> (b, km) r = Reshape (e, t)",
        "float[B, A] r",
    ),
    "reshape to the rest": (f"{K} r = Reshape (e, km)", "float[C] r"),
    "reshape to what is copied": (f"{K} t = Concat <axis = 0> (k0, km, k1) r = Reshape (e, t)",
     "float[A, B, 1] r"),
    "reshape to what is fed": ("r = Reshape (e, s)", "float[C, D] r"),
    "reshape to more axes that are fed": ("r = Reshape (e, u)", "float[C, D, E] r"),
    "flatten": ("r = Flatten (e)", "float[A, B] r"),
    "flatten all": ("r = Flatten <axis = 0> (e)", "float[1, C] r"),
    "expand to sizes": (f"{K} h = Shape (e) t = Concat <axis = 0> (two, h) r = Expand (e, t)",
     "float[2, A, B] r"),
    "expand to what is fed": (f"{K} g = ReduceSum <keepdims = 0> (e, k1) r = Expand (g, v)",
     "float[C, A] r"),
    "tile": (f"{K} h = Shape (e) r = Tile (e, h)", "float[C, D] r"),
    "zeros of a shape": ("h = Shape (e) g = ConstantOfShape (h) r = Sub (g, e)", "float[A, B] r"),
    "a range of a size": (
        """z0 = Constant <value_int = 0> () o = Constant <value_int = 1> () h = Shape (e)
        d = Gather (h, z0) g = Range (z0, d, o) r = Add (g, i)""",
        "int64[A] r",
    ),
    "identity matrix": ("g = EyeLike (e) r = Add (g, e)", "float[A, B] r"),
}  # fmt: skip


def feed(a, b):
    return {
        "x": numbers(5, a, b),
        "s": np.array([-1, 2] if a * b else [0, b]),
        "v": np.array([2, 1]),
        "u": np.array([0, -1, 1] if a else [0, 0, 7]),
    }


@pytest.mark.sample(8)
@pytest.mark.parametrize("opset", [14, 18])
@pytest.mark.parametrize("rule", AT_RUN_TIME)
def test_sizes_that_only_run_time_tells(rule, opset):
    body, out = AT_RUN_TIME[rule]
    for a, b in ((2, 3), (1, 4)):
        assert_vectorizes(loop(body, out, DECLARED), feed(a, b), opset=opset)


@table("shape", "size", "expand to sizes", "tile", "reshape to what is fed")
def test_elements_that_are_empty(rule):
    body, out = AT_RUN_TIME[rule]
    for a, b in ((0, 3), (2, 0)):
        assert_vectorizes(loop(body, out, DECLARED), feed(a, b))


@pytest.mark.parametrize("opset", [11, 13])
@table("shape", "reshape to sizes", "expand to sizes", "tile", "zeros of a shape")
def test_sizes_before_reshape_makes_empty_axes(rule, opset):
    body, out = AT_RUN_TIME[rule]
    assert_vectorizes(loop(body, out, DECLARED), feed(2, 3), opset=opset)


def test_the_shape_of_what_differs_does_not_differ():
    text = loop("r = Shape <start = -1> (e)", "int64[1] r", DECLARED)
    assert_vectorizes(text, feed(2, 3))
    text = loop("r = Shape <start = 0, end = -1> (e)", "int64[1] r", DECLARED)
    assert_vectorizes(text, feed(2, 3))


@table(
    ("reshape to the rest", 13, "convert to opset 14"), ("flatten all", 13, "convert to it first")
)
def test_forms_that_need_a_newer_opset(rule, opset, why):
    body, out = AT_RUN_TIME[rule]
    assert why in why_kept(loop(body, out, DECLARED), opset)


def test_a_new_shape_that_differs_from_iteration_to_iteration():
    text = loop(f"{K} t = Reshape (i, k1) r = Expand (e, t)", "float[A, B] r", DECLARED)
    assert "stretches axes to sizes that may vary between iterations" in why_kept(text)


def test_a_copied_size_of_0_under_optimizations():
    """onnxruntime makes -1 of one computed size beside constants, also beside a copied 0."""
    shape = "t = Constant <value = int64[3] {0, 3, 1}> () r = Reshape (e, t)"
    before = untyped(loop(shape, "float[A, 3, 1] r", DECLARED))
    result = vectorized(before).model
    for a in (0, 2):
        fed = feed(a, 3) | {"n": np.array(4)}
        for one, other in zip(outputs(result, fed), outputs(before, fed), strict=True):
            np.testing.assert_array_equal(one, other)
