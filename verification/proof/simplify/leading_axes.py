"""Axes of length 1: operators apply without them, and a view restores them.

One iteration of a loop and the batched computation of all iterations differ by such axes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ....facts.fact import Shape
from ....ops import OperatorRules, described
from ....ops.axes import ONE
from ..canonicalize.rewrites import simplest
from ..terms.axis_maps import ELEMENTWISE, axis_map, canonical
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, late_rule


@late_rule(*sorted(ELEMENTWISE))
def stripped(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Rewrite an operator that broadcasts to operands without unit axes."""
    simpler = simplest(terms, head, args)
    if simpler is not None:
        return [simpler]
    bare = _bare(tuple([None if arg is None else arg.fact.shape for arg in args]), args)
    if bare is None:
        return None
    shape = terms.facts_of(head, args)[0].shape
    if shape is None:
        return None
    operands = tuple(
        [None if a is None else terms.view(a, s or ()) for a, s in zip(args, bare, strict=True)]
    )
    return [terms.view(terms.with_attributes(head, *operands), shape)]


def _bare(shapes: tuple[Shape | None, ...], args: Args) -> list[Shape | None] | None:
    """Shapes of operands without leading unit axes and those of the output; None if none has
    any."""
    if any(shape is None and arg is not None for shape, arg in zip(shapes, args, strict=True)):
        return None
    ranked = [shape for shape in shapes if shape is not None]
    long = {at - len(shape) for shape in ranked for at, dim in enumerate(shape) if dim.value != 1}
    bare_shapes = [
        None
        if shape is None
        else tuple([dim for at, dim in enumerate(shape) if at >= ones and at - len(shape) in long])
        for shape, ones in [(shape, ones_in_front(shape or ())) for shape in shapes]
    ]
    return bare_shapes if bare_shapes != list(shapes) else None


def ones_in_front(shape: Shape) -> int:
    """Number of leading unit axes."""
    count = 0
    while count < len(shape) and shape[count].value == 1:
        count += 1
    return count


_OF_ANOTHER_FORM = ("Concat", "MatMul", "Transpose")
"""Operators with other rules for axes of length 1."""

_PASSING = [
    name
    for name, rules in described().items()
    if rules.defines(OperatorRules.axis_map) and not rules.elementwise
]


@late_rule(*[name for name in _PASSING if name not in _OF_ANOTHER_FORM])
def along_axes(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Rewrite an operator that passes axes on to one without unit axes."""
    if head.attribute("keepdims", 1) == 0 and terms.facts_of(head, args)[0].shape is not None:
        whole = terms.with_attributes(head, *args, keepdims=1)
        return [terms.view(whole, terms.facts_of(head, args)[0].shape or ())]
    count = len(head.applications.get(args, (None,)))
    form = _with(terms, head, args, canonical(terms, head, args), count)
    if form[0] is not terms.apply(head, args, count)[0]:
        return form
    shapes = [fact.shape for fact in terms.facts_of(head, args, count)]
    for axis, dim in enumerate(shapes[0] or ()):
        axes = axis_map(terms, head, args, axis) if dim.value == 1 else None
        if axes is None or axes.changed is None:
            continue
        operands = [_without(terms, arg, own) for arg, own in zip(args, axes.inputs, strict=True)]
        if operands.count(None) > args.count(None):
            continue
        have_axis = axes.all_outputs and all(_has_unit_axis(shape, axis) for shape in shapes)
        shapes = shapes if have_axis else shapes[:1]
        pairs = zip(_with(terms, head, operands, axes.changed, len(shapes)), shapes, strict=False)
        return [None if a is None or s is None else terms.view(a, s) for a, s in pairs]
    return None


def _without(terms: Terms, arg: Term | None, axis: int | None) -> Term | None:
    """Operand without a unit axis; None if it has no such axis there."""
    if arg is None or axis is None:
        return arg
    shape = arg.fact.shape
    if shape is None or not _has_unit_axis(shape, axis):
        return None
    return terms.view(arg, (*shape[:axis], *shape[axis + 1 :]))


def _has_unit_axis(shape: Shape | None, axis: int) -> bool:
    return shape is not None and axis < len(shape) and shape[axis].value == 1


def _with(
    terms: Terms,
    head: Head,
    args: Sequence[Term | None],
    changed: Mapping[str | int, Any],
    count: int,
) -> Sequence[Term | None]:
    """Operator with other attributes, by name, and other inputs, by position."""
    operands, attributes = list(args), {}
    for key, value in changed.items():
        if isinstance(key, str):
            attributes[key] = value
            continue
        operands += [None] * (key + 1 - len(operands))
        operands[key] = terms.size(value) if isinstance(value, int) else terms.sizes(value)
    return terms.apply(terms.heads.with_attributes(head, **attributes), tuple(operands), count)


@late_rule("MatMul")
def matmul(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Rewrite MatMul to matrices without leading unit axes. A vector is a matrix of one row or
    column (numpy.matmul), and a matrix by a column is a row by the transposed matrix."""
    one, other = args
    assert one is not None and other is not None
    fact = terms.facts_of(head, args)[0]
    if one.fact.shape is None or other.fact.shape is None or fact.shape is None:
        return None
    a, b = one.fact.shape, other.fact.shape
    rows = (ONE, *a) if len(a) == 1 else a
    columns = (*b, ONE) if len(b) == 1 else b
    rows, columns = _matrices(rows), _matrices(columns)
    matrices = terms.view(one, rows), terms.view(other, columns)
    if len(rows) == len(columns) == 2 and columns[1].value == 1 and rows[0].value != 1:
        row = terms.view(matrices[1], columns[::-1])
        matrices = row, terms.op("Transpose", head, matrices[0])
    elif (rows, columns) == (a, b):
        return None
    return [terms.view(terms.with_attributes(head, *matrices), fact.shape)]


def _matrices(shape: Shape) -> Shape:
    # The last two axes are the matrix, also where they have length 1.
    spare = min(ones_in_front(shape), len(shape) - 2)
    return shape[spare:]
