"""Slice, Gather and Split at known positions as one head, "narrow".

narrow(x, start, size), with an axis, is the elements start to start + size of that axis, all of
which exist. Along one axis there is at most one.
"""

import bisect
import itertools
from collections.abc import Sequence

import numpy as np
import onnx

from ....facts.fact import MAX_CONTENT, Fact, Shape, content_from, element, integers, vector
from ....facts.magnitudes import FAR_ENDS
from ....facts.polynomial import Dimension
from ....ir import Array, Tensor
from ..arithmetic.exact_integers import entry_range, is_one_integer, linear_sum
from ..arithmetic.trip_counts import at_least, known_number, least, nonnegative_part, parts_of_least
from ..terms.budget import OpenError
from ..terms.constants import MOST_ELEMENTS
from ..terms.term import Args, Head, Operands, Term, rank_of
from ..terms.term_manager import ZERO, Terms, rule
from .select import choose


def is_index(terms: Terms, place: Dimension, size: Dimension) -> bool:
    """Test whether an index is certainly not negative and not certainly too large.

    An index after the end is an error at run time, so it need not be excluded; a node that
    certainly fails is no slice.
    """
    return place.less(size) is not False and _never_negative(terms, place)


def is_part(terms: Terms, start: Dimension, length: Dimension, size: Dimension) -> bool:
    """Test whether a range lies within an axis on every iteration."""
    inside = (start, length, size - start - length)
    return all(_never_negative(terms, number) for number in inside)


def _never_negative(terms: Terms, number: Dimension) -> bool:
    """Test whether a number is at least 0 on every iteration."""
    if number.value is not None:
        return number.value >= 0
    # A limit may name symbols of loops around, which have limits of their own.
    while falling := [name for name in number.symbols if _falls(terms, number, name)]:
        symbol = min(falling)
        if any(symbol in monomial and monomial != (symbol,) for monomial in number.terms):
            return False
        number = number.replaced({symbol: terms.limits[symbol] - 1})
    return number.less(0) is False


def _falls(terms: Terms, number: Dimension, symbol: str) -> bool:
    """Test for a number that is the smaller, the later the iteration of a symbol."""
    return symbol in terms.limits and number.terms.get((symbol,), 0) < 0


_COUNTING = (onnx.TensorProto.INT32, onnx.TensorProto.INT64)
_FAR = 1 << 62
"""Limit of integers whose differences do not wrap."""
_LESS = 13
"""Opset of Less as of today."""
BEYOND = 1 << 47
"""Size that no axis has: more than a process can address."""


@rule("narrow")
def narrow(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None]:
    """Drop a slice of everything, and fuse it with slices, Concats and constants. Slices along
    several axes nest in the order of the axes, the last one outermost.

    Parts along several axes stand in the order of their axes, the last one outside.
    """
    x, first, length = args
    axis, start, size = head.key, element(first.fact), element(length.fact)
    assert isinstance(axis, int)
    if axis >= len(x.shape):
        raise OpenError(f"a slice along axis {axis} of a tensor of rank {len(x.shape)}")
    # A slice of the full length can only start at 0, or it fails.
    if x.shape[axis] == size:
        return [x]
    # A read that fails on all inputs has no value, so that no term may stand for it.
    if x.shape[axis].less(start + size) is True:
        raise OpenError("a node reads after the end of an axis on all inputs")
    if start.less(0) is True:  # -1, from the front of an axis of size 0
        raise OpenError("a node reads before the start of an axis on all inputs")
    if x.head.name == "narrow":
        return [_of_narrow(terms, x, axis, start, size)]
    if x.is_op("Concat") and x.head.attribute("axis") == axis:
        piece = _of_concat(terms, x, axis, start, size)
        if piece is not None:
            return [piece]
    # The first partial sum is the first element, with the same bits.
    if start.value == 0 and size.value == 1 and _adds_along(terms, x, axis):
        return [terms.narrow(x.operands[0], axis, start, size)]
    if x.is_op("Expand") and _is_spread(x, axis):
        return [terms.rebuild(x, (x.args[0], terms.sizes(_part_shape(x, axis, size))))]
    part = _of_numbers(terms, x, axis, start, size)
    if part is not None:
        return [part]
    # Constants of [3], [1, 3] and [3, 1] have one term for their rows, so views between them
    # vanish.
    bare = _without_unit_axes(terms, x, axis)
    if bare is not None:
        own = sum(dim.value != 1 for dim in x.shape[:axis])
        return [terms.view(terms.narrow(bare, own, start, size), _part_shape(x, axis, size))]
    return [terms.keep(head, args, _part_fact(x, axis, start, size))]


