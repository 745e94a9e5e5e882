"""Least and largest numbers of values that no state changes, as far as operators tell.

g = Not (f)             0 or 1
k = Cast (g)            0 to 1
r = Sub (1, k)          0 to 1, so that a product with it keeps the order of numbers

A NaN is no number here: whatever it multiplies becomes a NaN, which every form of a state keeps.
Integers stay exact.
"""

import contextlib
import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np
import onnx

from ....analysis.iterations.trip_count import skip_identities
from ....facts.bounds import known
from ....facts.fact import Fact
from ....facts.types import INTEGER_BITS
from ....ir import Array, Node, Value
from ....ops.outputs import known_outputs
from ...iteration.places import is_invariant
from ..weights import Unfit
from .recurrence import Recurrence
from .semirings import COMPARISONS, OPPOSITE

_BOOL = onnx.TensorProto.BOOL
_ALL = (-math.inf, math.inf)
_DEEPEST = 24
"""The largest number of operators between a value and those that tell its numbers."""
_FEW = 1 << 31
"""The limit of iterations, as of steps of doubling distance."""

Extent = tuple[float, float]
"""The least and the largest number; truth values are 0 and 1."""
Rule = Callable[..., Extent]
"""The extent of a result from those of the operands."""


_Ends = TypeVar("_Ends", tuple[int, int], Extent)


def hull(extents: Sequence[_Ends]) -> _Ends:
    """The extent around others."""
    return min(first for first, _ in extents), max(last for _, last in extents)


