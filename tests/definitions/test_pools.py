import numpy as np
import pytest
import straightline as sl
from kernels import assert_kernel, feeds_of, lowered, normal, one_node
from tables import table

DRAW = np.random.default_rng(0)
floats = normal(DRAW)


@pytest.mark.parametrize("opset", [11, 12])
def test_channels_last(opset):
    x = DRAW.integers(-100, 100, (2, 6, 5, 3)).astype(np.int8)
    settings = {"kernel_shape": [2, 2], "strides": [2, 1], "pads": [1, 0, 1, 1], "opset": opset}
    assert_kernel("com.microsoft.NhwcMaxPool", [x], **settings)


def test_weights_have_channels_last_by_documentation():
    x, w = floats(1, 5, 5, 2), floats(3, 3, 3, 2)
    model = lowered(one_node("com.microsoft.NhwcConv", [x, w]))
    (result,) = sl.reference.run(model, feeds_of([x, w]))
    windows = np.lib.stride_tricks.sliding_window_view(x[0], (3, 3), (0, 1))
    np.testing.assert_allclose(result[0], np.einsum("hwckl,oklc->hwo", windows, w), rtol=1e-4)


@table(
    ((2, 3, 8), {"kernel_shape": [3]}),
    ((2, 3, 6, 7), {"kernel_shape": [2, 3], "pads": [1, 1, 0, 1], "strides": [2, 1]}),
    ((1, 2, 4, 5, 6), {"kernel_shape": [2, 2, 2]}),
)
def test_a_masked_element_ends_its_row(shape, settings):
    x, mask = floats(*shape), (DRAW.random(shape) < 0.7).astype(np.int32)
    x.flat[::5], x.flat[1::7] = np.nan, -np.inf
    assert_kernel("com.microsoft.MaxpoolWithMask", [x, mask], **settings)
    assert_kernel("com.microsoft.MaxpoolWithMask", [x, mask[:1, :1]], **settings)


def test_pads_of_run_time():
    inputs = [floats(2, 3, 4, 5), floats(3, 4, 3, 2), np.array([1, 0, 1, 1]), floats(4)]
    settings = {"strides": [2, 2], "output_padding": [1, 1]}
    assert_kernel("com.microsoft.ConvTransposeWithDynamicPads", inputs, **settings)
    assert_kernel("com.microsoft.ConvTransposeWithDynamicPads", inputs, constants=(2,), **settings)
