import numpy as np
import pytest
from tables import table
from vectorized import assert_vectorizes, loop, numbers, why_kept

IMAGES = "float[N, 2, 2, 6, 6] x, float[3, 2, 3, 3] k, float[2, 3, 3, 3] t, float[3] b, int64 n"
FEED = {
    "x": numbers(5, 2, 2, 6, 6),
    "k": numbers(3, 2, 3, 3),
    "t": numbers(2, 3, 3, 3),
    "b": numbers(3),
}
NORMALIZED = "float[N, 2, 4, 3] x, float[4] s, float[4] b, float[4] v, int64 n"
NORMALIZED_FEED = {"x": numbers(5, 2, 4, 3), "s": numbers(4), "b": numbers(4), "v": numbers(4) ** 2}
SCALES = "s = Constant <value_floats = [1.0, 1.0, 2.0, 2.0]> ()"


@pytest.mark.sample(14)
@pytest.mark.parametrize("opset", [13, 18])
@table(
    ("convolution", ("r = Conv (e, k, b)", "float[2, 3, 4, 4] r")),
    ("convolution with pads", ("r = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (e, k)",
     "float[2, 3, 3, 3] r")),
    ("transposed convolution", ("r = ConvTranspose (e, t)", "float[2, 3, 8, 8] r")),
    ("maximum", ("r = MaxPool <kernel_shape = [2, 2]> (e)", "float[2, 2, 5, 5] r")),
    ("average", ("r = AveragePool <kernel_shape = [3, 3]> (e)", "float[2, 2, 4, 4] r")),
    ("norm of a window", ("r = LpPool <kernel_shape = [2, 2]> (e)", "float[2, 2, 5, 5] r")),
    ("global average", ("r = GlobalAveragePool (e)", "float[2, 2, 1, 1] r")),
    ("global maximum", ("r = GlobalMaxPool (e)", "float[2, 2, 1, 1] r")),
    ("global norm", ("r = GlobalLpPool (e)", "float[2, 2, 1, 1] r")),
    ("response", ("r = LRN <size = 3> (e)", "float[2, 2, 6, 6] r")),
    ("depth to space", (
        'q = SpaceToDepth <blocksize = 2> (e) r = DepthToSpace <blocksize = 2, mode = "CRD"> (q)',
        "float[2, 2, 6, 6] r",
    )),
    ("nearest", (f"{SCALES} r = Resize (e, , s)", "float[2, 2, 12, 12] r")),
    ("linear", (f'{SCALES} r = Resize <mode = "linear"> (e, , s)', "float[2, 2, 12, 12] r")),
    ("to sizes", ("s = Constant <value_ints = [2, 2, 3, 4]> () r = Resize (e, , , s)",
     "float[2, 2, 3, 4] r")))  # fmt: skip
def test_images_against_the_loop(rule, case, opset):
    assert_vectorizes(loop(*case, IMAGES), FEED, opset=opset)


def test_each_image_has_a_grid_of_its_own():
    feed = {"x": numbers(5, 2, 1, 5, 5), "g": numbers(5, 2, 3, 3, 2)}
    body = "h = Gather (g, i) r = GridSample (e, h)"
    grids = "float[N, 2, 1, 5, 5] x, float[N, 2, 3, 3, 2] g, int64 n"
    assert_vectorizes(loop(body, "float[2, 1, 3, 3] r", grids), feed)
    body = "a0 = Constant <value_int = 0> () h = Gather (g, a0) r = GridSample (e, h)"
    assert_vectorizes(loop(body, "float[2, 1, 3, 3] r", grids), feed)


SMALL = "uint8[N, 2, 2, 6, 6] x, uint8[3, 2, 3, 3] k, uint8 o, float s, int64 n"
SMALL_FEED = {
    "x": np.arange(720, dtype=np.uint8).reshape(5, 2, 2, 6, 6),
    "k": np.arange(54, dtype=np.uint8).reshape(3, 2, 3, 3),
    "o": np.array(3, np.uint8),
    "s": np.array(0.5, np.float32),
}


