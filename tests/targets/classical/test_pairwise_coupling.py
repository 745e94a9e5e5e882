import numpy as np
import pytest
import straightline as sl
from classical import one_node, replaced
from harness import run_in_onnxruntime
from straightline.targets.classical.pairwise_coupling import pairs_of
from tables import table

DRAW = np.random.default_rng(1)


def coupled(classes, scores):
    return replaced(coupled_model(classes, scores), {"x": scores})


def coupled_model(classes, scores):
    """A classifier whose score of each pair is a feature, its chance the sigmoid of that."""
    pairs = pairs_of(classes)
    coefficients = np.zeros((classes - 1, len(pairs)), np.float32)
    for at, (_, j) in enumerate(pairs):
        coefficients[j - 1, at] = 1
    return one_node(
        "SVMClassifier",
        scores,
        2,
        coefficients=coefficients.ravel().tolist(),
        kernel_params=[0.0, 0.0, 0.0],
        support_vectors=np.eye(len(pairs), dtype=np.float32).ravel().tolist(),
        vectors_per_class=[*reversed(range(classes))],
        rho=[0.0] * len(pairs),
        prob_a=[-1.0] * len(pairs),
        prob_b=(0.1 * np.arange(len(pairs))).tolist(),
        classlabels_ints=list(range(classes)),
    )


@pytest.mark.sample(5)
@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("size", [0.3, 3, 30])
def test_chances_of_every_size(classes, size):
    count = len(pairs_of(classes))
    coupled(classes, (size * DRAW.normal(size=(40, count))).astype(np.float32))


def test_limits_and_rows_of_nan_and_no_rows():
    """Chances near 0 and 1 are cut, and NaN leaves all classes alike."""
    rows = np.array([[90, -90, 90], [0, 0, 0], [np.nan, 1, 2], [-90, -90, 5]], np.float32)
    coupled(3, rows)
    coupled(3, rows[:0])


def test_pairs_are_in_the_order_of_classifiers():
    assert pairs_of(3) == [(0, 1), (0, 2), (1, 2)]


@table(("openvino", 200), ("tensorrt", 200), ("tvm", 20_000))
def test_its_loop_is_unrolled_only_for_clients_without_loops(target, most):
    scores = DRAW.normal(size=(4, 3)).astype(np.float32)
    model = coupled_model(3, scores)
    outcome = sl.transform(model, target=target, verify=False, hints=False)
    assert outcome.nodes.after < most and not outcome.untaken
    again = sl.transform(outcome.model, target=target, verify=False, hints=False)
    assert again.model == outcome.model
    before, after = (run_in_onnxruntime(m, {"x": scores}) for m in (model, outcome.model))
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
