import numpy as np
import pytest
import straightline as sl
from kernels import assert_kernel, normal, one_node
from tables import table

DRAW = np.random.default_rng(0)
DOMAIN = "com.microsoft."
floats = normal(DRAW)


@pytest.mark.parametrize("name", ["FusedMatMul", "TransposeMatMul"])
@pytest.mark.parametrize("a, b", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_products_of_transposed_matrices(name, a, b):
    left, right = floats(5, 2, 3), floats(3, 4)
    left = left.swapaxes(-1, -2).copy() if a else left
    right = right.T.copy() if b else right
    assert_kernel(DOMAIN + name, [left, right], transA=a, transB=b, alpha=0.5)
    assert_kernel(DOMAIN + name, [floats(3), right], transA=a, transB=b, opset=11)


@pytest.mark.parametrize("a, b", [(0, 1), (1, 1)])
def test_rows_may_stand_before_the_batch(a, b):
    left, right = np.moveaxis(floats(5, 2, 3), 1, 0).copy(), floats(5, 3, 4)
    right = np.moveaxis(right, 1, 0).copy() if b else right
    if a:
        left = np.moveaxis(np.moveaxis(left, 0, 1).swapaxes(1, 2), 1, 0).copy()
    settings = {"transA": a, "transBatchA": 1, "transBatchB": b}
    assert_kernel(DOMAIN + "FusedMatMul", [left, right], dynamic=True, **settings)


def test_a_fault_of_the_kernel_stays():
    model = one_node(DOMAIN + "FusedMatMul", [floats(3, 2), floats(3)], transA=1)
    outcome = sl.transform(model, (), target="onnx", verify=False)
    (kept,) = [remark for remark in outcome.remarks if remark.action == "kept"]
    assert "untransposed before a vector" in kept.reason


@table(("Celu", 1), ("HardSigmoid", 2), ("LeakyRelu", 1), ("ScaledTanh", 2), ("Tanh", 0))
def test_fused_gemm(name, count):
    gemm = {"activation_alpha": 0.3, "activation_beta": 0.6, "activation_gamma": 1.1}
    parameters = dict(list(gemm.items())[:count])
    inputs = [floats(3, 2), floats(4, 3), floats(4)]
    settings = {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0, "activation": name}
    assert_kernel(DOMAIN + "FusedGemm", inputs, opset=11, **settings, **parameters)


@table(("HardSwish", None), ("Clip", [-0.5, 0.5]), ("HardSigmoid", [0.3, 0.6]))
def test_fused_conv(name, parameters):
    settings = {"activation": name, **({"activation_params": parameters} if parameters else {})}
    x, w, b = floats(1, 4, 6, 6), floats(8, 4, 3, 3), floats(8)
    assert_kernel(DOMAIN + "FusedConv", [x, w, b, floats(1, 8, 4, 4)], **settings)
    assert_kernel(DOMAIN + "FusedConv", [x, w], strides=[2, 2], pads=[1, 1, 1, 1], **settings)
