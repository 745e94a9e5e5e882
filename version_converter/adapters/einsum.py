"""Einsum: sums of products, by an equation.

- 12: the operator appears.
- 28: bfloat16.
"""

import math
from collections import Counter
from typing import NamedTuple

import numpy as np

from ...facts.polynomial import Dimension
from ...ir import Value
from ..flat_indices import rows
from ..registry import AdapterResult, NodeDraft, longer_form
from ..snippets import length_of, numbers_below

_FIRST_OF_ELLIPSIS = 0x100
"""The code of the label for the first axis of an ellipsis; equations have letters only."""


class _Operand(NamedTuple):
    """A tensor with a label for each axis."""

    value: Value
    labels: str


@longer_form(12, "Einsum")
def convert_to_matmul(draft: NodeDraft) -> AdapterResult:
    """Below opset 12: a chain of MatMuls, from the first input to the last."""
    terms, output = _parsed(draft)
    operands = [
        _without_repeats(draft, _Operand(draft.required(index), term))
        for index, term in enumerate(terms)
    ]
    product = operands[0]
    for index, operand in enumerate(operands[1:], 1):
        # A label is summed once neither the result nor a later operand has it.
        needed = output + "".join(each.labels for each in operands[index + 1 :])
        product = _product(draft, product, operand, needed)
    product = _summed(draft, product, output)
    result = _ordered(draft, product, output)
    return [draft.emit("Identity", [result]) if result in draft.inputs else result]


def _parsed(draft: NodeDraft) -> tuple[list[str], str]:
    """The labels of each input and of the output, also for an ellipsis."""
    equation = draft.text("equation").replace(" ", "")
    inputs, arrow, output = equation.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(draft.inputs):
        draft.refuse("its equation does not fit its inputs")
    wide = _labels_of_ellipsis(draft, terms)
    if not arrow:
        counts = Counter(label for label in inputs if label not in ",.")
        output = "..." * ("..." in inputs)
        output += "".join(sorted(label for label, count in counts.items() if count == 1))
    terms, output = [term.replace("...", wide) for term in terms], output.replace("...", wide)
    ranks = [draft.rank(index) for index in range(len(terms))]
    fits = all(rank in (None, len(term)) for rank, term in zip(ranks, terms, strict=True))
    labels = set("".join(terms))
    if not fits or len(set(output)) < len(output) or not set(output) <= labels or "." in labels:
        draft.refuse("its equation does not fit its inputs")
    if not set(wide) <= set(output):
        draft.refuse("its equation sums over an ellipsis")
    return terms, output


def _labels_of_ellipsis(draft: NodeDraft, terms: list[str]) -> str:
    """Labels for the axes of an ellipsis, which are as many in each term."""
    counts = {
        draft.required_rank("an ellipsis", index) - len(term.replace("...", ""))
        for index, term in enumerate(terms)
        if "..." in term
    }
    if len(counts) > 1 or min(counts, default=0) < 0:
        draft.refuse("its ellipses are different numbers of axes")
    return "".join(chr(_FIRST_OF_ELLIPSIS + place) for place in range(max(counts, default=0)))


def _without_repeats(draft: NodeDraft, operand: _Operand) -> _Operand:
    """The diagonal along axes with the same label, by Gather."""
    for label, count in Counter(operand.labels).items():
        for _ in range(count - 1):
            operand = _diagonal(draft, operand, label)
    return operand


def _diagonal(draft: NodeDraft, operand: _Operand, label: str) -> _Operand:
    """The diagonal along two axes with a label, as the first axis."""
    value, labels = operand
    pair = [place for place, own in enumerate(labels) if own == label][:2]
    others = [place for place in range(len(labels)) if place not in pair]
    sizes = [(draft.types.shape(value) or [None] * len(labels))[place] for place in pair]
    if None not in sizes and sizes[0] != sizes[1]:
        draft.refuse(f"two axes of one label have the lengths {sizes[0]} and {sizes[1]}")
    if pair != [0, 1]:
        value = draft.emit("Transpose", [value], "pair_first", perm=[*pair, *others])
    merged = draft.emit("Gather", [rows(draft, value, 2), _places(draft, value, sizes)], axis=0)
    return _Operand(merged, label + "".join(labels[place] for place in others))


def _places(draft: NodeDraft, value: Value, sizes: list[int | None]) -> Value:
    """The places of a diagonal in the merged first two axes."""
    size = next((size for size in sizes if size is not None), None)
    if size is not None:
        # Element (i, i) of n rows of n is at i * (n + 1).
        return draft.ints((np.arange(size) * (size + 1)).tolist(), "places")
    length = length_of(draft, draft.emit("Shape", [value], "shape"), 0, rank=1)
    step = draft.emit("Add", [length, draft.ints([1], "one")], "step")
    return draft.emit("Mul", [numbers_below(draft, length), step], "places")


