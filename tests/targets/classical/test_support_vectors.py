"""Support vector machines, against onnxruntime."""

import numpy as np
import pytest
from classical import ROWS, one_node, refused, replaced

DRAW = np.random.default_rng(0)
MACHINE = {
    "coefficients": DRAW.normal(size=5).astype(np.float32).tolist(),
    "support_vectors": DRAW.normal(size=20).astype(np.float32).tolist(),
    "kernel_params": [0.3, 0.2, 3.0],
    "n_supports": 5,
    "rho": [0.4],
}


@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
def test_kernels(kernel):
    x = ROWS[:4]
    replaced(one_node("SVMRegressor", x, kernel_type=kernel, **MACHINE), {"x": x})


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"one_class": 1}, "transformed"),
        ({"post_transform": "LOGISTIC"}, "transformed"),
        ({"kernel_type": "SINC"}, "unknown"),
        ({"n_supports": 4}, "do not fit"),
    ],
)
def test_other_machines_stay(more, reason):
    refused(one_node("SVMRegressor", ROWS, **{**MACHINE, **more}), reason)
