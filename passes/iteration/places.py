"""Places that integers of a body name in each iteration, and reads of elements.

x[i], x[2 + i], x[n - 1 - i]     induction variables: a start and a step
Reshape (i, [1, 1])              places that are distinct in every iteration
Expand (n - 1 - i, [4, 1])       the same, with equal elements
"""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import onnx

from ...analysis.iterations.trip_count import skip_identities
from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Content, Fact, content_from, decided, integers
from ...facts.magnitudes import LAST_OF_32_BITS
from ...facts.polynomial import Dimension
from ...ir import Graph, Node, Value
from ...ir.lazy import lazy_property
from ...ops.batching import Operand, Unbatchable
from ...ops.views import read_slice
from ...records import record, replace
from .batched_inputs import Feeding
from .iterations import Iterations
from .loop_view import LoopView, State


@record(frozen=True)
class Index:
    """An induction variable.

    Attributes:
        start: its value in the first iteration.
        step: its step, which is not 0.
    """

    start: Dimension
    step: int


@record(frozen=True)
class Selection:
    """Elements along an axis of an outside value, in the order of iteration."""

    source: Value
    axis: int
    start: Dimension
    step: int


@record(frozen=True)
class ElementRead:
    """A node of a body that reads one element.

    Attributes:
        node: a Gather or Slice.
        keeps_axis: true if the axis stays, with a size of 1.
        checked: true if it fails without such an element.
    """

    node: Node
    selection: Selection
    keeps_axis: bool
    checked: bool


def element_reads(loop_view: LoopView, inference: ShapeInference) -> list[ElementRead]:
    """The used nodes of a Loop's body that read one element of an outside value."""
    indices, reads, body = moving_indices(loop_view, inference), list[ElementRead](), loop_view.body
    for node in body.nodes() if indices else ():
        source = node.inputs[0] if node.is_op("Gather", "Slice") else None
        if source is None or node.op.references or node.output().pinned:
            continue
        outside = source.graph is not body or source in body.initializers
        shape = inference.fact(source).shape if outside else None
        if shape and body.is_used(node.output()):
            match = _gathered if node.is_op("Gather") else _sliced
            read = match(node, source, len(shape), indices, inference)
            reads += [] if read is None else [read]
    return reads


def moving_indices(loop_view: LoopView, inference: ShapeInference) -> dict[Value, Index]:
    """The induction variables in a body and its inner graphs.

    These are the iteration number, counters by numbers, their sums with invariants, and their
    products with numbers.
    """
    indices = dict(_counters(loop_view, inference))
    if loop_view.iteration is not None:
        indices[loop_view.iteration] = Index(Dimension.constant(0), 1)
    if indices:
        for graph in loop_view.body.walk():
            for node in graph.nodes():
                index = _transfer(node, indices, inference)
                if index is not None:
                    indices[node.output()] = index
    return indices


def _counters(loop_view: LoopView, inference: ShapeInference) -> Iterator[tuple[Value, Index]]:
    for state in loop_view.states:
        start, node = inference.number(state.initial), skip_identities(state.result).producer
        if start is None or node is None or node.graph is not loop_view.body:
            continue
        after = _transfer(node, {state.argument: Index(start, 1)}, inference)
        step = None if after is None or after.step != 1 else (after.start - start).value
        # A larger step may make a counter wrap.
        is_wide = inference.fact(state.initial).elem_type == onnx.TensorProto.INT64
        if step and abs(step) < (LAST_OF_32_BITS if is_wide else 2):
            yield state.argument, Index(start, step)


_ONE_ELEMENT = ("Identity", "Unsqueeze", "Squeeze", "Reshape")
"""The operators that keep all elements in their order."""


def _transfer(node: Node, indices: dict[Value, Index], inference: ShapeInference) -> Index | None:
    """The transfer function of a node on induction variables; None for other outputs."""
    first = node.inputs[0] if node.inputs else None
    if node.is_op(*_ONE_ELEMENT, "Neg"):
        index = None if first is None else indices.get(first)
        return Index(-index.start, -index.step) if index and node.is_op("Neg") else index
    second = node.inputs[1] if node.is_op("Add", "Sub", "Mul") else None
    if first is None or second is None or (first in indices) == (second in indices):
        return None
    if node.is_op("Mul"):
        own, other = (first, second) if first in indices else (second, first)
        factor = inference.number(other)
        by = None if factor is None else factor.value
        # Larger products of iteration numbers may wrap.
        if not by or abs(by) >= LAST_OF_32_BITS:
            return None
        return Index(indices[own].start * by, indices[own].step * by)
    sign = 1 if node.is_op("Add") else -1
    number = inference.number(second if first in indices else first)
    if number is None:
        return None
    if first in indices:
        return Index(indices[first].start + number * sign, indices[first].step)
    return Index(number + indices[second].start * sign, indices[second].step * sign)


