"""RNN, GRU and LSTM: onnx.reference knows few of their activations and attributes."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from ..bodies import Array
from ..errors import EvaluationError

Function = Callable[[Array, float, float], Array]


def _sigmoid(x: Array, alpha: float, beta: float) -> Array:
    # The exponential of a number that is not positive does not overflow.
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1, small) / (1 + small), x.dtype)


_FUNCTIONS: dict[str, tuple[Function, tuple[float, ...]]] = {
    "relu": (lambda x, a, b: np.maximum(x, 0), ()),
    "tanh": (lambda x, a, b: np.tanh(x), ()),
    "sigmoid": (_sigmoid, ()),
    "affine": (lambda x, a, b: a * x + b, (1.0, 0.0)),
    "leakyrelu": (lambda x, a, b: np.where(x < 0, a * x, x), (0.01,)),
    "thresholdedrelu": (lambda x, a, b: np.where(x > a, x, 0), (1.0,)),
    "scaledtanh": (lambda x, a, b: a * np.tanh(b * x), (1.0, 1.0)),
    "hardsigmoid": (lambda x, a, b: np.clip(a * x + b, 0, 1), (0.2, 0.5)),
    # `where` computes both sides, so the other one must not overflow.
    "elu": (lambda x, a, b: np.where(x < 0, a * np.expm1(np.minimum(x, 0)), x), (1.0,)),
    "softsign": (lambda x, a, b: x / (1 + np.abs(x)), ()),
    "softplus": (lambda x, a, b: np.logaddexp(x, 0), ()),
}
"""By their names in small letters, with what their parameters are where they are left out."""


class _Recurrent(OpRun):
    """Base of RNN, GRU and LSTM.

    Attributes:
        gates: how many there are.
        defaults: the activations.
        states: how many states there are.
    """

    gates = 1
    defaults: tuple[str, ...] = ("Tanh",)
    states = 1

    def _run(self, x: Array, w: Array, r: Array, *more: Any, **options: Any) -> tuple[Array, ...]:
        operands = [*more, *[None] * (5 - len(more))]
        bias, lengths, initial, peepholes = operands[0], operands[1], operands[2:4], operands[4]
        if any(a is not None and a.ndim != 3 for a in (x, w, r, *initial)):
            raise EvaluationError("its operands and states have three axes")
        if options.get("layout"):
            x = np.swapaxes(x, 0, 1)
            initial = [None if s is None else np.swapaxes(s, 0, 1) for s in initial]
        iterations, batch, size = x.shape[0], x.shape[1], r.shape[-1]
        directions = _directions(options.get("direction") or "forward")
        functions = self._functions(options, len(directions))
        ends = np.full(batch, iterations) if lengths is None else np.asarray(lengths)
        every = np.zeros((iterations, len(directions), batch, size), x.dtype)
        last = [np.zeros((len(directions), batch, size), x.dtype) for _ in range(self.states)]
        for number, backward in enumerate(directions):
            cell = _Cell(self, number, w, r, bias, peepholes, functions, options)
            for row in range(batch):
                states = [
                    np.zeros(size, x.dtype) if s is None else s[number, row]
                    for s in initial[: self.states]
                ]
                # Each row ends at its own length, where its backward direction begins.
                steps = range(int(ends[row]))
                for step in reversed(steps) if backward else steps:
                    states = [s.astype(x.dtype) for s in self.step(cell, x[step, row], *states)]
                    every[step, number, row] = states[0]
                for index, state in enumerate(states):
                    last[index][number, row] = state
        if options.get("layout"):
            every = np.transpose(every, (2, 0, 1, 3))
            last = [np.swapaxes(state, 0, 1) for state in last]
        return (every, *last)

    def _functions(self, options: dict[str, Any], directions: int) -> list[list[Any]]:
        names = options.get("activations") or [*self.defaults] * directions
        alphas, betas = (iter(options.get(f"activation_{n}") or ()) for n in ("alpha", "beta"))
        functions = [_function(name, alphas, betas) for name in names]
        each = len(self.defaults)
        return [functions[each * index : each * (index + 1)] for index in range(directions)]

    def step(self, cell: "_Cell", x: Array, *states: Array) -> tuple[Array, ...]:
        """The states after a step."""
        raise NotImplementedError


class _Cell:
    """The weights of one direction."""

    def __init__(
        self,
        of: _Recurrent,
        number: int,
        w: Array,
        r: Array,
        bias: Array | None,
        peepholes: Array | None,
        functions: list[list[Any]],
        options: dict[str, Any],
    ) -> None:
        size = r.shape[-1]
        self.w, self.r = (m[number].reshape(of.gates, size, -1) for m in (w, r))
        zeros = np.zeros((2 * of.gates, size), w.dtype)
        self.bias = zeros if bias is None else bias[number].reshape(2 * of.gates, size)
        self.gates = of.gates
        self.peepholes = None if peepholes is None else peepholes[number].reshape(3, size)
        self.functions = functions[number]
        self.clip = options.get("clip")
        self.options = options

    def fed(self, gate: int, x: Array) -> Array:
        """The input's part of a gate."""
        return np.asarray(self.w[gate] @ x + self.bias[gate])

    def kept(self, gate: int, h: Array) -> Array:
        """The recurrent part of a gate."""
        return np.asarray(self.r[gate] @ h + self.bias[self.gates + gate])

    def seen(self, index: int, total: Array, cell: Array) -> Array:
        """A gate with what it sees of the cell: nothing where there are no peepholes, even of one
        that is infinite."""
        return total if self.peepholes is None else total + self.peepholes[index] * cell

    def applied(self, index: int, total: Array) -> Array:
        """An activation."""
        if self.clip is not None:
            total = np.clip(total, -self.clip, self.clip)
        return np.asarray(self.functions[index](total))


