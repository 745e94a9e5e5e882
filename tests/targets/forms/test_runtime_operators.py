"""Forms of com.microsoft that OpenVINO computes, and those that definitions take over."""

import numpy as np
import pytest
import straightline as sl
from kernels import assert_equal, feeds_of, one_node, run_kernel

MS = "com.microsoft."
DRAW = np.random.default_rng(0)


def floats(*shape):
    return DRAW.standard_normal(shape).astype(np.float32)


SCALE = np.array(0.1, np.float32)
UNSIGNED = DRAW.integers(0, 255, (2, 4)).astype(np.uint8)
SIGNED = DRAW.integers(-128, 127, (2, 4)).astype(np.int8)
IDS = np.ones((2, 3), np.int32)
WEIGHTS = DRAW.integers(0, 255, (5, 2, 8)).astype(np.uint8)
BITS = {"K": 32, "N": 5, "bits": 4, "block_size": 16, "constants": (1, 2, 4)}
GROUPS = np.repeat(np.array([1, 0], np.int32), 16)
CASES = {
    "activation": ("FusedGemm", [floats(2, 3), floats(3, 4)], {"activation": "Tanh"}, False),
    "uint8": ("QLinearSigmoid", [UNSIGNED, SCALE, None, SCALE, np.array(0, np.uint8)], {}, False),
    "int8": ("QLinearSigmoid", [SIGNED, SCALE, None, SCALE, np.array(0, np.int8)], {}, False),
    "4 bits": ("MatMulNBits", [floats(2, 32), WEIGHTS, floats(5, 2)], BITS, True),
    "groups": ("MatMulNBits", [floats(2, 32), WEIGHTS, floats(5, 2), None, GROUPS], BITS, False),
    "heads": ("RotaryEmbedding", [floats(1, 2, 3, 8), np.array([1]), floats(9, 4), floats(9, 4)],
     {}, False),
    "a mask": ("EmbedLayerNormalization",
     [IDS, IDS, floats(9, 8), floats(5, 8), floats(2, 8), floats(8), floats(8), IDS],
     {"outputs": "10"}, False),
    "rows in another order": ("FusedMatMul", [floats(2, 5, 3), floats(3, 5, 4)],
     {"transBatchA": 1, "transBatchB": 1}, False),
    "a bias without beta": ("SkipLayerNormalization",
     [floats(5, 8), floats(5, 8), floats(8), None, floats(8)], {}, False),
    "a bias and beta": ("SkipLayerNormalization",
     [floats(5, 8), floats(5, 8), floats(8), floats(8), floats(8)], {}, True),
    "sums of codes": ("QLinearAdd",
     [*([SIGNED, SCALE, np.array(0, np.int8)] * 2), SCALE, np.array(0, np.int8)], {}, False),
    "attention": ("Attention", [floats(2, 3, 8), floats(8, 24)], {"num_heads": 2},
     False)}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_forms_that_openvino_computes_wrongly_are_replaced(case):
    operator, inputs, settings, stays = CASES[case]
    constants = tuple(i for i in settings.get("constants", ()) if i < len(inputs))
    model = one_node(MS + operator, inputs, **{**settings, "constants": constants})
    result = sl.transform(model, (), target="openvino", verify=False).model
    assert any(node.domain for node in result.graph.node) == stays
    feeds = feeds_of(inputs, constants)
    assert_equal(run_kernel(model, feeds), run_kernel(result, feeds))
