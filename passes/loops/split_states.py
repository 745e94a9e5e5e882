"""Split a state that joins several into these: a state is a list of parts that nothing mixes.

y = Loop (n, , s0) <                            a1, b1 = Split (s0)
   body = b (i, c, s) => (c2, t) {              a2, b2 = Loop (n, , a1, b1) <
      a, b = Split (s)                             body = b (i, c, a, b) => (c2, d, e) {
      d = Add (a, x)                     ->           d = Add (a, x)
      e = Max (b, d)                                  e = Max (b, d) }>
      t = Concat (d, e) }>                      y = Concat (a2, b2)

Each iteration joins the next values of the parts, of fixed sizes, and reads only whole parts: by
Slices, Splits, and Gathers of one element.
"""

import itertools
from collections.abc import Iterator

from ...analysis.iterations.trip_count import skip_identities
from ...analysis.shapes.inference import ShapeInference
from ...facts.polynomial import Dimension
from ...ir import Graph, Node, Value
from ...ops.builder import Builder
from ...ops.views import read_slice, unsqueezed
from ...records import record
from ..iteration.loop_view import LoopView, State, add_states, declaration
from ..iteration.splice import own_output


@record(frozen=True)
class _Read:
    """An output of a node that is some parts of a state.

    Attributes:
        parts: the first part, and the end.
        is_element: true if it has no axis of the parts.
    """

    output: Value
    parts: tuple[int, int]
    is_element: bool = False


class _Joined:
    """A state that each iteration joins from parts.

    Args:
        join: the Concat of the parts.
    """

    def __init__(self, state: State, join: Node, inference: ShapeInference) -> None:
        self.state, self._inference = state, inference
        self.shape = inference.fact(state.argument).dims
        self.axis = join.attribute("axis") % len(self.shape)
        self.parts = [value for value in join.inputs if value is not None]
        self.sizes = [self._size(value) for value in self.parts]
        self._starts = list(itertools.accumulate(self.sizes, initial=0))
        self.reads: list[_Read] = []

    def _size(self, value: Value | None) -> int:
        """The size of a value along the axis; 0 if it is not known."""
        shape = None if value is None else self._inference.fact(value).shape
        return 0 if shape is None else shape[self.axis].value or 0

    def read(self, body: Graph) -> bool:
        """Find the parts that each reader reads; false for another one."""
        if not all(self.sizes) or self._starts[-1] != self.shape[self.axis].value:
            return False
        for use in body.uses(self.state.argument):
            node, before = use.user, len(self.reads)
            if not isinstance(node, Node) or node.graph is not body or use.position:
                return False
            if not node.op.references and not any(v is None or v.pinned for v in node.outputs):
                self.reads += self._reads(node)
            if len(self.reads) < before + len(node.outputs):
                return False
        return bool(self.reads)

    def _reads(self, node: Node) -> Iterator[_Read]:
        stops, first = list[int](), 0
        if node.is_op("Split") and node.attribute("axis", 0) % len(self.shape) == self.axis:
            stops = list(itertools.accumulate(self._size(value) for value in node.outputs))
        view = read_slice(node, self._inference.fact)
        if view is not None and view.axis == self.axis and None not in view.numbers:
            first, stop, _ = slice(*view.numbers).indices(self._starts[-1])
            stops = [stop]
        place = self._place(node)
        if place is not None:
            first, stops = place, [place + 1]
        for output, (start, stop) in zip(
            node.outputs, itertools.pairwise([first, *stops]), strict=False
        ):
            if output is not None and start in self._starts and stop in self._starts[1:]:
                parts = self._starts.index(start), self._starts.index(stop)
                is_element = len(self._inference.fact(output).dims) < len(self.shape)
                yield _Read(output, parts, is_element)

    def _place(self, node: Node) -> int | None:
        """The element that a Gather reads; None for other nodes."""
        at = node.input(1) if node.is_op("Gather") else None
        if at is None or node.attribute("axis", 0) % len(self.shape) != self.axis:
            return None
        is_one = self._inference.fact(at).shape in ((), (Dimension.constant(1),))
        place, total = self._inference.number(at) if is_one else None, self._starts[-1]
        number = None if place is None else place.value
        return number % total if number is not None and -total <= number < total else None

    def bare(self, part: int) -> Value | None:
        """The value to which an Unsqueeze gives the axis, if nothing reads that axis."""
        own = [read for read in self.reads if read.parts[0] <= part < read.parts[1]]
        value = skip_identities(self.parts[part])
        is_bare = all(read.is_element for read in own)
        return unsqueezed(value, self.axis, self._inference.fact) if is_bare else None


def split_states(loop_view: LoopView, inference: ShapeInference) -> int:
    """Split a state of a Loop that joins others, and return their number; 0 for none."""
    body = loop_view.body
    if not loop_view.node.is_op("Loop"):
        return 0
    for state in loop_view.states:
        join = skip_identities(state.result).producer
        shape = inference.fact(state.argument).shape
        if join is None or not join.is_op("Concat") or join.graph is not body or not shape:
            continue
        is_fixed = (
            shape == inference.fact(state.initial).shape == inference.fact(join.output()).shape
        )
        if join.op.references or state.argument.pinned or state.result.pinned or not is_fixed:
            continue
        joined = _Joined(state, join, inference)
        if len(joined.parts) > 1 and joined.read(body):
            _split(loop_view, joined, inference)
            return len(joined.parts)
    return 0


def _split(loop_view: LoopView, joined: _Joined, inference: ShapeInference) -> None:
    state, axis, body = joined.state, joined.axis, loop_view.body
    outside, inside, name = Builder(loop_view.around), Builder(body), state.argument.name
    labels = [f"{name}_part"] * len(joined.parts)
    initial = outside.split(state.initial, joined.sizes, axis, labels)
    arguments, results, infos = list[Value](), list[Value](), []
    replaced = dict[Value, Value]()
    bare = [joined.bare(part) for part in range(len(joined.parts))]
    for part, own in enumerate(bare):
        if own is not None:
            initial[part] = outside.squeeze(initial[part], axis, labels[part])
        fact = inference.fact(own or joined.parts[part]).without_content()
        infos.append(declaration(labels[part], fact.type_proto(private=False)))
        arguments.append(body.add_input(labels[part], infos[part]))
    for read in joined.reads:
        first, stop = read.parts
        values = arguments[first:stop]
        value = inside.concat(values, axis, read.output.name) if len(values) > 1 else values[0]
        if read.is_element and bare[first] is None:
            value = inside.squeeze(value, axis, read.output.name)
        body.replace_uses(read.output, value)
        replaced[read.output] = value
    for whole, inner in zip(joined.parts, bare, strict=True):
        result = inner or whole
        results.append(own_output(replaced.get(result, result), results, inside))
    for node in dict.fromkeys(read.output.producer for read in joined.reads):
        assert node is not None
        body.remove(node)
    finals = add_states(loop_view, initial, results, infos, labels)
    if state.final is not None and loop_view.around.is_used(state.final):
        last = [
            final if own is None else outside.unsqueeze(final, axis, labels[0])
            for final, own in zip(finals, bare, strict=True)
        ]
        loop_view.around.replace_uses(state.final, outside.concat(last, axis, state.final.name))
