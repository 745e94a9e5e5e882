import numpy as np
from kernels import assert_kernel, normal
from tables import table

DRAW = np.random.default_rng(0)
floats = normal(DRAW)
STREAMS, FLAT, ROWS = floats(2, 3, 4, 8), floats(2, 3, 32), floats(2, 3, 8)
HALF = STREAMS.astype(np.float16)


@table(
    ("ScaledSiLU", [HALF], {"alpha": 1.5}),
    ("ScaledSiLU", [STREAMS, np.array(0.7, np.float32)], {}),
    ("GatedAdd", [HALF, HALF, HALF[..., :1]], {}),
    ("GatedRMSNorm", [FLAT, floats(8), FLAT], {"activation": "sigmoid"}),
    ("GatedRMSNorm", [HALF, HALF[0, 0, 0], HALF], {"epsilon": 0.1}),
    ("GatedRMSNorm", [FLAT[:, :0], floats(8), FLAT[:, :0]], {"opset": 17}),
    ("LinearAttentionGate", [HALF[0], floats(8), floats(8)], {}),
    ("BranchwiseRMSNorm", [HALF, floats(4, 8)], {}),
    ("BranchwiseRMSNorm", [FLAT, floats(32)], {"num_branches": 4}),
    ("BranchwiseRMSNorm", [FLAT[:, :0]], {"num_branches": 4, "opset": 14}),
    ("HyperConnectionPreMix", [HALF, floats(2, 3, 4)], {"reduction_scale": 0.5}),
    ("HyperConnectionPreMix", [FLAT, FLAT], {"num_branches": 4}),
    ("HyperConnectionPreMix", [FLAT, floats(2, 3, 4, 1)], {"num_branches": 4}),
    ("HyperConnectionPostMix", [FLAT, ROWS, floats(2, 3, 4)], {"num_branches": 4}),
    ("HyperConnectionPostMix", [STREAMS, ROWS, STREAMS, floats(2, 3, 4, 4)], {}),
)
def test_kernels(name, inputs, attributes):
    assert_kernel(f"com.microsoft.{name}", inputs, **{"opset": 11, **attributes})


def test_two_outputs():
    assert_kernel("com.microsoft.LinearAttentionGate", [HALF[0], floats(8), floats(8), HALF[1]], 2)
    scales = [floats(4, 8) for _ in range(3)]
    assert_kernel("com.microsoft.EngramGate", [STREAMS, STREAMS + 1, ROWS, *scales], 2)
    assert_kernel("com.microsoft.EngramGate", [STREAMS, STREAMS + 1, ROWS, *scales[:2]])
