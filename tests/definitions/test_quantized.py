import numpy as np
import pytest
from kernels import assert_equal, assert_kernel, feeds_of, lowered, one_node, run_kernel
from onnx import helper
from tables import table

DRAW = np.random.default_rng(0)
QLINEAR = "com.microsoft.QLinear"


def codes(*shape, dtype=np.uint8):
    limits = np.iinfo(dtype)
    return DRAW.integers(limits.min, limits.max + 1, shape).astype(dtype)


def scale(*numbers):
    return np.array(numbers if len(numbers) > 1 else numbers[0], np.float32)


def zero(number, dtype=np.uint8):
    return np.array(np.iinfo(dtype).min + number, dtype)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("name", ["Add", "Mul"])
def test_sums_and_products_round_after_the_zero_point(name, dtype):
    """Half of these sums stand in the middle between two numbers."""
    a, b = codes(3, 40, dtype=dtype), codes(40, dtype=dtype)
    a_zero, b_zero, c_zero = (zero(n, dtype) for n in (3, 128, 127))
    inputs = [a, scale(0.5), a_zero, b, scale(0.25), b_zero, scale(0.5), c_zero]
    assert_kernel(QLINEAR + name, inputs, opset=11)
    assert_kernel(QLINEAR + name, [a[:0], *inputs[1:]], dynamic=True)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@table(
    ("Sigmoid", (2, 40), {}),
    ("LeakyRelu", (2, 40), {"alpha": 0.1}),
    ("GlobalAveragePool", (2, 3, 5, 7), {}),
    ("GlobalAveragePool", (2, 5, 7, 3), {"channels_last": 1}),
)
def test_functions_of_one_value(name, shape, attributes, dtype):
    inputs = [codes(*shape, dtype=dtype), scale(0.05), zero(128, dtype)]
    inputs += [scale(0.03), zero(7, dtype)]
    assert_kernel(QLINEAR + name, inputs, opset=11, **attributes)


def test_average_pool_rounds_after_the_zero_point():
    """Sums of floats in another order may bring a number beside the middle."""
    inputs = [codes(2, 7, 6, 3), scale(0.25), zero(128), scale(0.5), zero(7)]
    for settings in ({"channels_last": 1}, {"pads": [1, 1, 0, 0], "count_include_pad": 1}):
        settings = {**settings, "kernel_shape": [4, 2]}
        assert_kernel(QLINEAR + "AveragePool", inputs, opset=11, **settings)


def test_means_by_documentation():
    x, settings = codes(2, 3, 4), {"axes": [1], "keepdims": 0}
    inputs = [x, scale(0.1), zero(3), scale(0.05), zero(7)]
    model = lowered(one_node(QLINEAR + "ReduceMean", inputs, opset=18, **settings))
    means = (x.astype(np.float32) - 3).mean(1) * 2 + 7
    (result,) = run_kernel(model, feeds_of(inputs))
    assert np.max(np.abs(result - np.clip(means, 0, 255))) < 0.51


@pytest.mark.parametrize("opset", [12, 13])
@pytest.mark.parametrize("axis", [1, -1])
def test_softmax_has_an_opset_of_its_own(axis, opset):
    inputs = [codes(2, 3, 5), scale(0.05), zero(100), scale(1 / 256), zero(0)]
    for own in (11, 17):
        model = one_node(QLINEAR + "Softmax", inputs, opset=own, axis=axis)
        model.graph.node[0].attribute.append(helper.make_attribute("opset", opset))
        plain = lowered(model)
        softmax = [node for node in plain.graph.node if node.op_type == "Softmax"]
        assert len(softmax) == (own == 17 and opset == 13)
        assert_equal(*(run_kernel(each, feeds_of(inputs)) for each in (model, plain)))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_softmax_drops_a_fraction_of_its_steps(dtype):
    """A weight of 1 has 303 steps of 303.9."""
    x = np.sort(codes(20, 5, dtype=dtype), 1)
    inputs = [x, scale(0.2), zero(100, dtype), scale(1 / 303.9), zero(0, dtype)]
    model = one_node(QLINEAR + "Softmax", inputs, opset=13, axis=-1)
    model.graph.node[0].attribute.append(helper.make_attribute("opset", 13))
    expected, own = (run_kernel(each, feeds_of(inputs))[0] for each in (model, lowered(model)))
    assert np.array_equal(expected, own)


def test_a_select_and_a_concat_quantize_anew():
    x, y = codes(2, 3), codes(2, 3)
    parts = [x, scale(0.05), zero(120), y, scale(0.1), zero(3)]
    assert_kernel(QLINEAR + "Concat", [scale(0.1), zero(3), *parts], axis=1)
    assert_kernel(QLINEAR + "Where", [DRAW.random((2, 3)) < 0.5, *parts, scale(0.15), zero(128)])


@pytest.mark.parametrize("last", [0, 1])
def test_conv(last):
    x, w = codes(2, 7, 6, 3) if last else codes(2, 3, 7, 6), codes(4, 3, 3, 3)
    bias = DRAW.integers(-500, 500, 4).astype(np.int32)
    scales = scale(0.01, 0.02, 0.03, 0.04)
    inputs = [x, scale(0.05), zero(120), w, scales, np.full(4, 128, np.uint8)]
    settings = {"pads": [1] * 4, "channels_last": last}
    assert_kernel(QLINEAR + "Conv", [*inputs, scale(0.3), zero(100), bias], **settings)


@pytest.mark.parametrize("opset", [11, 13, 21])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16])
def test_quantization_along_an_axis(dtype, opset):
    x = (DRAW.standard_normal((3, 4, 5)) * 5).astype(np.float32)
    scales, zeros = scale(0.1, 0.2, 0.3, 0.4), np.arange(5, 9).astype(dtype)
    half = x.astype(np.float16), scales.astype(np.float16)
    (result,) = assert_kernel("com.microsoft.QuantizeLinear", [x, scales, zeros], opset=opset)
    assert_kernel("com.microsoft.QuantizeLinear", [*half, zeros], opset=opset)
    assert_kernel("com.microsoft.DequantizeLinear", [result, scales, zeros], opset=opset)
    assert_kernel("com.microsoft.DequantizeLinear", [result, half[1], zeros], opset=opset)


@pytest.mark.parametrize("opset", [11, 17])
def test_products(opset):
    a, b, bias = codes(2, 4, 6), codes(6, 5, dtype=np.int8), scale(*range(5))
    b_scale, b_zero = scale(0.1, 0.2, 0.3, 0.4, 0.5), np.arange(5).astype(np.int8)
    product = [a, b, scale(0.1), b_scale, zero(100), b_zero, bias]
    assert_kernel("com.microsoft.MatMulIntegerToFloat", product, opset=opset)
    x = DRAW.standard_normal((2, 4, 6)).astype(np.float32)
    for rows in (x, x[:0], x * 0):
        dynamic = [rows, b, b_scale, b_zero, bias]
        assert_kernel("com.microsoft.DynamicQuantizeMatMul", dynamic, opset=opset)
    wide = [codes(3, 4, dtype=np.int16), codes(4, 5, dtype=np.int16)]
    assert_kernel("com.microsoft.MatMulInteger16", wide, opset=opset)
    c = DRAW.integers(-90, 90, 5).astype(np.int32)
    gemm = [a[0], scale(0.1), zero(100), b.T.copy(), b_scale, b_zero, c]
    settings = {"transB": 1, "alpha": 0.5, "opset": opset}
    assert_kernel("com.microsoft.QGemm", gemm, **settings)
    assert_kernel("com.microsoft.QGemm", [*gemm, scale(0.7), zero(50)], **settings)
