import numpy as np
import onnx
import pytest
import straightline as sl
from kernels import assert_kernel, lowered, one_node, pack

DRAW = np.random.default_rng(0)


def floats(*shape):
    return DRAW.random(shape).astype(np.float32)


@pytest.mark.parametrize("opset", [11, 21])
@pytest.mark.parametrize("bits", [2, 4, 8])
def test_matmul_n_bits(bits, opset):
    k, n, block, blocks = 40, 5, 16, 3
    b = pack(DRAW.integers(0, 1 << bits, (n, blocks, block)), bits)
    zeros = pack(DRAW.integers(0, 1 << bits, (n, blocks)), bits)
    settings = {"K": k, "N": n, "bits": bits, "block_size": block, "opset": opset}
    operator, a, scales = "com.microsoft.MatMulNBits", floats(2, 3, k), floats(n, blocks)
    assert_kernel(operator, [a, b, scales, zeros, None, floats(n)], **settings)
    assert_kernel(operator, [a, b, scales.reshape(-1)], constants=(1, 2), **settings)
    if bits < 8:
        assert_kernel(operator, [a, b, scales, floats(n, blocks)], constants=(1, 2, 3), **settings)
    if bits == 4:  # the kernel reads no packed zero points beside an order of columns
        inputs = [a, b, scales, zeros, DRAW.integers(0, blocks, k).astype(np.int32)]
        assert_kernel(operator, inputs, constants=(1, 2, 3, 4), **settings)


@pytest.mark.parametrize(("opset", "elem_type"), [(17, "FLOAT"), (21, "UINT4")])
def test_codes_of_constant_weights_are_written(opset, elem_type):
    """Weights of 4 bits keep their bytes from opset 21 on."""
    b = pack(DRAW.integers(0, 16, (512, 32, 16)), 4)
    inputs = [floats(2, 512), b, floats(512, 32)]
    settings = {"K": 512, "N": 512, "block_size": 16, "opset": opset, "constants": (1, 2)}
    assert_kernel("com.microsoft.MatMulNBits", inputs, **settings)
    graph = lowered(one_node("com.microsoft.MatMulNBits", inputs, **settings)).graph
    assert "BitShift" not in [node.op_type for node in graph.node]
    types = [onnx.TensorProto.DataType.Name(tensor.data_type) for tensor in graph.initializer]
    assert elem_type in types
    wrong = one_node("com.microsoft.MatMulNBits", inputs, **{**settings, "N": 256})
    assert "another size" in sl.transform(wrong, (), target="onnx", verify=False).untaken[0].reason


@pytest.mark.parametrize("kind", [0, 1])
def test_matmul_bnb4(kind):
    k, n, block = 20, 3, 16
    b = DRAW.integers(0, 256, (n * k // 2, 1)).astype(np.uint8)
    settings = {"K": k, "N": n, "block_size": block, "quant_type": kind}
    assert_kernel("com.microsoft.MatMulBnb4", [floats(2, k), b, floats(4)], **settings)


@pytest.mark.parametrize("opset", [11, 21])
@pytest.mark.parametrize("indices", [[[1, 2], [4, 0]], [9, -9, -1], []])
def test_gather_outside_gives_zeros(indices, opset):
    data, zeros = (pack(DRAW.integers(0, 16, shape), 4) for shape in ((5, 40), (5, 3)))
    places = np.array(indices, np.int32)
    settings = {"block_size": 16, "opset": opset}
    operator, scales = "com.microsoft.GatherBlockQuantized", floats(5, 3)
    assert_kernel(operator, [data, places, scales], **settings)
    assert_kernel(operator, [data, places, scales, zeros], **settings)


def test_gather_of_short_integers():
    import ml_dtypes

    data = DRAW.integers(-8, 8, (4, 32, 3)).astype(ml_dtypes.int4)
    zeros = DRAW.integers(-8, 8, (4, 2, 3)).astype(ml_dtypes.int4)
    inputs = [data, np.array([0, 2, 1]), floats(4, 2, 3), zeros]
    settings = {"block_size": 16, "constants": (0, 2, 3), "opset": 21}
    assert_kernel("com.microsoft.GatherBlockQuantized", inputs, **settings)
