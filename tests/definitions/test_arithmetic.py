import numpy as np
import pytest
import straightline as sl
from kernels import assert_kernel, feeds_of, lowered, normal, one_node, run_kernel

DRAW = np.random.default_rng(0)
floats = normal(DRAW)


@pytest.mark.parametrize("metric", ["sqeuclidean", "euclidean"])
def test_distances(metric):
    assert_kernel("com.microsoft.CDist", [floats(4, 3), floats(5, 3)], metric=metric)
    assert_kernel("com.microsoft.CDist", [floats(0, 3), floats(5, 3)], metric=metric)


def test_inverses_choose_the_largest_pivot():
    zeros_first = np.array([[0, 1, 0], [2, 0, 0], [0, 0, 4]], np.float32)
    assert_kernel("com.microsoft.Inverse", [zeros_first])
    assert_kernel(
        "com.microsoft.Inverse", [floats(2, 3, 4, 4) + 4 * np.eye(4, dtype=np.float32)], opset=11
    )
    for sizes in ((0, 3, 3), (2, 0, 3, 3), (0, 0)):
        assert_kernel("com.microsoft.Inverse", [floats(*sizes)], opset=11)
    many = floats(9, 9) + 4 * np.eye(9, dtype=np.float32)
    assert_kernel("com.microsoft.Inverse", [many])
    assert_kernel("com.microsoft.Inverse", [many], dynamic=True)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_boxes_may_be_outside_turned_or_a_point(mode):
    rois = [[0, 0, 1, 1], [-0.2, 0.1, 1.3, 0.9], [0.5, 0.5, 0.5, 0.5], [0.9, 0.9, 0.1, 0.1]]
    boxes, images = np.array(rois, np.float32), np.array([0, 1, 1, 0], np.int32)
    for size, opset in (((3, 4), 11), ((1, 2), 17)):
        inputs = [floats(2, 3, 6, 5), boxes, images, np.array(size, np.int32)]
        settings = {"mode": mode, "extrapolation_value": 3.5, "opset": opset}
        assert_kernel("com.microsoft.CropAndResize", inputs, **settings)


def test_words_end_at_zero():
    words = DRAW.integers(1, 9, (4, 7)).astype(np.int32)
    for word, end in enumerate((3, 1, 6, 7)):
        words[word, end:] = 0
    inputs = [words, floats(5, 1, 3, 6), floats(5), floats(9, 6)]
    assert_kernel("com.microsoft.WordConvEmbedding", inputs)


@pytest.mark.parametrize("name", ["ComplexMul", "ComplexMulConj"])
def test_complex_numbers_by_documentation(name):
    a, b = floats(3, 2), floats(3, 2)
    one, other = (pairs[:, 0] + 1j * pairs[:, 1] for pairs in (a, b))
    product = one * (other.conj() if name.endswith("Conj") else other)
    model = lowered(one_node(f"com.microsoft.{name}", [a, b]))
    (result,) = sl.reference.run(model, feeds_of([a, b]))
    np.testing.assert_allclose(result[:, 0] + 1j * result[:, 1], product, rtol=1e-6)


@pytest.mark.parametrize("opset", [17, 20])
def test_real_transforms_by_documentation(opset):
    x = floats(2, 8)
    (result,) = run_kernel(lowered(one_node("com.microsoft.Rfft", [x], 1, opset)), feeds_of([x]))
    np.testing.assert_allclose(result[..., 0] + 1j * result[..., 1], np.fft.rfft(x), atol=1e-5)
    back = lowered(one_node("com.microsoft.Irfft", [result], 1, opset))
    np.testing.assert_allclose(run_kernel(back, feeds_of([result]))[0], x, atol=1e-5)
