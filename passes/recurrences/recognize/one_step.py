"""Symbolic rules of RNN, GRU and LSTM nodes that compute a single step."""

from __future__ import annotations

from collections.abc import Callable

from ....ir import Node, Value
from ..functions import Function, functions_of
from ..layers import BIAS, CELL, GATES, HIDDEN, LENGTHS, PEEPHOLES
from ..weights import Unfit
from .column_sums import Row
from .polynomials import Activation, Sum, number
from .symbolic_cell import Interpretation, Rule


class _Step:
    """One node, and the symbolic sums of its gates."""

    def __init__(self, of: Interpretation, node: Node) -> None:
        self.of = of
        self.node = node
        self._require_plain()
        self.count = GATES[node.op_type]
        self.hidden = self._sum(HIDDEN)
        self.size = of.width(self._value(HIDDEN))
        self.functions = iter(self._functions())
        self.inputs = of.weight(self._value(1), 1).transpose()
        self.recurrent = of.weight(self._value(2), 1).transpose()

    def _functions(self) -> list[Function]:
        try:
            return functions_of(self.node)
        except Unfit as reason:
            raise Unfit(f"goes through {self.node}, which {reason}") from None

    def _require_plain(self) -> None:
        node, steps = self.node, self.of.shape(self._value(0))[0].value
        plain = node.attribute("direction", b"forward") in (b"forward", "forward")
        plain = plain and not node.attribute("layout", 0) and node.attribute("clip") is None
        if not plain or steps != 1 or node.input(LENGTHS) is not None or self.of.transposed:
            raise Unfit(f"goes through {node}, which is not one plain step")

    def _value(self, index: int) -> Value:
        value = self.node.input(index)
        if value is None:
            raise Unfit(f"goes through {self.node} without its input {index}")
        return value

    def _sum(self, index: int) -> Sum:
        row = self.of.row(self._value(index))
        if len(row) != 1:
            raise Unfit("is joined of several parts")
        return row[0][0]

    def input_part(self, gate: int) -> Sum:
        """The input's part of a gate, with its bias."""
        start = gate * self.size
        matrix = self.inputs.columns(start, start + self.size)
        ((total, _),) = self.of.multiply(self.of.row(self._value(0)), matrix)
        return total + self._bias(gate)

    def recurrent_part(self, gate: int, source: Sum) -> Sum:
        """The recurrent part of a gate, with its bias."""
        start = gate * self.size
        matrix = self.recurrent.columns(start, start + self.size)
        ((total, _),) = self.of.multiply(((source, self.size),), matrix)
        return total + self._bias(self.count + gate)

    def _bias(self, part: int) -> Sum:
        return self._columns(BIAS, part)

    def peephole(self, part: int, cell: Sum) -> Sum:
        """The peephole term of a gate."""
        return self._columns(PEEPHOLES, part) * cell

    def _columns(self, index: int, part: int) -> Sum:
        value = self.node.input(index)
        if value is None:
            return number(0.0)
        row = self.of.cut(self.of.row(value), part * self.size, (part + 1) * self.size)
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
        if self.node.attribute("linear_before_reset", 0):
            inner = reset * self.recurrent_part(2, self.hidden)
        else:
            inner = self.recurrent_part(2, reset * self.hidden)
        candidate = self.apply(function, self.input_part(2) + inner)
        return [candidate + update * (self.hidden - candidate)]

    def lstm(self) -> list[Sum]:
        """The hidden state and the cell."""
        gate, function, last = self.functions
        cell = self._sum(CELL)
        into, out, forget, candidate = (
            self.input_part(index) + self.recurrent_part(index, self.hidden) for index in range(4)
        )
        into_gate = self.apply(gate, into + self.peephole(0, cell))
        if self.node.attribute("input_forget", 0):
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
        return [((total, step.size),) for total in (hidden, hidden, *cell)]

    return rule


ONE_STEP: dict[str, Rule] = {
    "RNN": _rule(_Step.rnn),
    "GRU": _rule(_Step.gru),
    "LSTM": _rule(_Step.lstm),
}
"""The rules of these operators."""
