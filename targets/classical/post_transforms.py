"""Functions that linear models, support vectors and trees apply to their scores."""

import numpy as np

from ...ir import Value
from ...version_converter.node_draft import NodeDraft
from .common import refuse_unread, row

_NEARLY_ZERO = 1e-7
"""Scores up to this size count as zero in SOFTMAX_ZERO, in onnxruntime and in onnx."""
_SUPPORTED = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")


def require_post_transform(draft: NodeDraft) -> str:
    """The function, one that clients compute alike.

    Raises:
        Refused: clients approximate it, each in its own way.
    """
    name = draft.text("post_transform")
    if name not in _SUPPORTED:
        refuse_unread(draft, f"the last digits of {name}")
    return name


def transform_scores(draft: NodeDraft, name: str, scores: Value) -> Value:
    """The scores in rows after a function."""
    if name == "LOGISTIC":
        return draft.emit("Sigmoid", [scores])
    if name == "SOFTMAX":
        return draft.emit("Softmax", [scores], axis=1)
    return _softmax_of_others(draft, scores) if name == "SOFTMAX_ZERO" else scores


def _softmax_of_others(draft: NodeDraft, scores: Value) -> Value:
    """A softmax in which scores of nearly zero do not count, and stay nearly zero."""
    limit = row(draft, np.float32(_NEARLY_ZERO), "limit")
    sizes = draft.emit("Abs", [scores], "sizes")
    counts = draft.emit("Greater", [sizes, limit], "counts")
    most = draft.along("ReduceMax", scores, [1], "most", keepdims=1)
    powers = draft.emit("Exp", [draft.emit("Sub", [scores, most], "less")], "powers")
    small = draft.emit(
        "Mul", [scores, draft.emit("Exp", [draft.emit("Neg", [most])], "unit")], "small"
    )
    zero = row(draft, np.float32(0), "zero")
    counted = draft.emit("Where", [counts, powers, zero], "counted")
    total = draft.along("ReduceSum", counted, [1], "total", keepdims=1)
    return draft.emit("Div", [draft.emit("Where", [counts, powers, small], "parts"), total])
