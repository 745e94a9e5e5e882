import numpy as np
import pytest
from harness import run_in_onnxruntime
from numpy.testing import assert_allclose
from straightline.targets import Form
from tables import table

from targets import fitted, lacking, one_node, operators

RNG = np.random.default_rng(0)
IMAGE = RNG.standard_normal((1, 3, 7, 6)).astype(np.float32)
SIGNAL = RNG.standard_normal((1, 4, 9)).astype(np.float32)
WEIGHTS = RNG.standard_normal((3, 3, 2, 3)).astype(np.float32)
NOTSET = Form(attributes={"auto_pad": ("NOTSET",)})


def pads_of(outcome):
    (node,) = outcome.ir.graph.nodes()
    return node.attribute("pads")


@pytest.mark.sample(6)
@pytest.mark.parametrize("side", ["VALID", "SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("strides", [(1, 1), (2, 3)])
@pytest.mark.parametrize("op", ["Conv", "MaxPool", "AveragePool", "ConvTranspose"])
def test_padding_is_written_in_numbers(op, side, strides):
    operands = "(x, w)" if op.startswith("Conv") else "(x)"
    kernel = "" if op.startswith("Conv") else ", kernel_shape = [2, 3]"
    node = f'y = {op} <auto_pad = "{side}", strides = {list(strides)}{kernel}> {operands}'
    text = one_node(node, "float[1, 3, 7, 6] x, float[3, 3, 2, 3] w")
    feed = {"x": IMAGE, "w": WEIGHTS}
    outcome = fitted(text, lacking(forms={op: (NOTSET,)}), feed, passes=())
    assert len(pads_of(outcome)) == 4 and not outcome.untaken


def test_padding_that_needs_no_sizes():
    """MTCNN of keras2onnx."""
    node = 'y = MaxPool <auto_pad = "VALID", kernel_shape = [3, 3]> (x)'
    text = one_node(node, "float[1, 3, h, w] x")
    target = lacking(forms={"MaxPool": (NOTSET,)})
    assert pads_of(fitted(text, target, {"x": IMAGE}, passes=())) == [0, 0, 0, 0]
    same = node.replace("VALID", "SAME_UPPER")
    text = one_node(same, "float[1, 3, h, w] x")
    assert pads_of(fitted(text, target, {"x": IMAGE}, passes=())) == [1, 1, 1, 1]
    strided = same.replace("<", "<strides = [1, 2], ")
    (left,) = fitted(one_node(strided, "float[1, 3, h, w] x"), target).untaken
    assert "the size that it slides over is not known" in left.reason


@table(
    "y = Conv <strides = [2], pads = [1, 0], group = 2> (x, w)",
    "y = Conv (x, w, b)",
    "y = ConvTranspose <strides = [3], output_padding = [1]> (x, w)",
    "y = MaxPool <kernel_shape = [2], pads = [0, 1]> (x)",
    'y = AveragePool <kernel_shape = [3], auto_pad = "SAME_UPPER"> (x)',
)
def test_a_kernel_of_one_axis_slides_over_images(node):
    op, weights = node.split()[2], "4, 2, 3" if "group" in node else "4, 4, 3"
    text = one_node(node, f"float[n, 4, 9] x, float[{weights}] w, float[4] b")
    w = RNG.standard_normal([int(n) for n in weights.split(",")]).astype(np.float32)
    feed = {"x": SIGNAL, "w": w, "b": SIGNAL[0, :, 0].copy()}
    outcome = fitted(text, lacking(forms={op: (Form(ranks={"X": (4, 5)}),)}), feed, passes=())
    assert operators(outcome) == sorted([op, "Squeeze", "Unsqueeze"]) and not outcome.untaken


def test_indices_of_maxima_keep_their_axis():
    text = one_node("y, z = MaxPool <kernel_shape = [2]> (x)", "float[1, 4, 9] x", outputs="y, z")
    target = lacking(forms={"MaxPool": (Form(ranks={"X": (4,)}),)})
    (left,) = fitted(text, target, passes=()).untaken
    assert "the indices of its maxima are used" in left.reason


@pytest.mark.sample(4)
@pytest.mark.parametrize("steps", ["", ", strides = [2, 3], output_padding = [1, 0]"])
@pytest.mark.parametrize("sides", ["", ', auto_pad = "SAME_UPPER"'])
@pytest.mark.parametrize("sizes", [[7, 6], [8, 8]])
def test_sizes_of_a_result_become_pads(sizes, sides, steps):
    """OpenCV, tract and MNN read them otherwise."""
    node = f"y = ConvTranspose <output_shape = {sizes}{sides}{steps}> (x, w)"
    text = one_node(node, "float[1, 3, 7, 6] x, float[3, 3, 2, 3] w")
    target = lacking(forms={"ConvTranspose": (Form(unwritten=("output_shape",)),)})
    outcome = fitted(text, target, passes=())
    assert len(pads_of(outcome)) == 4 and not outcome.untaken
    assert_as_before(text, outcome, {"x": IMAGE, "w": WEIGHTS})


def assert_as_before(text, outcome, feed):
    """The reference of onnx (1.23) refuses groups and reads other pads than onnxruntime."""
    before, after = (run_in_onnxruntime(model, feed)[0] for model in (text, outcome.model))
    assert_allclose(after, before, rtol=1e-5, atol=1e-5)


@table(
    ("group = 3", Form(attributes={"group": (1,)}), ["Concat", "ConvTranspose", "Split"]),
    ("group = 3", Form(depthwise=True), ["Concat", "ConvTranspose", "Split"]),
    ("group = 6", Form(depthwise=True), ["ConvTranspose"]),
    ("group = 3, pads = [0, 1, 1, 0]", Form(even_pads=True), ["ConvTranspose", "Slice"]),
    ("group = 1", Form(constant=("B",)), ["Add", "ConvTranspose", "Unsqueeze"]),
)
def test_groups_pads_and_biases_of_a_transposed_kernel(attributes, form, expected):
    channels = 6 // int(attributes.split(",")[0].split()[2])
    text = one_node(
        f"y = ConvTranspose <{attributes}> (x, w, b)",
        f"float[1, 6, 3, 4] x, float[6, {channels}, 2, 3] w, float[6] b",
        opset=13,
    )
    w = RNG.standard_normal((6, channels, 2, 3)).astype(np.float32)
    feed = {"x": RNG.standard_normal((1, 6, 3, 4)).astype(np.float32), "w": w, "b": w[:6, 0, 0, 0]}
    forms = (form, Form(attributes={"group": (1,)})) if form.depthwise else (form,)
    outcome = fitted(text, lacking(forms={"ConvTranspose": forms}), passes=())
    assert operators(outcome) == expected and not outcome.untaken
    assert_as_before(text, outcome, feed)


@table(
    ("1, 1", "<value_floats = [1.0, 1.0, 5.0, 3.0]> () y = RESIZE (x, , s)", ["Expand"]),
    ("1, 1", "<value_ints = [1, 3, 5, 4]> () y = RESIZE (x, , , s)", ["Expand"]),
    ("1, 3", "<value_ints = [1, 3, 5, 7]> () y = RESIZE (x, , , s)", ["Expand", "Resize"]),
    ("3, 1", "<value_floats = [1.0, 1.0, 1.7, 3.0]> () y = RESIZE (x, , s)", ["Expand", "Resize"]),
    ("2, 3", "<value_ints = [1, 3, 5, 7]> () y = RESIZE (x, , , s)", ["Resize"]),
)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_single_pixels_are_repeated(mode, sizes, resize, expected):
    """OpenCV (5.0.0) reads beyond the end of one row or column."""
    nodes = resize.replace("RESIZE", f'Resize <mode = "{mode}">')
    text = one_node(f"s = Constant {nodes}", f"float[1, 3, {sizes}] x")
    height, width = map(int, sizes.split(", "))
    feed = {"x": IMAGE[:, :, :height, :width].copy()}
    outcome = fitted(text, lacking(forms={"Resize": (Form(wide=("X",)),)}), feed, passes=())
    if mode == "cubic" and "Expand" in expected:
        assert outcome.untaken or "Resize" not in operators(outcome)
    else:
        assert [op for op in operators(outcome) if op != "Constant"] == expected
        assert not outcome.untaken


@table(
    ("<value_ints = [1, 4, 7]> () y = RESIZE (x, , , s)", ["Resize", "Squeeze", "Unsqueeze"]),
    ("<value_floats = [1.0, 2.0, 1.7]> () y = RESIZE (x, , s)", ["Resize", "Squeeze", "Unsqueeze"]),
    ("<value_floats = [1.0, 1.0, 0.6]> () y = RESIZE (x, , s)", ["Resize", "Squeeze", "Unsqueeze"]),
)
@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
def test_a_resize_of_one_axis_resizes_images(nodes, expected, mode):
    if mode != "nearest":
        nodes = nodes.replace("2.0", "1.0")  # onnxruntime has it of images alone
    nodes = nodes.replace("RESIZE", f'Resize <mode = "{mode}">')
    text = one_node(f"s = Constant {nodes}", "float[1, 4, 9] x")
    target = lacking(forms={"Resize": (Form(ranks={"X": (4,)}),)})
    outcome = fitted(text, target, {"x": SIGNAL}, passes=())
    assert [name for name in operators(outcome) if name != "Constant"] == expected
    assert not outcome.untaken
