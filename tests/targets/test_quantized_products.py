import kernels
import numpy as np
import pytest
from straightline import transform
from tables import table

from targets import lacking, operators

DRAW = np.random.default_rng(0)
SCALE = np.array(0.02, np.float32)


def codes(*shape, dtype=np.uint8):
    limits = np.iinfo(dtype)
    return DRAW.integers(limits.min, limits.max + 1, shape).astype(dtype)


def fitted(name, inputs, **attributes):
    """The operators without one, after a comparison with the kernel."""
    model = kernels.one_node(name, inputs, **attributes)
    outcome = transform(model, (), target=lacking(name), verify=False)
    feeds = kernels.feeds_of(inputs)
    (expected,), (result,) = (kernels.run_kernel(m, feeds) for m in (model, outcome.model))
    assert np.array_equal(expected, result) and not outcome.untaken
    return operators(outcome)


B = codes(5, 4, dtype=np.int8)


@table(
    ([codes(2, 600), codes(600, 3)], "MatMulInteger", {}),
    ([codes(2, 3, 5), B, codes(), B[0]], "MatMulInteger", {}),
    ([codes(1, 100, 5, 4), codes(2, 100, 3, 1), codes(), codes()], "ConvInteger", {}),
    ([codes(1, 4, 6), codes(2, 2, 3), codes(), codes()], "ConvInteger", {"group": 2}),
)
def test_long_sums_are_cut(inputs, name, attributes):
    assert ("Add" in fitted(name, inputs, **attributes)) == (inputs[0].shape[1] > 99)


@table(
    (codes(2, 600), codes(600, 3)),
    (codes(2, 3, 256), codes(256, 4)),
    (codes(5), codes(2, 5, 4)),
    (codes(3, 1, 2, 7), codes(2, 7, 1)),
    (codes(2, 0, 300), codes(300, 0)),
)
def test_sums_of_unknown_length_are_cut_into_blocks(lhs, rhs):
    """A float would round one of more than 258 products."""
    model = kernels.one_node("MatMulInteger", [lhs, rhs, codes(), codes()], dynamic=True)
    outcome = transform(model, (), target=lacking("MatMulInteger"), verify=False)
    if lhs.ndim < 2:
        assert "it has a vector" in str(outcome.untaken[0])
        return
    feeds = {"x0": lhs, "x1": rhs, "x2": codes(), "x3": codes()}
    expected, result = (kernels.run_kernel(m, feeds)[0] for m in (model, outcome.model))
    assert np.array_equal(expected, result) and "ReduceSum" in operators(outcome)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_codes_are_rounded_before_the_zero_point(dtype):
    zero, weight = codes(dtype=np.uint8), codes(dtype=dtype)
    by_channel = np.array([0.01, 0.02, 0.03], np.float32)
    first, last = [codes(40, 7), SCALE, zero], [np.array(0.5, np.float32), codes()]
    rest = [codes(7, 3, dtype=dtype), by_channel, codes(3, dtype=dtype), *last]
    fitted("QLinearMatMul", [*first, *rest])
    images, windows = codes(2, 4, 6, 5), codes(3, 4, 3, 2, dtype=dtype)
    bias = DRAW.integers(-9000, 9000, 3).astype(np.int32)
    inputs = [images, SCALE, zero, windows, by_channel, np.full(3, weight), *last, bias]
    fitted("QLinearConv", inputs, pads=[1, 0, 1, 0])
