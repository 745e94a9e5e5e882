"""Reads and writes at positions that differ between iterations.

    x[i : i + k]      x[max(i - k, 0) : min(i + k + 1, n)]

The bounds of a Slice are read as sums of the iteration number and loop-invariant numbers. The
difference of both is the length of a window. It is a window of another length only where a limit
cuts it; all others are prefixes or suffixes.
"""

import dataclasses
import enum

import onnx

from ..facts.fact import element, integers
from ..facts.magnitudes import LAST_OF_32_BITS
from ..facts.polynomial import Dimension
from ..facts.types import PLAIN_INTEGERS
from ..ir import Graph, Node, Value
from ..limits import allowed, limit
from ..records import record
from .axes import written_axes
from .batch_axis import counted
from .batching import DIFFERING, Batch, Kind, Partial, Unbatchable
from .flat_rows import blocks, reversed_blocks
from .partial_axes import PAST_THE_END, window
from .schema_queries import ElementTypes
from .sliding_windows import Bound, bounded, window_at

_INT64 = onnx.TensorProto.INT64
BATCH_DIMS = 12
"""From this opset on, GatherND has batch axes."""


def gathered(batch: Batch, data: Value, indices: Value, axis: int) -> Value:
    """The result of Gather where data and indices are batched.

    Args:
        batch: the node; its inputs tell the ranks.
        data: its first input for all iterations.
        axis: the axis on one iteration.
    """
    if batch.require(1).fact.elem_type != _INT64:  # GatherND takes no others
        indices = batch.emit.add("Cast", [indices], batch.label("_places"), to=_INT64)
    return gather_elements(batch, data, indices, axis, batch.rank(1))


def gather_elements(batch: Batch, data: Value, indices: Value, axis: int, count: int) -> Value:
    """The same for indices of rank `count` in one iteration."""
    rank = batch.rank(0)
    front = [0, axis + 1, *(other for other in range(1, rank + 1) if other != axis + 1)]
    moved = batch.emit.transpose(data, front, batch.label("_moved"))
    label = batch.label("_places")
    tuples = batch.emit.unsqueeze(indices, 1 + count, label)
    if batch.emit.opset < BATCH_DIMS:
        tuples = after_iterations(batch, tuples, 1 + count)
        elements = batch.emit.add("GatherND", [moved, tuples], batch.label())
    else:
        elements = batch.emit.add("GatherND", [moved, tuples], batch.label(), batch_dims=1)
    before, inside = range(1 + count, 1 + count + axis), range(1, 1 + count)
    perm = [0, *before, *inside, *range(1 + count + axis, rank + count)]
    return batch.emit.transpose(elements, perm, batch.label())


def after_iterations(batch: Batch, tuples: Value, rank: int) -> Value:
    """Tuples of indices of all iterations, each after its iteration number.

    Args:
        tuples: one along the last axis.
        rank: of the tuples on one iteration.
    """
    emit, label = batch.emit, batch.label("_iteration")
    numbers = emit.lift(counted(batch), rank, label)
    sizes = emit.slice(emit.add("Shape", [tuples], label), 0, rank, label)
    whole = emit.concat([sizes, batch.vector(1)], 0, label)
    return emit.concat([emit.add("Expand", [numbers, whole], label), tuples], rank, label)


def moving_slice(batch: Batch) -> Value:
    """Slices of one length whose starts differ between iterations.

    Facts show that no iteration reaches the end of the axis; otherwise the result is partial.
    """
    data = batch.require(0)
    value, batched, part, view = data.value, data.batched, None, None
    axes = _cuts(batch)
    for position, (axis, start, end, step) in enumerate(axes):
        fixed = [b.value for b in (start, end) if b is not None and b.value is not None]
        if len(fixed) == 2:
            bounds = [batch.vector(n) for n in (*fixed, axis + batched, step)]
            value, view = batch.emit.add("Slice", [value, *bounds], batch.label("_fixed")), None
            continue
        if step < 1:
            raise Unbatchable("moves backward")
        is_open = start is None or end is None or (end - start).value is None
        if step == 1 and is_open and not batched and len(axes) == 1:
            kind = bounds_kind(batch, start, end)
            if kind is not None:
                first, last = (_bound(batch, index, position) for index in (1, 2))
                ends = Bound(first, start), Bound(last, end)
                return bounded(batch, value, ends, axis, kind, distance(batch, True))
        if step == 1 and is_open and batched and len(axes) == 1 and start == 0:
            return _prefix(batch, axis)
        length = _moving_length(batch, start, end)
        short, ahead = _effect(batch, start, end, axis, length)
        first, offsets = _bound(batch, 1, position), range(0, length, step)
        _require_few(len(offsets))
        is_whole, is_first = short is not Short.RUNS, step == 1 and not batched and ahead
        occupied = start is not None and batch.extent.never_negative(
            batch.shape(0)[axis] - 1 - start
        )
        whole = is_whole, occupied or is_whole
        view = window_at(batch, value, start, length, axis, whole) if is_first else None
        # Frames without overlap are a Reshape, measured at several times the speed of a Gather.
        if is_first and _tiles(batch, start, length, axis):
            value, batched = _cut(batch, value, length, axis), True
            continue
        if short is Short.RUNS:
            if batched:
                raise Unbatchable(PAST_THE_END)
            # A negative start counts from the end, so either end may cut a window.
            cut = None if ahead else _bound(batch, 2, position)
            value, places, part = window(batch, value, first, cut, offsets, axis, occupied)
        else:
            places = _places(batch, first, offsets, axis, short)
        value = (gather_elements if batched else _read)(batch, value, places, axis, 1)
        batched = True
    if not batched:  # the number of the iteration cancels out in all places
        return batch.unvarying(value)
    batch.window(value, view)
    return value if part is None else batch.partial(value, part)