def _product(draft: NodeDraft, one: _Operand, other: _Operand, needed: str) -> _Operand:
    """The product of two tensors, summed over all labels but those needed.

    Runtimes sum a tensor before it is multiplied by one of length 1: of infinities, the sum of
    products would be another one.
    """
    pairs = [(one, _long_labels(draft, other)), (other, _long_labels(draft, one))]
    one, other = (_summed(draft, own, needed + labels) for own, labels in pairs)
    inner = [label for label in one.labels if label in other.labels and label not in needed]
    if len(inner) > 1 and not _can_merge(draft, (one, other), inner):
        # The product of matrices sums over one label, and ReduceSum over the others.
        product = _product(draft, one, other, needed + "".join(inner[:-1]))
        return _summed(draft, product, needed)
    # MatMul does not broadcast inner axes, of which one may have length 1.
    for label in inner:
        one, other = _as_long(draft, one, other, label), _as_long(draft, other, one, label)
    if len(inner) > 1:
        one, other = (_merged(draft, operand, inner) for operand in (one, other))
        inner = inner[-1:]
    batch = [label for label in one.labels if label in other.labels and label not in inner]
    row_labels, column_labels = (
        [label for label in own.labels if label not in batch and label not in inner]
        for own in (one, other)
    )
    # All labels of one side but the last are broadcast, like those of a batch.
    more = [row_labels[:-1], column_labels[:-1]]
    matrices = [
        _matrices(draft, operand, labels)
        for operand, labels in (
            (one, [*batch, *more[0], *[None] * len(more[1]), _last(row_labels), _last(inner)]),
            (other, [*batch, *[None] * len(more[0]), *more[1], _last(inner), _last(column_labels)]),
        )
    ]
    value = draft.emit("MatMul", matrices, "product")
    labels = [*batch, *more[0], *more[1], _last(row_labels), _last(column_labels)]
    absent = [place for place, label in enumerate(labels) if label is None]
    if absent:
        value = draft.along("Squeeze", value, absent, "product")
    return _Operand(value, "".join(label for label in labels if label is not None))


def _last(labels: list[str]) -> str | None:
    return labels[-1] if labels else None


def _matrices(draft: NodeDraft, operand: _Operand, labels: list[str | None]) -> Value:
    """A tensor with its axes ordered by labels, and one of length 1 for None."""
    value = _ordered(draft, operand, "".join(label for label in labels if label is not None))
    while len(labels) > 2 and labels[0] is None:  # MatMul adds axes at the front
        labels = labels[1:]
    absent = [place for place, label in enumerate(labels) if label is None]
    return draft.unsqueeze(value, absent) if absent else value


def _can_merge(draft: NodeDraft, operands: tuple[_Operand, _Operand], inner: list[str]) -> bool:
    """Test whether a Reshape merges some axes, whatever lengths the others have at run time."""
    unknown = [
        label
        for operand in operands
        for label in operand.labels
        if not (getattr(_size(draft, operand, label), "value", None) or 0) > 0
    ]
    inside = {label for label in unknown if label in inner}
    # Reshape finds one length by -1, but not where another axis may be empty.
    return not inside or (len(inside) == 1 and inside == set(unknown))


def _as_long(draft: NodeDraft, operand: _Operand, other: _Operand, label: str) -> _Operand:
    """A tensor broadcast along a label to the length that the other one has."""
    sizes = [_size(draft, each, label) for each in (operand, other)]
    lengths = [None if size is None else size.value for size in sizes]
    same = sizes[0] is not None and sizes[0] == sizes[1]
    if same or lengths[0] not in (None, 1) or lengths[1] == 1:
        return operand
    shape = draft.emit("Shape", [other.value], "shape")
    place = draft.ints([other.labels.index(label)], "place")
    size = draft.emit("Gather", [shape, place], "size", axis=0)
    counts = operand.labels.index(label), len(operand.labels) - 1 - operand.labels.index(label)
    before, after = (draft.ints([1] * count, "ones") for count in counts)
    whole = draft.emit("Concat", [before, size, after], "sizes", axis=0)
    return _Operand(draft.emit("Expand", [operand.value, whole], "stretched"), operand.labels)


def _size(draft: NodeDraft, operand: _Operand, label: str) -> Dimension | None:
    dims = draft.types.dimensions(operand.value)
    return None if dims is None else dims[operand.labels.index(label)]


def _merged(draft: NodeDraft, operand: _Operand, inner: list[str]) -> _Operand:
    """A tensor with some axes merged to the last one."""
    others = [label for label in operand.labels if label not in inner]
    sizes = [_size(draft, operand, label) for label in inner]
    lengths = [None if size is None else size.value for size in sizes]
    merged = -1 if None in lengths else math.prod(length or 0 for length in lengths)
    value = _ordered(draft, operand, "".join([*others, *inner]))
    shape = draft.ints([0] * len(others) + [merged], "shape")
    merged_value = draft.emit("Reshape", [value, shape], "merged")
    return _Operand(merged_value, "".join([*others, inner[-1]]))


def _long_labels(draft: NodeDraft, operand: _Operand) -> str:
    """The labels of axes that are not known to have length 1."""
    sizes = [_size(draft, operand, label) for label in operand.labels]
    pairs = zip(operand.labels, sizes, strict=True)
    return "".join(label for label, size in pairs if size is None or size.value != 1)


def _summed(draft: NodeDraft, operand: _Operand, others: str) -> _Operand:
    """A tensor summed over the labels that are not among others."""
    axes = [axis for axis, label in enumerate(operand.labels) if label not in others]
    value, long_ = operand.value, _long_labels(draft, operand)
    summed = [axis for axis in axes if operand.labels[axis] in long_]
    single = [axis for axis in axes if axis not in summed]
    if summed:
        value = draft.along("ReduceSum", value, summed, "summed", keepdims=1 if single else 0)
    if single:
        value = draft.along("Squeeze", value, axes, "single")
    return _Operand(value, "".join(label for label in operand.labels if label in others))


def _ordered(draft: NodeDraft, operand: _Operand, order: str) -> Value:
    """A tensor with its axes in the order of labels."""
    perm = [operand.labels.index(label) for label in order]
    if perm == sorted(perm):
        return operand.value
    return draft.emit("Transpose", [operand.value], "ordered", perm=perm)
