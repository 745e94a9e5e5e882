"""Pairs of operations over which iterations are matrices, and the product of two such iterations.

a' = max (a + p, b + q)         a', b' = (p q) (a)    with max for the sum of two products,
b' = max (a + r, b)                      (r 0) (b)    and + for the product

The matrix of an iteration has a column of offsets, and with a single state two of bounds:
s' = min (max (w s + offset, lower), upper). A condition may replace all states. Applied after
another one, such an iteration is again one. An element that no iteration has is left out, so that a
factor of 0 makes no NaN of an infinity in another state; an element that some iterations have
stands with the condition that it is there.
"""

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import onnx

from ....facts.types import IEEE_FLOATS, INTEGER_BITS, PLAIN_INTEGERS
from ....ir import Array, Value
from ....ops.builder import Builder
from ....records import record
from ...utils.select import select

_TYPES = onnx.TensorProto
NUMBERS = (*IEEE_FLOATS, *PLAIN_INTEGERS)


@record(frozen=True)
class Semiring:
    """A pair of operations, of which the second distributes over the first.

    Attributes:
        join: the operator of sums.
        act: the operator of products.
        types: the element types over which it distributes.
        rounds: true if another order of floats has other bits.
        is_ordered: true if it distributes over numbers of at least 0 alone.
    """

    join: str
    act: str
    types: tuple[int, ...]
    rounds: bool = False
    is_ordered: bool = False


CHOICES = Semiring("Max", "Min", NUMBERS)
LARGEST_PRODUCTS = Semiring("Max", "Mul", IEEE_FLOATS, rounds=True, is_ordered=True)
SUMS = Semiring("Add", "Mul", (*IEEE_FLOATS, *INTEGER_BITS), rounds=True)
TRUTH = Semiring("Xor", "And", (_TYPES.BOOL,))
LOGARITHMS = Semiring("LogSumExp", "Add", IEEE_FLOATS, rounds=True)
SEMIRINGS = (
    CHOICES,
    Semiring("Min", "Max", NUMBERS),
    TRUTH,
    Semiring("Or", "And", (_TYPES.BOOL,)),
    Semiring("BitwiseXor", "BitwiseAnd", tuple(INTEGER_BITS)),
    Semiring("BitwiseOr", "BitwiseAnd", tuple(INTEGER_BITS)),
    Semiring("BitwiseAnd", "BitwiseOr", tuple(INTEGER_BITS)),
    SUMS,
    Semiring("Max", "Add", (*IEEE_FLOATS, _TYPES.INT64), rounds=True),
    Semiring("Min", "Add", (*IEEE_FLOATS, _TYPES.INT64), rounds=True),
    LARGEST_PRODUCTS,
    Semiring("Min", "Mul", IEEE_FLOATS, rounds=True, is_ordered=True),
    LOGARITHMS,
)
"""Sums of integers wrap, and bounds do not: of both there is a row for integers that do
not wrap. Exact rows come first: over them, states that only change places keep their bits."""
FAR = 1 << 62
"""A bound that no sums of integers that do not wrap reach, and which they do not make wrap."""


COMPARISONS = {"Greater": "Max", "GreaterOrEqual": "Max", "Less": "Min", "LessOrEqual": "Min"}
"""The extreme that a choice of the first operand makes."""
OPPOSITE = {"Max": "Min", "Min": "Max"}


def neutral(operator: str, dtype: np.dtype[np.generic], is_added: bool = False) -> Array:
    """The number that an operator joins without an effect, also after a sum with it."""
    if operator in ("Max", "Min", "LogSumExp"):
        is_least = operator != "Min"
        if is_added and dtype.kind == "i":
            return np.array(-FAR if is_least else FAR, dtype)
        if dtype.kind == "f":
            return np.array(-np.inf if is_least else np.inf, dtype)
        limits = np.iinfo(dtype.name)
        return np.array(limits.min if is_least else limits.max, dtype)
    if operator == "BitwiseAnd":
        return np.invert(np.array(0, dtype))
    return np.array(operator in ("Mul", "And"), dtype)