def _gathered(
    node: Node, source: Value, rank: int, indices: Mapping[Value, Index], inference: ShapeInference
) -> ElementRead | None:
    """Match a Gather of one element."""
    at, axis = node.inputs[1], node.attribute("axis", 0)
    if at is None or at not in indices or not -rank <= axis < rank:
        return None
    shape, index = inference.fact(at).shape, indices[at]
    # Rows in the order of iteration: a Scan reads each, forward or backward.
    if shape is None or len(shape) > 1 or abs(index.step) != 1:
        return None
    selection = Selection(source, axis % rank, index.start, index.step)
    return ElementRead(node, selection, len(shape) == 1, checked=True)


def _sliced(
    node: Node, source: Value, rank: int, indices: Mapping[Value, Index], inference: ShapeInference
) -> ElementRead | None:
    """Match a Slice of length 1; below opset 10 its bounds are constant attributes."""
    bounds = [indices.get(value) if value else None for value in node.inputs[1:3]]
    start, end = bounds or (None, None)
    if start is None or end is None or start.step != end.step or abs(start.step) != 1:
        return None
    view = read_slice(node, inference.fact)
    if view is None or end.start - start.start != 1:
        return None
    selection = Selection(source, view.axis, start.start, start.step)
    return ElementRead(node, selection, keeps_axis=True, checked=False)


_REPEATED = ("Identity", "Unsqueeze", "Squeeze", "Reshape", "Expand", "Tile", "Cast", "Transpose")
"""The operators that keep all elements equal."""


_RESHAPED = ("Identity", "Expand", "Reshape", "Unsqueeze", "Cast")
"""The operators that may keep the last axis."""

_MOVES = ("Unsqueeze", "Squeeze", "Reshape", "Expand")
"""The operators that may repeat elements, and keep them otherwise."""