class Extents:
    """The numbers between which all elements of values lie, but for NaN."""

    def __init__(self, recurrence: Recurrence) -> None:
        self._recurrence = recurrence
        self._outside: dict[Value, Extent] = {}
        loop = recurrence.iterations.loop_view
        self._sources = {one.argument: one.source for one in loop.scan_inputs}
        self._sources |= {one.argument: one.initial for one in loop.states if is_invariant(one)}
        self._growing = {one.argument: one for one in loop.states if one.result is not one.argument}

    def alias(self, value: Value, source: Value) -> None:
        """Record that a value holds elements of another one."""
        self._sources[value] = source

    def _limits(self, value: Value) -> Extent:
        elem_type = self._recurrence.fact(value).elem_type
        if elem_type == _BOOL:
            return 0, 1
        if elem_type not in INTEGER_BITS:
            return _ALL
        info = np.iinfo(onnx.helper.tensor_dtype_to_np_dtype(elem_type))
        return int(info.min), int(info.max)

    def of(self, value: Value, depth: int = 0) -> Extent:
        """The extent of a value that no state changes."""
        if value not in self._outside:
            self._outside[value] = self._find(value, depth)
        return self._outside[value]

    def _find(self, value: Value, depth: int) -> Extent:
        node = value.producer
        if value is self._recurrence.iterations.loop_view.iteration:
            return 0, _FEW
        if value.constant is not None:
            return self._open(value) if value.array is None else extent_of_array(value.array)
        if value in self._sources:
            return self.of(self._sources[value], depth + 1)
        if value in self._growing:
            return self._of_counter(value, depth)
        if node is not None and depth <= _DEEPEST and not node.domain:
            with contextlib.suppress(Unfit):
                operands = [self.of(v, depth + 1) for v in node.inputs if v is not None]
                return self.result(node, operands)[0]
        return self._open(value)

    def _of_counter(self, value: Value, depth: int) -> Extent:
        """The extent of a state of floats that only grows by sums."""
        state, (least, most) = self._growing.pop(value), self._limits(value)
        node = skip_identities(state.result).producer
        if most == math.inf and node is not None and node.is_op("Add") and value in node.inputs:
            others = [v for v in node.inputs if v is not None and v is not value]
            if len(others) == 1 and self.of(others[0], depth + 1)[0] >= 0:
                least = self.of(state.initial, depth + 1)[0]
        return least, most

    def have_inverses(self, value: Value | None) -> bool:
        """Test for floats, none of them subnormal: the inverse of such a one may be infinite."""
        if value is None:
            return False
        elem_type = self._recurrence.fact(value).elem_type
        least = float(np.finfo(onnx.helper.tensor_dtype_to_np_dtype(elem_type)).tiny)
        if value.array is not None:
            return not np.any((np.abs(value.array) < least) & (value.array != 0))
        low, high = self.of(value)
        return low >= least or high <= -least or self.are_whole(value)

    def are_whole(self, value: Value, depth: int = 0) -> bool:
        """Test for numbers that are all integers or truth values, also as floats."""
        node, array = value.producer, value.array
        if math.isfinite(self._limits(value)[1]):
            return True
        if value in self._sources:
            return self.are_whole(self._sources[value], depth + 1)
        if array is not None:
            return array.dtype.kind == "f" and bool(np.all(array == np.trunc(array)))
        if node is None or node.domain or depth > _DEEPEST or not node.is_op(*ELEMENTS, *_WHOLE):
            return False
        read = node.inputs[:1] if node.is_op(*ELEMENTS) else node.inputs[node.is_op("Where") :]
        return all(v is not None and self.are_whole(v, depth + 1) for v in read)

    def _open(self, value: Value) -> Extent:
        """The extent of a value of which nothing is known."""
        return self._limits(value)

    def through(
        self, nodes: Sequence[Node], starts: Mapping[Value, Extent]
    ) -> tuple[dict[Value, Extent], bool]:
        """The extents of all results of nodes, and whether a type may not hold one.

        Raises:
            Unfit: an operator without a rule.
        """
        own, wraps = dict(starts), False
        for node in nodes:
            kind, values = _as_bound(node)
            operands = [own[v] if v in own else self.of(v) for v in values]
            extent, more = self.result(node, operands, kind)
            own |= {value: extent for value in node.outputs if value is not None}
            wraps |= more
        return own, wraps

    def _joined(self, node: Node, *operands: Extent) -> Extent:
        """The extent of a reduction, or of a product of matrices.

        Raises:
            Unfit: any number of elements.
        """
        sizes = [dim.value for dim in self._recurrence.fact(node.operand(0)).dims]
        count = math.prod(size or 0 for size in (sizes[-1:] if node.is_op("MatMul") else sizes))
        if not count:
            raise Unfit(f"{node} joins any number of elements")
        if not node.is_op("MatMul", "ReduceSum"):
            return operands[0]
        first, last = _RULES["Mul"](*operands) if node.is_op("MatMul") else operands[0]
        return min(0, count * first), max(0, count * last)

    def result(self, node: Node, operands: Sequence[Extent], kind: str = "") -> tuple[Extent, bool]:
        """The extent of a result, and whether its element type may not hold it.

        Raises:
            Unfit: an operator without a rule.
        """
        rule = _rule_of(node) if kind in ("", node.op_type) else _RULES[kind]
        if node.is_op(*_JOINING) and not node.op.references:
            rule = functools.partial(self._joined, node)
        least, most = self._limits(node.output())
        is_whole = math.isfinite(most)
        if rule is None and (places := self._places(node)) is not None:
            return places, False
        if rule is None or (node.is_op("Div", "Mod") and not is_whole):
            raise Unfit(f"{node} computes the next value")
        source = node.inputs[-1]
        # A NaN compares false, and becomes any integer.
        if is_whole and source is not None and not math.isfinite(self._limits(source)[0]):
            return (least, most), (least, most) != (0, 1)
        is_square = node.is_op("Mul") and node.inputs[0] is node.inputs[1]
        first, last = _square(operands[0]) if is_square else rule(*operands)
        if node.is_op("Cast") and (least, most) == (0, 1):
            return (int(not first <= 0 <= last), int((first, last) != (0, 0))), False
        fits = least <= first and last <= most
        return ((first, last) if fits else (least, most)), not fits

    def _places(self, node: Node) -> Extent | None:
        """The extent of integers that the operator bounds by sizes, as ArgMax does."""
        if node.op.references or len(node.outputs) > 1:
            return None
        facts = [Fact() if v is None else self._recurrence.fact(v) for v in node.inputs]
        fact = self._recurrence.fact(node.output())
        (places,) = known_outputs(node, list(map(known, facts)), [fact])
        if places.bounds is None:
            return None
        first, last = places.bounds.low.value, places.bounds.high.value
        if first is None or last is None or (first, last) == self._limits(node.output()):
            return None
        return first, last


def _as_bound(node: Node) -> tuple[str, list[Value]]:
    """The operator and operands of a node; a choice by a comparison of both sides is a bound."""
    values = [value for value in node.inputs if value is not None]
    test = skip_identities(values[0]).producer if node.is_op("Where") else None
    kind = None if test is None else COMPARISONS.get(test.op_type)
    if test is None or kind is None:
        return node.op_type, values
    sides, branches = (
        [skip_identities(v) for v in each if v] for each in (test.inputs, values[1:])
    )
    # Where (a < b, a, b) is Min (a, b); with other branches it is a choice of unrelated values.
    if sides not in (branches, branches[::-1]):
        return node.op_type, values
    return (kind if sides == branches else OPPOSITE[kind]), branches


def number_of(value: Value) -> float | None:
    """The number of a constant of one element; None for other values."""
    array = value.array
    return None if array is None or array.size != 1 else float(array.reshape(()))


def extent_of_array(array: Array) -> Extent:
    """The least and the largest number of an array; none of NaN alone."""
    if array.dtype.kind not in "iufb" or not array.size:
        return _ALL
    if array.dtype.kind != "f":
        return int(array.min()), int(array.max())
    return _ALL if np.isnan(array).all() else (float(np.nanmin(array)), float(np.nanmax(array)))


