import numpy as np
import pytest
from classical import ROWS, one_node, refused, replaced
from tables import table

WEIGHTS = np.random.default_rng(0).normal(size=12).astype(np.float32).tolist()
POST = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")
HEADS = {"coefficients": WEIGHTS, "intercepts": [0.5, 0.25, -1.0]}


@pytest.mark.parametrize("post", POST)
def test_scores(post):
    model = one_node("LinearRegressor", ROWS, targets=3, post_transform=post, **HEADS)
    replaced(model, {"x": ROWS})


@pytest.mark.parametrize("post", POST)
def test_labels_and_scores(post):
    attributes = {"classlabels_ints": [7, -1, 3], "post_transform": post, **HEADS}
    replaced(one_node("LinearClassifier", ROWS, 2, **attributes), {"x": ROWS})


def test_the_first_of_equal_scores_wins():
    attributes = {
        "coefficients": [1.0] * 12,
        "intercepts": [0.0] * 3,
        "classlabels_ints": [4, 5, 6],
    }
    replaced(one_node("LinearClassifier", ROWS, 2, **attributes), {"x": ROWS})


def test_texts_are_labels():
    attributes = {"classlabels_strings": ["a", "b", "c"], **HEADS}
    replaced(one_node("LinearClassifier", ROWS, 2, **attributes), {"x": ROWS})


def test_one_score_of_two_labels():
    attributes = {"coefficients": WEIGHTS[:4], "intercepts": [0.5], "classlabels_ints": [7, 3]}
    model = one_node("LinearClassifier", ROWS, 2, post_transform="LOGISTIC", **attributes)
    replaced(model, {"x": ROWS})
    refused(one_node("LinearClassifier", ROWS, 2, **attributes), "one score for two labels")


@table(
    ({"targets": 3, "post_transform": "PROBIT", **HEADS}, "last digits"),
    ({"targets": 5, **HEADS}, "do not fit"),
    ({"targets": 1, "coefficients": WEIGHTS[:4], "post_transform": "SOFTMAX"}, "one score"),
)
def test_ambiguous_nodes_stay(attributes, reason):
    refused(one_node("LinearRegressor", ROWS, **attributes), reason)