def _of_numbers(terms: Terms, x: Term, axis: int, start: Dimension, size: Dimension) -> Term | None:
    """Slice of a constant, or of sizes."""
    tensor = terms.tensor(x)
    if tensor is not None and tensor.is_readable and size.value:
        return _of_constant(terms, tensor, axis, start, size.value)
    return _of_even_numbers(terms, x, axis, start, size)


def _of_even_numbers(
    terms: Terms, x: Term, axis: int, start: Dimension, size: Dimension
) -> Term | None:
    """Element at an unknown position of sizes that grow evenly; None for others."""
    content = x.fact.content
    if x.head.name != "sizes" or content is None or x.fact.elem_type not in _COUNTING:
        return None
    numbers = content.reshape(-1)
    # A known position selects its element elsewhere; here the index is a symbol.
    if not 1 < numbers.size == content.shape[axis] or size.value != 1 or start.value is not None:
        return None
    first, *rest = (other - one for one, other in itertools.pairwise(numbers))
    if any(step != first for step in rest):
        return None
    part = terms.sizes([numbers[0] + start * first], x.fact.elem_type)
    return terms.view(part, _part_shape(x, axis, size))


def _of_constant(
    terms: Terms, tensor: Tensor, axis: int, start: Dimension, size: int
) -> Term | None:
    """Slice of a constant that its start determines. At an unknown position the parts are alike, or
    integers that grow evenly, such as the positions of windows."""
    places = _positions(terms, start, tensor.dims[axis] - size)
    # A comparison of all possible parts reads the whole constant.
    if places is None or (len(places) > 1 and tensor.size > MOST_ELEMENTS):
        return None
    rows = np.moveaxis(tensor.numpy(), axis, 0)[places.start : places.stop + size - 1]
    # All possible parts are equal, so the unknown position does not matter.
    if len(places) == 1 or (size == 1 and are_alike(rows)):
        return terms.constant(np.ascontiguousarray(np.moveaxis(rows[:size], 0, axis)))
    steps = even_steps(rows) if tensor.elem_type in _COUNTING else None
    if steps is None or size * steps.size > MAX_CONTENT:
        return None
    grow, firsts = steps.reshape(-1).tolist(), rows[0].reshape(-1).tolist()
    numbers = [
        (start - places.start + n) * step + first
        for n in range(size)
        for first, step in zip(firsts, grow, strict=True)
    ]
    content = content_from(numbers).reshape((size, *rows.shape[1:]))
    return terms.content(np.moveaxis(content, 0, axis), tensor.elem_type)


def _positions(terms: Terms, start: Dimension, last: int) -> range | None:
    """Positions at which a slice may start, from 0 to the last one; None if it fails there."""
    if start.value is not None:
        return range(start.value, start.value + 1) if 0 <= start.value <= last else None
    name = start.only_symbol or ""
    limit = terms.limits.get(name)
    # A node that is executed does not fail, so its index is one of the axis.
    if limit is None or limit.value is None:
        return range(last + 1) or None
    ends = sorted(start.replaced({name: end}).value or 0 for end in (ZERO, limit - 1))
    return range(max(ends[0], 0), min(ends[1], last) + 1) or None


def are_alike(rows: Array) -> bool:
    """Test whether all rows of a tensor have the same bytes."""
    # Two rows first: a comparison of all of them takes much longer.
    if rows.dtype.hasobject or rows[0].tobytes() != rows[-1].tobytes():
        return False
    # By bytes: by value, 0.0 equals -0.0, and a NaN differs from itself.
    octets = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), -1)
    return bool((octets == octets[0]).all())


def even_steps(rows: Array) -> Array | None:
    """Difference of all neighbouring rows of integers; None if these vary or may wrap."""
    numbers = rows.astype(np.int64)
    if len(rows) < 2 or max(-int(numbers.min()), int(numbers.max())) >= _FAR:
        return None
    steps: Array = np.diff(numbers, axis=0)
    return None if (steps != steps[0]).any() else steps[0]


