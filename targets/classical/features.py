"""Decompositions of operators that prepare features."""

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from ...ir import Value
from ...version_converter.node_draft import NodeDraft
from .common import decomposes, floats, kind, numbers, refuse_unread, require_comparisons, row

Results = Sequence[Value | None]


@decomposes("ArrayFeatureExtractor")
def gather_columns(draft: NodeDraft) -> Results:
    """A Gather along the last axis; the result has at least two axes."""
    rank = draft.required_rank("the last axis")
    if rank == 0:
        draft.refuse("its input has no axis")
    places, data = draft.required(1), draft.data
    if draft.rank(1) != 1:
        places = draft.emit("Reshape", [places, draft.ints([-1], "row")], "places")
    if rank == 1:
        data = draft.emit("Reshape", [data, draft.ints([1, -1], "row")], "rows")
    return [draft.emit("Gather", [data, places], axis=max(rank, 2) - 1)]


@decomposes("Scaler")
def subtract_and_multiply(draft: NodeDraft) -> Results:
    """The difference from the offsets, times the scales."""
    offset, scale = numbers(draft, "offset"), numbers(draft, "scale")
    if not offset.size or offset.size != scale.size:
        draft.refuse("its offsets and scales differ in number")
    if offset.size > 1 and draft.required_rank("a scale for each column") not in (1, 2):
        draft.refuse("its scales belong to no axis")
    is_double = draft.required_elem_type(0, "arithmetic") == TensorProto.DOUBLE
    data = draft.data if is_double else floats(draft)
    dtype = np.float64 if is_double else np.float32
    centered = draft.emit("Sub", [data, row(draft, offset.astype(dtype), "offset")], "centered")
    scaled = draft.emit("Mul", [centered, row(draft, scale.astype(dtype), "scale")])
    return [draft.as_type(scaled, TensorProto.FLOAT)]


@decomposes("Binarizer")
def compare_with_threshold(draft: NodeDraft) -> Results:
    """1 where the number is greater than the threshold, else 0."""
    if kind(draft) != "f":
        draft.refuse("its threshold is not an integer")
    dtype = draft.required_dtype(0, "the threshold")
    threshold = row(draft, np.array(draft.attribute("threshold"), dtype), "threshold")
    greater = draft.emit("Greater", [draft.data, threshold], "greater")
    return [draft.emit("Cast", [greater], to=draft.elem_type(0))]


@decomposes("Normalizer")
def divide_by_norm(draft: NodeDraft) -> Results:
    """Each row divided by its norm; a row of zeros stays."""
    norm, data = draft.text("norm"), floats(draft)
    if norm not in ("L1", "L2"):
        refuse_unread(draft, f"the sign of the norm '{norm}'")
    if norm == "L2" and kind(draft) != "f":
        refuse_unread(draft, "squares that overflow")
    if draft.required_rank("a norm of each row") not in (1, 2):
        draft.refuse("its input is neither a row nor rows of features")
    if norm == "L1":
        parts = draft.emit("Abs", [data], "sizes")
    else:
        parts = draft.emit("Mul", [data, data], "squares")
    total = draft.along("ReduceSum", parts, [(draft.rank() or 1) - 1], "total", keepdims=1)
    if norm == "L2":
        total = draft.emit("Sqrt", [total], "norm")
    # A norm of zero becomes one, without an operator that old opsets lack.
    is_any = draft.emit("Cast", [total], "is_any", to=TensorProto.BOOL)
    is_zero = draft.emit("Not", [is_any], "is_zero")
    one = draft.emit("Cast", [is_zero], "one", to=TensorProto.FLOAT)
    return [draft.emit("Div", [data, draft.emit("Add", [total, one], "norm")])]


@decomposes("Imputer")
def replace_missing_values(draft: NodeDraft) -> Results:
    """A Where of the missing values."""
    require_comparisons(draft)
    is_float, dtype = kind(draft) == "f", draft.required_dtype(0, "the missing value")
    ending = "float" if is_float else "int64"
    missing = draft.attribute(f"replaced_value_{ending}")
    missing = np.array(0 if missing is None else missing)
    values = numbers(draft, f"imputed_value_{ending}s", None)
    rank = draft.required_rank("a value for each column")
    if not values.size or (values.size > 1 and rank not in (1, 2)):
        draft.refuse("it has no value for each column")
    if values.size > 1 and draft.length(-1) != values.size:
        draft.refuse_unknown("the number of its columns")
    if not is_float and (values.astype(dtype) != values).any():
        draft.refuse("its values do not fit its type")
    # NaN equals nothing.
    if is_float and np.isnan(missing):
        is_missing = draft.emit("IsNaN", [draft.data], "missing")
    else:
        value = row(draft, missing.astype(dtype), "value")
        is_missing = draft.emit("Equal", [draft.data, value], "missing")
    filling = row(draft, values.astype(dtype), "values")
    return [draft.emit("Where", [is_missing, filling, draft.data])]