@table(
    ("r = ConvInteger (e, k, o)", "int32[2, 3, 4, 4] r"),
    ("r = QLinearConv (e, s, o, k, s, o, s, o)", "uint8[2, 3, 4, 4] r"),
)
def test_images_of_small_integers(body, out):
    assert_vectorizes(loop(body, out, SMALL), SMALL_FEED)


@pytest.mark.parametrize("axes", ["batch_axis = 0, time_axis = 1", ""])
def test_sequences_that_are_reversed(axes):
    body = f"l = Gather (k, i) r = ReverseSequence <{axes}> (e, l)".replace("<>", "")
    text = loop(body, "float[4, 4, 2] r", "float[N, 4, 4, 2] x, int64[N, 4] k, int64 n")
    assert_vectorizes(text, {"x": numbers(5, 4, 4, 2), "k": np.arange(20).reshape(5, 4) % 4 + 1})


def test_images_from_columns():
    body = """h = Constant <value = int64[2] {5, 5}> () w = Constant <value = int64[2] {1, 5}> ()
        r = Col2Im (e, h, w)"""
    text = loop(body, "float[2, 1, 5, 5] r", "float[N, 2, 5, 5] x, int64 n")
    assert_vectorizes(text, {"x": numbers(5, 2, 5, 5)}, opset=18)


def test_resized_axes():
    body = """s = Constant <value_floats = [2.0, 3.0]> ()
        r = Resize <axes = [-1, 2]> (e, , s)"""
    assert_vectorizes(loop(body, "float[2, 2, 18, 12] r", IMAGES), FEED, opset=18)
    body = """s = Constant <value_ints = [3, 3]> ()
        r = Resize <axes = [2, 3], keep_aspect_ratio_policy = "not_smaller"> (e, , , s)"""
    assert_vectorizes(loop(body, "float[2, 2, 3, 3] r", IMAGES), FEED, opset=18)


@table(
    ("batch", "r = BatchNormalization (e, s, b, b, v)", "float[2, 4, 3] r", 15),
    ("instance", "r = InstanceNormalization (e, s, b)", "float[2, 4, 3] r", 15),
)
def test_rows_against_the_loop(rule, body, out, opset):
    assert_vectorizes(loop(body, out, NORMALIZED), NORMALIZED_FEED, opset=opset)


@pytest.mark.parametrize("opset", [11, 17])
def test_a_batch_of_one_needs_no_new_shape(opset):
    body = "a = Constant <value = int64[1] {0}> ()"
    body += f" u = Unsqueeze {axes(opset, 'e')} q = Conv (u, k) r = Squeeze {axes(opset, 'q')}"
    feed = {"x": numbers(5, 2, 6), "k": numbers(3, 2, 3)}
    one_row = "float[N, 2, 6] x, float[3, 2, 3] k, int64 n"
    model = assert_vectorizes(loop(body, "float[3, 4] r", one_row), feed, opset=opset)
    makers = {value: node for node in model.graph.node for value in node.output}
    (convolution,) = [node for node in model.graph.node if node.op_type == "Conv"]
    assert makers[convolution.input[0]].op_type == "Squeeze"


def axes(opset, value):
    return f"<axes = [0]> ({value})" if opset < 13 else f"({value}, a)"


def test_sizes_that_only_run_time_tells():
    symbolic = "float[N, B, 2, L] x, float[3, 2, 3] k, int64 n"
    text = loop("q = Conv (e, k) r = GlobalMaxPool (q)", "float[B, 3, 1] r", symbolic)
    for batch in (1, 4):
        assert_vectorizes(text, {"x": numbers(5, batch, 2, 7), "k": numbers(3, 2, 3)}, opset=17)


@table(
    ("q, r = MaxPool <kernel_shape = [2, 2]> (e)", "int64[2, 2, 5, 5] r",
     "has an output that is not computed row by row"),
    ("r = ConvTranspose (e, e)", "float[2, 2, 11, 11] r",
     "which has an input 'e' that differs from iteration to iteration"),
    ("s = Constant <value_floats = [2.0, 1.0, 2.0, 2.0]> () r = Resize (e, , s)",
     "float[4, 2, 12, 12] r", "may resize the batch"))  # fmt: skip
def test_kept_loops_and_their_reasons(body, out, why):
    assert why in why_kept(loop(body, out, IMAGES))