def _without_unit_axes(terms: Terms, x: Term, axis: int) -> Term | None:
    """Constant without axes of size 1, if it has some. So all layouts of its content have equal
    slices."""
    if terms.tensor(x) is None or x.shape[axis].value == 1:
        return None
    shape = tuple([dim for dim in x.shape if dim.value != 1])
    if len(shape) == len(x.shape):
        return None
    bare = terms.view(x, shape)
    return None if terms.tensor(bare) is None else bare


def _adds_along(terms: Terms, x: Term, axis: int) -> bool:
    """Test for a CumSum along an axis, which begins with the first element."""
    if not x.is_op("CumSum") or x.head.attribute("reverse") or x.head.attribute("exclusive"):
        return False
    numbers = terms.numbers(x.args[1])
    return numbers is not None and numbers in ([axis], [axis - len(x.shape)])


def _is_spread(x: Term, axis: int) -> bool:
    """Test whether an Expand repeats along an axis."""
    below = None if x.args[0] is None else x.args[0].fact.shape
    if below is None or x.fact.shape is None:
        return False
    own = axis - len(x.fact.shape) + len(below)
    return own < 0 or below[own].value == 1


def _part_shape(x: Term, axis: int, size: Dimension) -> Shape:
    return (*x.shape[:axis], size, *x.shape[axis + 1 :])


def _part_fact(x: Term, axis: int, start: Dimension, size: Dimension) -> Fact:
    content = x.fact.content
    if content is not None and start.value is not None and size.value is not None:
        content = np.take(content, range(start.value, start.value + size.value), axis)
    else:
        content = None
    return Fact(x.fact.elem_type, _part_shape(x, axis, size), content)


def _of_narrow(terms: Terms, x: Term, axis: int, start: Dimension, size: Dimension) -> Term:
    below, first, length = x.operands
    other = x.head.key
    assert isinstance(other, int)
    # Starts add up: x[a:][b:] is x[a + b:].
    if other == axis:
        return terms.narrow(below, axis, element(first.fact) + start, size)
    # The nesting of slices by axis is the normal form: in another order equal parts would be two
    # terms.
    if other < axis:
        part = None if terms.tensor(below) is None else terms.narrow(below, axis, start, size)
        if terms.tensor(part) is not None and part is not None:
            return terms.narrow(part, other, element(first.fact), element(length.fact))
        head = terms.heads.own("narrow", axis)
        args = (x, terms.size(start), terms.size(size))
        return terms.keep(head, args, _part_fact(x, axis, start, size))
    inner = terms.narrow(below, axis, start, size)
    return terms.narrow(inner, other, element(first.fact), element(length.fact))


def _of_concat(terms: Terms, x: Term, axis: int, start: Dimension, size: Dimension) -> Term | None:
    """Slice of a Concat of pieces of known sizes; without recursion into Concats in it."""
    # Without numbers only a slice inside of one piece is certain.
    if terms.ends_of(x, axis) is None or start.value is None or size.value is None:
        return _of_one_piece(terms, x, axis, start, size)
    pieces: list[Term] = []
    stack = [(x, start.value, start.value + size.value)]
    while stack:
        piece, low, high = stack.pop()
        ends = terms.ends_of(piece, axis) if _joins(piece, axis) else None
        if ends is None or (low == 0 and high == ends[-1]):
            pieces.append(terms.narrow(piece, axis, low, high - low))
        else:
            stack += reversed(_overlaps(piece, ends, low, high))
    if not pieces:
        return None
    return pieces[0] if len(pieces) == 1 else terms.rebuild(x, tuple(pieces))


def _joins(x: Term, axis: int) -> bool:
    return x.is_op("Concat") and x.head.attribute("axis") == axis


def _overlaps(x: Term, ends: Sequence[int], low: int, high: int) -> list[tuple[Term, int, int]]:
    """Pieces of a Concat in a range, each with its own range in it."""
    first = bisect.bisect_right(ends, low)
    parts, place = [], ends[first - 1] if first else 0
    for piece, end in zip(x.operands[first:], ends[first:], strict=True):
        if place >= high:
            break
        parts.append((piece, max(low, place) - place, min(high, end) - place))
        place = end
    return parts


