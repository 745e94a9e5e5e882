"""The outputs of the loop that is left, asked for before it is made."""

from __future__ import annotations

from ...facts.fact import Fact
from ...ir import Operator, Value
from ...ops.batching import Operand, Unbatchable
from .batched_inputs import Feeding, around
from .loop_view import Repetition, Stacked, State

_PLACEHOLDER = Operator("Output", domain="straightline.remainder")
"""Stands for an output of the loop until it is known which are asked for."""


class Remainder:
    """What is computed trip by trip, as the code behind the loop sees it.

    Args:
        repetition: the Loop or Scan as it is.
        feeding: what it is fed with.
        certain: whether it makes a trip, whatever is fed.

    Attributes:
        finals: final states, each with what stands for it until the loop is made.
        stacked: scan outputs of the original.
        rows: values of the body that code behind the loop reads for all trips.
    """

    def __init__(self, repetition: Repetition, feeding: Feeding, certain: bool) -> None:
        self.repetition = repetition
        self.feeding = feeding
        self._certain = certain
        self._visible = _symbols_around(repetition, feeding)
        self._rows: dict[Value, Operand] = {}
        self.finals: dict[State, Value] = {}
        self.stacked: dict[Stacked, Value] = {}
        self.rows: dict[Value, Value] = {}

    def operand(self, value: Value) -> Operand:
        """A value that is computed trip by trip, for all trips, as code behind the loop sees it.

        Raises:
            Unbatchable: its size may change from trip to trip.
        """
        if value not in self._rows:
            fact = self.feeding.inference.fact(value).without_content()
            self._require_one_shape(value, fact)
            self.feeding.require_room(f"computes '{value.name}' trip by trip", fact)
            self.rows[value] = self._placeholder(value.name)
            settled = self._settled(self.rows[value], fact)
            self._rows[value] = Operand(settled, True, fact)
        return self._rows[value]

    def final(self, state: State) -> Value:
        """What the last trip gave on."""
        return self.finals.setdefault(state, self._placeholder(named(state)))

    def output(self, stacked: Stacked) -> Value:
        """What is put together of an element of each trip, as the original does it."""
        return self.stacked.setdefault(stacked, self._placeholder(named(stacked)))

    def drop_unread(self) -> None:
        """Forget the rows of which nothing is made after all."""
        self.rows = {value: row for value, row in self.rows.items() if row.graph is not None}

    def _placeholder(self, label: str) -> Value:
        return self.feeding.emit.graph.add_node(_PLACEHOLDER, [], [label]).output()

    def _require_one_shape(self, value: Value, fact: Fact) -> None:
        if fact.shape is None or not fact.elem_type:
            raise Unbatchable(f"computes '{value.name}', whose rank is not known, trip by trip")
        if any(not dim.symbols <= self._visible for dim in fact.shape):
            raise Unbatchable(f"computes '{value.name}', whose size may change, trip by trip")

    def _settled(self, rows: Value, fact: Fact) -> Value:
        """Rows with the sizes of one element even if there are none.

        Without a trip, a Loop takes the sizes that its body does not tell for 0.
        """
        shape = fact.shape or ()
        if self._certain or all(dim.value is not None for dim in shape):
            return rows
        sizes = [self.feeding.size(dim) for dim in shape]
        target = self.feeding.emit.concat([self.feeding.trips, *sizes], 0, "rows_shape")
        return self.feeding.emit.add("Reshape", [rows, target], rows.name)


def named(output: State | Stacked) -> str:
    """What an output is called around the loop, or inside where nobody asks for it."""
    given = output.final if isinstance(output, State) else output.output
    return (given or output.result).name


def _symbols_around(repetition: Repetition, feeding: Feeding) -> set[str]:
    """The symbols of sizes that are the same on every trip."""
    shapes = [feeding.inference.fact(v).shape or () for v in around(repetition.node)]
    return {symbol for shape in shapes for dim in shape for symbol in dim.symbols}
