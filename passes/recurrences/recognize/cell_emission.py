"""Emission of recurrent cells as GRU, LSTM or RNN, with weights, input and outputs."""

import functools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import onnx

from ....ir import Operator, Value
from ...costs.table import cost_table
from ..functions import attributes_of, loses_nan
from ..weights import Block, Unfit, Weights
from .affine import Affine
from .cell_matching import Cell, find_cell
from .masked_sequences import Packing
from .one_step import ONE_STEP
from .polynomials import Free, Monomial
from .recurrence import Recurrence, Replacement
from .rules import RULES
from .sequence import Sequence3
from .sink_products import read_hoisted
from .symbolic_cell import Interpretation

_TYPES = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)
"""The element types with kernels in onnxruntime."""

TESTED_ULPS = 16
"""The maximum difference of outputs in the tests, in units in the last place.

The tests have states within some units of 0; unbounded or chaotic states amplify any rounding.
"""

_UNIT = ("Sigmoid", "HardSigmoid")
"""The activations between 0 and 1."""
_CENTRED = ("Tanh", "Softsign")
"""Activations with results between -1 and 1."""


class _Emission:
    def __init__(self, of: Interpretation, cell: Cell) -> None:
        self.of = of
        self.cell = cell
        self.recurrence = of.recurrence
        self.emit = self.recurrence.emit
        fact = self.recurrence.fact(cell.hidden.argument)
        if fact.elem_type not in _TYPES:
            raise Unfit("is of an element type for which onnxruntime has no such operator")
        dtype = onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type)
        self.weights = Weights(self.emit, self.recurrence.iterations.operand, dtype)
        self.sequence = Sequence3(of, cell.hidden)
        self.size = of.width(cell.hidden.argument)
        self.options = self.recurrence.iterations.options
        self.biases: list[list[tuple[float, Monomial]]] = []

    def run(self) -> Replacement:
        """Emit the operator and its replacements of states.

        Raises:
            Unfit: the operator cannot compute it.
        """
        hidden = self.cell.hidden
        x, w = self._input()
        self._require_states_everywhere()
        r = self.weights.concat(self._recurrent(gate) for gate in self.cell.gates)
        mask = self.of.mask
        packing = None if mask is None else Packing(self.emit, self.sequence.counts(mask))
        lengths = None
        if packing is not None:
            x, lengths = packing.pack(x), packing.lengths
        inputs: list[Value | None] = [x, self._whole(w), self._whole(r), self._bias(), lengths]
        states = [s for s in (hidden, self.cell.cell) if s is not None]
        inputs += [self.sequence.initial(state) for state in states]
        if any(self.cell.peepholes):
            inputs.append(self._vectors(self.cell.peepholes))
        labels = [f"{hidden.result.name}_all"]
        labels += [f"{state.result.name}_last" for state in states]
        op = Operator.make(self.cell.op_type, **self._attributes())
        every, *last = self.emit.several(op, inputs, labels)
        every = self.emit.squeeze(every, 1, every.name)
        if packing is not None:
            initial = [self.sequence.initial(state) for state in states]
            every = packing.every(every, initial[0])
            last = [packing.last(v, first) for v, first in zip(last, initial, strict=True)]
        return Replacement(
            self._what(),
            False,
            {hidden: self.sequence.every(every)},
            dict(zip(states, map(self.sequence.last, states, last), strict=True)),
            aliases=dict.fromkeys(self.of.aliases(hidden), hidden),
        )

    def _what(self) -> str:
        article = "a" if self.cell.op_type == "GRU" else "an"
        masked = "" if self.of.mask is None else " with a mask"
        lost = f", {_LOSES_NAN}" if loses_nan(self.cell.op_type, self.cell.functions) else ""
        rounded = f"up to rounding ({TESTED_ULPS} ULPs in tests)"
        return f"{article} {self.cell.op_type}{masked}, {rounded}{lost}"

    def _attributes(self) -> dict[str, Any]:
        attributes: dict[str, Any] = {"hidden_size": self.size}
        attributes |= attributes_of(self.cell.op_type, self.cell.functions)
        if self.sequence.backward:
            attributes["direction"] = "reverse"
        if self.cell.reset_after:
            attributes["linear_before_reset"] = 1
        return attributes

    # Weights -------------------------------------------------------------------------------------

    def _whole(self, block: Block) -> Value:
        """Add an axis for the single direction to a weight."""
        if isinstance(block, Value):
            return self.emit.unsqueeze(block, 0, block.name)
        return self.weights.value(block[None])

    def _recurrent(self, gate: Affine) -> Block:
        total: Block | None = None
        for factor, matrix in gate.recurrent:
            block = self.weights.scale(self.weights.transpose(matrix), factor)
            total = self.weights.add(total, block)
        return self.weights.zeros(self.size, self.size) if total is None else total

    def _input(self) -> tuple[Value, Block]:
        """The input sequence and its weights; records other addends as biases."""
        blocks: list[dict[tuple[Free, ...], Block]] = []
        widths: dict[tuple[Free, ...], int] = {}
        self._selected: set[tuple[Free, ...]] = set()
        for gate in self.cell.gates:
            own: dict[tuple[Free, ...], Block] = {}
            self.biases.append([])
            for source, block, width in self._contributions(gate):
                own[source] = self.weights.add(own.get(source), block)
                widths[source] = width
            blocks.append(own)
        if not widths:
            # The operators require an input: zeros.
            return self.sequence.nothing(self.weights.dtype), self.weights.zeros(
                len(blocks) * self.size, 1
            )
        for source in widths:
            if source in self._selected or any(source not in own for own in blocks):
                self._require_finite(source)
        zeros = self.weights.zeros
        rows = [
            self.weights.concat([own.get(s, zeros(self.size, widths[s])) for s in widths], 1)
            for own in blocks
        ]
        if self.of.mask is None:
            self.sequence.turn(widths)
        parts = [self.sequence.input(source) for source in widths]
        whole = self.emit.concat(parts, 2, "fed")
        width = sum(widths.values())
        return self.sequence.pad_steps(whole, width, self.weights.dtype), self.weights.concat(rows)

    def _contributions(self, gate: Affine) -> Iterable[tuple[tuple[Free, ...], Block, int]]:
        """Yield the inputs of a gate: sources, their weights, their widths."""
        for factor, monomial, matrix in gate.inputs:
            block = self.weights.scale(self.weights.transpose(matrix), factor)
            yield self._frees(monomial), block, matrix.rows
        for factor, monomial in gate.addends:
            frees = self._frees(monomial)
            if not self.sequence.varies(frees):
                self.biases[-1].append((factor, monomial))
                continue
            start, width = 0, self.size
            if len(frees) == 1:
                (free,) = frees
                start, width = (free.columns or (0, 0))[0], free.width
                frees = (Free(free.value, free.width),)
            elif not any(free.width for free in frees):
                width = 0
            if width > self.options.max_identity:
                raise Unfit(
                    f"adds '{frees[0].value.name}', and the operator would multiply its {width}"
                    f" columns by ones and zeros, over max_identity={self.options.max_identity}"
                )
            if max(width, self.size) > 1 and width:
                self._selected.add(frees)
            yield frees, self._identity(factor, start, width), width or 1

    def _require_finite(self, frees: tuple[Free, ...]) -> None:
        """Require a product that is finite for all inputs: 0 times it must be 0."""
        if self.of.finiteness.holds([free.value for free in frees]):
            return
        names = " and ".join(dict.fromkeys(f"'{free.value.name}'" for free in frees))
        self._refuse_to_spread(f"adds {names}, which")

    def _require_states_everywhere(self) -> None:
        """Require gates that read all of the states or none.

        0 times an infinite or NaN state is NaN.
        """
        recurrent = [bool(gate.recurrent) for gate in self.cell.gates]
        if not all(recurrent):
            self._refuse_to_spread("has a gate that does not depend on it, where")
        partial = any(self.cell.peepholes) and not all(self.cell.peepholes)
        if partial and not self._has_finite_cell():
            self._refuse_to_spread("has a gate without a peephole, where")

    def _has_finite_cell(self) -> bool:
        """Test for an LSTM whose cell is finite or NaN.

        A NaN makes NaN of its own element of all states, with or without a peephole.
        """
        cell, (gate, candidate, _) = self.cell.cell, self.cell.functions
        bounded = gate[0] in _UNIT and candidate[0] in (*_UNIT, *_CENTRED)
        return bounded and cell is not None and self.of.finiteness.holds([cell.initial])

    def _refuse_to_spread(self, what: str) -> None:
        if self.options.spread_nan:
            return
        raise Unfit(
            f"{what} the operator would multiply by 0, so that an infinity or NaN would make NaN of"
            " other gates or columns; raise-recurrences{spread_nan=true} allows that"
        )

    def _frees(self, monomial: Monomial) -> tuple[Free, ...]:
        atoms = [self.of.atoms[index] for index in monomial]
        return tuple([atom for atom in atoms if isinstance(atom, Free)])

    def _identity(self, factor: float, start: int, width: int) -> Block:
        """The weight that selects columns of a source."""
        if not width:
            return np.full((self.size, 1), factor, self.weights.dtype)
        return np.eye(self.size, width, start, dtype=self.weights.dtype) * np.array(
            factor, self.weights.dtype
        )

    def _bias(self) -> Value | None:
        """Emit the biases, of the input first."""
        inner = [()] * len(self.biases)
        last = [*inner[1:], self.cell.reset_bias]
        if not any([*self.biases, *last]):
            return None
        return self._vectors([*self.biases, *last])

    def _vectors(self, parts: Sequence[Sequence[tuple[float, Monomial]]]) -> Value:
        """Emit a vector of sums."""
        return self._whole(self.weights.concat(self._vector(terms) for terms in parts))

    def _vector(self, terms: Sequence[tuple[float, Monomial]]) -> Block:
        """A sum of loop-invariant terms, as wide as the state."""
        total: Block | None = None
        for factor, monomial in terms:
            blocks = [self._element(free) for free in self._frees(monomial)]
            ones = np.ones(self.size, self.weights.dtype)
            block = functools.reduce(self._multiply, blocks) if blocks else ones
            total = self.weights.add(total, self.weights.scale(block, factor))
        return self.weights.zeros(self.size) if total is None else total

    def _multiply(self, one: Block, other: Block) -> Block:
        if isinstance(one, Value) or isinstance(other, Value):
            values = [self.weights.value(one), self.weights.value(other)]
            return self.emit.add("Mul", values, "product")
        return one * other

    def _flat(self, value: Value, outside: Value) -> Value:
        """Reshape the outside value of a loop-invariant value to a vector."""
        if len(self.of.shape(value)) == 1:
            return outside
        return self.emit.once("Reshape", [outside, self.emit.vector((-1,), "k")], value.name)

    def _element(self, free: Free) -> Block:
        """An addend as a vector as wide as the state."""
        if self.sequence.varies((free,)):
            raise Unfit(
                f"needs '{free.value.name}' to be the same on every iteration and in each row"
            )
        block = self.weights.block(free.value)
        start = (free.columns or (0, 0))[0]
        if isinstance(block, Value):
            vector = self._flat(free.value, block)
            if not free.width:
                size = self.emit.vector((self.size,), "k")
                return self.emit.add("Expand", [vector, size], "b")
            return self.weights.part(vector, start, self.size, 0, (free.width,))
        flat = block.reshape(-1)
        return np.repeat(flat, self.size) if not free.width else flat[start : start + self.size]


