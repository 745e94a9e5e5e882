"""Masked cells: h = Where (mask, new, h) keeps the state of some rows, as h + m (new - h) does.

Operators have no mask, but rows may have different lengths. So the live elements of each row are
packed first, in their order, and the row runs as many steps. The state after iteration t is the
state after as many steps as the row had live elements up to t:

rows = Concat (h0, h_all), counts = CumSum (mask), h = GatherElements (rows, counts)
"""

from collections.abc import Callable

import onnx

from ....analysis.iterations.trip_count import skip_identities
from ....facts.fact import Fact
from ....ir import Node, Operator, Value
from ....ir.lazy import lazy_property
from ....ops.builder import Builder
from ....records import record
from ...iteration.loop_view import State
from ...iteration.places import kept_by
from .extents import number_of
from .recurrence import Recurrence

_INT64 = onnx.TensorProto.INT64


@record(frozen=True)
class Mask:
    """A mask: for each row, true or false if the iteration is live.

    Attributes:
        value: the mask, of truth values.
        keeps: true if the mask keeps a state where it is true, not where it is false.
    """

    value: Value
    keeps: bool

    def operand(self, node: Node) -> Value | None:
        """The operand of a Where in live iterations; None for another condition."""
        return node.input(1 + self.keeps) if node.input(0) is self.value else None


def find_mask(recurrence: Recurrence) -> Mask | None:
    """The common mask of all states of a recurrence, or None."""
    masks = {_mask_of(recurrence, state) for state in recurrence.states}
    return masks.pop() if len(masks) == 1 else None


def _mask_of(recurrence: Recurrence, state: State) -> Mask | None:
    node, place = kept_by(state) or (None, 0)
    if node is None or node not in recurrence.nodes:
        return None
    condition = node.operand(0)
    return None if condition.producer in recurrence.nodes else Mask(condition, place == 1)


def truth_of(value: Value, fact: Callable[[Value], Fact]) -> Mask | None:
    """The condition that makes a value 1, or with `keeps` 0; None for other values."""
    node = skip_identities(value).producer
    source = None if node is None or not node.inputs else node.inputs[-1]
    if node is None or source is None or node.domain or node.op.references:
        return None
    if node.is_op("Cast"):
        is_truth = fact(source).elem_type == onnx.TensorProto.BOOL
        return Mask(source, False) if is_truth else None
    inner = truth_of(source, fact) if node.is_op("Sub") else None
    if inner is None or number_of(node.operand(0)) != 1.0:
        return None
    return Mask(inner.value, not inner.keeps)


def mask_aliases(state: State) -> list[Value]:
    """The values of the body that equal a masked state in the next iteration."""
    names, last = [state.result], skip_identities(state.result)
    while names[-1] is not last and (node := names[-1].producer) is not None:
        names.append(node.operand(0))
    return names


class Packing:
    """Packing of live elements before the others.

    Args:
        counts: 1 for live iterations, else 0: int64, [iterations, batch, 1], of one element at
            least.
    """

    def __init__(self, emit: Builder, counts: Value) -> None:
        self._emit = emit
        self._counts = counts

    @lazy_property
    def _all(self) -> Value:
        """The number of live elements in each row, [batch, 1]."""
        return self._emit.reduce("ReduceSum", self._counts, (0,), "lengths", small=True)

    @lazy_property
    def _nothing(self) -> Value:
        """The flags of rows without live elements, [batch, 1]."""
        return self._emit.add("Equal", [self._all, self._emit.vector((0,), "k")], "nothing")

    @lazy_property
    def lengths(self) -> Value:
        """The number of steps of each row, at least one: operators reject zero."""
        # onnxruntime refuses a length of 0; `last` discards the step that is made instead.
        one = self._emit.add("Cast", [self._nothing], "one", to=_INT64)
        steps = self._emit.add("Add", [self._all, one], "steps")
        steps = self._emit.squeeze(steps, 1, "steps")
        return self._emit.add("Cast", [steps], "steps", to=onnx.TensorProto.INT32)

    def pack(self, source: Value) -> Value:
        """Pack the input, [iterations, batch, elements], with live elements first."""
        emit = self._emit
        iterations = emit.size(self._counts, 0, "iterations")
        # Keys fall from the trip count for live elements, and from 0 for the rest.
        numbers = emit.numbers(emit.scalar(iterations, "iterations"), "numbers")
        keys = emit.add("Mul", [self._counts, iterations], "keys")
        keys = emit.add("Sub", [keys, emit.unsqueeze(numbers, (1, 2), "numbers")], "keys")
        _, order = emit.several(
            Operator.make("TopK", axis=0), [keys, iterations], ["sorted", "order"]
        )
        return self._gather(source, order)

    def every(self, hidden: Value, initial: Value) -> Value:
        """Emit the states after each iteration, [iterations, batch, elements], from those of
        steps."""
        counts = self._emit.running_sum(self._counts, "reached")
        return self._gather(self._emit.concat([initial, hidden], 0, "rows"), counts)

    def last(self, final: Value, initial: Value) -> Value:
        """Emit the state after the last iteration, [1, batch, elements], from the last step's."""
        return self._emit.add("Where", [self._nothing, initial, final], final.name)

    def _gather(self, source: Value, places: Value) -> Value:
        """Emit a gather of elements, row by row."""
        ones = self._emit.vector((1, 1), "ones")
        width = self._emit.size(source, 2, "width")
        shape = self._emit.concat([ones, width], 0, "shape")
        places = self._emit.add("Expand", [places, shape], "places")
        return self._emit.add("GatherElements", [source, places], source.name, axis=0)
