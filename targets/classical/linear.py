"""Decompositions of linear models."""

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from ...ir import Array, Value
from ...version_converter.node_draft import NodeDraft
from .common import decomposes, floats, numbers, refuse_unread, require_rows, row
from .post_transforms import require_post_transform, transform_scores

Results = Sequence[Value | None]


@decomposes("LinearRegressor")
def multiply_by_coefficients(draft: NodeDraft) -> Results:
    """A product with the coefficients, plus the intercepts."""
    require_rows(draft)
    name, targets = require_post_transform(draft), draft.attribute("targets")
    if name != "NONE" and targets == 1:
        refuse_unread(draft, f"{name} of one score")
    coefficients = _matrix(draft, targets)
    return [transform_scores(draft, name, _product(draft, coefficients))]


@decomposes("LinearClassifier")
def choose_greatest_score(draft: NodeDraft) -> Results:
    """Scores as of a regressor, and the label of the greatest, the first of equals."""
    require_rows(draft)
    name, labels = require_post_transform(draft), class_labels(draft)
    if len(labels) < 2:
        draft.refuse("it lists no labels")
    # Two labels may share one row of coefficients.
    if len(labels) == 2 and numbers(draft, "coefficients").size == draft.length(1):
        return _one_score(draft, name, labels)
    scores = _product(draft, _matrix(draft, len(labels)))
    label = pick_label(draft, labels, scores)
    return [label, transform_scores(draft, name, scores)]


def _one_score(draft: NodeDraft, name: str, labels: Array) -> Results:
    """The second of two labels where the one score is positive."""
    if name != "LOGISTIC":
        refuse_unread(draft, "one score for two labels")
    score = _product(draft, _matrix(draft, 1))
    label = pick_by_limit(draft, labels, score, row(draft, np.float32(0), "limit"))
    chance = draft.emit("Sigmoid", [score], "chance")
    rest = draft.emit("Sub", [row(draft, np.float32(1), "one"), chance], "rest")
    return [label, draft.emit("Concat", [rest, chance], axis=1)]


def class_labels(draft: NodeDraft) -> Array:
    """The labels of a classifier, integers or texts; none where it lists none."""
    # Operators of ai.onnx.ml have different names for the same list.
    for name in ("classlabels_ints", "classlabels_int64s"):
        if name in draft.attributes:
            return numbers(draft, name, np.int64)
    return np.array(draft.attribute("classlabels_strings") or (), object)


def pick_label(draft: NodeDraft, labels: Array, scores: Value) -> Value:
    """The label of the greatest score in each row, the first of equals."""
    place = draft.emit("ArgMax", [scores], "place", axis=1, keepdims=0)
    return draft.emit("Gather", [row(draft, labels, "labels"), place], "label")


def pick_by_limit(draft: NodeDraft, labels: Array, score: Value, limit: Value) -> Value:
    """The second of two labels where the score is above a limit."""
    above = draft.emit("Greater", [score, limit], "above")
    place = draft.emit("Cast", [above], "place", to=TensorProto.INT64)
    flat = draft.along("Squeeze", place, [1], "place")
    return draft.emit("Gather", [row(draft, labels, "labels"), flat], "label")


def _matrix(draft: NodeDraft, rows: int) -> Array:
    """The coefficients, with a row for each score."""
    coefficients, length = numbers(draft, "coefficients"), draft.length(1)
    if rows < 1 or not coefficients.size or coefficients.size % rows:
        draft.refuse("its coefficients do not fit its scores")
    matrix = coefficients.reshape(rows, -1)
    if length is None:
        draft.refuse_unknown("the number of its features")
    if matrix.shape[1] != length:
        draft.refuse("its coefficients do not fit its features")
    return matrix


def _product(draft: NodeDraft, coefficients: Array) -> Value:
    """Features times coefficients, plus the intercepts."""
    intercepts = numbers(draft, "intercepts")
    if intercepts.size not in (0, len(coefficients)):
        draft.refuse("its intercepts do not fit its scores")
    if not intercepts.size:
        intercepts = np.zeros(len(coefficients), np.float32)
    inputs = [floats(draft), row(draft, coefficients, "coefficients")]
    return draft.emit("Gemm", [*inputs, row(draft, intercepts, "intercepts")], transB=1)
