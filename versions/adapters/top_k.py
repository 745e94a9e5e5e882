"""TopK: how many, and from which end.

https://onnx.ai/onnx/operators/onnx__TopK.html

- 1: floats; `k` is an attribute. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#TopK-1
- 10: `k` is an input. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#TopK-10
- 11: `largest` = 0 asks for the smallest, `sorted` = 0 for any order; integers.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#TopK-11
- 24: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#TopK-24
"""

from __future__ import annotations

import onnx

from ..detours import WORDS, by_way_of
from ..moves import Move, moved
from ..registry import Outcome, downgrade, harmless, longer_form
from ..site import Site

moved(10, "TopK", moves=[Move("k", 1, "int")])
by_way_of(11, "TopK", types=WORDS, via=onnx.TensorProto.DOUBLE)
# Sorted results are one of the orders that unsorted ones may have.
harmless("TopK", attribute="sorted")


@downgrade(11, "TopK")
def largest_of_negated(site: Site) -> Outcome:
    """Before opset 11 there are only the largest: the smallest are those of the negated input."""
    largest = site.attribute("largest")
    site.drop("largest", "sorted")
    if largest:
        return None
    if site.required_dtype(0, "largest = 0").kind != "f":
        site.refuse("largest = 0 of integers cannot be said in opset 10")
    negated = site.emit("Neg", [site.input(0)], "negated")
    values, indices = site.emit_all(
        "TopK",
        [negated, site.input(1)],
        ["values", "indices"],
        attributes=site.attributes,
    )
    return [site.emit("Neg", [values]), indices]


@longer_form(10, "TopK")
def sort_all(site: Site) -> Outcome:
    """Below opset 10 `k` is constant: as many as there are, of which the first ones are kept."""
    shape, axis = site.shape(), site.attribute("axis")
    length = None if shape is None else shape[axis]
    if length is None:
        site.refuse_unknown(f"sorting all needs the length of axis {axis}, which")
    if site.shape(1) not in (None, [], [1]):
        site.refuse("its count must be one number")
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