def combine(emit: Builder, op_type: str, operands: Sequence[Value], elem_type: int) -> Value:
    """Emit an operator of a row; log (exp (a) + exp (b)) is that of infinities, too."""
    if op_type != "LogSumExp":
        return emit.add(op_type, operands, "combined")
    most, least = (emit.add(kind, operands, "bound") for kind in ("Max", "Min"))
    zero, one = (emit.number(number, elem_type, "k") for number in (0, 1))
    # The distance of two equal infinities is NaN.
    same, distance = (emit.add(kind, [least, most], "distance") for kind in ("Equal", "Sub"))
    ratio = emit.add("Exp", [emit.select(same, zero, distance, "distance", elem_type)], "ratio")
    return emit.add(
        "Add", [most, emit.add("Log", [emit.add("Add", [ratio, one], "sum")], "more")], "sum"
    )


def finite(
    emit: Builder, value: Value, elem_type: int, kinds: Sequence[str] = ("Max", "Min")
) -> Value:
    """Emit the nearest finite numbers: by Max in place of -inf, by Min in place of inf."""
    limits = np.finfo(onnx.helper.tensor_dtype_to_np_dtype(elem_type))
    for kind in kinds:
        end = limits.min if kind == "Max" else limits.max
        value = emit.add(kind, [value, emit.constant(np.array(end), "finite")], "finite")
    return value


OFFSET, LOWER, UPPER = range(3)
"""The columns after those of the states."""


class Place(NamedTuple):
    """An element of the matrix of an iteration.

    Attributes:
        row: the state that it makes.
        column: the state that it reads; after those the offset, the lower and the upper bound.
        is_flag: true for the condition that the element is there.
    """

    row: int
    column: int
    is_flag: bool = False


RESET = Place(-1, -1, True)
"""The condition that replaces all states by the offsets."""


