"""RNN, GRU and LSTM with a copy of the cell for each step."""

from collections.abc import Callable, Sequence

import numpy as np

from ....ir import Array, Value
from ....ir.lazy import lazy_property
from ..layers import INPUT, LENGTHS
from .expansion import Direction, Expansion

_AROUND = 32
"""The maximum number of nodes of a direction around the steps."""
_CHOSEN = 2
"""The number of selects between new and old states in a step."""


def straight_cost(of: Expansion, steps: int) -> int:
    """The maximum number of nodes of the unrolled steps."""
    selects = 0 if of.layer.node.input(LENGTHS) is None else _CHOSEN
    return sum(_AROUND + steps * (len(d.step) + selects) for d in of.directions)


class UnrolledSteps:
    """The steps of a node as copies of the cell."""

    def __init__(self, of: Expansion, steps: int, report: Callable[[int], None]) -> None:
        self.of = of
        self.emit = of.emit
        self.steps = steps
        self.report = report
        self.lengths = of.layer.node.input(LENGTHS)
        self.fixed_ends = None if self.lengths is None else self.lengths.array
        self.live = self._live()

    def outputs(self) -> list[Value | None]:
        """Emit the outputs."""
        by_rows = self.by_rows()
        results = [self.direction(direction, by_rows) for direction in self.of.directions]
        every = [hidden for hidden, _ in results]
        whole = self.every(every) if self.of.is_used(0) else None
        return [whole, *self.of.last_states([states for _, states in results])]

    def by_rows(self) -> Value:
        """Emit the input with rows as the first axis; a single step has no axis."""
        source, steps_first = self.of.layer.node.operand(INPUT), not self.of.layer.batch_first
        if self.steps == 1:
            return self.emit.squeeze(source, 0 if steps_first else 1, "by_rows")
        return self.emit.transpose(source, (1, 0, 2) if steps_first else (0, 1, 2), "by_rows")

    def direction(self, direction: Direction, by_rows: Value) -> tuple[list[Value], list[Value]]:
        """Emit the hidden states of all steps, in input order, and the last states."""
        whole = not self.steps or self.fixed_ends is not None
        states = self.of.initial(direction.number, whole)
        if not self.steps:
            return [], states
        template = direction.template(self.of.graph)
        projections, hidden = self.projections(direction, by_rows), list[Value]()
        name = f"_{direction.number}" if len(self.of.directions) > 1 else ""
        for step in range(self.steps)[:: -1 if direction.backward else 1]:
            self.report(step)
            alive = self.live_rows(step)
            if alive is not False:
                inputs = [*states, projections[step], *direction.weights]
                new = template.instantiate(inputs, f"{name}_{step}")
                states = new if alive is True else self.select(alive, new, states)
            hidden.append(states[0])
        return hidden[::-1] if direction.backward else hidden, states

    def projections(self, direction: Direction, by_rows: Value) -> list[Value]:
        """Emit the input projection of each step."""
        projection, width = direction.project(by_rows), self.of.layer.gates * self.of.layer.hidden
        if self.steps == 1:
            return [projection]
        shape = self.emit.vector((0, self.steps * width), "shape")
        flat = self.emit.add("Reshape", [projection, shape], "fed_flat")
        labels = [f"fed_{step}" for step in range(self.steps)]
        return self.emit.split(flat, [width] * self.steps, 1, labels)

    def every(self, hidden: Sequence[Sequence[Value]]) -> Value:
        """Emit the output of all hidden states, from the states by direction."""
        layer, name = self.of.layer, self.of.layer.node.output().name
        sizes = self.steps, len(hidden), layer.hidden
        if sizes[:2] == (1, 1) and self.live is None:
            return self.emit.unsqueeze(hidden[0][0], (1, 2) if layer.batch_first else (0, 1), name)
        if self.steps:
            flat = self.emit.concat(
                [h for step in zip(*hidden, strict=True) for h in step], 1, "hs"
            )
            shape = self.emit.vector((0, *sizes), "shape")
            whole = self.emit.add("Reshape", [flat, shape], f"{name}_by_rows")
            whole = self.mask(whole)
        else:
            whole = self.of.zeros(sizes, whole=True)
        return whole if layer.batch_first else self.emit.transpose(whole, (1, 2, 0, 3), name)

    # Rows that end ------------------------------------------------------------------------------

    def _live(self) -> Array | Value | None:
        """The flags of live steps, by row; None where all are live."""
        if self.lengths is None or not self.steps:
            return None
        numbers = np.arange(self.steps, dtype=np.int32)[None]
        if self.fixed_ends is not None:
            live: Array = numbers < self.fixed_ends.reshape(-1, 1)
            return None if live.all() else live
        ends = self.emit.unsqueeze(self.lengths, 1, "ends")
        return self.emit.add("Less", [self.emit.constant(numbers, "steps"), ends], "alive")

    def live_rows(self, step: int) -> Value | bool:
        """The flags of rows that are live in a step; True for all, False for none."""
        if self.live is None:
            return True
        if isinstance(self.live, Value):
            return self.columns[step]
        column = self.live[:, step : step + 1]
        if column.all() or not column.any():
            return bool(column.all())
        return self.emit.constant(column, "alive")

    @lazy_property
    def columns(self) -> list[Value]:
        """The run-time flags of live rows, by step."""
        assert isinstance(self.live, Value)
        if self.steps == 1:
            return [self.live]
        labels = [f"alive_{step}" for step in range(self.steps)]
        return self.emit.split(self.live, [1] * self.steps, 1, labels)

    def select(self, alive: Value, new: list[Value], old: list[Value]) -> list[Value]:
        """Select the states after a step: new ones in live rows."""
        return [
            self.emit.add("Where", [alive, one, other], f"{one.name}_chosen")
            for one, other in zip(new, old, strict=True)
        ]

    def mask(self, whole: Value) -> Value:
        """Replace hidden states past the end of each row by zeros."""
        if self.live is None:
            return whole
        alive = self.live
        if isinstance(alive, Value):
            alive = self.emit.unsqueeze(alive, (2, 3), "alive")
        else:
            alive = self.emit.constant(alive[:, :, None, None], "alive")
        zero = self.of.constant(np.zeros(()), "zero")
        return self.emit.add("Where", [alive, whole, zero], whole.name)