def _of_one_piece(
    terms: Terms, x: Term, axis: int, start: Dimension, size: Dimension
) -> Term | None:
    """Slice of a Concat that certainly lies in one piece."""
    part, inner = None, _piece_at(terms, x, axis, start, size)
    while inner is not None:
        part, start = inner
        inner = _piece_at(terms, part, axis, start, size) if _joins(part, axis) else None
    return None if part is None else terms.narrow(part, axis, start, size)


def _piece_at(
    terms: Terms, x: Term, axis: int, start: Dimension, size: Dimension
) -> tuple[Term, Dimension] | None:
    """Piece of a Concat that certainly holds a range, and its start in there."""
    for piece in x.operands:
        length = None if piece.fact.shape is None else piece.fact.shape[axis]
        if length is None:
            return None
        if is_part(terms, start, size, length):
            return piece, start
        terms.budget.step(len(start.terms))
        # Neither before nor certainly behind the end of this piece: it may cross the border.
        if not is_index(terms, start - length, length):
            return None
        start = start - length
    return None


@rule("Slice", constants=True)
def slices(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None] | None:
    """Rewrite Slice with steps of 1 to narrow along each axis with known bounds."""
    x = args[0]
    shape = x.fact.shape
    bounds = _bounds(terms, args)
    if shape is None:
        return None
    if bounds is None:
        return _first_rows(terms, head, args)
    starts, ends, axes, steps = bounds
    # Slice forbids a step of 0, and leaves open what an axis that is named twice means: the node
    # stays.
    if not len(starts) == len(ends) == len(axes) == len(steps) == len(set(axes)) or 0 in steps:
        return None
    for axis, start, end, step in sorted(zip(axes, starts, ends, steps, strict=True), key=_axis):
        part = _slice(terms, head, x, axis, (start, end), step)
        part = part or _slice_by_itself(terms, head, x, axis, (start, end, step))
        if part is None:
            return None
        x = part
    return [x]


def _axis(cut: tuple[int, Dimension, Dimension, int]) -> int:
    return cut[0]


def _slice_by_itself(
    terms: Terms, head: Head, x: Term, axis: int, cut: tuple[Dimension, Dimension, int]
) -> Term | None:
    """A Slice along one axis that stays; those along several axes stand in their order."""
    start, end, step = cut
    lists = [terms.sizes([each]) for each in (start, end, axis, step)]
    inner = x.is_op("Slice") and _bounds(terms, x.args)
    # Two slices along different axes commute; the lower axis goes inside.
    if inner and len(inner[2]) == 1 and inner[2][0] > axis:
        below = terms.op("Slice", head, x.operands[0], *lists)
        return terms.op("Slice", head, below, *x.operands[1:])
    (part,) = terms.compute(head, (x, *lists))
    return part


def _first_rows(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None] | None:
    """Rewrite a Slice from the first element to any end to narrow of its length."""
    axes = _listing(terms, args, 3, [0])
    if terms.numbers(args[1]) != [0] or axes is None or len(axes) != 1:
        return None
    rank = len(args[0].shape)
    if _listing(terms, args, 4, [1]) != [1] or not -rank <= axes[0] < rank:
        return None
    (part,) = terms.compute(head, args)
    if part is None or part.fact.shape is None or part.head is not head:
        return None
    axis = axes[0] % rank
    size = part.shape[axis]
    if size.only_symbol is not None and size == Dimension.symbol(size.only_symbol):
        terms.axes.setdefault(size.only_symbol, (part, axis))
    return [terms.narrow(args[0], axis, 0, size)]


def slice_of_its_length(terms: Terms, part: Term) -> Term | None:
    """Slice that is a part from the first element, of the length that it has; None for others."""
    x, start, size = part.operands
    name = element(size.fact).only_symbol or ""
    owner, axis = terms.axes.get(name, (x, 0))
    is_whole = owner.is_op("Slice") and owner.args[0] is x and axis == part.head.key
    return owner if is_whole and element(start.fact) == 0 else None


_OPEN_SIZE = 160
"""Steps of a slice of an axis of open size, whose bounds are compared with the size."""
_OPEN_TERM = 8
"""Steps for each monomial of that size, besides."""