class Places:
    """The places that integers of a body name.

    Args:
        certain: true if there is a first iteration for all inputs.

    Attributes:
        extent: the facts of the iterations.
    """

    def __init__(self, iterations: Iterations, certain: bool) -> None:
        self._loop_view = iterations.loop_view
        self.inference = iterations.inference
        self.extent = iterations.extent(certain)
        self.certain = certain

    @property
    def body(self) -> Graph:
        """The body."""
        return self._loop_view.body

    @lazy_property
    def indices(self) -> dict[Value, Index]:
        """The induction variables of the body."""
        return moving_indices(self._loop_view, self.inference)

    def is_inside(self, index: Index, size: Dimension, count: int = 1) -> bool:
        """Test for consecutive places that an axis has in each iteration."""
        at = index.start + self.extent.number * index.step
        return self.extent.never_negative(at) and self.extent.never_negative(size - count - at)

    def is_injective(self, value: Value) -> bool:
        """Test for indices that no two iterations share.

        All elements, or one coordinate of each index, are one number that differs in every
        iteration.
        """
        body, span = self._loop_view.body, self.consecutive(value)
        sizes = [size.value for size in self.inference.fact(value).shape or ()]
        if span is not None and sizes[1:] == [1]:
            return abs(span[0].step) >= span[1]
        while not self.is_one_number(value):
            node = value.producer
            if node is None or node.graph is not body:
                return False
            if node.is_op("Concat") and self._joins_places(node):
                return True
            if node.is_op("Concat"):
                return self._joins_last(node) and any(
                    v is not None and self.is_one_number(v) and self._is_there(v)
                    for v in node.inputs
                )
            source = node.input(0)
            if not node.is_op(*_RESHAPED) or source is None:
                return False
            if not self._keeps_coordinates(source, value):
                return False
            value = source
        return self._is_there(value)

    def consecutive(self, value: Value) -> tuple[Index, int] | None:
        """The first of consecutive places in each iteration, and their number.

        None for others, and for places that may be negative.
        """
        source = unmoved(value)
        places, node = [source], source.producer
        if node is not None and node.is_op("Concat") and node.attribute("axis") == 0:
            places = [place for place in node.inputs if place is not None]
        elif node is not None and node.is_op("Range"):
            places = [place for place in node.inputs[:2] if place is not None]
            step = node.inputs[2]
            one = None if step is None else integers(self.inference.fact(step))
            if one is None or one.item() != 1:
                return None
        indices = [index for place in places if (index := self.indices.get(place)) is not None]
        if len(indices) < len(places) or self.sign(places[0]) != 1:
            return None
        apart = [(index.start - indices[0].start).value for index in indices]
        if len({index.step for index in indices}) > 1:
            return None
        if node is not None and node.is_op("Range"):
            return (indices[0], apart[1]) if apart[1] is not None and apart[1] > 0 else None
        return (indices[0], len(places)) if apart == [*range(len(places))] else None

    def spans(self, start: Value, end: Value) -> tuple[Index, int] | None:
        """Return the first place from a start to below an end, and their number."""
        first, last = self.indices.get(start), self.indices.get(end)
        if first is None or last is None or first.step != last.step or self.sign(start) != 1:
            return None
        count = (last.start - first.start).value
        return None if count is None or count < 1 else (first, count)

    def _is_there(self, value: Value) -> bool:
        """Test for a nonempty last axis."""
        shape = self.inference.fact(value).shape
        return bool(shape) and shape[-1].less(1) is False  # type: ignore[index]

    def _joins_last(self, node: Node) -> bool:
        shape, axis = self.inference.fact(node.output()).shape, node.attribute("axis")
        return axis == -1 or (shape is not None and axis == len(shape) - 1)

    def _joins_places(self, node: Node) -> bool:
        """Test for single places, of a common step, that no other iteration reaches."""
        indices = [self.indices.get(v) for v in node.inputs if v is not None]
        moving = [index for index in indices if index is not None]
        if node.attribute("axis") != 0 or len(moving) < len(node.inputs) or not moving:
            return False
        if len(self.inference.fact(node.output()).shape or ()) != 2:
            return False
        if any(self.sign(value) != 1 for value in node.inputs if value is not None):
            return False
        away = [(index.start - moving[0].start).value for index in moving]
        step = moving[0].step
        # i * step + a and j * step + b meet in no iterations if a and b differ modulo the step.
        rests = {number % step for number in away if number is not None}
        return len(rests) == len(away) and all(index.step == step for index in moving)

    def _keeps_coordinates(self, source: Value, value: Value) -> bool:
        """Test for an unchanged last axis, which holds the coordinates of an index."""
        one, other = (self.inference.fact(v).shape for v in (source, value))
        return bool(one and other) and one[-1] == other[-1]  # type: ignore[index]

    def is_one_number(self, value: Value) -> bool:
        """Test for equal elements that are distinct in every iteration."""
        return self.one_number(value) is not None

    def one_number(self, value: Value) -> Index | None:
        """The induction variable that all elements equal; None for others."""
        body = self._loop_view.body
        # Across 0, negative indices from the end may repeat an element.
        while self.sign(value) is None:
            node = value.producer
            if node is None or node.graph is not body:
                return None
            source = self._source(node)
            if source is None or (node.is_op("Cast") and not self._keeps_numbers(node)):
                return None
            value = source
        return self.indices[value]

    def _source(self, node: Node) -> Value | None:
        """The operand that an output repeats; None for other nodes."""
        if node.is_op("Mul"):
            return self._times_one(node)
        if node.is_op("Where"):
            return self._chosen(node)
        return node.input(0) if node.is_op(*_REPEATED) else None

    def _chosen(self, node: Node) -> Value | None:
        """The branch that a test for an index below 0 always takes."""
        index, negative, other = self._tested(node)
        sign = None if index is None else self.sign(index)
        return None if sign is None else (negative if sign < 0 else other)

    def _tested(self, node: Node) -> tuple[Value | None, Value | None, Value | None]:
        """The index that a Where tests, and its branches below 0 and from 0 on."""
        condition, negative, other = node.inputs
        test = None if condition is None else condition.producer
        if test is None or not test.is_op("Less", "GreaterOrEqual"):
            return None, None, None
        index, bound = test.inputs
        if test.is_op("GreaterOrEqual"):
            negative, other = other, negative
        return (index, negative, other) if self._is_zero(bound) else (None, None, None)

    def _is_zero(self, value: Value | None) -> bool:
        numbers = None if value is None else integers(self.inference.fact(value))
        return numbers is not None and not np.any(numbers)

    def at_least_zero(self, value: Value) -> Index | None:
        """The index that is -1 in the first iteration, where 0 replaces it."""
        value = unmoved(value)
        node = value.producer
        if node is None or node.graph is not self.body or len(node.inputs) not in (2, 3):
            return None
        if node.is_op("Where"):
            tested, zero, source = self._tested(node)
            source = source if source is tested else None
        elif node.is_op("Max", "Clip") and node.input(2) is None:
            source, zero = node.inputs[:2]
            if node.is_op("Max") and source not in self.indices:
                source, zero = zero, source
        else:
            return None
        index = None if source is None or not self._is_zero(zero) else self.indices.get(source)
        return index if index is not None and (index.start.value, index.step) == (-1, 1) else None

    def sign(self, value: Value) -> int | None:
        """1 if an index is never negative, -1 if it always is; None if unknown."""
        index = self.indices.get(value)
        if value is self._loop_view.iteration:
            return 1
        if index is None:
            return None
        if self.extent.never_negative(index.start + self.extent.number * index.step):
            return 1
        return -1 if self.is_negative(index) else None

    def is_negative(self, index: Index) -> bool:
        """Test for places that are counted from the end in each iteration."""
        return self.extent.never_negative(-1 - index.start - self.extent.number * index.step)

    def _keeps_numbers(self, node: Node) -> bool:
        """Test for a Cast of integers to the type of ScatterND's indices."""
        source = node.input(0)
        kinds = {node.attribute("to")}
        kinds |= {self.inference.fact(source).elem_type} if source is not None else set()
        # int32 (6) and int64 (7) keep each number as int64.
        return kinds <= {6, 7} and node.attribute("to") == 7

    def _times_one(self, node: Node) -> Value | None:
        """The other operand of a Mul by ones."""
        for one, other in (node.inputs, node.inputs[::-1]):
            ones = None if one is None else decided(self.inference.fact(one))
            if ones is not None and bool(np.all(ones == 1)):
                return other
        return None