@record(frozen=True)
class Product:
    """The product of the matrices of two ranges of iterations, as lists of their elements.

    Attributes:
        width: the number of states.
        places: the elements; the weight of a single state is absent if it is always neutral.
        elem_type: the element type of the states.
        power: the weight of a single state in all iterations; None if it is an element, or absent.
        swaps: true if a weight may be negative, which swaps bounds.
        old: the value that the results replace.
        modulus: the divisor of which all elements are rests; None for none.
        kinds: the bounds that make any offset a finite one on their side: of -inf and inf, the
            sum would be NaN where the loop has the bound and then inf.
    """

    semiring: Semiring
    width: int
    places: tuple[Place, ...]
    elem_type: int
    power: Value | None = None
    swaps: bool = False
    old: Value | None = None
    modulus: Value | None = None
    kinds: tuple[str, ...] = ()

    def __call__(
        self, emit: Builder, early: Sequence[Value], late: Sequence[Value], distance: Value
    ) -> list[Value]:
        """Emit the elements of the product."""
        joined = self.joined(emit, early, late, distance)
        return [
            joined[place] if place in joined else self._absent(emit, place, late[0])
            for place in self.places
        ]

    def _absent(self, emit: Builder, place: Place, like: Value) -> Value:
        """Emit an element that no product has: a state that nothing reads after some iterations."""
        no = emit.constant(np.array(False), "no")
        nothing = no if place.is_flag else self._nothing(emit)
        return emit.add("Expand", [nothing, emit.add("Shape", [like], "shape")], "absent")

    def joined(
        self, emit: Builder, early: Sequence[Value], late: Sequence[Value], distance: Value
    ) -> dict[Place, Value]:
        """Emit all elements that the product has."""
        before = dict(zip(self.places, early, strict=True))
        after = dict(zip(self.places, late, strict=True))
        factors = dict(after)
        if self.power is not None:
            exponent = emit.add("Cast", [distance], "exponent", to=self.elem_type)
            factors[Place(0, 0)] = emit.add("Pow", [self.power, exponent], "power")
        joined: dict[Place, Value] = {}
        for row, column in itertools.product(range(self.width), range(self.width + 3)):
            joined |= self._element(emit, before, factors, Place(row, column))
        self._bound(emit, joined, after)
        offset = Place(0, self.width)
        if self.kinds and offset in joined:
            joined[offset] = finite(emit, joined[offset], self.elem_type, self.kinds)
        if self.modulus is not None:
            for place in [place for place in joined if not place.is_flag]:
                joined[place] = emit.add("Mod", [joined[place], self.modulus], "rest")
        if RESET in after:
            for place in [p for p in joined if p.column >= self.width]:
                fresh, flag = after[place], after[RESET]
                joined[place] = select(
                    emit, flag, fresh, joined[place], self.elem_type, "state", self.old
                )
            joined[RESET] = emit.add("Or", [before[RESET], after[RESET]], "reset")
        return joined

    def _element(
        self,
        emit: Builder,
        before: Mapping[Place, Value],
        after: Mapping[Place, Value],
        place: Place,
    ) -> dict[Place, Value]:
        """Emit one element, and the condition that it is there."""
        row, column, _ = place
        terms: list[Value] = []
        flags: list[Value | None] = []
        for k in range(self.width):
            source = Place(k, column)
            one, other = after.get(Place(row, k)), before.get(source)
            if other is None or (one is None and self.width > 1):
                continue
            term = other if one is None else emit.add(self.semiring.act, [one, other], "product")
            flag = _all(emit, [after.get(Place(row, k, True)), before.get(flag_of(source))])
            if flag is not None:
                nothing = self._nothing(emit)
                term = select(emit, flag, term, nothing, self.elem_type, "term", self.old)
            terms.append(term)
            flags.append(flag)
        own = after.get(flag_of(place))
        if column == self.width and place in after:
            terms.append(after[place])
            flags.append(own)
        if not terms:
            return {}
        joined = {
            place: functools.reduce(
                lambda *pair: combine(emit, self.semiring.join, pair, self.elem_type), terms
            )
        }
        if own is not None:
            yes = emit.constant(np.array(True), "yes")
            present = [yes, own] if None in flags else [flag for flag in flags if flag is not None]
            joined[flag_of(place)] = _joined(emit, "Or", present)
        return joined

    def _nothing(self, emit: Builder) -> Value:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(self.elem_type)
        is_added = self.semiring.act == "Add"
        return emit.constant(neutral(self.semiring.join, dtype, is_added), "nothing")

    def _bound(
        self, emit: Builder, joined: dict[Place, Value], after: Mapping[Place, Value]
    ) -> None:
        """Add the offset to the bounds of a single state, and bound them in turn."""
        offset, lower, upper = (Place(0, self.width + at) for at in (OFFSET, LOWER, UPPER))
        names = [place for place in (lower, upper) if place in joined]
        if self.swaps:
            ends = [joined[lower], joined[upper]]
            joined[lower] = emit.add("Min", ends, "least")
            joined[upper] = emit.add("Max", ends, "most")
        if offset in after:
            for place in names:
                joined[place] = emit.add("Add", [joined[place], after[offset]], "moved")
        if lower in after:
            for place in names:
                joined[place] = emit.add("Max", [joined[place], after[lower]], "lower")
        if upper in after:
            for place in names if self.swaps else [upper]:
                joined[place] = emit.add("Min", [joined[place], after[upper]], "upper")


def _all(emit: Builder, flags: Sequence[Value | None]) -> Value | None:
    """Emit a conjunction; None for no conditions."""
    present = [flag for flag in flags if flag is not None]
    return None if not present else _joined(emit, "And", present)


def _joined(emit: Builder, op_type: str, flags: Sequence[Value]) -> Value:
    return functools.reduce(lambda *pair: emit.add(op_type, pair, "there"), flags)


def flag_of(place: Place) -> Place:
    """The condition that an element is there."""
    return place._replace(is_flag=True)


def products(places: frozenset[Place], width: int) -> frozenset[Place]:
    """The elements that the product of two matrices of these elements has."""
    weights = [place for place in places if place.column < width]
    return frozenset(
        Place(one.row, other.column)
        for one, other in itertools.product(weights, places)
        if one.column == other.row
    ) | frozenset(place for place in places if place.column >= width)
