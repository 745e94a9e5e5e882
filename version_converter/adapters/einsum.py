"""Einsum: sums of products, by an equation.

- 12: the operator appears.
- 28: bfloat16.
"""

from __future__ import annotations

from collections import Counter

from ...ir import Value
from ..node_draft import NodeDraft
from ..registry import Outcome, longer_form


@longer_form(12, "Einsum")
def convert_to_matmul(draft: NodeDraft) -> Outcome:
    """Below opset 12: a MatMul, where one label at most is summed over."""
    terms, output = _parsed(draft)
    stretched = _stretched(draft, terms, output)
    # For each input, the labels of the output and of the other inputs.
    others = ["".join(terms[:i] + terms[i + 1 :]) + output for i in range(len(terms))]
    values = [
        _summed(draft, draft.required(index), term, besides)
        for index, (term, besides) in enumerate(zip(terms, others, strict=True))
    ]
    terms = [
        "".join(label for label in term if label in besides)
        for term, besides in zip(terms, others, strict=True)
    ]
    for index, label in stretched:
        values[index] = _as_long(draft, values, terms, index, label)
    if len(terms) == 1:
        result = _ordered(draft, values[0], terms[0], output)
        return [draft.emit("Identity", [result]) if result in draft.inputs else result]
    one, other = terms
    batch = [label for label in output if label in one and label in other]
    inner = [label for label in one if label in other and label not in output]
    row_labels, column_labels = (
        [label for label in t if label in output and label not in batch] for t in terms
    )
    if max(len(inner), len(column_labels), min(len(row_labels), 1 + len(batch))) > 1:
        # The left may have several where the right is one matrix.
        draft.refuse("a product of matrices sums over one label, and has one free on each side")
    rows, columns = (
        _matrix(draft, value, term, batch, sides)
        for value, term, sides in (
            (values[0], one, (row_labels, inner)),
            (values[1], other, (inner, column_labels)),
        )
    )
    product = draft.emit("MatMul", [rows, columns], "product")
    absent = _absent(batch, (row_labels, column_labels))
    if absent:
        product = draft.emit("Squeeze", [product], "product", axes=absent)
    return [_ordered(draft, product, "".join([*batch, *row_labels, *column_labels]), output)]


def _parsed(draft: NodeDraft) -> tuple[list[str], str]:
    """The labels of each input and of the output."""
    equation = draft.text("equation").replace(" ", "")
    if "." in equation:
        draft.refuse("an ellipsis is not written out")
    operands, arrow, output = equation.partition("->")
    terms = operands.split(",")
    counts = Counter(label for label in operands if label != ",")
    if not arrow:
        output = "".join(sorted(label for label, count in counts.items() if count == 1))
    if len(terms) > 2 or any(len(set(term)) < len(term) for term in terms):
        draft.refuse("only one or two inputs with different labels are written out")
    ranks = [draft.rank(index) for index in range(len(draft.inputs))]
    fits = len(ranks) == len(terms) and all(
        rank in (None, len(term)) for rank, term in zip(ranks, terms, strict=True)
    )
    if not fits or len(set(output)) < len(output) or not set(output) <= counts.keys():
        draft.refuse("its equation does not fit its inputs")
    return terms, output


def _stretched(draft: NodeDraft, terms: list[str], output: str) -> list[tuple[int, str]]:
    """Operands with a summed label of size 1, or possibly 1, to broadcast. Einsum
    broadcasts these, where a product of matrices does not."""
    if len(terms) < 2:
        return []
    shapes = [draft.types.dimensions(draft.input(index)) for index in range(2)]
    operands = []
    for label in terms[0]:
        if label in output or label not in terms[1]:
            continue
        sizes = [
            None if shape is None else shape[term.index(label)]
            for shape, term in zip(shapes, terms, strict=True)
        ]
        if sizes[0] is not None and sizes[0] == sizes[1]:
            continue
        lengths = [None if size is None else size.value for size in sizes]
        operands += [
            (i, label) for i in range(2) if lengths[i] in (None, 1) and lengths[1 - i] != 1
        ]
    return operands


def _as_long(
    draft: NodeDraft, values: list[Value], terms: list[str], index: int, label: str
) -> Value:
    """An operand broadcast along a label to the size of the other one."""
    other, own = terms[1 - index], terms[index]
    shape = draft.emit("Shape", [values[1 - index]], "shape")
    place = draft.ints([other.index(label)], "place")
    size = draft.emit("Gather", [shape, place], "size", axis=0)
    counts = own.index(label), len(own) - 1 - own.index(label)
    before, behind = (draft.ints([1] * count, "ones") for count in counts)
    sizes = draft.emit("Concat", [before, size, behind], "sizes", axis=0)
    return draft.emit("Expand", [values[index], sizes], "stretched")


def _summed(draft: NodeDraft, value: Value, term: str, others: str) -> Value:
    """An input summed over the labels that only it has."""
    axes = [axis for axis, label in enumerate(term) if label not in others]
    return draft.along("ReduceSum", value, axes, "summed", keepdims=0) if axes else value


def _ordered(draft: NodeDraft, value: Value, labels: str, order: str) -> Value:
    """A value with its axes in the order of labels."""
    perm = [labels.index(label) for label in order]
    if perm == sorted(perm):
        return value
    return draft.emit("Transpose", [value], "ordered", perm=perm)


def _matrix(
    draft: NodeDraft, value: Value, term: str, batch: list[str], sides: tuple[list[str], list[str]]
) -> Value:
    """An input as matrices: the batch labels, then a label or a length of 1 for each side."""
    value = _ordered(draft, value, term, "".join([*batch, *sides[0], *sides[1]]))
    absent = _absent(batch, sides)
    return draft.unsqueeze(value, absent) if absent else value


def _absent(batch: list[str], sides: tuple[list[str], list[str]]) -> list[int]:
    """The axes of length 1 for sides without a label."""
    places = (len(batch), len(batch) + max(len(sides[0]), 1))
    return [place for place, side in zip(places, sides, strict=True) if not side]
