"""Operands of an attention: queries, keys, values and mask in the forms that the operator takes."""

from collections.abc import Sequence

import numpy as np

from ....facts.fact import Shape
from ....ir import Node, Operator, Value
from ....ops.axes import ONE
from ....records import record, replace
from .attention_scores import stripped
from .replacement import Emitted, Operand, Site, has_elements

_HEADS_FIRST = (0, 2, 1, 3)
_ROTATIONS = {"RotaryEmbedding": 3, "com.microsoft::RotaryEmbedding": 4}
"""Rotations, with the number of operands without positions of each token."""


@record(frozen=True)
class Heads:
    """Operand with the sequence and the size of a head as its last axes.

    Attributes:
        source: the tensor that it is a transposition of.
    """

    source: Value
    perm: tuple[int, ...]
    shape: Shape
    factor: float

    @property
    def is_plain(self) -> bool:
        """Test for the source itself."""
        return self.perm == tuple(range(len(self.perm)))

    def operand(self) -> Operand:
        """The operand, turned where the source is not."""
        if self.is_plain:
            return self.source
        return Emitted(Operator.make("Transpose", perm=list(self.perm)), [self.source])


def heads_of(site: Site, value: Value, is_turned: bool) -> Heads | None:
    """Operand of a product, without factors.

    Args:
        value: the operand.
        is_turned: true for keys, whose last two axes are exchanged.
    """
    below, factor = stripped(site, value)
    shape = site.shape(below)
    if shape is None or len(shape) not in (3, 4):
        return None
    perm = list(range(len(shape)))
    if is_turned:
        perm[-2:] = perm[:-3:-1]
    shape = tuple([shape[axis] for axis in perm])
    node = site.producer(below)
    if is_turned and node is not None and node.is_op("Transpose") and node.input(0) is not None:
        inner = node.attribute("perm") or list(range(len(shape)))[::-1]
        perm = [inner[axis] for axis in perm]
        below = node.inputs[0] or below
        if perm == sorted(perm):
            below, number = stripped(site, below)
            factor *= number
    elif is_turned:
        source = _turned_rows(site, below, shape)
        if source is not None:
            below, number = stripped(site, source)
            return Heads(below, tuple(sorted(perm)), shape, factor * number)
    return Heads(below, tuple(perm), shape, factor)


def _turned_rows(site: Site, value: Value, shape: Shape) -> Value | None:
    """Tensor whose last two axes were exchanged while the axes before them were one.

    It is of rank 3 where it was joined from groups.
    """
    turned = _operand_of(site.producer(value), "Reshape")
    node = site.producer(turned)
    rows = _operand_of(node, "Transpose")
    if rows is None or node is None or node.attribute("perm") != [0, 2, 1]:
        return None
    source = _operand_of(site.producer(rows), "Reshape")
    if source is None or len(shape) != 4 or (site.shape(rows) or ())[1:] != shape[2:]:
        return None
    return source if site.shape(source) == shape else rows


def grouped_heads(site: Site, heads: Heads | None) -> Heads | None:
    """Heads before each was repeated for several heads of queries; else the same, or None."""
    if heads is None or not heads.is_plain or len(heads.shape) != 4:
        return heads
    rows = heads if site.shape(heads.source) == heads.shape else None
    joined = site.producer(heads.source)
    source = _operand_of(joined, "Reshape")
    repeated = site.producer(source)
    column = _operand_of(repeated, "Expand")
    node = site.producer(column)
    value = _operand_of(node, "Unsqueeze", "Reshape")
    if source is None or column is None or value is None:
        return rows
    shape, whole = site.shape(value), site.shape(source)
    if shape is None or whole is None or len(shape) != 4 or len(whole) != 5:
        return rows
    batch, count, *rest = shape
    times = whole[2]
    fits = (
        site.shape(column) == (batch, count, ONE, *rest)
        and whole == (batch, count, times, *rest)
        and heads.shape == (batch, count * times, *rest)
    )
    return Heads(value, heads.perm, shape, heads.factor) if fits else rows


def without_cache(
    site: Site, keys: Heads, values: Heads
) -> tuple[tuple[Heads, Heads], tuple[Value, ...]]:
    """Keys and values without those of a cache before them; and the cache, before and after."""
    one, two = _joined_to_cache(site, keys), _joined_to_cache(site, values)
    if one is None or two is None:
        return (keys, values), ()
    (past, new), (other, also) = one, two
    same = new.shape[2] == also.shape[2] and has_elements(new.shape) and has_elements(also.shape)
    if not same or keys.source is values.source:
        return (keys, values), ()
    return (new, also), (past, other, keys.source, values.source)