class RNN(_Recurrent):
    """RNN, with all that its schema has."""

    def step(self, cell: _Cell, x: Array, *states: Array) -> tuple[Array, ...]:
        """The hidden state."""
        (h,) = states
        return (cell.applied(0, cell.fed(0, x) + cell.kept(0, h)),)


class GRU(_Recurrent):
    """GRU, with all that its schema has."""

    gates = 3
    defaults = ("Sigmoid", "Tanh")

    def step(self, cell: _Cell, x: Array, *states: Array) -> tuple[Array, ...]:
        """The hidden state."""
        (h,) = states
        update, reset = (cell.applied(0, cell.fed(g, x) + cell.kept(g, h)) for g in (0, 1))
        if cell.options.get("linear_before_reset"):
            inner = reset * cell.kept(2, h)
        else:
            inner = cell.kept(2, reset * h)
        return ((1 - update) * cell.applied(1, cell.fed(2, x) + inner) + update * h,)


class LSTM(_Recurrent):
    """LSTM, with all that its schema has."""

    gates = 4
    defaults = ("Sigmoid", "Tanh", "Tanh")
    states = 2

    def step(self, cell: _Cell, x: Array, *states: Array) -> tuple[Array, ...]:
        """The hidden state and the cell."""
        h, c = states
        into, out, forget, new = (cell.fed(g, x) + cell.kept(g, h) for g in range(4))
        into = cell.applied(0, cell.seen(0, into, c))
        if cell.options.get("input_forget"):
            forget = 1 - into
        else:
            forget = cell.applied(0, cell.seen(2, forget, c))
        c = forget * c + into * cell.applied(1, new)
        return cell.applied(0, cell.seen(1, out, c)) * cell.functions[2](c), c


def _directions(direction: str) -> list[bool]:
    """For each direction whether it goes backward."""
    names = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}
    if direction not in names:
        raise EvaluationError(f"there is no direction '{direction}'")
    return names[direction]


def _function(
    name: str, alphas: Iterator[float], betas: Iterator[float]
) -> Callable[[Array], Array]:
    entry = _FUNCTIONS.get(name.lower())
    if entry is None:
        raise EvaluationError(f"there is no activation '{name}'")
    function, defaults = entry
    # The lists have values only for the functions that take one, in their order.
    operands = [next(n, d) for n, d in zip((alphas, betas), defaults, strict=False)]
    alpha, beta = [*operands, 0.0, 0.0][:2]
    return lambda x: function(x, alpha, beta).astype(x.dtype)
