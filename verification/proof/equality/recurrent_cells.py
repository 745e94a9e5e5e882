"""GRU, LSTM and RNN as recurrences, by the equations of the operator specification.

The equations hold over the reals. Kernels add in another order, and clamp what activations take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import onnx

from ....facts.fact import Shape
from ....facts.polynomial import Dimension
from ....ops.axes import ONE
from ..simplify.padding import zeros
from ..simplify.slices import backward
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms
from .new_recurrences import new_recurrence

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
"""Gates of each operator, in the order of its weights: h; z, r, h; i, o, f, c."""

BY_EQUATIONS = "computes the equations of its specification, also where its kernel clamps"
"""Assumption about an operator that is compared by its equations."""

HAS_STEPS = "the sequences of {} have an element"
"""Assumption about an operator that has no state after the last step without a step."""

_OPSET = 13
"""Opset of the operators in the equations."""

_FIRST_OPSET = 7
"""First opset whose operators have these equations and outputs."""

_ABSENT: list[Term | None] = [None] * 8

_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}

_DEFAULTS = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}

_OF_SCHEMA = [b"Tanh", b"Tanh"]
"""Default of RNN's schema, whatever the number of directions."""

_PARAMETERS: dict[str, tuple[tuple[str, float], ...]] = {
    "Relu": (),
    "Tanh": (),
    "Sigmoid": (),
    "Softsign": (),
    "LeakyRelu": (("alpha", 0.01),),
    "Elu": (("alpha", 1.0),),
    "HardSigmoid": (("alpha", 0.2), ("beta", 0.5)),
}
"""Activations that are operators, and the defaults of their parameters. The defaults of the others
are in dispute."""

Activation = tuple[str, tuple[tuple[str, float], ...]]


class _Cell(NamedTuple):
    """Operands of one direction on one iteration.

    Attributes:
        x: the row of the input [batch, input].
        states: hidden state [batch, hidden], and cell of an LSTM.
        weights: for each gate, its matrix [input, hidden].
        recurrent: for each gate, its matrix [hidden, hidden].
        biases: for each gate, the bias of the input and that of the state [hidden].
        peepholes: vectors of the gates i, o and f [hidden]; empty without them.
        activations: functions f, g, h.
    """

    terms: Terms
    head: Head
    x: Term
    states: Sequence[Term]
    weights: Sequence[Term]
    recurrent: Sequence[Term]
    biases: Sequence[tuple[Term, Term]]
    peepholes: Sequence[Term]
    activations: Sequence[Activation]

    def op(self, op_type: str, *args: Term) -> Term:
        """Operator of an equation."""
        return self.terms.op(op_type, _OPSET, *args)

    def of_input(self, gate: int) -> Term:
        """Xt*(W^T)."""
        return self.op("MatMul", self.x, self.weights[gate])

    def of_state(self, gate: int, state: Term) -> Term:
        """Ht-1*(R^T)."""
        return self.op("MatMul", state, self.recurrent[gate])

    def sum(self, *parts: Term) -> Term:
        """Sum of several terms."""
        total, *rest = parts
        for part in rest:
            total = self.op("Add", total, part)
        return total

    def gate(self, gate: int, cell: Term | None = None, peephole: int = 0) -> Term:
        """Xt*(W^T) + Ht-1*(R^T) + Wb + Rb, and P (.) Ct."""
        total = self.sum(self.of_input(gate), self.of_state(gate, self.states[0]))
        if cell is not None and self.peepholes:
            total = self.sum(total, self.op("Mul", self.peepholes[peephole], cell))
        return self.sum(total, *self.biases[gate]) if self.biases else total

    def apply(self, number: int, x: Term) -> Term:
        """Activation f, g or h."""
        name, parameters = self.activations[number]
        return self.terms.op(name, _OPSET, x, **dict(parameters))

    def remainder(self, x: Term) -> Term:
        """1 - x."""
        dtype = onnx.helper.tensor_dtype_to_np_dtype(x.fact.elem_type)
        return self.op("Sub", self.terms.constant(np.ones((), dtype)), x)


