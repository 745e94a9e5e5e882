import numpy as np
from classical import one_node, replaced

IDENTITY = {"coefficients": np.eye(3).reshape(-1).tolist(), "intercepts": [0.0] * 3, "targets": 3}


def test_small_scores_stay_small():
    x = np.array([[0, 1e-8, 2], [1e-6, -1e-8, 0.5], [-3, -1e-8, -2]], np.float32)
    replaced(one_node("LinearRegressor", x, post_transform="SOFTMAX_ZERO", **IDENTITY), {"x": x})


def test_a_logistic_function_ends_at_both_ends():
    x = np.array([[-100, 0, 100]], np.float32)
    replaced(one_node("LinearRegressor", x, post_transform="LOGISTIC", **IDENTITY), {"x": x})
