"""Batching rules of whole families against the loop: what each operator takes besides its data."""

import numpy as np
import pytest
from tables import table
from vectorized import assert_vectorizes, loop, numbers, why_kept

E3 = "float[N, 2, 3] x, float[3] s, float[3] b, int64 n"
E3_FEED = {"x": numbers(5, 2, 3), "s": numbers(3), "b": numbers(3)}


@table(
    ("layer", "r = LayerNormalization (e, s, b)", 17),
    ("layer from an axis", "r = LayerNormalization <axis = 1> (e, s)", 17),
    ("RMS", "r = RMSNormalization (e, s)", 23),
    ("norm", "r = LpNormalization <axis = 1> (e)", 17),
    ("norm of rows", "r = LpNormalization <axis = 0, p = 1> (e)", 17),
    ("logarithm", "r = LogSoftmax <axis = 0> (e)", 17),
    ("logarithm of all from an axis on", "r = LogSoftmax <axis = 0> (e)", 12),
    ("hard", "r = Hardmax <axis = -2> (e)", 17),
    ("hard of all from an axis on", "r = Hardmax <axis = 0> (e)", 11),
    ("zeroed", "r = Trilu (e)", 17),
    ("zeroed above", "k = Constant <value_int = 1> () r = Trilu <upper = 0> (e, k)", 17),
    ("dropped", "r = Dropout (e)", 17),
    ("dropped, older", "r = Dropout (e)", 11),
    ("cast like", "d = Cast <to = 11> (s) l = CastLike (e, d) r = Cast <to = 1> (l)", 17),
    ("mean", "r = Mean (e, s, b)", 17),
    ("sum", "r = Sum (s, e)", 17),
    ("remainder", "r = Mod <fmod = 1> (e, s)", 17),
    ("NaN", "l = Log (e) p = IsNaN (l) r = Where (p, s, e)", 17),
    ("infinity", "z0 = Sub (e, e) d = Div (e, z0) p = IsInf (d) r = Where (p, s, e)", 17),
    ("sign", "r = Sign (e)", 17),
    ("swish", "r = Swish (e)", 24),
)
def test_normalizations_keep_their_shape(rule, body, opset):
    assert_vectorizes(loop(body, "float[2, 3] r", E3), E3_FEED, opset=opset)


REDUCTIONS = ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"]


@pytest.mark.sample(15)
@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_reductions(reduction, opset):
    as_input = opset >= 18 or (opset == 13 and reduction == "Sum")
    axes = "a = Constant <value = int64[1] {-2}> ()" if as_input else ""
    node = f"Reduce{reduction} (p, a)" if as_input else f"Reduce{reduction} <axes = [-2]> (p)"
    text = loop(f"{axes} p = Abs (e) r = {node}", "float[1, 3] r", E3)
    assert_vectorizes(text, E3_FEED, opset=opset)


@table(
    ("pad", "q = Constant <value = int64[4] {0, 1, 2, 0}> () r = Pad (e, q)", "float[4, 4] r", 11),
    ("pad by numbers of run time", "r = Pad (e, p, v)", "float[?, ?] r", 13),
    ("pad with an edge",
     'q = Constant <value = int64[4] {1, 0, 1, 2}> () r = Pad <mode = "edge"> (e, q)',
     "float[4, 5] r", 13),
    ("pad an axis",
     """q = Constant <value = int64[2] {1, 2}> () a = Constant <value = int64[1] {-1}> ()
        r = Pad (e, q, , a)""", "float[2, 6] r", 18),
    ("crop", "t = Constant <value = int64[2] {1, 5}> () r = CenterCropPad (e, t)",
     "float[1, 5] r", 18),
    ("crop an axis",
     "t = Constant <value = int64[1] {1}> () r = CenterCropPad <axes = [-1]> (e, t)",
     "float[2, 1] r", 18),
    ("one hot", """l = ArgMax <axis = 1, keepdims = 0> (e) d = Constant <value_int = 4> ()
        w = Constant <value = float[2] {0.5, 2}> () r = OneHot (l, d, w)""", "float[2, 4] r", 12),
    ("one hot first", """l = ArgMin <axis = 1, keepdims = 0> (e) d = Constant <value_int = 4> ()
        w = Constant <value = float[2] {0.5, 2}> () r = OneHot <axis = 0> (l, d, w)""",
     "float[4, 2] r", 13),
    ("least", "r = ArgMin <axis = 0, keepdims = 1> (e)", "int64[1, 3] r", 11),
    ("split in equal parts", "f, r, g = Split <axis = 1> (e)", "float[2, 1] r", 13),
    ("split in so many parts", "f, r = Split <axis = -1, num_outputs = 2> (e)", "float[2, 1] r",
     18),
    ("shift", """j = Cast <to = 13> (i) k = Constant <value = uint64[2] {1, 70}> ()
        d = BitShift <direction = "LEFT"> (k, j) r = Cast <to = 7> (d)""", "int64[2] r", 17),
    ("determinant", "t = Transpose (e) q = MatMul (e, t) r = Det (q)", "float r", 17),
    ("cumulative product", "a = Constant <value_int = -1> () r = CumProd (e, a)", "float[2, 3] r",
     26),
    ("spectrum", """a = Constant <value = int64[1] {-1}> () u = Unsqueeze (e, a)
        r = DFT <axis = 1> (u)""", "float[2, 3, 2] r", 17),
    ("spectrum along an input",
     """a = Constant <value = int64[1] {-1}> () d = Constant <value_int = -2> ()
        u = Unsqueeze (e, a) r = DFT (u, , d)""", "float[2, 3, 2] r", 20))  # fmt: skip
