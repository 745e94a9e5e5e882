"""Elements of matrices that stand for numbers: truth values, rests, and numbers from 0 on.

f = Cast (s)       1 0 1      true, false, true
p = MatMul (f, m)  0 2 1      the number of reasons for each
s' = Greater (p, 0)

Whether numbers from 0 on are 0 follows from whether those are that they were added up or multiplied
from, and the rest of integers from their rests. So an iteration that ends in such a question is a
matrix over its answers, whatever numbers it counts with. Of numbers from 0 on, extremes are sums
over which products distribute, and 0 is the least.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

from ....analysis.iterations.trip_count import skip_identities
from ....facts.types import IEEE_FLOATS, INTEGER_BITS
from ....ir import Array, Node, Value
from ....ops.builder import Builder
from ....records import record
from ..weights import Unfit
from .extents import ELEMENTS, Extent, Extents, hull, number_of
from .recurrence import Recurrence
from .semirings import CHOICES, LARGEST_PRODUCTS, SEMIRINGS, SUMS, Semiring, neutral

_TYPES = onnx.TensorProto
_PRODUCTS = ("And", "MatMul", "Min", "Mul")
_SUMS = ("Add", "MatMul", "ReduceSum", "Sum")
_REDUCTIONS = ("ReduceMax", "ReduceMin", "ReduceSum")
_MOST_WIDE = (1 << 63) - 1
_EXACT = 1 << 53
"""onnxruntime 1.32 adds integers up as doubles."""


@record(frozen=True)
class Coding:
    """Numbers of the state for elements of a semiring.

    Attributes:
        truths: true if numbers stand for whether they are 0.
        modulus: the divisor if numbers stand for their rests; 0 for none.
        from_0: true if all numbers are at least 0, which adds nothing to them.
    """

    semiring: Semiring
    truths: bool = False
    modulus: int = 0
    from_0: bool = False

    @property
    def is_exact(self) -> bool:
        """Test for operations without rounding."""
        return self.truths or bool(self.modulus)

    def elem_type(self, own: int) -> int:
        """The element type of matrices for a state."""
        return _TYPES.FLOAT if self.truths else own

    def nothing(self, dtype: np.dtype[np.generic]) -> Array:
        """The number that adds nothing."""
        if self.truths or self.from_0:
            return np.array(0, dtype)
        return neutral(self.semiring.join, dtype, self.semiring.act == "Add")

    def encode(self, emit: Builder, value: Value, elem_type: int) -> Value:
        """Emit the elements for numbers of a type."""
        if self.modulus:
            return self.rest(emit, value, elem_type)
        if not self.truths:
            return value
        if elem_type != _TYPES.BOOL:
            value = emit.add("Cast", [value], "truths", to=_TYPES.BOOL)
        return emit.add("Cast", [value], "truths", to=_TYPES.FLOAT)

    def rest(self, emit: Builder, value: Value, elem_type: int) -> Value:
        """Emit rests; other elements stay."""
        if not self.modulus:
            return value
        return emit.add("Mod", [value, emit.number(self.modulus, elem_type, "modulus")], "rest")

    def decode(self, emit: Builder, value: Value, elem_type: int) -> Value:
        """Emit numbers of the state's type for elements."""
        if not self.truths or elem_type == _TYPES.FLOAT:
            return value
        return emit.add("Cast", [value], "values", to=elem_type)


def codings(recurrence: Recurrence) -> list[Coding]:
    """The codings that may fit a state, the plain ones first."""
    (state,), elem_type = recurrence.states, recurrence.state_fact.elem_type
    options = list[Coding]()
    if elem_type in IEEE_FLOATS:
        options += [Coding(one) for one in SEMIRINGS if elem_type in one.types]
    options.append(Coding(CHOICES, truths=True))
    last = skip_identities(state.result).producer
    if (
        last is not None
        and last.is_op("Mod")
        and not (last.op.references or last.attribute("fmod", 0))
    ):
        modulus = number_of(last.operand(1))
        if elem_type in INTEGER_BITS and modulus is not None and modulus > 1:
            options.append(Coding(SUMS, modulus=int(modulus)))
    return (
        [*options, Coding(LARGEST_PRODUCTS, from_0=True)] if elem_type in IEEE_FLOATS else options
    )


def product_of(coding: Coding, value: Value) -> Value:
    """The value before the question that ends an iteration."""
    node = value.producer
    return value if not coding.modulus or node is None else skip_identities(node.operand(0))


