"""Decompositions of support vector machines."""

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from ...ir import Array, Value
from ...version_converter.node_draft import NodeDraft
from .common import decomposes, floats, numbers, refuse_unread, require_rows, row
from .linear import class_labels, pick_label
from .pairwise_coupling import couple, pairs_of
from .post_transforms import require_post_transform, transform_scores

Results = Sequence[Value | None]


@decomposes("SVMRegressor")
def weight_kernels(draft: NodeDraft) -> Results:
    """The kernels of all support vectors, weighted, plus rho."""
    require_rows(draft)
    if draft.text("post_transform") != "NONE" or draft.attribute("one_class"):
        draft.refuse("its score is transformed")
    length, weights = draft.length(1), numbers(draft, "coefficients")
    vectors, rho = numbers(draft, "support_vectors"), numbers(draft, "rho")
    if length is None:
        draft.refuse_unknown("the number of its features")
    count = draft.attribute("n_supports")
    if count < 1 or rho.size != 1 or weights.size != count or vectors.size != count * length:
        draft.refuse("its support vectors do not fit its features")
    kernels = _kernels(draft, floats(draft), vectors.reshape(count, length))
    column = row(draft, weights.reshape(-1, 1), "weights")
    return [draft.emit("Gemm", [kernels, column, row(draft, rho, "rho")])]


@decomposes("SVMClassifier")
def count_votes(draft: NodeDraft) -> Results:
    """The first label with the most votes of pairs, and scores or probabilities."""
    require_rows(draft)
    name, labels = require_post_transform(draft), class_labels(draft)
    length, counts = draft.length(1), numbers(draft, "vectors_per_class", np.int64)
    if len(labels) < 2 or len(counts) != len(labels):
        draft.refuse("it has no support vectors for each of several labels")
    if length is None:
        draft.refuse_unknown("the number of its features")
    count, pairs = int(counts.sum()), pairs_of(len(labels))
    coefficients, rho = numbers(draft, "coefficients"), numbers(draft, "rho")
    vectors = numbers(draft, "support_vectors")
    platt = numbers(draft, "prob_a"), numbers(draft, "prob_b")
    fits = coefficients.size == count * (len(labels) - 1) and vectors.size == count * length
    fits &= rho.size == len(pairs) and {each.size for each in platt} in ({0}, {len(pairs)})
    if not fits or count < 1 or (counts < 0).any():
        draft.refuse("its support vectors do not fit its features and labels")
    if len(labels) == 2 and not platt[0].size and (name != "NONE" or (coefficients >= 0).all()):
        refuse_unread(draft, "one score for two labels")
    weights = _weights(coefficients.reshape(-1, count), counts, pairs)
    kernels = _kernels(draft, floats(draft), vectors.reshape(count, length))
    scores = draft.emit(
        "Gemm", [kernels, row(draft, weights, "weights"), row(draft, rho, "rho")], "scores"
    )
    label = pick_label(draft, labels, _votes(draft, scores, pairs, len(labels)))
    if platt[0].size:
        scores = couple(draft, _chances(draft, scores, *platt), len(labels))
    elif len(labels) == 2:
        scores = draft.emit("Concat", [draft.emit("Neg", [scores], "minus"), scores], axis=1)
    return [label, transform_scores(draft, name, scores)]


def _weights(coefficients: Array, counts: Array, pairs: Sequence[tuple[int, int]]) -> Array:
    """The weight of each support vector in the score of each pair."""
    ends = np.cumsum(counts)
    weights = np.zeros((coefficients.shape[1], len(pairs)), np.float32)
    for at, (i, j) in enumerate(pairs):
        # A class has a line for each other class, in order, without one for itself.
        for one, line in ((i, j - 1), (j, i)):
            part = slice(ends[one] - counts[one], ends[one])
            weights[part, at] = coefficients[line, part]
    return weights


def _votes(
    draft: NodeDraft, scores: Value, pairs: Sequence[tuple[int, int]], classes: int
) -> Value:
    """The votes for each class, of pairs with a positive score for the first."""
    gains = np.zeros((len(pairs), classes), np.float32)
    base = np.zeros(classes, np.float32)
    for at, (i, j) in enumerate(pairs):
        # The second class starts with the vote of the pair, which a positive score takes away.
        gains[at, i], gains[at, j] = 1, -1
        base[j] += 1
    positive = draft.emit("Greater", [scores, row(draft, np.float32(0), "zero")], "positive")
    wins = draft.emit("Cast", [positive], "wins", to=TensorProto.FLOAT)
    return draft.emit("Gemm", [wins, row(draft, gains, "gains"), row(draft, base, "base")], "votes")


def _chances(draft: NodeDraft, scores: Value, slope: Array, offset: Array) -> Value:
    """The probability of the first class of each pair, by Platt's sigmoid."""
    scaled = draft.emit("Mul", [scores, row(draft, slope, "slope")], "scaled")
    shifted = draft.emit("Add", [scaled, row(draft, offset, "offset")], "shifted")
    return draft.emit(
        "Sub", [row(draft, np.float32(1), "one"), draft.emit("Sigmoid", [shifted])], "chances"
    )


def _kernels(draft: NodeDraft, data: Value, vectors: Array) -> Value:
    """The kernel of each row with each support vector."""
    name = draft.text("kernel_type")
    gamma, offset, degree = (*numbers(draft, "kernel_params"), 0, 0, 0)[:3]
    if name == "RBF":
        return _radial(draft, data, vectors, float(gamma))
    zeros = row(draft, np.zeros(1, np.float32), "zero")
    products = draft.emit("Gemm", [data, row(draft, vectors, "vectors"), zeros], transB=1)
    if name == "LINEAR":
        return products
    if name not in ("POLY", "SIGMOID"):
        draft.refuse(f"its kernel '{name}' is unknown")
    scaled = draft.emit("Mul", [products, row(draft, np.float32(gamma), "gamma")], "scaled")
    shifted = draft.emit("Add", [scaled, row(draft, np.float32(offset), "offset")], "shifted")
    if name == "SIGMOID":
        return draft.emit("Tanh", [shifted], "kernels")
    return draft.emit("Pow", [shifted, row(draft, np.float32(degree), "degree")], "kernels")


def _radial(draft: NodeDraft, data: Value, vectors: Array, gamma: float) -> Value:
    """exp (-gamma * d), d the squared distance, of differences so that nothing cancels."""
    rows = draft.unsqueeze(data, [1])
    apart = draft.emit("Sub", [rows, row(draft, vectors[np.newaxis], "vectors")], "apart")
    squares = draft.emit("Mul", [apart, apart], "squares")
    distances = draft.along("ReduceSum", squares, [2], "distances", keepdims=0)
    scaled = draft.emit("Mul", [distances, row(draft, np.float32(-gamma), "gamma")], "scaled")
    return draft.emit("Exp", [scaled], "kernels")
