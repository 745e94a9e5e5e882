import numpy as np
import onnx
import pytest
from harness import run_in_onnxruntime
from reference_oracle import assert_as_onnxruntime, one_node
from straightline import reference
from straightline.reference import EvaluationError


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("p", [1, 2])
def test_norms_are_of_magnitudes(p, axis):
    array = np.array([[1, -3, 0], [-2, 2, 0]], np.float32)
    model, feeds = one_node("LpNormalization", [array], 21, p=p, axis=axis)
    assert_as_onnxruntime(model, feeds)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_rows_are_normalized_in_the_precision_that_they_name(axis):
    x = np.random.default_rng(3).normal(size=(3, 5)) * 4 + 100
    for dtype in (np.float16, np.float32, np.float64):
        inputs = [array.astype(dtype) for array in (x, x[0] - 99, x[1] / 100)]
        model, feeds = one_node("LayerNormalization", inputs, 17, outputs=3, axis=axis)
        for info in model.graph.output[1:]:
            info.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
        found = reference.run(model, feeds)
        assert [array.dtype for array in found] == [dtype, np.float32, np.float32]
        close = 2e-3 if dtype == np.float16 else 1e-4
        for ours, theirs in zip(found, run_in_onnxruntime(model, feeds), strict=True):
            np.testing.assert_allclose(ours, theirs, close, close)


def test_a_scale_does_not_stretch_what_is_normalized():
    arrays = [np.ones((3, 1), np.float32), np.ones(5, np.float32)]
    model, feeds = one_node("LayerNormalization", arrays, 17)
    with pytest.raises(EvaluationError, match="does not broadcast to X"):
        reference.run(model, feeds)


@pytest.mark.parametrize(("opset", "scales"), [(18, 2), (21, 4)])
def test_groups_are_normalized_with_a_large_mean(opset, scales):
    """Opset 18 scales groups, and opset 21 channels."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 4, 3, 2)).astype(np.float32)
    factors = [rng.normal(size=scales).astype(np.float32) for _ in range(2)]
    model, feeds = one_node("GroupNormalization", [x, *factors], opset, num_groups=2)
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    (near,), (wanted,) = reference.run(model, feeds), run_in_onnxruntime(model, feeds)
    np.testing.assert_allclose(near, wanted, 1e-5, 1e-5)
    feeds = {name: value + 4096 * np.float32(value.ndim == 4) for name, value in feeds.items()}
    np.testing.assert_allclose(reference.run(model, feeds)[0], near, 2e-3, 2e-3)


def test_channels_must_be_groups():
    x = np.ones((1, 3, 2), np.float32)
    model, feeds = one_node("GroupNormalization", [x, x[0, :, 0], x[0, :, 0]], 21, num_groups=2)
    with pytest.raises(EvaluationError, match="3 channels are not 2 groups"):
        reference.run(model, feeds)