def _slice(
    terms: Terms, head: Head, x: Term, axis: int, bounds: tuple[Dimension, Dimension], step: int
) -> Term | None:
    """Slice along one axis."""
    size = x.shape[axis]
    # Bounds are clamped by a case distinction for each monomial of an open size.
    if size.value is None:
        terms.budget.step(_OPEN_SIZE + _OPEN_TERM * len(size.terms))
    start, end = bounds
    if step < 0 and end.value in FAR_ENDS:
        return None  # onnxruntime departs from the specification
    if step == 1:
        return terms.narrow(x, axis, *_clamp(terms, start, end, size))
    if size.value is not None and start.value is not None and end.value is not None:
        places = _places(start.value, end.value, step, size.value)
        if places == range(size.value)[::-1]:
            return backward(terms, x, axis)
        terms.budget.step(len(places))
        return terms.op("Gather", head, x, terms.sizes(places), axis=axis)
    # An end below every axis: the first element is included.
    if step == -1 and start.value == -1 and end.value is not None and end.value < -BEYOND:
        return backward(terms, x, axis)
    return None


def _places(start: int, end: int, step: int, size: int) -> range:
    """Positions that a Slice reads. A negative step begins between the first and the last position
    (operator specification, `starts`)."""
    low, high = (0, size) if step > 0 else (-1, size - 1)
    start, end = (at + size if at < 0 else at for at in (start, end))
    return range(min(max(start, 0), high), min(max(end, low), high), step)


def backward(terms: Terms, x: Term, axis: int) -> Term:
    """Elements along an axis in reverse order."""
    return terms.own("reversed", x, key=axis)


@rule("reversed")
def reversing(terms: Terms, head: Head, args: Args) -> Sequence[Term | None]:
    """Drop a double reversal, and that of one element."""
    (x,) = args
    assert x is not None and isinstance(head.key, int)
    if x.head is head:
        return [x.args[0]]
    if x.shape[head.key].value == 1:
        return [x]
    return [terms.keep(head, args, x.fact.without_content())]


Bounds = tuple[list[Dimension], list[Dimension], list[int], list[int]]


def _bounds(terms: Terms, args: Args) -> Bounds | None:
    """Starts, ends, axes and steps."""
    rank = len(args[0].fact.shape or ()) if args[0] is not None else 0
    vectors = [_bound_places(terms, arg) for arg in args[1:3] if arg is not None]
    listed = [
        [at for at in v if at is not None] for v in vectors if v is not None and None not in v
    ]
    if len(listed) < 2:
        return None
    axes = _listing(terms, args, 3, list(range(len(listed[0]))))
    steps = _listing(terms, args, 4, [1] * len(listed[0]))
    if axes is None or steps is None or not all(-rank <= axis < rank for axis in axes):
        return None
    return listed[0], listed[1], [axis % rank for axis in axes], steps


def _bound_places(terms: Terms, bound: Term) -> Sequence[Dimension | None] | None:
    """Elements of a bound, also an entry of a constant at an unknown position."""
    places = vector(bound.fact)
    if places is not None or not is_one_integer(bound) or rank_of(bound) != 1:
        return places
    entry, sign = entry_of(terms, bound)
    numbers = entry_range(terms, entry)
    if numbers is None or numbers[0] <= 0:
        return None
    return [nonnegative_part(terms, linear_sum(terms, entry)) * sign]


def _is_entry(terms: Terms, number: Dimension) -> bool:
    """Test for an entry that `_bound_places` returns."""
    count = terms.counts.get((number - number.terms.get((), 0)).only_symbol or "")
    atoms = [] if count is None else count.atoms.values()
    return bool(atoms) and all(entry_range(terms, atom) is not None for atom in atoms)


def entry_of(terms: Terms, term: Term) -> tuple[Term, int]:
    """Entry of a constant, and the sign of an entry of its negation; any other term, and 1."""
    parts: list[Term] = []
    while term.head.name in ("view", "narrow"):
        parts.append(term)
        term = term.operands[0]
    sign = 1
    numbers = terms.numbers(term)
    if term.is_op("Neg"):
        term, sign = term.operands[0], -1
    elif numbers and min(numbers) >= -(1 << 62) and max(numbers) < 0:
        term, sign = terms.op("Neg", 13, term), -1
    for part in reversed(parts):
        term = terms.rebuild(part, (term, *part.args[1:]))
    return term, sign


def _listing(terms: Terms, args: Args, index: int, default: list[int]) -> list[int] | None:
    if index >= len(args) or args[index] is None:
        return default
    return terms.numbers(args[index])


