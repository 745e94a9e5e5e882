"""Decompositions of support vector machines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ir import Array, Value
from ...version_converter.node_draft import NodeDraft
from .common import decomposes, floats, numbers, require_rows, row

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
