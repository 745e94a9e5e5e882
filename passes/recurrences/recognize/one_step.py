"""Symbolic rules of RNN, GRU and LSTM nodes that compute a single step."""

from collections.abc import Callable

from ....ir import Node
from ..functions import Function
from ..layers import (
    BIAS,
    CELL,
    HIDDEN,
    INPUT,
    LENGTHS,
    PEEPHOLES,
    RECURRENT,
    WEIGHTS,
    read_layer,
    required_input,
)
from ..weights import Matrix, Unfit
from .column_sums import Row, cut
from .polynomials import Activation, Sum, number
from .symbolic_cell import Interpretation, Rule


class _Step:
    """One node, and the symbolic sums of its gates."""

    def __init__(self, of: Interpretation, node: Node) -> None:
        self.of = of
        self.node = node
        try:
            self.layer = layer = read_layer(node, of.recurrence.iterations.inference)
        except Unfit as reason:
            raise Unfit(f"goes through {node}, which {reason}") from None
        plain = layer.backward == (False,) and not layer.batch_first and layer.clip is None
        if not plain or layer.length != 1 or node.input(LENGTHS) is not None or of.transposed:
            raise Unfit(f"goes through {node}, which is not one plain step")
        (self.functions,) = layer.functions
        self.hidden = of.result(required_input(node, HIDDEN))
        self.inputs = of.weight(required_input(node, WEIGHTS), 1).transpose()
        self.recurrent = of.weight(required_input(node, RECURRENT), 1).transpose()

    def input_part(self, gate: int) -> Sum:
        """The input's part of a gate, with its bias."""
        return self._product(self.of.row(required_input(self.node, INPUT)), self.inputs, gate, gate)

    def recurrent_part(self, gate: int, source: Sum) -> Sum:
        """The recurrent part of a gate, with its bias."""
        row = ((source, self.layer.hidden),)
        return self._product(row, self.recurrent, gate, self.layer.gates + gate)

    def _product(self, row: Row, matrix: Matrix, gate: int, bias: int) -> Sum:
        start, size = gate * self.layer.hidden, self.layer.hidden
        ((total, _),) = self.of.multiply(row, matrix.columns(start, start + size))
        return total + self._columns(BIAS, bias)

    def peephole(self, part: int, cell: Sum) -> Sum:
        """The peephole term of a gate."""
        return self._columns(PEEPHOLES, part) * cell

    def _columns(self, index: int, part: int) -> Sum:
        value = self.node.input(index)
        if value is None:
            return number(0.0)
        start, size = part * self.layer.hidden, self.layer.hidden
        row = cut(self.of.atoms, self.of.row(value), start, start + size)
        return row[0][0]

    def apply(self, function: Function, total: Sum) -> Sum:
        """Apply an activation."""
        return self.of.atoms.of(Activation(*function, total))

    def rnn(self) -> list[Sum]:
        """The hidden state."""
        (function,) = self.functions
        return [self.apply(function, self.input_part(0) + self.recurrent_part(0, self.hidden))]

    def gru(self) -> list[Sum]:
        """The hidden state."""
        gate, function = self.functions
        update, reset = (
            self.apply(gate, self.input_part(index) + self.recurrent_part(index, self.hidden))
            for index in (0, 1)
        )
        if self.layer.reset_after:
            inner = reset * self.recurrent_part(2, self.hidden)
        else:
            inner = self.recurrent_part(2, reset * self.hidden)
        candidate = self.apply(function, self.input_part(2) + inner)
        return [candidate + update * (self.hidden - candidate)]

    def lstm(self) -> list[Sum]:
        """The hidden state and the cell."""
        gate, function, last = self.functions
        cell = self.of.result(required_input(self.node, CELL))
        into, out, forget, candidate = (
            self.input_part(index) + self.recurrent_part(index, self.hidden) for index in range(4)
        )
        into_gate = self.apply(gate, into + self.peephole(0, cell))
        if self.layer.coupled:
            keeps = number(1.0) - into_gate
        else:
            keeps = self.apply(gate, forget + self.peephole(2, cell))
        old = keeps * cell
        new = old + into_gate * self.apply(function, candidate)
        opened = self.apply(gate, out + self.peephole(1, new))
        return [opened * self.apply(last, new), new]


def _rule(compute: Callable[[_Step], list[Sum]]) -> Rule:
    def rule(of: Interpretation, node: Node) -> list[Row]:
        step = _Step(of, node)
        hidden, *cell = compute(step)
        return [((total, step.layer.hidden),) for total in (hidden, hidden, *cell)]

    return rule


ONE_STEP: dict[str, Rule] = {
    "RNN": _rule(_Step.rnn),
    "GRU": _rule(_Step.gru),
    "LSTM": _rule(_Step.lstm),
}
"""The rules of these operators."""
