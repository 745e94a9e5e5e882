"""Decompositions of operators that look numbers up in lists."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from ...ir import Array, Value
from ...version_converter.node_draft import NodeDraft
from .common import decomposes, kind, refuse_unread, require_comparisons, row

Results = Sequence[Value | None]
_KINDS = ("int64s", "floats", "strings", "tensor")


@decomposes("LabelEncoder")
def gather_by_key(draft: NodeDraft) -> Results:
    """A Gather from the values by the position of the equal key."""
    keys, values = _listed(draft, "keys"), _listed(draft, "values")
    if keys is None or values is None or keys.dtype.kind not in "fi":
        draft.refuse("its keys are texts" if keys is not None else "it lists no keys and values")
    require_comparisons(draft)
    _require_distinct(draft, keys)
    if len(values) != len(keys):
        draft.refuse("its keys and values differ in number")
    if draft.required_dtype(0, "its keys") != keys.dtype:
        draft.refuse("its keys are of another type than its input")
    # The default stands at place 0, the sum of the places where no key is equal.
    default = np.array([_default(draft, values)], values.dtype)
    table = row(draft, np.concatenate([default, values]), "values")
    hits = _equal(draft, draft.data, keys)
    ones = draft.emit("Cast", [hits], "hits", to=TensorProto.INT64)
    order = draft.ints(range(1, len(keys) + 1), "order")
    places = draft.emit("Mul", [ones, order], "places")
    rank = draft.required_rank("a place for each label")
    place = draft.along("ReduceSum", places, [rank], "place", keepdims=0)
    return [draft.emit("Gather", [table, place])]


@decomposes("OneHotEncoder")
def compare_with_categories(draft: NodeDraft) -> Results:
    """Equality with each category, as floats; none is 1 for an unknown one."""
    categories = np.array(draft.attribute("cats_int64s") or (), np.int64)
    if not categories.size:
        draft.refuse("its categories are texts")
    if not draft.attribute("zeros"):
        draft.refuse("it fails where a category is unknown, as zeros = 0 requires")
    if kind(draft) != "i":
        refuse_unread(draft, "categories between integers")
    _require_distinct(draft, categories)
    data = draft.as_type(draft.data, TensorProto.INT64)
    hits = _equal(draft, data, categories)
    return [draft.emit("Cast", [hits], to=TensorProto.FLOAT)]


@decomposes("ZipMap")
def explain_maps(draft: NodeDraft) -> Results:
    """Nothing: no tensor holds maps."""
    draft.refuse(
        "its output is a sequence of maps, which no other operator makes; export the model"
        " without it (zipmap=False in skl2onnx), or read its input in its place"
    )


def _equal(draft: NodeDraft, data: Value, keys: Array) -> Value:
    """Compare each element with all keys, along a new last axis."""
    rank = draft.required_rank("a comparison with each key")
    column = draft.unsqueeze(data, [rank])
    return draft.emit("Equal", [column, row(draft, keys, "keys")], "hits")


def _require_distinct(draft: NodeDraft, keys: Array) -> None:
    if np.isnan(keys).any() or len(np.unique(keys)) < len(keys):
        refuse_unread(draft, "keys that occur twice, or are not numbers")


def _listed(draft: NodeDraft, what: str) -> Array | None:
    """The keys or values in the one attribute that has them."""
    for ending in _KINDS:
        name = f"{what}_{ending}"
        listed = draft.attribute(name) if name in draft.attributes else None
        if isinstance(listed, onnx.TensorProto):
            array: Array = onnx.numpy_helper.to_array(listed)
            return array.reshape(-1)
        if listed:
            dtype: Any = {"int64s": np.int64, "floats": np.float32}.get(ending, object)
            return np.array(listed, dtype)
    return None


def _default(draft: NodeDraft, values: Array) -> Any:
    """The value of an unknown key."""
    if "default_tensor" in draft.attributes:
        return onnx.numpy_helper.to_array(draft.attribute("default_tensor")).reshape(-1)[0]
    ending = {"i": "int64", "f": "float"}.get(values.dtype.kind, "string")
    return draft.attribute(f"default_{ending}")