def certain_sizes(
    places: Places, own: State | None = None, axis: int = 0
) -> Iterator[tuple[Node, tuple[int, int]]]:
    """Yield the Slices of a body whose elements are there in each iteration.

    Args:
        own: a state of fixed length, which counts as its initial value.
        axis: the axis of its rows.

    Yields:
        the node, its axis and its size there.
    """
    body = places.body
    for node in body.nodes():
        view = read_slice(node, places.inference.fact)
        start, end = (None, None) if view is None else view.bounds
        spans = None if start is None or end is None else places.spans(start, end)
        if view is None or spans is None:
            continue
        source = view.source
        if own is not None and source is own.argument and view.axis == axis:
            source = own.initial
        shape = None if source.graph is body else places.inference.fact(source).shape
        index, count = spans
        if shape and places.is_inside(index, shape[view.axis], count):
            yield node, (view.axis, count)


def with_sizes(
    inference: ShapeInference, body: Graph, sizes: Mapping[Node, tuple[int, int]]
) -> ShapeInference:
    """Facts of one iteration with the sizes of some outputs along an axis."""
    if not sizes:
        return inference
    inner = inference.within(body, [inference.fact(value) for value in body.inputs])
    for node, (axis, size) in sizes.items():
        fact = inference.fact(node.output())
        if fact.shape is not None:
            shape = list(fact.shape)
            shape[axis] = Dimension.constant(size)
            inner.assume(node.output(), replace(fact, shape=tuple(shape)))
    return inner


def moves_before(value: Value | None, body: Graph | None = None) -> list[Node]:
    """The nodes before a value, in a body or anywhere, that only move its elements."""
    nodes = []
    while value is not None and (node := value.producer) is not None:
        if not node.is_op(*_ONE_ELEMENT) or body not in (None, node.graph):
            break
        nodes.append(node)
        value = node.input(0)
    return nodes


def unmoved(value: Value, body: Graph | None = None) -> Value:
    """The value before nodes, in a body or anywhere, that only move its elements."""
    nodes = moves_before(value, body)
    return (nodes[-1].input(0) if nodes else value) or value


def counts_all(value: Value, size: Dimension, inference: ShapeInference) -> bool:
    """Test for the numbers from 0 to below a size, in order."""
    value = unmoved(value)
    numbers, node = integers(inference.fact(value)), value.producer
    if numbers is not None:
        return size.value == numbers.size and numbers.reshape(-1).tolist() == [*range(numbers.size)]
    if node is None or not node.is_op("Range") or node.op.references:
        return False
    first, end, step = map(inference.number, node.inputs)
    return first == 0 and step == 1 and (end == size or inference.fact(value).shape == (size,))


