import numpy as np
import onnx
import pytest
from reference_oracle import assert_same, onnxruntime_outputs, parse
from straightline import reference
from straightline.reference import EvaluationError

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((2, 3, 4)).astype(np.float32)
IMAGE = RANDOM.standard_normal((1, 2, 3, 4)).astype(np.float32)
BYTES = RANDOM.integers(0, 255, (2, 3)).astype(np.uint8)
ONES = np.ones(2, np.float32)


def check(opset: int, text: str, **feeds) -> None:
    """One node at an old opset, with shapes inferred: onnxruntime wants them."""
    names = {"float32": "float", "uint8": "uint8", "int64": "int64"}
    inputs = ", ".join(f"{names[str(v.dtype)]}{list(v.shape)} {k}" for k, v in feeds.items())
    model = parse(f"agraph ({inputs}) => (float[a] y) {{ {text} }}", opset)
    model.graph.output[0].ClearField("type")
    model = onnx.shape_inference.infer_shapes(model)
    expected = onnxruntime_outputs(model, feeds)
    assert_same(reference.run(model, feeds), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("opset", [8, 11, 12, 13])
def test_before_13_softmax_spans_all_axes_from_the_given_one(operator, opset):
    for axis in ("", "<axis = 0>", "<axis = 1>", "<axis = 2>"):
        check(opset, f"y = {operator} {axis} (x)", x=X)


def test_log_softmax_does_not_underflow():
    check(13, "y = LogSoftmax (x)", x=X * 1000)


@pytest.mark.parametrize("opset", [7, 9, 13])
def test_before_14_batch_normalization_is_inference(opset):
    check(opset, "y = BatchNormalization (x, s, s, s, s)", x=IMAGE, s=ONES * 3)


@pytest.mark.parametrize("own", ["double", "float"])
@pytest.mark.parametrize("factors", ["double", "float"])
@pytest.mark.parametrize("statistics", ["double", "float"])
def test_batch_normalization_of_several_types_is_one_in_the_widest(own, factors, statistics):
    kinds, signature = (
        [own, factors, factors, statistics, statistics],
        "{} x, {} s, {} b, {} m, {} v",
    )
    feeds = {"x": X[:, :2]} | {name: np.abs(X[0, :2, at]) for at, name in enumerate("sbmv")}
    shapes = [f"{kind}{list(each.shape)}" for kind, each in zip(kinds, feeds.values(), strict=True)]
    feeds = {
        name: each.astype(np.float64 if kind == "double" else np.float32)
        for (name, each), kind in zip(feeds.items(), kinds, strict=True)
    }
    node = "y = BatchNormalization (x, s, b, m, v)"
    model = parse(f"g ({signature.format(*shapes)}) => ({own}[2, 2, 4] y) {{ {node} }}", 17)
    wide = np.float64 if "double" in kinds else np.float32
    x, s, b, m, v = (each.astype(wide).reshape(-1, 1)[:2] for each in feeds.values())
    x = feeds["x"].astype(wide)
    expected = ((x - m) / np.sqrt(v + wide(np.float32(1e-5))) * s + b).astype(feeds["x"].dtype)
    assert_same(reference.run(model, feeds), [expected], rtol=1e-15 if own == "double" else 1e-7)


@pytest.mark.parametrize("opset", [9, 14, 15])
def test_batch_normalization_of_large_numbers_does_not_overflow(opset):
    """onnxruntime scales by the deviation first; onnx.reference by the factor."""
    text = "g (float[1, 1, 2] x, float[1] s, float[1] v) => (float[1, 1, 2] y) {"
    model = parse(text + " y = BatchNormalization (x, s, s, s, v) }", opset)
    x = np.float32([[[-3e38, 3e38]]])
    (y,) = reference.run(model, {"x": x, "s": np.float32([2]), "v": np.float32([4])})
    np.testing.assert_allclose(y, x, rtol=1e-5)


def test_batch_normalization_in_training_mode_is_refused():
    model = parse(
        """agraph (float[1, 2, 3] x, float[2] s) => (float[1, 2, 3] y, float[2] m) {
          y, m, v, n, w = BatchNormalization (x, s, s, s, s) }""",
        9,
    )
    with pytest.raises(EvaluationError, match="training mode before version 14"):
        reference.run(model, {"x": X[:1, :2, :3], "s": ONES})


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_upsample_and_resize_10(mode):
    scales = np.array([1, 1, 2, 3], np.float32)
    check(7, f'y = Upsample <mode = "{mode}", scales = [1.0, 1.0, 2.0, 3.0]> (x)', x=IMAGE)
    check(9, f'y = Upsample <mode = "{mode}"> (x, s)', x=IMAGE, s=scales)
    check(10, f'y = Resize <mode = "{mode}"> (x, s)', x=IMAGE, s=scales / 2 + 0.5)
    for less in (np.array([1, 1, 0.5, 0.7]), np.array([1, 1, 0.6, 2])):
        check(10, f'y = Resize <mode = "{mode}"> (x, s)', x=IMAGE, s=less.astype(np.float32))


@pytest.mark.parametrize("opset", [10, 16])
def test_roi_align_has_the_coordinates_of_its_version(opset):
    rois = np.array([[0, 0, 2, 2], [1, 0, 3, 2]], np.float32)
    text = "y = RoiAlign <output_height = 2, output_width = 2, sampling_ratio = 2> (x, r, b)"
    check(opset, text, x=IMAGE, r=rois, b=np.zeros(2, np.int64))


@pytest.mark.parametrize("opset", [10, 13, 19])
def test_dequantize_linear_of_each_version(opset):
    zero = np.array(7, np.uint8)
    check(opset, "y = DequantizeLinear (x, s, z)", x=BYTES, s=np.array(0.5, np.float32), z=zero)
    if opset >= 13:
        scale, zeros = np.array([0.5, 0.25, 2], np.float32), np.array([7, 8, 9], np.uint8)
        check(opset, "y = DequantizeLinear <axis = 1> (x, s, z)", x=BYTES, s=scale, z=zeros)


def test_scatter_is_scatter_elements():
    indices = np.array([[0, 2], [1, 0]])
    data, updates = np.zeros((2, 3), np.float32), np.ones((2, 2), np.float32)
    check(9, "y = Scatter <axis = 1> (d, i, u)", d=data, i=indices, u=updates)