def _prefix(batch: Batch, axis: int) -> Value:
    """The first so many elements of each iteration's own rows, in their places."""
    size, emit, label = batch.shape(0)[axis].value, batch.emit, batch.label("_present")
    # With zeros for the others, onnxruntime adds the elements in another order.
    if not size or batch.partials_of_inputs() or batch.keeps_order:
        raise Unbatchable(DIFFERING)
    _require_few(size)
    key = batch.require(2).value, size
    if key not in batch.shared:
        end = _bound(batch, 2, 0)
        negative = emit.add("Less", [end, batch.vector(0)], label)
        back = emit.add("Add", [end, batch.vector(size)], label)
        end = emit.add("Where", [negative, back, end], label)
        batch.shared[key] = emit.add("Less", [batch.vector(*range(size)), end], label)
    part = Partial(axis - batch.rank(0), size, batch.shared[key], occupied=False)
    return batch.partial(batch.require(0).value, part)


def _cuts(batch: Batch) -> list[tuple[int, Dimension | None, Dimension | None, int]]:
    """The axis, the bounds and the step of each cut of a Slice."""
    starts, ends = (_bounds(batch, index) for index in (1, 2))
    axes = range(len(starts)) if batch.operand(3) is None else batch.numbers(3)
    steps = [1] * len(starts) if batch.operand(4) is None else batch.numbers(4)
    if not len(ends) == len(starts) == len(axes) == len(steps):
        raise Unbatchable("has bounds, axes and steps that differ in number")
    places = [batch.axis(axis, batch.rank(0)) - 1 for axis in axes]
    return list(zip(places, starts, ends, steps, strict=True))


def moving_blocks(batch: Batch) -> Value:
    """Slices of any lengths along one axis, as flat rows."""
    source, cuts = batch.require(0), _cuts(batch)
    for position, (axis, start, end, step) in enumerate(cuts):
        fixed = [b.value for b in (start, end) if b is not None and b.value is not None]
        part = source.partial
        if len(fixed) == 2 and (part is None or part.axis != axis - batch.rank(0)):
            bounds = [batch.vector(n) for n in (*fixed, axis + source.batched, step)]
            value = batch.emit.add("Slice", [source.value, *bounds], batch.label("_fixed"))
            source = dataclasses.replace(source, value=value)
        elif (
            len(cuts) == 1
            and len(fixed) == 2
            and step == -1
            and fixed[0] == -1
            and fixed[1] < -LAST_OF_32_BITS
        ):
            source = reversed_blocks(batch, axis)
        elif step < 1:
            raise Unbatchable("moves backward")
        else:
            if start is not None and end is not None and len(fixed) < 2:
                _require_few((end - start).value or 0)
            moving = _bound(batch, 1, position), _bound(batch, 2, position)
            source = blocks(batch, source, moving, position, axis, step)
    if source.partial is None:
        raise Unbatchable(DIFFERING)
    return batch.partial(source.value, source.partial)


def _require_few(elements: int) -> None:
    if elements > limit("window_elements"):
        raise Unbatchable(f"reads more elements than {allowed('window_elements')}")


def _moving_length(batch: Batch, start: Dimension | None, end: Dimension | None) -> int:
    """Length of slices that move by any steps."""
    number = None if start is None or end is None else (end - start).value
    length = distance(batch) if number is None else number
    if length is None or length < 1:
        raise Unbatchable(DIFFERING)
    return length


