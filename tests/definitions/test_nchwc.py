import numpy as np
import pytest
from kernels import assert_kernel, normal
from straightline.definitions.nchwc import block_size
from tables import table

DRAW = np.random.default_rng(0)
BLOCK = block_size()
floats = normal(DRAW)


def check(name, inputs, **settings):
    assert_kernel(f"com.microsoft.nchwc.{name}", inputs, **settings)


@pytest.mark.parametrize("channels", [4, BLOCK, 2 * BLOCK + 4])
def test_reorder_to_blocks(channels):
    x = floats(2, channels, 4, 5)
    check("ReorderInput", [x], opset=11)
    check("ReorderInput", [x.transpose(0, 2, 3, 1).copy()], channels_last=1)


@pytest.mark.parametrize("last", [0, 1])
def test_reorder_from_blocks(last):
    check("ReorderOutput", [floats(2, 2 * BLOCK, 4, 5)], channels=BLOCK + 3, channels_last=last)


@table(
    ("MaxPool", {"kernel_shape": [2, 2], "dilations": [2, 2]}),
    ("AveragePool", {"kernel_shape": [2, 2], "pads": [1, 1, 0, 0]}),
    ("AveragePool",
     {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1, "count_include_pad": 1}),
    ("GlobalMaxPool", {}),
    ("GlobalAveragePool", {}),
    ("Upsample", {"scales": [1, 1, 3, 2]}),
    ("Upsample",
     {"scales": [1, 1, 3, 2], "mode": "linear",
     "coordinate_transformation_mode": "half_pixel"}))  # fmt: skip
def test_pools(name, settings):
    check(name, [floats(2, 2 * BLOCK, 4, 5)], opset=11, **settings)


@table(
    (3, BLOCK, 1, {"activation": "LeakyRelu", "activation_params": [0.1]}),
    (BLOCK, 2 * BLOCK, 1, {"activation": "Relu"}),
    (2 * BLOCK, 2 * BLOCK, 2 * BLOCK, {}),
    (2 * BLOCK, 2 * BLOCK, 2, {"activation": "Clip", "activation_params": [-0.5, 1.0]}),
)
def test_conv_adds_before_its_activation(ins, outs, group, settings):
    x, w = floats(2, ins, 6, 5), floats(outs, ins // group, 3, 3)
    check("Conv", [x, w, floats(outs), floats(2, outs, 4, 3)], group=group, **settings)