def _rule_of(node: Node) -> Rule | None:
    plain = not node.domain and not node.op.references and not node.attribute("fmod", 0)
    plain = plain and not (node.is_op("Clip") and (len(node.inputs) < 3 or None in node.inputs))
    return _RULES.get(node.op_type) if plain else None


def _corners(function: Callable[..., float]) -> Rule:
    """The rule of an operator that is monotone in each operand."""

    def rule(*operands: Extent) -> Extent:
        results = [function(*ends) for ends in itertools.product(*operands)]
        return _ALL if any(map(math.isnan, results)) else (min(results), max(results))

    return rule


def _where(flag: Extent, one: Extent, other: Extent) -> Extent:
    # A condition that is certain leaves one branch.
    return hull([*([one] if flag[1] else []), *([] if flag[0] else [other])])


def _equal(one: Extent, other: Extent) -> Extent:
    certain = one == other and one[0] == one[1]
    return int(certain), int(one[0] <= other[1] and other[0] <= one[1])


def _mod(one: Extent, other: Extent) -> Extent:
    if other[0] < 1:
        raise Unfit("its divisor may be 0 or negative")
    whole = other[0] == other[1] and one[0] // other[0] == one[1] // other[0]
    return (one[0] % other[0], one[1] % other[0]) if whole else (0, other[1] - 1)


def _quotient(one: float, other: float) -> float:
    if other < 1:
        raise Unfit("its divisor may be 0 or negative")
    return -(-one // other) if one < 0 else one // other


def _magnitude(one: Extent) -> Extent:
    ends = [abs(end) for end in one]
    return (0 if one[0] <= 0 <= one[1] else min(ends)), max(ends)


def _above_zero(
    function: Callable[[float], float], least: float, first: float, last: float
) -> Extent:
    """The extent of a function that grows; kernels may round it down."""
    return (0.0 if least <= first else 0.99 * function(min(least, last))), math.inf


def _square(one: Extent) -> Extent:
    least, most = _magnitude(one)
    return least * least, most * most


def _power(one: Extent, other: Extent) -> Extent:
    return _square(one) if other == (2, 2) else (0, math.inf) if one[0] >= 0 else _ALL


ELEMENTS = (
    *("Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Reshape"),
    *("Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze", "Cast"),
)
"""The operators whose results are elements of the first operand."""
_WHOLE = ("Abs", "Add", "Concat", "Max", "Min", "Mul", "Neg", "Relu", "Sub", "Sum", "Where")
"""Other operators of integers alone whose results are integers."""
_JOINING = ("MatMul", "ReduceMax", "ReduceMin", "ReduceSum")
_RULES: dict[str, Rule] = {
    **dict.fromkeys(ELEMENTS, lambda one, *others: one),
    "Exp": lambda one: _above_zero(math.exp, one[0], -700.0, 700.0),
    "Sqrt": lambda one: _above_zero(math.sqrt, one[0], 0.0, 1e300),
    "Softplus": lambda one: (0.0, math.inf),
    **dict.fromkeys(("HardSigmoid", "Sigmoid", "Softmax"), lambda one: (0.0, 1.0)),
    **dict.fromkeys(("Cos", "Erf", "Sin", "Softsign", "Tanh"), lambda one: (-1.0, 1.0)),
    "Concat": lambda *parts: hull(parts),
    "Sum": _corners(lambda *terms: sum(terms)),
    "Add": _corners(lambda a, b: a + b),
    "Sub": _corners(lambda a, b: a - b),
    "Mul": _corners(lambda a, b: a * b if a and b else 0),
    "Neg": _corners(lambda a: -a),
    "Sign": _corners(lambda a: (a > 0) - (a < 0)),
    "Min": _corners(min),
    "Max": _corners(max),
    "Clip": _corners(lambda x, least, most: min(max(x, least), most)),
    "Relu": _corners(lambda x: max(x, 0)),
    "Div": _corners(_quotient),
    "Mod": _mod,
    "Abs": _magnitude,
    "Pow": _power,
    "Where": _where,
    "Equal": _equal,
    "Less": _corners(lambda a, b: int(a < b)),
    "LessOrEqual": _corners(lambda a, b: int(a <= b)),
    "Greater": _corners(lambda a, b: int(a > b)),
    "GreaterOrEqual": _corners(lambda a, b: int(a >= b)),
    "Not": _corners(lambda a: 1 - a),
    "And": _corners(min),
    "Or": _corners(max),
    "Xor": _corners(lambda a, b: int(a) ^ int(b)),
}
"""The rules of operators; a result beyond the element type may be any of its numbers."""