def _rnn(cell: _Cell) -> list[Term]:
    """Ht = f(Xt*(Wi^T) + Ht-1*(Ri^T) + Wbi + Rbi)."""
    return [cell.apply(0, cell.gate(0))]


def _gru(cell: _Cell) -> list[Term]:
    """Ht = (1 - zt) (.) ht + zt (.) Ht-1."""
    (h,), biases = cell.states, cell.biases[2:]
    z, r = cell.apply(0, cell.gate(0)), cell.apply(0, cell.gate(1))
    # The reset gate multiplies the product with its bias, or else the state before the product.
    if cell.head.attribute("linear_before_reset", 0):
        inner = cell.sum(cell.of_state(2, h), *[own for _, own in biases])
        inner = cell.sum(cell.op("Mul", r, inner), *[other for other, _ in biases])
    else:
        inner = cell.of_state(2, cell.op("Mul", r, h))
        inner = cell.sum(inner, *[bias for pair in biases for bias in pair])
    new = cell.apply(1, cell.sum(cell.of_input(2), inner))
    return [cell.sum(cell.op("Mul", cell.remainder(z), new), cell.op("Mul", z, h))]


def _lstm(cell: _Cell) -> list[Term]:
    """Ct = ft (.) Ct-1 + it (.) ct; Ht = ot (.) h(Ct)."""
    _, c = cell.states
    i, f = cell.apply(0, cell.gate(0, c, 0)), cell.apply(0, cell.gate(2, c, 2))
    new = cell.apply(1, cell.gate(3))
    after = cell.sum(cell.op("Mul", f, c), cell.op("Mul", i, new))
    # The output gate reads the new cell, the other gates the old one (LSTM, peepholes).
    o = cell.apply(0, cell.gate(1, after, 1))
    return [cell.op("Mul", o, cell.apply(2, after)), after]


_EQUATIONS: dict[str, Callable[[_Cell], list[Term]]] = {"RNN": _rnn, "GRU": _gru, "LSTM": _lstm}