def _bounds(batch: Batch, index: int) -> list[Dimension | None]:
    """Elements of the bounds of a Slice in an iteration."""
    content, count = batch.require(index).fact.content, batch.length(index).value
    if content is None and count is None:
        raise Unbatchable(DIFFERING)
    return [None] * (count or 0) if content is None else list(content.reshape(-1))


def _bound(batch: Batch, index: int, position: int) -> Value:
    """A bound of a slice along one axis in each iteration, of shape [iterations, 1]."""
    bound, label = batch.spread(index), batch.label("_places")
    if [dim.value for dim in batch.shape(index)] != [1]:
        bound = batch.emit.add("Gather", [bound, batch.vector(position)], label, axis=1)
    if batch.require(index).fact.elem_type != _INT64:
        bound = batch.emit.add("Cast", [bound], label, to=onnx.TensorProto.INT64)
    return bound


def _places(batch: Batch, start: Value, steps: range, axis: int, short: "Short") -> Value:
    """The positions that a slice reads along one axis in each iteration."""
    offsets = batch.vector(*steps)
    if short is Short.REPEATS:
        if steps.step > 1:
            raise Unbatchable(PAST_THE_END)
        offsets = repeated(batch, start, offsets, axis)
    return batch.emit.add("Add", [start, offsets], batch.label("_places"))


def _read(batch: Batch, data: Value, places: Value, axis: int, count: int) -> Value:
    """The same for data that are the same in every iteration."""
    elements = batch.emit.add("Gather", [data, places], batch.label(), axis=axis)
    rank = batch.rank(0) + count
    others = [other for other in range(rank) if other != axis]
    return batch.emit.transpose(elements, [axis, *others], batch.label())


def _tiles(batch: Batch, start: Dimension | None, length: int, axis: int) -> bool:
    """Test for slices that cut a whole axis into equal parts, in order."""
    extent, sizes = batch.extent, [dim.value for dim in batch.shape(0)[axis:]]
    if not extent.certain or extent.most is None or start is None or not all(sizes):
        return False  # with a first iteration, there are as many as at most
    is_next = start == extent.number * Dimension.constant(length)
    return is_next and extent.most * Dimension.constant(length) == sizes[0]