def _joined_to_cache(site: Site, heads: Heads) -> tuple[Value, Heads] | None:
    """Tensor before an operand along the sequence, and the rest of the operand."""
    node = site.producer(heads.source)
    if not heads.is_plain or node is None or not node.is_op("Concat") or len(heads.shape) != 4:
        return None
    if node.attribute("axis") not in (2, -2) or len(node.inputs) != 2:
        return None
    past, new = node.inputs
    shape = None if new is None else site.shape(new)
    if past is None or new is None or shape is None or len(shape) != 4:
        return None
    return past, Heads(new, heads.perm, shape, heads.factor)


def sequences_of(site: Site, heads: Heads) -> Operand:
    """Tensor of rank 3 from which heads were split off, perhaps before a rotation."""
    source = heads.source
    if len(heads.shape) != 4:
        return None
    node = site.producer(source)
    operands = _ROTATIONS.get(node.op.qualname) if heads.is_plain and node is not None else None
    if operands and node is not None:
        rotated, heads_count = node.input(0), heads.shape[1].value
        if node.op.attributes or len(node.inputs) != operands or not (rotated and heads_count):
            return None
        rows = sequences_of(site, replace(heads, source=rotated))
        op = Operator.make("RotaryEmbedding", node.op.domain, num_heads=heads_count)
        return None if rows is None else Emitted(op, [rows, *node.inputs[1:]])
    if node is not None and node.is_op("Split") and node.attribute("axis", 0) == 1:
        return _part_of_rows(site, heads, node)
    below: Value | None = None
    if heads.is_plain:
        turned = node
        if heads.shape[2] == 1 and node is not None and node.is_op("Reshape"):
            below = source  # heads of one token are in the order of its row
        elif turned is None or turned.attribute("perm") != list(_HEADS_FIRST):
            return None
        else:
            below = _operand_of(turned, "Transpose")
    else:
        below = source if heads.perm == _HEADS_FIRST else None
    value = _operand_of(site.producer(below), "Reshape")
    batch, count, places, size = heads.shape
    shape = None if value is None else site.shape(value)
    sizes = [dim.value for dim in (batch, places, count * size)]
    if shape == (batch * places, count * size) and None not in sizes:
        return Emitted(Operator("Reshape"), [value, np.array(sizes, np.int64)])
    return value if shape == (batch, places, count * size) else None


def _part_of_rows(site: Site, heads: Heads, split: Node) -> Operand:
    """Part of the rows of all heads that a Split takes apart."""
    whole = split.input(0)
    shapes = [site.shape(value) for value in (whole, *split.outputs) if value is not None]
    if whole is None or None in split.outputs or not heads.is_plain:
        return None
    if any(shape is None or len(shape) != 4 for shape in shapes):
        return None
    rows = sequences_of(site, replace(heads, source=whole, shape=shapes[0] or ()))
    sizes = [(shape[1] * shape[3]).value for shape in shapes[1:] if shape is not None]
    if rows is None or None in sizes:
        return None
    place = list(split.outputs).index(heads.source)
    if site.opset < 13:
        op, inputs = Operator.make("Split", axis=2, split=sizes), [rows]
    else:
        op, inputs = Operator.make("Split", axis=2), [rows, np.array(sizes, np.int64)]
    return Emitted(op, inputs, place=place, outputs=len(sizes))


def mask_of(site: Site, masks: Sequence[Value], scores: Shape, elem_type: int) -> Operand:
    """Sum of masks as the operator takes it; None if it is none, or not of its type and shape."""
    shape: Shape = ()
    total: Operand = None
    for mask in masks:
        own = site.shape(mask)
        if own is None or len(own) > len(scores) or site.elem_type(mask) != elem_type:
            return None
        if any(dim not in (1, size) for dim, size in zip(own[::-1], scores[::-1], strict=False)):
            return None
        shape = _joined(shape, own)
        total = mask if total is None else Emitted(Operator("Add"), [total, mask])
    if total is None:
        return None
    if shape[-2:] != scores[-2:]:
        sizes = [dim.value for dim in scores[-2:]]
        if None in sizes:
            return None
        total = Emitted(Operator("Expand"), [total, np.array(sizes, np.int64)])
    return None if len(scores) == 3 and len(shape) == 3 and shape[0] != 1 else total


def _joined(one: Shape, other: Shape) -> Shape:
    """Shape to which two shapes broadcast that broadcast to a common one."""
    if len(one) < len(other):
        one, other = other, one
    start = len(one) - len(other)
    tail = [a if b == 1 else b for a, b in zip(one[start:], other, strict=True)]
    return (*one[:start], *tail)


def _operand_of(node: Node | None, *op_types: str) -> Value | None:
    """First operand of a node of an operator."""
    is_one = node is not None and node.is_op(*op_types) and not node.op.references
    return node.input(0) if is_one and node is not None else None