def repeated(value: Value | None, is_one: Callable[[Value], bool]) -> Value | None:
    """The value that passes a test and that all elements of another one equal; None for others."""
    while value is not None and not is_one(value):
        node = value.producer
        value = node.input(0) if node is not None and node.is_op(*_MOVES) else None
    return value


_COUNTED = {6: "int32", 7: "int64"}
"""The types of counters, by `onnx.TensorProto.DataType`."""


def is_invariant(state: State) -> bool:
    """Test for a state that the body returns unchanged."""
    return skip_identities(state.result) is state.argument


def kept_by(state: State) -> tuple[Node, int] | None:
    """The Where that may keep a state, and its place among the inputs."""
    node = skip_identities(state.result).producer
    for place in (1, 2) if node is not None and node.is_op("Where") else ():
        if node is not None and skip_identities(node.operand(place)) is state.argument:
            return node, place
    return None


def step_of(state: State, loop_view: LoopView) -> Value | None:
    """The loop-invariant step of an induction variable; None for other states."""
    node, body = skip_identities(state.result).producer, loop_view.body
    if node is None or not node.is_op("Add", "Sub") or node.graph is not body:
        return None
    one, other = node.inputs
    # Of a Sub, only the first operand may be the state: step - state alternates in sign.
    if node.is_op("Add") and other is state.argument:
        one, other = other, one
    # A step that the body computes may differ from iteration to iteration.
    if one is not state.argument or other is None or (other.graph is body and not other.constant):
        return None
    return other


def counts_iterations(state: State, loop_view: LoopView) -> bool:
    """Test for a state that starts at 0 with step 1."""
    step, node = step_of(state, loop_view), skip_identities(state.result).producer
    if step is None or node is None or not node.is_op("Add"):
        return False
    return _is_number(state.initial, 0) and _is_number(step, 1)


def iteration_like(value: Value, loop_view: LoopView) -> bool:
    """Test for the iteration number, or a state that equals it."""
    iteration = loop_view.iteration
    if value is iteration:
        return True
    if iteration is None or iteration.shape:
        return False
    counters = [state for state in loop_view.states if state.argument is value]
    return any(
        state.initial.elem_type == onnx.TensorProto.INT64 and counts_iterations(state, loop_view)
        for state in counters
    )


def _is_number(value: Value, number: int) -> bool:
    tensor = value.constant
    return tensor is not None and tensor.dims == () and bool(tensor.numpy() == number)


def counter(
    state: State, loop_view: LoopView, feeding: Feeding
) -> tuple[Value, Content | None] | None:
    """Emit the values of an induction variable, with its symbolic elements.

    One value more than iterations: the first is the initial one. None for other states.
    """
    other, node = step_of(state, loop_view), skip_identities(state.result).producer
    if other is None or node is None:
        return None
    initial, step = feeding.same(state.initial), feeding.same(other)
    shape, elem_type, emit = initial.fact.shape, initial.fact.elem_type, feeding.emit
    # No floats: one product and one sum round otherwise than one addition per iteration.
    if shape is None or elem_type not in _COUNTED or step.fact.shape not in (shape, ()):
        return None
    one_more = emit.add("Add", [feeding.iterations, feeding.integers(1)], "ends")
    numbers = feeding.numbers(one_more)
    if counts_iterations(state, loop_view) and elem_type == onnx.TensorProto.INT64:
        return numbers, content_from(feeding.number)
    numbers = emit.lift(emit.add("Cast", [numbers], "numbers", to=elem_type), len(shape), "numbers")
    offset = emit.add("Mul", [numbers, step.value], "added")
    joined = emit.add(node.op_type, [initial.value, offset], state.argument.name)
    return joined, _elements(
        initial.fact, step.fact, feeding.number * (1 if node.is_op("Add") else -1)
    )


def _elements(initial: Fact, step: Fact, steps: Dimension) -> Content | None:
    """The symbolic elements of an induction variable."""
    first, change = initial.content, step.content
    if first is None or change is None or None in (*first.reshape(-1), *change.reshape(-1)):
        return None
    return content_from(first + change * steps)


def shift(state: State, result: Operand, feeding: Feeding) -> Value:
    """Emit the values of a state that equals a value of the previous iteration.

    Raises:
        Unbatchable: a shape that may change.
    """
    initial = feeding.inference.fact(state.initial)
    if initial.shape is None or initial.shape != result.fact.shape:
        raise Unbatchable(f"carries '{state.argument.name}', whose shape may change")
    return feeding.from_first(state, feeding.every(result, state.argument.name))
