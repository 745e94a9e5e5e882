import numpy as np
import pytest
from classical import one_node, refused, replaced
from ensembles import MODES, ensemble, weights
from tables import table

DRAW = np.random.default_rng(1)
X = np.vstack([DRAW.normal(size=(12, 4)), DRAW.integers(-2, 3, size=(12, 4))]).astype(np.float32)
X[3, 1] = X[20, 3] = np.nan
X[4], X[5, 2], X[6, 0] = np.nan, np.inf, -np.inf


def regressor(x=X, targets=1, more=(), **of_trees):
    nodes, leaves = ensemble(DRAW, **of_trees)
    scores = weights(DRAW, leaves, "target", range(targets))
    return one_node("TreeEnsembleRegressor", x, n_targets=targets, **nodes, **scores, **dict(more))


def classifier(columns, labels, positive=False, **more):
    nodes, leaves = ensemble(DRAW)
    scores = weights(DRAW, leaves, "class", columns, positive)
    given = {**nodes, **scores, "classlabels_int64s": labels, **more}
    return one_node("TreeEnsembleClassifier", X, 2, **given)


@pytest.mark.parametrize("modes", [*((mode,) for mode in MODES), MODES])
def test_every_comparison_and_missing_values(modes):
    replaced(regressor(modes=modes, missing=True), {"x": X})


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_aggregates_and_base_values(aggregate):
    replaced(regressor(more={"aggregate_function": aggregate, "base_values": [0.5]}), {"x": X})


@pytest.mark.parametrize(("trees", "depth"), [(1, 0), (1, 3), (3, 0)])
def test_small_ensembles(trees, depth):
    replaced(regressor(trees=trees, depth=depth), {"x": X})


def test_doubles_are_compared_as_doubles():
    x = X.astype(np.float64)
    x[0, :] = np.nextafter(1.0, 2.0)
    replaced(regressor(x, targets=2), {"x": x})


@pytest.mark.parametrize("post", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_labels_of_three_classes(post):
    replaced(classifier(range(3), [5, 3, 9], post_transform=post), {"x": X})


@pytest.mark.parametrize("post", ["NONE", "LOGISTIC"])
@pytest.mark.parametrize("positive", [True, False])
def test_two_labels_of_one_score(post, positive):
    replaced(classifier([0], [5, 3], positive, post_transform=post), {"x": X})


@table(
    (range(2), [5, 3], "two labels with scores"),
    ([1], [5, 3], "two labels with scores"),
    ([0, 2], [5, 3, 9], "labels without a score"),
)
def test_labels_that_clients_pick_in_their_own_way_stay(columns, labels, reason):
    refused(classifier(columns, labels), reason)


def test_an_old_opset_cannot_compare():
    nodes, leaves = ensemble(DRAW)
    given = {**nodes, **weights(DRAW, leaves, "target", [0]), "n_targets": 1}
    replaced(one_node("TreeEnsembleRegressor", X, opset=13, **given), {"x": X})