_RULES = {**RULES, **ONE_STEP}
_LOSES_NAN = "which onnxruntime may compute as a number where it is a NaN"


def raise_cell(recurrence: Recurrence) -> Replacement:
    """Replace a recurrence by a GRU, an LSTM or an RNN."""
    reasons = []
    for state in recurrence.states:
        if recurrence.fact(state.argument).other is not None:
            raise Unfit(
                f"'{state.argument.name}' is not a tensor; vectorize-loops makes one of a list"
            )
    for transposed in (False, True):
        try:
            of = Interpretation(recurrence, _RULES, read_hoisted, transposed)
            cell = find_cell(of)
            if recurrence.iterations.options.keep_nan:
                raise Unfit(
                    f"could be computed by {cell.op_type}, {_LOSES_NAN}, and keep_nan is set"
                )
            _require_gain(recurrence, cell)
            return _Emission(of, cell).run()
        except Unfit as reason:
            reasons.append(str(reason))
        if recurrence.fact(recurrence.states[0].argument).shape is None:
            break
    raise Unfit(f"it {reasons[0]}")


_USUAL_BATCH = 8
"""The assumed batch where only run time tells it."""


def _require_gain(recurrence: Recurrence, cell: Cell) -> None:
    """Require an operator that is not slower, for a pass with costs.

    Many operators of one step are always slower than a single one.

    Raises:
        Unfit: the operator may be slower.
    """
    one_step = any(node.is_op(*ONE_STEP) for node in recurrence.nodes)
    table = cost_table(recurrence.iterations.options.costs)
    if table is None or one_step:
        return
    shape = recurrence.fact(cell.hidden.argument).shape
    sizes = [_USUAL_BATCH if dim.value is None else dim.value for dim in shape or ()]
    size = None if shape is None else math.prod(sizes)
    if not table.operator_pays(cell.op_type, [name for name, *_ in cell.functions], size):
        numbers = "as many as run time decides" if size is None else str(size)
        raise Unfit(
            f"could be computed by {cell.op_type}, which may be slower in onnxruntime for states"
            f" of {numbers} numbers"
        )
