"""Decompositions of tree ensembles: one comparison of all trees at once for each level.

A leaf leads to itself, so that shallow trees wait for deep ones.

    compared = GatherElements <axis = 1> (x, features[places])
    places = Where (LessOrEqual (compared, thresholds[places]), yes[places], no[places])
    y = ReduceSum <axes = [1]> (weights[places])       after as many levels as the deepest tree has
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from ...ir import Array, Value
from ...version_converter.node_draft import NodeDraft
from .common import decomposes, floats, refuse_unread, require_comparisons, require_rows, row
from .linear import class_labels, pick_by_limit, pick_label
from .post_transforms import require_post_transform, transform_scores
from .tree_tables import Trees, always_scored, leaf_table, read_trees, values_of

Results = Sequence[Value | None]
_COMPARISONS = {
    "BRANCH_LEQ": "LessOrEqual",
    "BRANCH_LT": "Less",
    "BRANCH_GTE": "GreaterOrEqual",
    "BRANCH_GT": "Greater",
    "BRANCH_EQ": "Equal",
    "BRANCH_NEQ": "Equal",
}
_REDUCTIONS = {"SUM": "ReduceSum", "AVERAGE": "ReduceMean", "MIN": "ReduceMin", "MAX": "ReduceMax"}


@decomposes("TreeEnsembleRegressor")
def gather_leaves(draft: NodeDraft) -> Results:
    """Gathers down to the leaves, level by level, and a reduction of their weights."""
    name, targets = require_post_transform(draft), draft.attribute("n_targets") or 0
    aggregate = draft.text("aggregate_function")
    if name != "NONE" and targets == 1:
        refuse_unread(draft, f"{name} of one score")
    if targets < 1 or aggregate not in _REDUCTIONS:
        draft.refuse("it has no targets")
    if aggregate in ("MIN", "MAX") and targets > 1:
        refuse_unread(draft, f"{aggregate} of several targets")
    ensemble = _Ensemble(draft, leaf_table(draft, "target", targets))
    scores = ensemble.add_base(ensemble.scores(_REDUCTIONS[aggregate]))
    return [transform_scores(draft, name, ensemble.as_floats(scores))]


@decomposes("TreeEnsembleClassifier")
def gather_classes(draft: NodeDraft) -> Results:
    """Scores as of a regressor, and the label of the greatest, the first of equals."""
    name, labels = require_post_transform(draft), class_labels(draft)
    if len(labels) < 2:
        draft.refuse("it lists fewer than two labels")
    scored = set(draft.attribute("class_ids") or ())
    if len(labels) == 2 and scored == {0}:
        return _one_score(draft, name, labels)
    if len(labels) == 2:
        refuse_unread(draft, "two labels with scores of their own")
    ensemble = _Ensemble(draft, leaf_table(draft, "class", len(labels)))
    if not always_scored(draft, len(labels)):
        refuse_unread(draft, "labels without a score in every row")
    scores = ensemble.as_floats(ensemble.add_base(ensemble.scores("ReduceSum")))
    return [pick_label(draft, labels, scores), transform_scores(draft, name, scores)]


def _one_score(draft: NodeDraft, name: str, labels: Array) -> Results:
    """Two labels by one score: its sign, or one half where no weight is negative."""
    base, weights = values_of(draft, "base_values"), values_of(draft, "class_weights")
    if base.size > 1 or name not in ("NONE", "LOGISTIC"):
        refuse_unread(draft, "two base values or a softmax of one score")
    ensemble = _Ensemble(draft, leaf_table(draft, "class", 1))
    score = ensemble.as_floats(ensemble.add_base(ensemble.scores("ReduceSum")))
    is_probability = bool((weights >= 0).all())
    limit = row(draft, np.float32(0.5 if is_probability else 0), "limit")
    label = pick_by_limit(draft, labels, score, limit)
    if name == "LOGISTIC" or not is_probability:
        minus = draft.emit("Neg", [score], "minus")
        both = draft.emit("Concat", [minus, score], "scores", axis=1)
        return [label, transform_scores(draft, name, both)]
    rest = draft.emit("Sub", [row(draft, np.float32(1), "one"), score], "rest")
    return [label, draft.emit("Concat", [rest, score], axis=1)]


class _Ensemble:
    """Trees and the weights of their leaves, as nodes of a draft.

    Args:
        table: the weights of each tree node.
    """

    def __init__(self, draft: NodeDraft, table: Array) -> None:
        require_comparisons(draft)
        require_rows(draft)
        self.draft = draft
        self.is_double = draft.required_elem_type(0, "comparisons") == TensorProto.DOUBLE
        self.dtype = np.dtype(np.float64 if self.is_double else np.float32)
        self.trees = read_trees(draft)
        unknown = set(self.trees.branch_modes).difference(_COMPARISONS)
        if unknown:
            draft.refuse(f"its comparison '{min(unknown)}' is unknown")
        self.data = draft.data if self.is_double else floats(draft)
        self.table = table.astype(self.dtype)
        if not self.is_double and (self.table != table).any():
            refuse_unread(draft, "the precision of its weights")
        self.base = values_of(draft, "base_values").astype(self.dtype)

    def scores(self, reduction: str) -> Value:
        """A row of scores for each row of features."""
        leaves = self._leaves()
        weights = self.draft.emit(
            "Gather", [row(self.draft, self.table, "leaves"), leaves], "weights", axis=0
        )
        return self.draft.along(reduction, weights, [1], "scores", keepdims=0)

    def add_base(self, scores: Value) -> Value:
        """Scores plus their base values."""
        if not self.base.size:
            return scores
        if self.base.size != self.table.shape[1]:
            self.draft.refuse("its base values do not fit its scores")
        return self.draft.emit("Add", [scores, row(self.draft, self.base, "base")], "scores")

    def as_floats(self, scores: Value) -> Value:
        """Scores in the type of the output."""
        return self.draft.cast(scores, TensorProto.FLOAT) if self.is_double else scores

    def _leaves(self) -> Value:
        """The number of the leaf for each row and tree."""
        draft, trees = self.draft, self.trees
        tables = _tables(draft, trees, self.dtype)
        roots = trees.roots
        # All rows begin at the same nodes: the first level looks nothing up.
        first = draft.emit(
            "Gather",
            [self.data, draft.ints(trees.features[roots].tolist(), "roots")],
            "first",
            axis=1,
        )

        def of_root(table: Array, label: str) -> Value:
            return row(draft, table[roots][np.newaxis], label)

        places = self._step(first, of_root)
        for _ in range(trees.depth - 1):

            def of_place(table: Array, label: str, at: Value = places) -> Value:
                return draft.emit("Gather", [tables(table, label), at], label, axis=0)

            columns = of_place(trees.features, "features")
            compared = draft.emit("GatherElements", [self.data, columns], "compared", axis=1)
            places = self._step(compared, of_place)
        return places

    def _step(self, compared: Value, look_up: Callable[[Array, str], Value]) -> Value:
        """The next node of each tree."""
        draft, trees = self.draft, self.trees
        thresholds = look_up(trees.thresholds.astype(self.dtype), "thresholds")
        holds: Value | None = None
        # Where each tree is a leaf any comparison does, since a leaf leads to itself.
        for mode in trees.branch_modes or ["BRANCH_LEQ"]:
            outcome = draft.emit(_COMPARISONS[mode], [compared, thresholds], "holds")
            if mode == "BRANCH_NEQ":
                outcome = draft.emit("Not", [outcome], "holds")
            if len(trees.branch_modes) > 1:
                mine = look_up(trees.modes == mode, "mode")
                outcome = draft.emit("And", [mine, outcome], "holds")
            holds = outcome if holds is None else draft.emit("Or", [holds, outcome], "holds")
        assert holds is not None
        # A NaN fails comparisons, except in nodes that track missing values.
        if trees.if_missing.any():
            missing = draft.emit("IsNaN", [compared], "missing")
            tracks = look_up(trees.if_missing, "tracks")
            both = draft.emit("And", [missing, tracks], "goes")
            holds = draft.emit("Or", [holds, both], "holds")
        nexts = [look_up(trees.if_true, "yes"), look_up(trees.if_false, "no")]
        return draft.emit("Where", [holds, *nexts], "places")


def _tables(draft: NodeDraft, trees: Trees, dtype: np.dtype[Any]) -> Callable[[Array, str], Value]:
    """Constants of tables, each made once."""
    constants: dict[tuple[str, bytes], Value] = {}

    def table_of(table: Array, label: str) -> Value:
        key = table.dtype.str, table.tobytes()
        if key not in constants:
            constants[key] = row(draft, table, label)
        return constants[key]

    return table_of
