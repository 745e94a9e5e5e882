import numpy as np
import pytest
from classical import ROWS, one_node, refused, replaced
from tables import table

from targets import operators

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


def classifier(labels, platt=False):
    """The attributes of a classifier with four support vectors for each label, or more."""
    count = len(labels)
    pairs, vectors = count * (count - 1) // 2, 4 * count + 1

    def drawn(size):
        return DRAW.normal(size=size).astype(np.float32).tolist()

    attributes = {
        "coefficients": drawn(vectors * (count - 1)),
        "support_vectors": drawn(vectors * 4),
        "kernel_params": [0.3, 0.2, 3.0],
        "vectors_per_class": [5, *[4] * (count - 1)],
        "rho": drawn(pairs),
        f"classlabels_{'strings' if isinstance(labels[0], str) else 'ints'}": labels,
    }
    if platt:
        attributes |= {"prob_a": (-1 - DRAW.random(pairs)).tolist(), "prob_b": drawn(pairs)}
    return attributes


@pytest.mark.parametrize("labels", [[7, 3], ["a", "b", "c", "d"]])
@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
def test_votes_of_pairs(kernel, labels):
    model = one_node("SVMClassifier", ROWS, 2, kernel_type=kernel, **classifier(labels))
    replaced(model, {"x": ROWS})


def test_the_first_of_equal_votes_wins():
    """Three classes in a circle have one vote each."""
    attributes = {**classifier([5, 6, 7]), "coefficients": [0.0] * 26, "rho": [1.0, -1.0, 1.0]}
    replaced(one_node("SVMClassifier", ROWS, 2, **attributes), {"x": ROWS})


@pytest.mark.parametrize("post", ["NONE", "LOGISTIC", "SOFTMAX_ZERO"])
def test_probabilities(post):
    attributes = classifier([4, 2, 9], platt=True)
    model = one_node("SVMClassifier", ROWS, 2, kernel_type="RBF", post_transform=post, **attributes)
    assert operators(replaced(model, {"x": ROWS})).count("Loop") == 1


def test_two_probabilities_need_no_loop():
    attributes = classifier(["no", "yes"], platt=True)
    outcome = replaced(one_node("SVMClassifier", ROWS, 2, **attributes), {"x": ROWS})
    assert "Loop" not in operators(outcome)


@table(
    ({"post_transform": "LOGISTIC"}, "one score for two labels"),
    ({"coefficients": [0.5] * 9}, "one score for two labels"),
    ({"vectors_per_class": [9]}, "no support vectors"),
    ({"vectors_per_class": [4, 4]}, "do not fit"),
    ({"prob_a": [1.0, 2.0], "prob_b": [1.0, 2.0]}, "do not fit"),
)
def test_other_classifiers_stay(more, reason):
    refused(one_node("SVMClassifier", ROWS, 2, **{**classifier([1, 2]), **more}), reason)


@table(
    ({"one_class": 1}, "transformed"),
    ({"post_transform": "LOGISTIC"}, "transformed"),
    ({"kernel_type": "SINC"}, "unknown"),
    ({"n_supports": 4}, "do not fit"),
)
def test_other_machines_stay(more, reason):
    refused(one_node("SVMRegressor", ROWS, **{**MACHINE, **more}), reason)