class Check:
    """Test that the numbers of an iteration allow a coding.

    Args:
        size: the number of the elements along the axis.
    """

    def __init__(self, recurrence: Recurrence, coding: Coding, size: int) -> None:
        self._recurrence, self._coding, self._size = recurrence, coding, size
        self._extents = Extents(recurrence)

    def holds(self, nodes: Sequence[Node], product: Value, others: Sequence[Value]) -> bool:
        """Test an iteration.

        Args:
            others: the factors and addends.
        """
        coding, (state,) = self._coding, self._recurrence.states
        numbers = [value for value in others if value not in self._places(nodes)]
        if coding.truths:
            are_truths = all(map(self._are_truths, [*numbers, state.initial]))
            return are_truths and self._is_truth(nodes, product)
        if coding.from_0:
            return all(self._extents.of(value)[0] >= 0 for value in (*numbers, state.initial))
        return not coding.modulus or self._is_rest(nodes)

    def _places(self, nodes: Sequence[Node]) -> set[Value | None]:
        """The operands that are axes, indices, conditions or limits of questions."""
        places = set[Value | None]()
        for node in nodes:
            if node.is_op(*ELEMENTS, *_REDUCTIONS):
                places.update(node.inputs[1:])
            elif node.is_op("Where"):
                places.add(node.inputs[0])
            elif _is_question(node):
                places.update(node.inputs)
        return places

    def _are_truths(self, value: Value) -> bool:
        first, last = self._extents.of(value)
        return first >= 0 and last <= 1 and self._extents.are_whole(value)

    def _is_truth(self, nodes: Sequence[Node], product: Value) -> bool:
        """Test that counts are not too large, and the last ones are 0 or 1."""
        first, last = self._through(nodes, (0, 1)).get(product, (0, 2))
        return first >= 0 and last <= 1

    def _is_rest(self, nodes: Sequence[Node]) -> bool:
        """Test that no sum of an iteration or of two matrices wraps."""
        (state,), modulus = self._recurrence.states, self._coding.modulus
        start = hull([self._extents.of(state.initial), (0, modulus - 1)])
        most = min(_largest(self._recurrence.state_fact.elem_type), _EXACT)
        return bool(self._through(nodes, start)) and self._size * modulus**2 + modulus <= most

    def _through(self, nodes: Sequence[Node], start: Extent) -> dict[Value, Extent]:
        """The numbers of an iteration; none if a type may not hold one."""
        try:
            own, wraps = self._extents.through(nodes, {self._recurrence.states[0].argument: start})
        except Unfit:
            return {}
        largest = {value: _largest(self._recurrence.fact(value).elem_type) for value in own}
        fits = all(max(map(abs, ends)) <= largest[value] for value, ends in own.items())
        return own if fits and not wraps else {}


def _largest(elem_type: int) -> float:
    if elem_type in IEEE_FLOATS:
        return float(np.finfo(onnx.helper.tensor_dtype_to_np_dtype(elem_type)).max)
    bits = INTEGER_BITS.get(elem_type)
    return 1 if bits is None else min(_MOST_WIDE, (1 << (bits - 1)) - 1)


def _is_question(node: Node) -> bool:
    """Test for an operator that tells whether a count is 0."""
    if node.is_op("Sign"):
        return True
    numbers = [None if v is None else number_of(v) for v in node.inputs]
    if node.is_op("Less", "LessOrEqual"):
        numbers.reverse()
    if len(numbers) < 2 or numbers[1] is None:
        return False
    if node.is_op("Greater", "Less"):
        return 0 <= numbers[1] < 1
    if node.is_op("GreaterOrEqual", "LessOrEqual"):
        return 0 < numbers[1] <= 1
    return node.is_op("Clip") and numbers[1] == 0 and len(numbers) > 2 and numbers[2] == 1


def addends_of_truths(
    node: Node, flags: Sequence[bool], movements: Sequence[str]
) -> list[int] | None:
    """The operands that a node adds to those with a flag; None for another question."""
    others = [place for place, flag in enumerate(flags) if not flag]
    if node.is_op("Concat", "Add", "Sum", "Max", "Or"):
        return others
    if node.is_op("Where"):
        return None if flags[0] else others[1:]
    if flags.count(True) != 1:
        return None
    if node.is_op(*_PRODUCTS) or _is_question(node):
        return []
    return [] if flags[0] and node.is_op(*movements, "Cast", "ReduceMax", "ReduceSum") else None