def test_other_operators(rule, body, out, opset):
    declared = E3 + ", int64[4] p, float v"
    feed = {**E3_FEED, "p": np.array([1, 0, 2, 1]), "v": np.array(3, np.float32)}
    assert_vectorizes(loop(body, out, declared), feed, opset=opset)


PRODUCTS = "float[N, 2, 3] x, float[3, 4] w, float[4, 3] t, float[4] b, float[2, 4] f, int64 n"
PRODUCTS_FEED = {
    "x": numbers(5, 2, 3),
    "w": numbers(3, 4),
    "t": numbers(4, 3),
    "b": numbers(4),
    "f": numbers(2, 4),
}


@pytest.mark.sample(13)
@pytest.mark.parametrize("opset", [12, 17])
@table(
    ("rows", ("r = Gemm (e, w, b)", "float[2, 4] r")),
    ("without bias", ("r = Gemm <transB = 1> (e, t)", "float[2, 4] r")),
    ("factors", ("r = Gemm <alpha = 0.5, beta = 2.0> (e, w, b)", "float[2, 4] r")),
    ("a bias for each row", ("r = Gemm <alpha = 0.5, beta = 2.0> (e, w, f)", "float[2, 4] r")),
    ("columns", ("r = Gemm <transA = 1> (e, f)", "float[3, 4] r")),
    ("both", ("r = Gemm <transB = 1> (e, e)", "float[2, 2] r")),
    ("a bias that varies", ("q = Gemm (e, w, f) r = Gemm (e, w, q)", "float[2, 4] r")),
    ("one row", (
        """a = Constant <value = int64[1] {0}> () c1 = Constant <value = int64[1] {1}> ()
        q = Slice (e, a, c1) r = Gemm (q, w, b)""",
        "float[1, 4] r",
    )),
    ("letters", ('r = Einsum <equation = "ij,jk->ik"> (e, w)', "float[2, 4] r")),
    ("letters of a result", ('r = Einsum <equation = "ij , kj"> (e, t)', "float[2, 4] r")),
    ("letters of one", ('r = Einsum <equation = "ij->ji"> (e)', "float[3, 2] r")),
    ("an ellipsis", ('r = Einsum <equation = "...j,jk->...k"> (e, w)', "float[2, 4] r")),
    ("letters that vary", ('r = Einsum <equation = "ij,ij->i"> (e, e)', "float[2] r")))  # fmt: skip
def test_products_of_floats(rule, case, opset):
    assert_vectorizes(loop(*case, PRODUCTS), PRODUCTS_FEED, opset=opset)


SMALL = "uint8[N, 2, 3] x, uint8[3, 4] w, uint8 z0, float s, uint8[1] o, int64 n"
SMALL_FEED = {
    "x": np.arange(30, dtype=np.uint8).reshape(5, 2, 3),
    "w": np.arange(12, dtype=np.uint8).reshape(3, 4),
    "z0": np.array(3, np.uint8),
    "o": np.array([2], np.uint8),
    "s": np.array(0.25, np.float32),
}