def _cut(batch: Batch, data: Value, length: int, axis: int) -> Value:
    """The parts of an axis: a Reshape, several times as fast as a Gather of single elements."""
    shape = batch.shape(0)
    sizes = [dim.value or 0 for dim in shape[axis:]]
    # 0 copies a size, so those before the axis may be open.
    new = [*[0] * axis, sizes[0] // length, length, *sizes[1:]]
    parts = batch.emit.add("Reshape", [data, batch.vector(*new)], batch.label("_parts"))
    others = [other for other in range(len(shape) + 1) if other != axis]
    return batch.emit.transpose(parts, [axis, *others], batch.label())


def _effect(
    batch: Batch, start: Dimension | None, end: Dimension | None, axis: int, length: int
) -> "tuple[Short, bool]":
    """The effect of a shorter slice, and true if no start is negative."""
    ahead = start is not None and batch.extent.never_negative(start)
    rest = None if end is None else batch.shape(0)[axis] - end
    is_inside = ahead and rest is not None and batch.extent.never_negative(rest)
    if is_inside or (length == 1 and start is not None and _must_be_there(batch, axis)):
        return Short.FAILS, ahead
    return (where_short(batch, axis, length) if ahead else Short.RUNS), ahead


def _must_be_there(batch: Batch, axis: int) -> bool:
    """Test that every use of a slice of one element fails without it: each drops the axis."""
    result, body = batch.node.output(), batch.node.graph
    assert body is not None
    return all(
        isinstance(user, Node)
        and user.is_op("Squeeze")
        and axis in [a % batch.rank(0) for a in written_axes(user) or ()]
        for user in body.users(result)
    )


_BROADCASTING = ("Add", "Sub", "Mul", "Div", "Pow", "Equal", "Less", "Greater")


class Short(enum.Enum):
    """Effect of a slice that is too short on its iteration."""

    RUNS = "it may run"
    FAILS = "it fails"
    REPEATS = "it fails, but where there is one element, which is repeated"


def where_short(batch: Batch, axis: int, length: int) -> Short:
    """The effect of fewer elements of a slice along an axis in one iteration.

    Args:
        axis: the axis on one iteration.
        length: how many elements it has on the others.
    """
    body = batch.node.graph
    assert body is not None
    users = body.users(batch.node.output())
    effects = [_of_user(user, batch, axis, length) for user in users]
    if Short.FAILS in effects:
        return Short.FAILS
    return Short.REPEATS if effects and Short.RUNS not in effects and length > 1 else Short.RUNS


def _of_user(user: Node | Graph, batch: Batch, axis: int, length: int) -> Short:
    part, rank = batch.node.output(), batch.rank(0)
    if not isinstance(user, Node) or not user.is_op("MatMul", *_BROADCASTING):
        return Short.RUNS
    one, other = user.inputs
    # Both operands are shorter then, and fit each other.
    if (one is part) == (other is part):
        return Short.RUNS
    second = other is part
    constant = getattr(one if second else other, "constant", None)
    sizes = [] if constant is None else list(constant.dims)
    if user.is_op("MatMul"):
        # The axes that are multiplied are never repeated.
        at = axis - max(rank - 2, 0) if second else axis - (rank - 1)
        against = sizes[-1:] if second else sizes[-2:][:1]
        return Short.FAILS if at == 0 and against == [length] else Short.RUNS
    place = axis - rank
    repeats = len(sizes) >= -place and sizes[place] == length
    return Short.REPEATS if repeats else Short.RUNS


def repeated(batch: Batch, start: Value, steps: Value, axis: int) -> Value:
    """Offsets of the elements from the start in each iteration; 0 for a single one.

    Args:
        start: where it begins on each iteration, of shape [iterations, 1].
        steps: how far from there the elements are on other iterations.
        axis: the axis on one iteration.
    """
    emit, label, data = batch.emit, batch.label("_last"), batch.require(0)
    size = emit.size(data.value, axis + data.batched, label)
    last = emit.add("Sub", [size, batch.vector(1)], label)
    alone = emit.add("Equal", [start, last], label)
    return emit.add("Where", [alone, batch.vector(0), steps], label)


_ONE_ELEMENT = ("Identity", "Reshape", "Squeeze", "Unsqueeze")
_MOST_DEPTH = 8
"""Limit of sums in sums."""


def bounds_kind(batch: Batch, start: Dimension | None, end: Dimension | None) -> Kind | None:
    """The kind of a Slice by its bounds in an iteration; None for any other Slice."""
    if start is not None and start.value == 0:
        return Kind.PREFIX
    # So far an end is cut to the size of the axis.
    if end is not None and (end.value or 0) >= LAST_OF_32_BITS:
        return Kind.SUFFIX
    reader = _Reader(batch)
    if reader.is_shifted():
        return Kind.WINDOW
    first, last = (reader.read(value) for value in batch.node.inputs[1:3])
    if first is None or last is None or reader.varies(last.sum - first.sum):
        return None
    if first.most is not None and first.most is not last.most:
        return None
    if first.least in (None, 0) and reader.never_negative(first.sum):
        return Kind.WINDOW
    if first.least is None:
        return None
    # A negative end counts from the last element, and would not cut the window at the first one.
    bounds = (first.sum, last.sum, first.sum + last.sum + 1)
    ahead = last.least is not None or any(map(reader.never_negative, bounds))
    return Kind.CUT_WINDOW if first.least >= 0 and last.least in (None, 0) and ahead else None


def distance(batch: Batch, with_limits: bool = False) -> int | None:
    """The number of elements between bounds that move alike; None for other bounds.

    Args:
        with_limits: true for the number before limits cut some elements.
    """
    reader = _Reader(batch)
    first, last = (reader.read(value) for value in batch.node.inputs[1:3])
    if first is None or last is None:
        return None
    limits = {first.least, first.most, last.least, last.most}
    return (last.sum - first.sum).value if with_limits or limits == {None} else None


@record(frozen=True)
class _Bound:
    """A bound of a Slice.

    Attributes:
        sum: the number without limits.
        least: the lower limit, if any.
        most: the loop-invariant upper limit, if any.
    """

    sum: Dimension
    least: int | None = None
    most: Value | None = None


_Limits = tuple[Value, list[tuple[str, Value]]]
"""A value, and pairs of Max or Min and the number that limits it, the last one first."""


class _Reader:
    """Bounds of one Slice, with a symbol for each loop-invariant number."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._types = ElementTypes()
        self._symbols: dict[Value, Dimension] = {}
        self._varying: set[str] = set()

    def read(self, value: Value | None) -> _Bound | None:
        """A bound; None for one with other limits."""
        least, most = None, None
        while (limits := self._limits(value)) is not None:
            value, pairs = limits
            for kind, other in pairs:
                number = integers_of(other, self._batch)
                if kind == "Max" and least is None and number is not None:
                    least = number
                elif kind == "Min" and most is None:
                    most = self._element(other)
                else:
                    return None
        return _Bound(self._sum(value), least, most)

    def is_shifted(self) -> bool:
        """Test for a start of at least 0, and a loop-invariant distance to the end."""
        start, end = self._batch.node.inputs[1:3]
        first, last, limits = self._sum(start), self.read(end), self._limits(start)
        if last is None or last.least not in (None, 0):
            return False
        kind, other = ("", None) if limits is None else limits[1][0]
        least = None if other is None else integers_of(other, self._batch)
        ahead = kind == "Max" and least is not None and least >= 0
        return (ahead or self.never_negative(first)) and not self.varies(last.sum - first)

    def varies(self, total: Dimension) -> bool:
        """Test for a number that may differ between iterations."""
        return not total.symbols.isdisjoint(self._batch.extent.number.symbols | self._varying)

    def never_negative(self, total: Dimension) -> bool:
        """Test for a number of at least 0 in each iteration."""
        # Nothing is known of the sign of a loop-invariant number.
        own = {name for dim in self._symbols.values() for name in dim.symbols}
        return own.isdisjoint(total.symbols) and self._batch.extent.never_negative(total)

    def _limits(self, value: Value | None) -> _Limits | None:
        """A Max, Min or Clip with loop-invariant numbers: the other operand, and these."""
        value = self._element(value)
        node = None if value is None or self._is_invariant(value) else value.producer
        if node is None or not node.is_op("Max", "Min", "Clip") or None in node.inputs[:2]:
            return None
        inputs = [each for each in node.inputs if each is not None]
        fixed = [each for each in inputs if self._is_invariant(self._element(each))]
        others = [each for each in inputs if each not in fixed]
        if len(others) != 1 or not 2 <= len(inputs) <= (3 if node.is_op("Clip") else 2):
            return None
        if not node.is_op("Clip"):
            return others[0], [(node.op_type, fixed[0])]
        if others[0] is not inputs[0]:
            return None
        # The upper bound of a Clip wins over the lower one.
        kinds = ("Min", "Max")[2 - len(fixed) :]
        return others[0], list(zip(kinds, reversed(fixed), strict=True))

    def _sum(self, value: Value | None, depth: int = 0, fixed: bool = False) -> Dimension:
        """A number as a sum over the iteration number, with symbols for all others.

        Sums of int64 outside the loop are opened, too: they wrap as those in the body do, and
        `i + (k + 1)` is `(i + k) + 1`.
        """
        value = self._element(value)
        assert value is not None
        operand = self._batch.operand_of(value)
        number = None if operand is None else element(operand.fact)
        if isinstance(number, Dimension):
            return number
        is_invariant = fixed or self._is_invariant(value)
        constant = integers_of(value, self._batch) if is_invariant else None
        if constant is not None:
            return Dimension.constant(constant)
        node = value.producer if depth < _MOST_DEPTH else None
        if is_invariant and self._types.of(value) != onnx.TensorProto.INT64:
            node = None
        if node is not None and node.is_op("Add", "Sub"):
            first, second = (self._sum(v, depth + 1, is_invariant) for v in node.inputs)
            return first + second if node.is_op("Add") else first - second
        if node is not None and node.is_op("Neg"):
            return -self._sum(node.input(0), depth + 1, is_invariant)
        symbol = self._symbols.setdefault(value, Dimension.symbol(f"bound {len(self._symbols)}"))
        self._varying |= set() if is_invariant else symbol.symbols
        return symbol

    def _is_invariant(self, value: Value | None) -> bool:
        if value is None:
            return False
        operand = self._batch.operand_of(value)
        if operand is not None:
            return not operand.batched
        return value in self._batch.outside or value.constant is not None

    def _element(self, value: Value | None) -> Value | None:
        """The first value, or the one outside the loop, with the same element."""
        while value is not None and value not in self._batch.outside:
            node = value.producer
            if node is None or not (node.is_op(*_ONE_ELEMENT) or self._widens(node)):
                break
            value = node.inputs[0]
        return value

    def _widens(self, node: Node) -> bool:
        """Test for a Cast of an integer to int64."""
        if not node.is_op("Cast") or node.attribute("to") != onnx.TensorProto.INT64:
            return False
        source = node.inputs[0]
        operand = None if source is None else self._batch.operand_of(source)
        return operand is not None and operand.fact.elem_type in PLAIN_INTEGERS


def integers_of(value: Value, batch: Batch) -> int | None:
    """The one integer that a value holds before run time; None for another value."""
    operand = batch.operand_of(value)
    numbers = value.array if operand is None else integers(operand.fact)
    return int(numbers.reshape(-1)[0]) if numbers is not None and numbers.size == 1 else None
