import numpy as np
import pytest
from kernels import assert_kernel
from tables import table

X = np.array([[-30, -1.5, -0.0], [0.25, 1, 20]], np.float32)
B = np.array([0.5, -2, 0], np.float32)


@pytest.mark.parametrize("opset", [11, 20])
@table(
    ("Gelu", [X], {}),
    ("BiasGelu", [X, B], {}),
    ("FastGelu", [X], {}),
    ("FastGelu", [X, B], {}),
    ("QuickGelu", [X], {}),
    ("QuickGelu", [X], {"alpha": 1.0}),
)
def test_kernels(name, inputs, attributes, opset):
    assert_kernel(f"com.microsoft.{name}", inputs, opset=opset, **attributes)