@table(
    ("product", ("r = MatMulInteger (e, w, z0, o)", "int32[2, 4] r")),
    ("product of what varies", (
        "t = Transpose (w) q = MatMulInteger (e, w) p = Cast <to = 2> (q)"
        " r = MatMulInteger (p, t, z0)",
        "int32[2, 3] r",
    )),
    ("product with scales", ("r = QLinearMatMul (e, s, z0, w, s, z0, s, z0)", "uint8[2, 4] r")),
    ("to floats", ("r = DequantizeLinear (e, s, z0)", "float[2, 3] r")),
    ("and back",
     ("q = DequantizeLinear (e, s, z0) r = QuantizeLinear (q, s, z0)", "uint8[2, 3] r")),
    ("along an axis", (
        """k = Constant <value = float[3] {0.5, 1, 2}> () q = DequantizeLinear <axis = -1> (e, k)
        r = QuantizeLinear <axis = 1> (q, k)""",
        "uint8[2, 3] r",
    )),
    ("a scale for each iteration", (
        """j = Cast <to = 1> (i) k = Add (j, s) q = DequantizeLinear (e, k, z0)
        l = Mul (k, k) r = QuantizeLinear (q, l, z0)""",
        "uint8[2, 3] r",
    )),
    ("a scale of its own range", (
        """d = Cast <to = 1> (e) b = Sub (d, s) h = Mul (b, d) q, k, z = DynamicQuantizeLinear (h)
        r = DequantizeLinear (q, k, z)""",
        "float[2, 3] r",
    )),
    ("an offset for each iteration, and for each column", (
        """d = Cast <to = 1> (e) h = Sub (s, d) q, k, z = DynamicQuantizeLinear (h)
        p = Constant <value = uint8[4] {1, 255, 0, 9}> () m = MatMulInteger (q, w, z, p)
        l = MatMulInteger (q, w, z) r = Sub (m, l)""",
        "int32[2, 4] r",
    )))  # fmt: skip
def test_products_and_scales_of_small_integers(rule, case):
    assert_vectorizes(loop(*case, SMALL), SMALL_FEED)


@table(
    ("which returns a number of positions", "q = NonZero (e) r = ReduceMax <keepdims = 0> (q)"),
    ("which reads elements along any axis", """p = Less (e, e) f = Flatten <axis = 0> (p)
        a = Constant <value = int64[1] {0}> () v = Squeeze (f, a) q = Compress (e, v)
        m = Cast <to = 7> (q) r = ReduceSum <keepdims = 0> (m)"""))  # fmt: skip
def test_kept_loops_and_their_reasons(why, text):
    assert why in why_kept(loop(text, "int64 r", E3), opset=21)


def test_groups_where_there_are_iterations():
    body = """a = Constant <value = int64[2] {0, 3}> () u = Unsqueeze (e, a)
        k = Constant <value = float[2] {1, 2}> ()
        v = GroupNormalization <num_groups = 2> (u, k, k) r = Squeeze (v, a)"""
    text = f"""g (float[5, 2, 3] x) => (z) {{ z = Scan <num_scan_inputs = 1,
        body = f (float[2, 3] e) => (float[2, 3] r) {{ {body} }}> (x) }}"""
    assert_vectorizes(text, {"x": E3_FEED["x"]}, (None,), 21)


@pytest.mark.parametrize("around", [True, False])
def test_images_are_resized_by_constant_scales(around):
    body = 'r = Resize <mode = "nearest"> (e, , k)'
    own = "" if around else "k = Constant <value = float[3] {1, 2, 2}> () "
    text = loop(own + body, "float[3, 8, 10] r", "float[N, 3, 4, 5] x, int64 n")
    if around:
        text = text.replace("bool yes = {1}", "bool yes = {1}, float[3] k = {1, 2, 2}")
    assert_vectorizes(text, {"x": numbers(5, 3, 4, 5)}, opset=13)


@table(
    ("all of each iteration", "b = Gather (q, i) j = Gather (k, i)", "e, b, j"),
    (
        "one image in each",
        "b = Gather (q, i) a = Constant <value = int64[1] {0}> ()"
        " f = Gather <axis = 0> (e, a) u = Neg (f) o = Sub (h, h)",
        "u, b, o",
    ),
    ("images alone", "t = Neg (t0)", "e, t, h"),
    ("regions alone", "b = Gather (q, i)", "m, b, h"),
)
def test_regions_of_images(case, nodes, operands):
    """The images of an iteration follow those of the one before."""
    declared = """float[N, 3, 2, 6, 6] x, float[N, 4, 4] q, int64[N, 4] k, float[3, 2, 6, 6] m,
        float[4, 4] t0, int64[4] h, int64 n"""
    text = loop(
        f"{nodes} r = RoiAlign <output_height = 2, output_width = 3> ({operands})",
        "float[4, 2, 2, 3] r",
        declared,
    )
    feed = {
        "x": numbers(5, 3, 2, 6, 6),
        "q": np.cumsum(np.abs(numbers(5, 4, 4)), 2),
        "m": numbers(3, 2, 6, 6),
    }
    feed |= {"t0": -np.cumsum(np.abs(numbers(4, 4)), 1), "k": np.arange(20).reshape(5, 4) % 3}
    feed |= {"h": np.array([0, 2, 1, 2])}
    assert_vectorizes(text, feed, opset=16)
