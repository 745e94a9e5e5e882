"""TopK: its count and order.

https://onnx.ai/onnx/operators/onnx__TopK.html

- 1: floats; `k` is an attribute. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#TopK-1
- 10: `k` is an input. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#TopK-10
- 11: `largest` = 0 asks for the smallest, `sorted` = 0 for any order; integers.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#TopK-11
- 24: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#TopK-24
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

from ...ir import Value
from ..attribute_to_input import Move, moved
from ..node_draft import Site
from ..registry import Outcome, downgrade, harmless, longer_form
from ..snippets import halves, length_of, pick
from ..via_wider_type import WORDS, by_way_of

_DOUBLE = onnx.TensorProto.DOUBLE
_LOWEST = -1e300
"""A double below every float but -inf."""

moved(10, "TopK", moves=[Move("k", 1, "int")])
by_way_of(11, "TopK", types=WORDS, via=_DOUBLE)
# Sorted results are one of the orders that unsorted ones may have.
harmless("TopK", attribute="sorted")


@downgrade(10, "TopK")
def none_at_all(site: Site) -> Outcome:
    """Before opset 10: `k` of at least 1; an empty Slice for 0."""
    count, data = site.constant(1), site.input(0)
    if count is None or count.size != 1 or count.item():
        return None
    axis = site.required_axis(site.attribute("axis"), "k = 0")
    assert data is not None
    values = site.emit("Slice", [data], "values", starts=[0], ends=[0], axes=[axis])
    return [values, site.emit("Cast", [values], "indices", to=onnx.TensorProto.INT64)]


@downgrade(11, "TopK")
def only_the_largest(site: Site) -> Outcome:
    """Before opset 11: the largest only; the smallest need a longer form."""
    if not site.attribute("largest"):
        site.refuse("largest = 0 cannot be said in opset 10")
    site.drop("largest", "sorted")
    return None


@longer_form(11, "TopK")
def by_keys(site: Site) -> Outcome:
    """Below opset 11: the largest by float keys."""
    dtype, largest = site.required_dtype(0, "another order"), bool(site.attribute("largest"))
    data = site.input(0)
    assert data is not None
    site.drop("largest", "sorted")
    site.checked_axis(site.attribute("axis"))
    if dtype in (np.int64, np.uint64):
        keys = [site.cast(half, _DOUBLE) for half in halves(site, data)]
        return _ranked(site, data, keys if largest else _negated(site, *keys))
    if largest or dtype.kind != "f":
        return None
    if _never_nan(site, data):
        (negated,) = _negated(site, data)
        values, indices = _largest(site, negated, site.input(1))
        return [site.emit("Neg", [values]), indices]
    if dtype == np.float64:
        number = site.emit("Not", [site.emit("IsNaN", [data])], "number")
        return _ranked(site, data, [site.cast(number, _DOUBLE), *_negated(site, data)])
    return _ranked(site, data, [_nan_lowest_of_negated(site, data)])


def _never_nan(site: Site, data: Value) -> bool:
    """Test whether a constant or the type before a cast excludes NaN."""
    constant, maker = site.constant(0), data.producer
    if constant is not None:
        return not np.isnan(constant.astype(np.float64)).any()
    source = maker.inputs[0] if maker is not None and maker.is_op("Cast") else None
    elem_type = None if source is None else site.types.elem_type(source)
    return elem_type in (*WORDS, onnx.TensorProto.INT64, onnx.TensorProto.UINT64)


def _negated(site: Site, *keys: Value) -> list[Value]:
    return [site.emit("Neg", [key], "negated") for key in keys]


def _nan_lowest_of_negated(site: Site, data: Value) -> Value:
    """Negate data with NaN as the lowest. TopK takes NaN, also a negated one, for the largest: it
    becomes -inf, and -inf a number below all others."""
    (negated,) = _negated(site, site.cast(data, _DOUBLE))
    number = pick(site, "Greater", negated, site.const(np.array(_LOWEST), "lowest"))
    is_nan, below = site.emit("IsNaN", [data], "is_nan"), site.const(np.array(-np.inf), "below")
    return site.emit("Where", [is_nan, below, number], "key")


def _ranked(site: Site, data: Value, keys: Sequence[Value]) -> list[Value]:
    """The elements with the largest keys, the first key before the others.

    TopK is stable, hence sorting by each key, the last one first, keeps earlier orders where keys
    are equal.
    """
    places: Value | None = None
    for key in reversed(keys):
        moved_key = key if places is None else _along(site, key, places)
        count = site.input(1) if key is keys[0] else _length(site, data)
        _, order = _largest(site, moved_key, count)
        places = order if places is None else _along(site, places, order)
    assert places is not None
    return [_along(site, data, places), places]


def _largest(site: Site, data: Value, count: Value | None) -> list[Value]:
    return site.emit_all("TopK", [data, count], ["values", "indices"], attributes=site.attributes)


def _along(site: Site, data: Value, places: Value) -> Value:
    axis = site.attribute("axis")
    return site.emit("GatherElements", [data, places], "values", axis=axis)


def _length(site: Site, data: Value) -> Value:
    """The length of the axis, as an input of TopK."""
    axis = site.required_axis(site.attribute("axis"), "the length of an axis")
    length = site.length(axis)
    if length is not None:
        return site.ints([length], "all")
    return length_of(site, site.emit("Shape", [data], "shape"), axis, rank=1)


@longer_form(10, "TopK")
def sort_all(site: Site) -> Outcome:
    """Below opset 10: a constant `k` of the whole length, then a Slice."""
    axis = site.attribute("axis")
    length = site.length(axis)
    if length is None:
        site.refuse_unknown(f"sorting all needs the length of axis {axis}, which")
    if site.shape(1) not in (None, [], [1]):
        site.refuse("its count must be one number")
    if length == 0:  # all of which TopK does not take in opset 9
        indices = site.emit("Cast", [site.input(0)], "indices", to=onnx.TensorProto.INT64)
        return [site.emit("Identity", [site.input(0)], "values"), indices]
    axes = site.ints([axis], "axis")
    sorted_all = site.emit_all(
        "TopK",
        [site.input(0), site.ints([length], "all")],
        ["values", "indices"],
        attributes=site.attributes,
    )
    count = site.emit("Reshape", [site.input(1), site.ints([1], "one")], "count")
    return [
        site.emit("Slice", [value, site.ints([0], "start"), count, axes]) for value in sorted_all
    ]
