"""Conversions at edges: overflow, infinities, tensors without elements, indices in none.

Samples at the edges decide each conversion, which by default is undone where they refute it.
"""

import numpy as np
import pytest
import straightline as sl
from conversions import model
from sessions import open_session

K = "k = Constant <value_ints = [{}]> () "

CONVERSIONS = {
    "cut into padding": ("y = Pad (x, p)", 13, 10, "float[M, N] x, int64[4] p"),
    "sum of nothing": ("a = Constant <value_int = 0> () y = CumSum <reverse = 1> (x, a)", 12, 8,
     "float[A, B] x"),
    "sum of nothing by Loop": ("a = Constant <value_int = 1> () y = CumSum <exclusive = 1> (x, a)",
     12, 7, "float[A, B] x"),
    "sum before a product": ('y = Einsum <equation = "ij,ij->i"> (x, z)', 12, 11,
     "double[2, 1] x, double[2, 3] z"),
    "product of integers": ("y = Gemm (x, z, b)", 9, 8, "int64[A, B] x, int64[B, C] z, int64[C] b"),
    "rows of nothing": ("y = GatherND (x, i)", 12, 10, "float[A, B, C] x, int64[2, 2] i"),
    "roots of one": ("y = DFT <axis = 1> (x)", 17, 16, "float[N, 4, 1] x"),
    "affine map": (K.format("1, 1, 2, 3") + "y = AffineGrid (x, k)", 20, 11, "float[1, 2, 3] x"),
    "mean of integers": ("y = ReduceMean (x, a)", 18, 12, "int64[M, N] x, int64[1] a"),
    "mean of nothing": ("y = ReduceMean (x, a)", 18, 12, "float[M, N] x, int64[1] a"),
    "norm that overflows": ("y = ReduceL2 <noop_with_empty_axes = 1> (x)", 18, 17, "float[N] x"),
    "scales of groups": ("y = GroupNormalization <num_groups = 2> (x, s, s)", 18, 9,
     "float[N, 4, 3] x, float[2] s"),
    "doubles as floats": ("y = GroupNormalization <num_groups = 2> (x, s, s)", 21, 20,
     "double[N, 4, 3] x, double[4] s"),
    "number that is none": ("y = QuantizeLinear (x, s, z)", 21, 20, "float[4] x, float s, int16 z"),
    "bound that is none": ("y = Clip (x, l, h)", 13, 10, "float[N] x, float l, float h"),
    "cache without places": ('y = TensorScatter <mode = "circular", axis = 1> (x, u)', 24, 23,
     "float[A, B, C] x, float[A, D, C] u"),
    "axes named once": ("y = Squeeze (x, a)", 13, 12, "float[A, B, C] x, int64[2] a"),
    "order left open": (K.format(2) + "y, i = TopK <sorted = 0> (x, k)", 11, 10, "float[2, 3] x"),
    "class before the first": ("d = Constant <value = int64 {3}> () y = OneHot (i, d, v)", 9, 8,
     "int64[4] i, float[2] v")}  # fmt: skip


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", CONVERSIONS)
def test_samples_do_not_refute_it(name):
    body, source, target, signature = CONVERSIONS[name]
    sl.convert_version(model(body, source, signature), target)


def outputs(body, source, target, signature, feeds):
    """Outputs of the original and the converted model in onnxruntime."""
    before = model(body, source, signature)
    models = before, sl.convert_version(before, target, verify=False)
    return [open_session(proto).run(None, feeds)[0] for proto in models]


def test_sums_along_an_axis_without_elements_have_its_shape():
    for target in (8, 7):
        for reverse, exclusive in ((0, 0), (0, 1), (1, 0), (1, 1)):
            how = f"<reverse = {reverse}, exclusive = {exclusive}>"
            body = f"a = Constant <value_int = 0> () y = CumSum {how} (x, a)"
            for shape in ((0, 3), (3, 0), (1, 2), (4, 2)):
                x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
                before, after = outputs(body, 12, target, "float[A, B] x", {"x": x})
                np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize("pads", [[0, 3, 0, -4], [0, -4, 0, 3], [-1, 1, 0, -1], [-2, 0, 2, 0]])
def test_negative_pads_may_cut_into_others(pads):
    feeds = {"x": np.ones((3, 3), np.float32), "p": np.array(pads)}
    before, after = outputs("y = Pad (x, p)", 13, 10, "float[M, N] x, int64[4] p", feeds)
    np.testing.assert_array_equal(after, before)


def test_nans_are_quantized_to_the_lowest():
    feeds = {"x": np.array([np.nan, np.inf, -np.inf, 1], np.float32)}
    body = "s = Constant <value = float {1}> () z = Constant <value = int16 {7}> ()"
    before, after = outputs(f"{body} y = QuantizeLinear (x, s, z)", 21, 20, "float[4] x", feeds)
    np.testing.assert_array_equal(after, before)
