import numpy as np
import pytest
from kernels import assert_kernel
from tables import table

X = np.arange(12, dtype=np.float32).reshape(3, 4) - 5


@pytest.mark.parametrize("opset", [11, 20])
@table(
    ("SampleOp", [X], {}),
    ("GatherND", [X, np.array([[0, 1], [-1, -1]], np.int32)], {}),
    ("Trilu", [X, np.array(1)], {"upper": 0}),
    ("Trilu", [np.full((2, 3, 3), np.nan, np.float32), np.array([-1])], {}),
    ("Range", [np.array(0, np.int64), np.array(5, np.int64)], {}),
    ("Range", [np.array([5.0]), np.array([0.0]), np.array([-2.0])], {}),
    ("Pad", [X, np.array([[1, -1, 0, 2]]), np.array([7], np.float32)], {}),
    ("Pad", [X, np.array([1, 0, 0, 2])], {"mode": "reflect"}),
    ("UnfoldTensor", [X], {"size": 2}),
    ("UnfoldTensor", [X], {"size": 2, "dim": 0, "step": 2}),
    ("NGramRepeatBlock", [np.array([[1, 2, 3, 1, 2], [4] * 5, [0] * 5])], {"ngram_size": 3}),
    ("NGramRepeatBlock", [np.array([[1], [2], [2]])], {"ngram_size": 1}),
)
def test_kernels(name, inputs, attributes, opset):
    inputs = [*inputs, np.concatenate([X, X], 1)] if name == "NGramRepeatBlock" else inputs
    assert_kernel(f"com.microsoft.{name}", inputs, opset=opset, **attributes)
    assert_kernel(f"com.microsoft.{name}", inputs, opset=opset, dynamic=True, **attributes)


def test_an_axis_of_run_time():
    for opset, constants in ((11, (1,)), (13, ())):
        axis = np.array(-1, np.int32)
        assert_kernel("com.microsoft.ExpandDims", [X, axis], opset=opset, constants=constants)


def test_elements_in_the_order_of_their_first_occurrence():
    x = np.array([2, 1, 1, 3, 2, 5, 1], np.float32)
    assert_kernel("com.microsoft.Unique", [x], 3)
    assert_kernel("com.microsoft.Unique", [x[:0]], 3)


@pytest.mark.parametrize("opset", [16, 20])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "nearest"])
def test_modes_of_samples_have_two_names(mode, opset):
    grid = np.random.default_rng(0).random((1, 3, 4, 2)).astype(np.float32) * 2.6 - 1.3
    image = np.stack([X, -X])[None]
    settings = {"mode": mode, "padding_mode": "reflection", "opset": opset}
    assert_kernel("com.microsoft.GridSample", [image, grid], **settings)
