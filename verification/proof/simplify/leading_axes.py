"""Leading axes of length 1: operators apply without them, and a view restores them.

One iteration of a loop and the batched computation of all iterations differ by such axes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....facts.fact import Shape
from ....ops.axes import ONE, REDUCTIONS
from ..terms.families import ELEMENTWISE, batching
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, late


def broadcast(shapes: Sequence[Shape | None]) -> Shape | None:
    """The shape that shapes broadcast to (ONNX, "Broadcasting in ONNX"); None where that depends on
    sizes that are not known."""
    if any(shape is None for shape in shapes):
        return None
    known = [shape for shape in shapes if shape is not None]
    rank = max(map(len, known), default=0)
    result = []
    for axis in range(-rank, 0):
        dims = {shape[axis] for shape in known if len(shape) >= -axis}
        long = [dim for dim in dims if dim.value != 1]
        if len(long) > 1:
            return None
        result.append(long[0] if long else next(iter(dims)))
    return tuple(result)


@late(*sorted(ELEMENTWISE))
def stripped(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """An operator whose operands broadcast, on operands without axes of length 1 in front; None
    where there are none."""
    bare = _bare(tuple([None if arg is None else arg.fact.shape for arg in args]), args)
    if bare is None:
        return None
    shape = terms.facts_of(head, args)[0].shape
    if shape is None:
        return None
    operands = tuple(
        [None if a is None else terms.view(a, s or ()) for a, s in zip(args, bare, strict=True)]
    )
    result = terms.apply(head, operands)[0]
    assert result is not None
    return [terms.view(result, shape)]


def _bare(shapes: tuple[Shape | None, ...], args: Args) -> list[Shape | None] | None:
    """The shapes of operands without axes of length 1 in front; None if none has any."""
    found, spare = list(shapes), False
    for index, shape in enumerate(shapes):
        if shape is None:
            if args[index] is not None:
                return None
        elif shape and shape[0].value == 1:
            found[index], spare = shape[ones_in_front(shape) :], True
    return found if spare else None


def ones_in_front(shape: Shape) -> int:
    """How many axes of length 1 a shape begins with."""
    count = 0
    while count < len(shape) and shape[count].value == 1:
        count += 1
    return count


@late(
    "ArgMax",
    "ArgMin",
    "Hardmax",
    "LayerNormalization",
    "LogSoftmax",
    "RMSNormalization",
    "Softmax",
    "TopK",
    *REDUCTIONS,
)
def along_axes(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Operators along some axes, without axes of length 1 in front that are none of them."""
    x = args[0]
    assert x is not None
    axis = head.attribute("axis")
    if x.fact.shape and axis is not None and -len(x.fact.shape) <= axis < 0:
        return [terms.with_attributes(head, *args, axis=axis % len(x.fact.shape))]
    shape = terms.facts_of(head, args)[0].shape
    if not x.fact.shape or not shape or x.fact.shape[0].value != 1:
        return None
    found = batching(terms, head, args, 0, len(shape))
    if found is None or found.axes[0] != 0:
        return None
    bare = terms.view(x, x.fact.shape[1:])
    if head.name.startswith("Reduce") and len(args) > 1 and args[1] is not None:
        axes = [axis - 1 for axis in terms.numbers(args[1]) or ()]
        if any(axis < 0 for axis in axes):
            return None
        inner = terms.apply(head, (bare, terms.sizes(axes)))[0]
        assert inner is not None
        return [terms.view(inner, shape)]
    if found.changed is None or any(n < 0 for v in found.changed.values() for n in _list(v)):
        return None
    if any(own is not None for own in found.axes[1:]):
        return None
    inner = terms.with_attributes(head, bare, *args[1:], **found.changed)
    return [terms.view(inner, shape)]


def _list(value: object) -> list[int]:
    return value if isinstance(value, list) else [value]  # type: ignore[list-item]


@late("MatMul")
def matmul(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """MatMul of matrices: a vector is a matrix of one row or column (numpy.matmul), and there are
    no axes of length 1 before the matrices."""
    left, right = args
    assert left is not None and right is not None
    fact = terms.facts_of(head, args)[0]
    if left.fact.shape is None or right.fact.shape is None or fact.shape is None:
        return None
    a, b = left.fact.shape, right.fact.shape
    rows = (ONE, *a) if len(a) == 1 else a
    columns = (*b, ONE) if len(b) == 1 else b
    rows, columns = _matrices(rows), _matrices(columns)
    if (rows, columns) == (a, b):
        return None
    bare = terms.apply(head, (terms.view(left, rows), terms.view(right, columns)))[0]
    assert bare is not None
    return [terms.view(bare, fact.shape)]


def _matrices(shape: Shape) -> Shape:
    spare = min(ones_in_front(shape), len(shape) - 2)
    return shape[spare:]