def _clamp(
    terms: Terms, start: Dimension, end: Dimension, size: Dimension
) -> tuple[Dimension, Dimension]:
    """Start and length of a Slice with step 1."""
    low, high = _place(terms, start, size), _place(terms, end, size)
    below = (high - low).less(0)
    if below is None and is_part(terms, low, high - low, size):
        below = False
    parts = parts_of_least(terms, size - high + low) if below is None else []
    if size in parts and any(_is_entry(terms, part) for part in parts):
        below = False  # the rest of an axis after no more than all of it
    if below is None:
        return low, nonnegative_part(terms, linear_sum(terms, terms.size(high - low)))
    return low, Dimension.constant(0) if below else high - low


def _place(terms: Terms, at: Dimension, size: Dimension) -> Dimension:
    """Bound of a Slice counted from the front, clamped to the axis."""
    negative = at.less(0)
    if negative is None:
        return Dimension.constant(0) if (at + size).value == 0 else _computed(terms, at, size)
    if negative:
        if _is_entry(terms, -at):
            return size - least(terms, [-at, size])
        at = at + size
        if at.less(0) is True:
            return Dimension.constant(0)
        if at.less(0) is False:
            return at
        return nonnegative_part(terms, linear_sum(terms, terms.size(at)))
    if (size - at).less(0) is False or is_part(terms, at, Dimension.constant(0), size):
        return at
    if (at - size).less(0) is False:
        return size
    if at.value is not None and terms.symbols.magnitudes.is_end(at.value):
        return size
    return least(terms, [at, size])


def _computed(terms: Terms, at: Dimension, size: Dimension) -> Dimension:
    """Bound of a Slice that counts from the front or, if negative, from behind."""
    from_behind = terms.op("Less", _LESS, terms.size(at), terms.size(0))
    place = choose(terms, from_behind, terms.size(at + size), terms.size(at))
    return least(terms, [at_least(terms, place, 0), size])


@rule("Gather")
def gather(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None] | None:
    """Rewrite Gather at a known index or contiguous indices to narrow, or to a reversal."""
    x, index = args
    if x.fact.content is not None or terms.tensor(x) is not None:
        folded = terms.fold(head, args)
        if folded is not None:
            return folded
    shape, shape_of_index = x.fact.shape, index.fact.shape
    content = index.fact.content
    number = known_number(terms, index) if content is None else None
    places = ([] if number is None else [number]) if content is None else list(content.reshape(-1))
    if not shape or shape_of_index is None:
        return None
    axis = head.attribute("axis", 0) % len(shape)
    if not places or None in places:
        return None
    # Negative indices count from the end (Gather).
    places = [place + shape[axis] if place.less(0) is True else place for place in places]
    if len(shape_of_index) == 1 and places == list(range(len(places)))[::-1] and len(places) > 1:
        return [backward(terms, x, axis)] if shape[axis] == len(places) else None
    if len(places) > 1 and any(place != places[0] + n for n, place in enumerate(places)):
        return None
    if not is_index(terms, places[0], shape[axis]):
        return None
    part = terms.narrow(x, axis, places[0], len(places))
    return [terms.view(part, (*shape[:axis], *shape_of_index, *shape[axis + 1 :]))]


@rule("Split")
def split(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None] | None:
    """Rewrite Split of known sizes to narrow."""
    x = args[0]
    shape = x.fact.shape
    if not shape:
        return None
    axis = head.attribute("axis", 0) % len(shape)
    lengths = _lengths(head, args, shape, axis)
    if lengths is None:
        return None
    starts = np.cumsum([0, *lengths[:-1]])
    return [terms.narrow(x, axis, int(s), n) for s, n in zip(starts, lengths, strict=True)]


def _lengths(head: Head, args: Args, shape: Shape, axis: int) -> list[int] | None:
    size = shape[axis].value
    if len(args) > 1 and args[1] is not None:
        sizes = integers(args[1].fact)
        lengths = [] if sizes is None or sizes.ndim != 1 else [int(n) for n in sizes]
        return lengths if lengths and sum(lengths) == size else None
    count = head.attribute("num_outputs") or head.outputs
    if size is None or not count:
        return None
    # From opset 18 on, the last of `num_outputs` parts may be shorter (Split).
    each = -(-size // count)
    lengths = [each] * (count - 1) + [size - each * (count - 1)]
    return lengths if lengths[-1] >= 0 else None
