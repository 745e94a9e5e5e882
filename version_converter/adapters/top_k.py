"""TopK: its count and order.

- 1: floats; `k` is an attribute.
- 10: `k` is an input.
- 11: `largest` = 0 asks for the smallest, `sorted` = 0 for any order; integers.
- 24: bfloat16.
"""

from collections.abc import Sequence

import numpy as np
import onnx

from ...ir import Value
from ..attribute_to_input import Move, move_attributes
from ..registry import AdapterResult, NodeDraft, downgrade, harmless, longer_form
from ..snippets import axis_length, halves, pick
from ..via_wider_type import WORDS, Detour, compute_via

_DOUBLE = onnx.TensorProto.DOUBLE
_LOWEST = -1e300
"""A double below every float but -inf."""

move_attributes(10, "TopK", moves=[Move("k", 1, "int")])
compute_via(11, "TopK", row=Detour(WORDS, _DOUBLE))
# Sorted results are one of the orders that unsorted ones may have.
harmless("TopK", attribute="sorted")


@downgrade(10, "TopK")
def slice_empty(draft: NodeDraft) -> AdapterResult:
    """Before opset 10: `k` of at least 1; an empty Slice for 0."""
    count = draft.constant(1)
    if count is None or count.size != 1 or count.item():
        return None
    axis = draft.required_axis(draft.attribute("axis"), "k = 0")
    values = draft.emit("Slice", [draft.data], "values", starts=[0], ends=[0], axes=[axis])
    return [values, draft.emit("Cast", [values], "indices", to=onnx.TensorProto.INT64)]


@longer_form(11, "TopK")
def rank_by_keys(draft: NodeDraft) -> AdapterResult:
    """Below opset 11: the largest by float keys."""
    dtype, largest = draft.required_dtype(0, "another order"), bool(draft.attribute("largest"))
    data = draft.data
    draft.drop("largest", "sorted")
    draft.checked_axis(draft.attribute("axis"))
    if dtype in (np.int64, np.uint64):
        keys = [draft.cast(half, _DOUBLE) for half in halves(draft, data)]
        return _ranked(draft, data, keys if largest else _negated(draft, *keys))
    if largest or dtype.kind != "f":
        return None
    if _never_nan(draft, data):
        (negated,) = _negated(draft, data)
        values, indices = _largest(draft, negated, draft.input(1))
        return [draft.emit("Neg", [values]), indices]
    if dtype == np.float64:
        number = draft.emit("Not", [draft.emit("IsNaN", [data])], "number")
        return _ranked(draft, data, [draft.cast(number, _DOUBLE), *_negated(draft, data)])
    return _ranked(draft, data, [_nan_lowest_of_negated(draft, data)])


def _never_nan(draft: NodeDraft, data: Value) -> bool:
    """Test whether a constant or the type before a cast excludes NaN."""
    constant, maker = draft.constant(0), data.producer
    if constant is not None:
        return not np.isnan(constant.astype(np.float64)).any()
    source = maker.inputs[0] if maker is not None and maker.is_op("Cast") else None
    elem_type = None if source is None else draft.types.elem_type(source)
    return elem_type in (*WORDS, onnx.TensorProto.INT64, onnx.TensorProto.UINT64)


def _negated(draft: NodeDraft, *keys: Value) -> list[Value]:
    return [draft.emit("Neg", [key], "negated") for key in keys]


def _nan_lowest_of_negated(draft: NodeDraft, data: Value) -> Value:
    """Negate data with NaN as the lowest. TopK takes NaN, also a negated one, for the largest: it
    becomes -inf, and -inf a number below all others."""
    (negated,) = _negated(draft, draft.cast(data, _DOUBLE))
    number = pick(draft, "Greater", negated, draft.const(np.array(_LOWEST), "lowest"))
    is_nan, below = draft.emit("IsNaN", [data], "is_nan"), draft.const(np.array(-np.inf), "below")
    return draft.emit("Where", [is_nan, below, number], "key")


def _ranked(draft: NodeDraft, data: Value, keys: Sequence[Value]) -> list[Value]:
    """The elements with the largest keys, the first key before the others.

    TopK is stable, hence sorting by each key, the last one first, keeps earlier orders where keys
    are equal.
    """
    places: Value | None = None
    for key in reversed(keys):
        moved_key, count = key if places is None else _along(draft, key, places), draft.input(1)
        if key is not keys[0]:
            axis = draft.required_axis(draft.attribute("axis"), "the length of an axis")
            count = axis_length(draft, axis, rank=1)
        _, order = _largest(draft, moved_key, count)
        places = order if places is None else _along(draft, places, order)
    assert places is not None
    return [_along(draft, data, places), places]


def _largest(draft: NodeDraft, data: Value, count: Value | None) -> list[Value]:
    return draft.emit_all("TopK", [data, count], ["values", "indices"], attributes=draft.attributes)


def _along(draft: NodeDraft, data: Value, places: Value) -> Value:
    axis = draft.attribute("axis")
    return draft.emit("GatherElements", [data, places], "values", axis=axis)


@longer_form(10, "TopK")
def sort_all(draft: NodeDraft) -> AdapterResult:
    """Below opset 10: a constant `k` of the whole length, then a Slice."""
    axis = draft.attribute("axis")
    length = draft.length(axis)
    if length is None:
        draft.refuse_unknown(f"sorting all needs the length of axis {axis}, which")
    if draft.shape(1) not in (None, [], [1]):
        draft.refuse("its count must be one number")
    if length == 0:  # all of which TopK does not support in opset 9
        indices = draft.emit("Cast", [draft.data], "indices", to=onnx.TensorProto.INT64)
        return [draft.emit("Identity", [draft.data], "values"), indices]
    axes = draft.ints([axis], "axis")
    sorted_all = _largest(draft, draft.data, draft.ints([length], "all"))
    count = draft.emit("Reshape", [draft.input(1), draft.ints([1], "one")], "count")
    return [
        draft.emit("Slice", [value, draft.ints([0], "start"), count, axes]) for value in sorted_all
    ]