class RecurrentCells:
    """Opens recurrent operators.

    Attributes:
        assumptions: assumptions about the operators that were opened.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._outputs: dict[tuple[Head, Args], list[Term] | None] = {}
        self.assumptions: set[str] = set()

    def open(self, term: Term) -> Term | None:
        """Output of an operator as a term of recurrences.

        None for lengths of rows, a clip, coupled gates, activations in dispute and sizes that may
        not fit: the specification leaves these open.
        """
        if term.head.name not in GATES:
            return None
        key = term.head, term.args
        if key not in self._outputs:
            layer = _read(self._terms, term.head, term.args)
            self._outputs[key] = None if layer is None else layer.outputs()
        outputs = self._outputs[key]
        if outputs is None:
            return None
        self.assumptions.add(f"{term.head.name} {BY_EQUATIONS}")
        self.assume_steps(term.head, term.args)
        return outputs[term.index]

    def assume_steps(self, head: Head, args: Args) -> Dimension | None:
        """Number of steps of an operator, with an assumption if it may be 0; None if unknown."""
        shape = args[0].fact.shape if head.name in GATES and args and args[0] is not None else None
        if shape is None or len(shape) != 3:
            return None
        steps = shape[1 if head.attribute("layout", 0) else 0]
        if (steps - 1).less(0) is not False:
            self.assumptions.add(HAS_STEPS.format(head.name))
        return steps


class _Layer(NamedTuple):
    """Operands of an operator, and its attributes.

    Attributes:
        x: the input [length, batch, input].
        matrices: weights [directions, gates * hidden, input], and those of the state.
        bias: biases [directions, 2 * gates * hidden]; None if absent.
        initial: initial states [directions, batch, hidden].
        peepholes: peepholes [directions, 3 * hidden]; None if absent.
        backward: for each direction, whether it begins at the end.
        activations: functions f, g, h of each direction.
    """

    terms: Terms
    head: Head
    x: Term
    matrices: Sequence[Term]
    bias: Term | None
    initial: Sequence[Term]
    peepholes: Term | None
    backward: Sequence[bool]
    activations: Sequence[Sequence[Activation]]

    @property
    def hidden(self) -> int:
        """Width of a state."""
        width = self.matrices[1].shape[2].value
        assert width
        return width

    def outputs(self) -> list[Term]:
        """Outputs: the states of all iterations, and the last ones."""
        terms, (length, batch, _) = self.terms, self.x.shape
        sides = [self._direction(d) for d in range(len(self.backward))]
        size = Dimension.constant(self.hidden)
        rows = [terms.view(every, (length, ONE, batch, size)) for every, _ in sides]
        last = [
            [terms.view(side[1][k], (ONE, batch, size)) for side in sides]
            for k in range(len(self.initial))
        ]
        # Layout 1 has the batch first, in operands and results.
        if self.head.attribute("layout", 0):
            rows = [terms.op("Transpose", _OPSET, row, perm=[2, 0, 1, 3]) for row in rows]
            last = [
                [terms.op("Transpose", _OPSET, state, perm=[1, 0, 2]) for state in states]
                for states in last
            ]
            return [self._joined(rows, 2), *(self._joined(states, 1) for states in last)]
        return [self._joined(rows, 1), *(self._joined(states, 0) for states in last)]

    def _joined(self, parts: Sequence[Term], axis: int) -> Term:
        if len(parts) == 1:
            return parts[0]
        return self.terms.op("Concat", _OPSET, *parts, axis=axis)

    def _direction(self, d: int) -> tuple[Term, list[Term]]:
        """States of one direction after each iteration, and after the last."""
        terms, (length, batch, width) = self.terms, self.x.shape
        # A single iteration is its equations, without a recurrence.
        if length == 1:
            row = terms.view(self.x, (batch, width))
            last = self._updates(d, row, self._initial(d))
            return terms.view(last[0], (ONE, *last[0].shape)), last

        def updates(states: Sequence[Term], index: Dimension) -> Sequence[Term]:
            place = length - 1 - index if self.backward[d] else index
            row = terms.view(terms.narrow(self.x, 0, place, 1), (batch, width))
            return self._updates(d, row, states)

        operands = self.x, *self.matrices, self.bias, self.peepholes
        layer = new_recurrence(terms, length, self._initial(d), updates, operands)
        every, count = layer.stacked(0), len(self.initial)
        every = backward(terms, every, 0) if self.backward[d] else every
        return every, [layer.final(k) for k in range(count)]

    def _initial(self, d: int) -> list[Term]:
        """Initial states of one direction."""
        terms = self.terms
        return [terms.view(terms.narrow(s, 0, d, 1), s.shape[1:]) for s in self.initial]

    def _updates(self, d: int, x: Term, states: Sequence[Term]) -> list[Term]:
        """States after an iteration."""
        terms, gates = self.terms, GATES[self.head.name]
        weights, recurrent = (
            [terms.op("Transpose", _OPSET, part, perm=[1, 0]) for part in self._parts(w, d, gates)]
            for w in self.matrices
        )
        biases = [] if self.bias is None else list(self._parts(self.bias, d, 2 * gates))
        peepholes = [] if self.peepholes is None else list(self._parts(self.peepholes, d, 3))
        pairs = list(zip(biases[:gates], biases[gates:], strict=True))
        functions = self.activations[d]
        cell = _Cell(terms, self.head, x, states, weights, recurrent, pairs, peepholes, functions)
        return _EQUATIONS[self.head.name](cell)

    def _parts(self, x: Term, d: int, count: int) -> Iterator[Term]:
        """Parts of a direction's weights, one for each gate."""
        own = self.terms.view(self.terms.narrow(x, 0, d, 1), x.shape[1:])
        for part in range(count):
            yield self.terms.narrow(own, 0, part * self.hidden, self.hidden)


