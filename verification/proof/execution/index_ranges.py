"""Demands of nodes that take positions along an axis: all indices lie in it."""

from collections.abc import Callable, Hashable, Iterable, Iterator

from ....facts.fact import Shape
from ....facts.polynomial import Dimension
from ....ops.axes import ONE
from ..terms.term import Args, Head, Term, bare, below_view
from ..terms.term_manager import Terms
from .obligations import Guard
from .safety import Safety

_BY_TUPLES = ("GatherND", "ScatterND")
_INDEXED = ("Gather", "GatherElements", "Scatter", "ScatterElements", *_BY_TUPLES)
"""Operators whose second operand holds positions along an axis of the first one."""

ALONG_ONE_AXIS = 13
"""Opset from which on Softmax works along one axis."""

Slices = Callable[[Term, int, Dimension, Dimension], Term]
"""Function of a term, an axis, a start and a size."""


def index_range(terms: Terms, head: Head, args: Args) -> list[tuple[Head, tuple[Term]]]:
    """Demand that all indices are positions in an axis of a size, whatever its place."""
    shape = None if not args or args[0] is None else args[0].fact.shape
    index = args[1] if len(args) > 1 else None
    if not shape or index is None or head.name not in _INDEXED:
        return []
    axis = head.attribute("axis", 0)
    if head.name in _BY_TUPLES:
        width = index.fact.shape[-1].value if index.fact.shape else None
        # Tuples of several indices have no common axis: one out of range makes no demand.
        axis = 0 if width == 1 and not head.attribute("batch_dims", 0) else len(shape)
    if not -len(shape) <= axis < len(shape):
        return []
    return [(terms.heads.own("indices", shape[axis]), (scalar(terms, index),))]


def ranges_of_rows(
    terms: Terms, slice_of: Slices, place: Head, index: Term, loops: Iterable[Guard]
) -> Iterator[tuple[Hashable, tuple[Head, tuple[Term]]]]:
    """Demands on the row of indices of each iteration, by the key of a loop.

    Without an iteration there is no index.
    """
    for guard in loops:
        if index.fact.shape and index.fact.shape[0] == guard.iterations:
            row = slice_of(index, 0, Dimension.symbol(str(guard.key)), ONE)
            yield guard.key, (place, (scalar(terms, row),))


def columns_fit(terms: Terms, safety: Safety, head: Head, args: Args) -> bool:
    """Test whether tuples of indices lie in their axes by the bounds of each column."""
    data, index = args[:2] if len(args) > 1 else (None, None)
    if head.name not in _BY_TUPLES or head.attribute("batch_dims", 0):
        return False
    if data is None or index is None or not data.fact.shape or not index.fact.shape:
        return False
    below, width = index.args[0] if index.head.name == "view" else None, index.shape[-1].value
    if below is not None and below.fact.shape and below.shape[-1] == width:
        index = below
    if width is None or width > len(data.shape):
        return False
    for place, size in enumerate(data.shape[:width]):
        column = terms.narrow(index, len(index.shape) - 1, place, 1)
        bounds = safety.known(column).bounds
        # A negative index counts from the end.
        if bounds is None or (bounds.low + size).less(0) is not False:
            return False
        if (size - bounds.high).less(1) is not False:
            return False
    return safety.holds_within(head, args, 1, Dimension.constant(0))  # the shapes fit


def reads_up_to_most(terms: Terms, safety: Safety, head: Head, args: Args) -> bool:
    """Test whether indices are at most the length of rows up to the largest index.

    rows = Slice (x, 0, ReduceMax (Concat (0, indices)))    of which the axis is a part
    """
    data, index = args[:2] if len(args) > 1 else (None, None)
    if head.name != "Gather" or data is None or index is None or not data.fact.shape:
        return False
    axis = head.attribute("axis", 0)
    size = data.shape[axis] if -len(data.shape) <= axis < len(data.shape) else ONE
    bounds = safety.known(index).bounds
    if bounds is None or bounds.low.less(0) is not False:
        return False
    for name in size.symbols:
        rows, own = terms.axes.get(name, (index, 0))
        if not rows.is_op("Slice") or not own < len(rows.operands[0].fact.shape or ()):
            continue
        most = bare(rows.operands[2])
        is_first = terms.numbers(rows.operands[1]) == [0] and len(rows.args) < 5
        if not is_first or not most.is_op("ReduceMax") or not most.operands[0].is_op("Concat"):
            continue
        parts = [bare(part) for part in most.operands[0].operands]
        is_long = (rows.operands[0].shape[own] - bounds.high).less(0) is False
        if bare(index) in parts and is_long:
            return safety.holds_within(head, args, 1, Dimension.symbol(name) + 1)
    return False


def is_along(head: Head, axis: int, shape: Shape) -> bool:
    """Test whether an operator needs elements along one axis only. An older Softmax needs them
    along all from that one on."""
    return head.opset >= ALONG_ONE_AXIS or axis == len(shape) - 1


def scalar(terms: Terms, term: Term) -> Term:
    """Single number, however often it is repeated, as a scalar; others without a view."""
    below: Term | None = term
    shape = term.fact.shape or ()
    while below is not None and below.head.name in ("view", "Expand"):
        # An Expand to no element would hide that there is no index.
        below = below.args[0] if all((dim.value or 0) > 0 for dim in shape) else None
    if below is not None and is_one(below):
        return terms.view(below, ())
    return below_view(term)


def is_one(term: Term | None) -> bool:
    """Test whether a tensor has one element."""
    shape = None if term is None else term.fact.shape
    return shape is not None and all(dim.value == 1 for dim in shape)