def _read(terms: Terms, head: Head, args: Args) -> _Layer | None:
    """Operands of an operator in one layout; None if it is not decided."""
    x, w, r, bias, lengths, h, c, peepholes = [*args, *_ABSENT][:8]
    backward_by_direction = _DIRECTIONS.get(head.text("direction") or "forward")
    if x is None or w is None or r is None or backward_by_direction is None:
        return None
    functions = _activations(head, len(backward_by_direction))
    limited = head.attribute("clip") is not None or head.attribute("input_forget", 0)
    if functions is None or lengths is not None or limited or head.opset < _FIRST_OPSET:
        return None
    states = [h, c] if head.name == "LSTM" else [h]
    if x.fact.shape is None or len(x.shape) != 3:
        return None
    if head.attribute("layout", 0):
        x = terms.op("Transpose", _OPSET, x, perm=[1, 0, 2])
        states = [s and terms.op("Transpose", _OPSET, s, perm=[1, 0, 2]) for s in states]
    count = Dimension.constant(len(backward_by_direction))
    hidden = r.shape[2] if r.fact.shape is not None and len(r.shape) == 3 else None
    if hidden is None or not hidden.value:
        return None
    shape = (count, x.shape[1], hidden)
    full = [zeros(terms, x.fact.elem_type, shape) if s is None else s for s in states]
    layer = _Layer(terms, head, x, (w, r), bias, full, peepholes, backward_by_direction, functions)
    return layer if _fits(layer) else None


def _fits(layer: _Layer) -> bool:
    """Test whether all operands certainly have the sizes of the specification."""
    length, batch, width = layer.x.shape
    count, hidden = Dimension.constant(len(layer.backward)), Dimension.constant(layer.hidden)
    gates = GATES[layer.head.name]
    shapes: list[tuple[Term | None, Shape]] = [
        (layer.matrices[0], (count, hidden * gates, width)),
        (layer.matrices[1], (count, hidden * gates, hidden)),
        (layer.bias, (count, hidden * (2 * gates))),
        (layer.peepholes, (count, hidden * 3)),
    ]
    shapes += [(state, (count, batch, hidden)) for state in layer.initial]
    if any(term is not None and term.fact.shape != shape for term, shape in shapes):
        return False
    types = {term.fact.elem_type for term, _ in shapes if term is not None}
    if types != {layer.x.fact.elem_type} or not layer.x.fact.elem_type:
        return False
    # The check of a rewrite assumes no step: onnxruntime leaves the last state undefined without
    # one, and ends the process in a GRU.
    least = int(layer.terms.is_brief)
    return length.less(least) is False and batch.value != 0 and width.value != 0


def _activations(head: Head, directions: int) -> list[list[Activation]] | None:
    """Functions of each direction; None for unknown ones, or parameters in dispute."""
    defaults = _DEFAULTS[head.name]
    names = head.attribute("activations") or list(defaults) * directions
    if head.name == "RNN" and directions == 1 and list(names) == _OF_SCHEMA:
        names = names[:1]
    if len(names) != len(defaults) * directions:
        return None
    values = {
        name: [float(v) for v in head.attribute(f"activation_{name}") or ()]
        for name in ("alpha", "beta")
    }
    functions: list[Activation] = []
    for name in names:
        text = name.decode() if isinstance(name, bytes) else str(name)
        if text not in _PARAMETERS:
            return None
        own = [
            (parameter, values[parameter].pop(0) if values[parameter] else default)
            for parameter, default in _PARAMETERS[text]
        ]
        functions.append((text, tuple(own)))
    if any(values.values()):
        return None
    each = len(defaults)
    return [functions[d * each : (d + 1) * each] for d in range(directions)]
