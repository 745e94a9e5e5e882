"""Replace states that depend on each other by products of matrices over pairs of operations.

a' = max (a + p, b + q)         a', b' = (p q) (a)    with max for the sum of two products,
b' = max (a + r, b)                      (r 0) (b)    and + for the product

A matrix of each iteration, with an offset, applied after another one is a matrix with an offset; a
parallel prefix of them gives all values. Elements that no iteration has are left out, so that a
factor of 0 makes no NaN of an infinity in another state. Where a condition lets all states keep
their values, only the other iterations are joined; where one replaces all of them, the states
before are not read.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Sequence

import numpy as np
import onnx

from ....analysis.trips.trip_count import skip_identities
from ....facts.fact import Fact
from ....facts.polynomial import Dimension
from ....ir import Node, Value
from ....ir.lazy import lazy_property
from ....ops.builder import Builder
from ....ops.schema_queries import takes
from ...scans.parallel_prefix import MOST_STEP_BYTES
from ...utils.select import as_select
from ..weights import Unfit
from .coefficients import ONE, ZERO, Coefficient, Coefficients
from .recurrence import Recurrence, Replacement
from .scan_reductions import describe, is_small

_TYPES = onnx.TensorProto
_FLOATS = (_TYPES.FLOAT, _TYPES.DOUBLE)
_INTEGERS = (_TYPES.INT32, _TYPES.INT64)
_WIDEST = 3
"""The largest number of states; a step takes the third power of it in nodes."""
_END = np.iinfo(np.int64).max


@dataclasses.dataclass(frozen=True)
class Semiring:
    """A pair of operations, of which the second distributes over the first.

    Attributes:
        join: the operator of sums; its neutral element is an absent coefficient.
        act: the operator of products.
        types: the element types over which it distributes.
        rounds: true if another order of floats has other bits.
    """

    join: str
    act: str
    types: tuple[int, ...]
    rounds: bool = False


SEMIRINGS = (
    Semiring("Add", "Mul", (*_FLOATS, *_INTEGERS), rounds=True),
    Semiring("Max", "Add", _FLOATS, rounds=True),
    Semiring("Min", "Add", _FLOATS, rounds=True),
    Semiring("Max", "Min", (*_FLOATS, *_INTEGERS)),
    Semiring("Min", "Max", (*_FLOATS, *_INTEGERS)),
    Semiring("Xor", "And", (_TYPES.BOOL,)),
    Semiring("Or", "And", (_TYPES.BOOL,)),
)
"""Sums of integers wrap, and bounds do not: integers have no row of both."""

Part = Coefficient | None
"""A coefficient; None for the neutral element of the sum."""


@dataclasses.dataclass(frozen=True)
class Combination:
    """The sum of the products of states with weights, and of an offset."""

    weights: tuple[Part, ...]
    offset: Part

    @property
    def parts(self) -> tuple[Part, ...]:
        """The weights and the offset."""
        return (*self.weights, self.offset)

    @property
    def is_independent(self) -> bool:
        """Test for a value that no state changes."""
        return not any(self.weights)


def raise_semiring(recurrence: Recurrence) -> Replacement | str:
    """Replace states that are combinations of each other over a semiring."""
    states = recurrence.states
    fact = recurrence.fact(states[0].initial).without_content()
    if len(states) > _WIDEST:
        return f"more than {_WIDEST} states depend on each other"
    if fact.shape is None:
        return "states of unknown rank depend on each other"
    for state in states:
        own = recurrence.fact(state.initial)
        if (own.elem_type, own.shape) != (fact.elem_type, fact.shape):
            return "states of several shapes depend on each other"
    whole = Fact(fact.elem_type, (*fact.shape, Dimension.constant(len(states))))
    if not is_small(whole):
        return f"states of more than {MOST_STEP_BYTES} bytes depend on each other"
    recurrence.require_room(whole)
    for semiring in SEMIRINGS:
        if fact.elem_type not in semiring.types:
            continue
        reader = _Reader(recurrence, fact, semiring)
        try:
            choice = _choice(recurrence, reader)
            return _replace(recurrence, reader, choice, reader.read(choice.results), fact)
        except Unfit:  # the reason of the last row is no better than another
            continue
    return "no pair of operations joins states that depend on each other"


# Reading -----------------------------------------------------------------------------------------


class _Reader(Coefficients):
    """The combinations of states over one semiring that the values of a cycle are."""

    def __init__(self, recurrence: Recurrence, fact: Fact, semiring: Semiring) -> None:
        super().__init__(recurrence, fact)
        self.semiring = semiring
        self._combinations: dict[Value, Combination] = {}

    def read(self, results: Sequence[Value]) -> list[Combination]:
        """The combinations that some values are of the states.

        Raises:
            Unfit: a value that is no combination.
        """
        states = self._recurrence.states
        for state in states:
            weights = tuple([self.one if other is state else None for other in states])
            self._combinations[state.argument] = Combination(weights, None)
        for node in self._needed(results):
            same = self._recurrence.fact(node.output()).shape == self._shape
            rule = None if node.domain or node.op.references else self._rule(node.op_type)
            if rule is None or not same:
                raise Unfit(f"{node} makes the next value")
            self._combinations[node.output()] = rule(node)
        return [self._of(value) for value in results]

    def _needed(self, results: Sequence[Value]) -> list[Node]:
        """The nodes of the cycle that some values depend on, in order."""
        needed = set(results)
        nodes = []
        for node in reversed(self._recurrence.nodes):
            if not needed.isdisjoint(value for value in node.outputs if value is not None):
                nodes.append(node)
                needed.update(value for value in node.inputs if value is not None)
        return nodes[::-1]

    @property
    def elem_type(self) -> int:
        """The element type of the states."""
        return self._type

    def part_of(self, value: Value) -> Coefficient:
        """The coefficient of a value that no state changes."""
        return self._coefficient(value)

    def select(self, node: Node) -> tuple[Value, Value, Value] | None:
        """The condition and the two values of a select."""
        return as_select(node, self._source)

    @lazy_property
    def one(self) -> Coefficient:
        """The neutral element of products."""
        act = self.semiring.act
        if act in ("Max", "Min"):
            return self._unbounded(act == "Max", False)
        return ZERO if act == "Add" else ONE

    @lazy_property
    def nothing(self) -> Coefficient:
        """The neutral element of sums."""
        join = self.semiring.join
        return self._unbounded(join == "Max", False) if join in ("Max", "Min") else ZERO

    def _rule(self, op_type: str) -> Callable[[Node], Combination] | None:
        if op_type in (self.semiring.join, self.semiring.act):
            if not takes(op_type, 0, self._type, self._emit.opset):
                return None
            own = self._join if op_type == self.semiring.join else self._act
            return lambda node: functools.reduce(own, [self._of(value) for value in node.inputs])
        rules: dict[str, Callable[[Node], Combination]] = {
            "Identity": lambda node: self._of(node.inputs[0]),
            "Where": self._where,
        }
        if "Add" in (self.semiring.join, self.semiring.act):
            rules["Sub"] = self._subtract
        if self.semiring.join == "Add":
            rules |= {
                "Sum": lambda node: functools.reduce(
                    self._join, [self._of(value) for value in node.inputs]
                ),
                "Neg": lambda node: self._act(
                    self._of(node.inputs[0]), self._constant(Coefficient(-1.0))
                ),
            }
        if self.semiring.join == "Xor":
            rules["Not"] = lambda node: self._join(self._of(node.inputs[0]), self._constant(ONE))
        return rules.get(op_type)

    def _of(self, value: Value | None) -> Combination:
        if value is None:
            raise Unfit("an operand is absent")
        if value not in self._combinations:
            self._combinations[value] = self._constant(self._coefficient(value))
        return self._combinations[value]

    def _constant(self, coefficient: Coefficient) -> Combination:
        return Combination((None,) * len(self._recurrence.states), coefficient)

    def _join(self, one: Combination, other: Combination) -> Combination:
        *weights, offset = (self._sum(*pair) for pair in zip(one.parts, other.parts, strict=True))
        return Combination(tuple(weights), offset)

    def _sum(self, one: Part, other: Part) -> Part:
        if one is None or other is None:
            return other if one is None else one
        if self.semiring.join in ("Add", "Xor"):
            return self._plus(one, other)
        return self._combine(self.semiring.join, one, other)

    def _act(self, one: Combination, other: Combination) -> Combination:
        if one.is_independent:
            one, other = other, one
        if not other.is_independent or other.offset is None:
            raise Unfit("states are multiplied by each other")
        *weights, offset = (self._times(part, other.offset) for part in one.parts)
        return Combination(tuple(weights), offset)

    def _times(self, part: Part, by: Coefficient) -> Part:
        if part is None or part is self.one:
            return None if part is None else by
        if self.semiring.act in ("Mul", "And"):
            return self._product(part, by)
        return self._plus(part, by) if self.semiring.act == "Add" else self._bound(part, by)

    def _bound(self, part: Coefficient, by: Coefficient) -> Coefficient:
        return self._combine(self.semiring.act, part, by)

    def _subtract(self, node: Node) -> Combination:
        one, other = (self._of(value) for value in node.inputs)
        negated = self._constant(Coefficient(-1.0))
        if self.semiring.join == "Add":
            return self._join(one, self._act(other, negated))
        if not other.is_independent or other.offset is None:
            raise Unfit(f"{node} subtracts a state")
        return self._act(one, self._constant(self._product(other.offset, Coefficient(-1.0))))

    def _where(self, node: Node) -> Combination:
        condition, *branches = node.inputs
        if condition is None or condition in self._combinations:
            raise Unfit(f"{node} chooses by a state")
        if condition.producer in self._recurrence.nodes:
            raise Unfit(f"{node} chooses by a state")
        flag, (one, other) = self._coefficient(condition), (self._of(v) for v in branches)
        weights = [
            self._choose_part(flag, *pair) for pair in zip(one.weights, other.weights, strict=True)
        ]
        offset = None
        if one.offset is not None or other.offset is not None:
            offset = self._choose(flag, one.offset or self.nothing, other.offset or self.nothing)
        return Combination(tuple(weights), offset)

    def _choose_part(self, flag: Coefficient, one: Part, other: Part) -> Part:
        if one is None and other is None:
            return None
        spreads = self._recurrence.trips.options.spread_nan
        if self._dtype.kind == "f" and not spreads and (one is None or other is None):
            # A product with the neutral element of sums is NaN for an infinity or a NaN.
            raise Unfit("a condition chooses between states")
        return self._choose(flag, one or self.nothing, other or self.nothing)


# Conditions --------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Choice:
    """The next values of all states, and what one condition makes of them.

    Attributes:
        results: the next values where the condition leaves them.
        condition: the condition; None for none.
        holds: the condition where the results count.
        fresh: the values that replace the states elsewhere; none if they keep their values.
    """

    results: tuple[Value, ...]
    condition: Value | None = None
    holds: bool = True
    fresh: tuple[Value, ...] = ()


def _choice(recurrence: Recurrence, reader: _Reader) -> Choice:
    """Match one condition that chooses the next values of all states."""
    states = recurrence.states
    results = tuple([skip_identities(state.result) for state in states])
    producers = [value.producer for value in results]
    selects = [None if node is None else reader.select(node) for node in producers]
    matches = [match for match in selects if match is not None]
    conditions = {match[0] for match in matches}
    if len(matches) < len(states) or len(conditions) > 1:
        return Choice(results)
    (condition,) = conditions
    carried = {state.argument for state in states}
    carried.update(v for node in recurrence.nodes for v in node.outputs if v is not None)
    if condition in carried:
        return Choice(results)
    for holds in (True, False):
        moved = tuple([match[1 if holds else 2] for match in matches])
        others = tuple([skip_identities(match[2 if holds else 1]) for match in matches])
        if all(other is state.argument for other, state in zip(others, states, strict=True)):
            return Choice(moved, condition, holds)
        if carried.isdisjoint(others):
            return Choice(moved, condition, holds, others)
    return Choice(results)


# Products ----------------------------------------------------------------------------------------


Place = tuple[int, int]
"""A row and a column; the last column is that of offsets, the last row the condition of a reset."""


@dataclasses.dataclass(frozen=True)
class Product:
    """The product of matrices with offsets, as lists of their present elements."""

    semiring: Semiring
    width: int
    places: tuple[Place, ...]
    elem_type: int

    def __call__(
        self, emit: Builder, early: Sequence[Value], late: Sequence[Value], _: Value | None
    ) -> list[Value]:
        """Emit the elements of the matrices of two ranges of iterations."""
        joined = self.joined(emit, early, late)
        return [joined[place] for place in self.places]

    def joined(
        self, emit: Builder, early: Sequence[Value], late: Sequence[Value]
    ) -> dict[Place, Value]:
        """Emit the elements of the product that are present."""
        before = dict(zip(self.places, early, strict=True))
        after = dict(zip(self.places, late, strict=True))
        width, joined = self.width, {}
        for row, column in itertools.product(range(width), range(width + 1)):
            terms = [
                emit.add(self.semiring.act, [after[row, k], before[k, column]], "product")
                for k in range(width)
                if (row, k) in after and (k, column) in before
            ]
            if column == width:
                terms.append(after[row, width])
            if terms:
                joined[row, column] = functools.reduce(
                    lambda one, other: emit.add(self.semiring.join, [one, other], "sum"), terms
                )
        reset = width, 0
        if reset in after:
            for place in [(row, width) for row in range(width)]:
                one, other = after[place], joined[place]
                joined[place] = emit.select(after[reset], one, other, "state", self.elem_type)
            joined[reset] = emit.add("Or", [before[reset], after[reset]], "reset")
        return joined


def _closure(places: frozenset[Place], width: int) -> frozenset[Place]:
    """The elements that a product of any number of matrices has."""
    while True:
        more = places | _products(places, width)
        if more == places:
            return places
        places = more


def _products(places: frozenset[Place], width: int) -> frozenset[Place]:
    """The elements that the product of two matrices has."""
    return frozenset(
        (row, column)
        for (row, k), (other, column) in itertools.product(places, places)
        if k == other and k < width
    ) | frozenset((row, width) for row in range(width))


def _replace(
    recurrence: Recurrence,
    reader: _Reader,
    choice: Choice,
    combinations: Sequence[Combination],
    fact: Fact,
) -> Replacement:
    """Emit the prefix products, whose offsets are the states.

    Raises:
        Unfit: elements of 0 that the product of two matrices has.
    """
    semiring, width = reader.semiring, len(combinations)
    weights = [weight for each in combinations for weight in each.weights if weight is not None]
    is_fixed = all(reader.array_of(weight) is not None for weight in weights)
    if is_fixed and semiring.act == "Mul" and fact.elem_type in _FLOATS:
        raise Unfit("powers of its factors may overflow")
    parts = {
        (row, column): part
        for row, each in enumerate(combinations)
        for column, part in enumerate(each.parts)
        if part is not None or column == width
    }
    own = frozenset(parts)
    all_places = _closure(own, width)
    steps = 0
    if own != all_places and fact.elem_type in _FLOATS:
        if _products(own, width) != all_places:
            raise Unfit("some state does not depend on some other one two iterations before")
        steps = 1
    places = tuple(sorted(own if steps else all_places))
    rows = _rows(recurrence, reader, parts, places, choice)
    reset = ((width, 0),) if choice.fresh else ()
    if steps:
        rows = _first_step(
            recurrence, Product(semiring, width, (*places, *reset), fact.elem_type), rows
        )
        places = tuple(sorted(all_places))
    facts = [fact] * len(places) + [Fact(_TYPES.BOOL, fact.shape)] * len(reset)
    places = (*places, *reset)
    joined = recurrence.prefixes(
        Product(semiring, width, places, fact.elem_type), rows, facts, first=steps
    )
    exact = not semiring.rounds or fact.elem_type in _INTEGERS
    offsets = [dict(zip(places, joined, strict=True))[row, width] for row in range(width)]
    return _read_offsets(recurrence, choice, offsets, exact)


def _rows(
    recurrence: Recurrence,
    reader: _Reader,
    parts: dict[Place, Part],
    places: Sequence[Place],
    choice: Choice,
) -> list[Value]:
    """Emit the elements of all iterations, the initial values first, of which only those count."""
    emit, width = recurrence.trips.emit, len(recurrence.states)
    firsts = [recurrence.first_row(index) for index in range(width)]
    flag = None
    if choice.fresh and choice.condition is not None:
        flag = reader.rows_of(reader.part_of(choice.condition))
        flag = emit.add("Not", [flag], "reset") if choice.holds else flag
    only = None if choice.fresh else _live(recurrence, choice)
    rows = []
    for row, column in places:
        own = reader.rows_of(parts.get((row, column)) or reader.nothing)
        if only is not None:
            own = emit.add("Compress", [own, only], "live", axis=0)
        if flag is not None and column == width:
            fresh = reader.rows_of(reader.part_of(choice.fresh[row]))
            own = emit.select(flag, fresh, own, "state", reader.elem_type)
        rows.append(emit.concat([firsts[row], own], 0, "rows"))
    if flag is not None:
        yes = emit.constant(np.array(True), "yes")
        first = emit.add("Expand", [yes, emit.add("Shape", [firsts[0]], "shape")], "first")
        rows.append(emit.concat([first, flag], 0, "resets"))
    return rows


def _live(recurrence: Recurrence, choice: Choice) -> Value | None:
    """Emit the condition of the iterations that change the states; None for all of them.

    Raises:
        Unfit: a condition of several elements.
    """
    if choice.condition is None:
        return None
    trips, emit = recurrence.trips, recurrence.trips.emit
    operand = trips.operand(choice.condition)
    shape = operand.fact.shape
    if shape is None or any(dim != 1 for dim in shape):
        raise Unfit("a condition chooses elements of states that depend on each other")
    flag = trips.feeding.every(operand, choice.condition.name)
    if shape:
        flag = emit.squeeze(flag, tuple(range(1, 1 + len(shape))), "live")
    return flag if choice.holds else emit.add("Not", [flag], "live")


def _first_step(recurrence: Recurrence, product: Product, rows: Sequence[Value]) -> list[Value]:
    """Emit the step of distance 1, whose results have elements that one matrix has not."""
    emit, feeding = recurrence.trips.emit, recurrence.trips.feeding
    early, late = (
        [feeding.cut(row, [start], [end], [0]) for row in rows]
        for start, end in ((0, -1), (1, _END))
    )
    heads = {
        place: feeding.cut(row, [0], [1], [0])
        for place, row in zip(product.places, rows, strict=True)
    }
    joined = product.joined(emit, early, late)
    return [
        emit.concat(
            [heads[place if place in heads else (place[0], product.width)], joined[place]],
            0,
            "rows",
        )
        for place in sorted(joined)
    ]


def _read_offsets(
    recurrence: Recurrence, choice: Choice, offsets: Sequence[Value], exact: bool
) -> Replacement:
    """Emit the states from the offsets after each iteration that changes them."""
    emit, feeding = recurrence.trips.emit, recurrence.trips.feeding
    every, final, end, places = {}, {}, feeding.trips, None
    only = None if choice.fresh else _live(recurrence, choice)
    if only is not None:
        numbers = emit.add("Cast", [only], "numbers", to=_TYPES.INT64)
        places, end = emit.running_sum(numbers, "places"), feeding.integers(-1)
    for rows, state in zip(offsets, recurrence.states, strict=True):
        if places is None:
            every[state] = feeding.cut(rows, [1], [_END], [0])
        else:
            every[state] = emit.add("Gather", [rows, places], state.argument.name, axis=0)
        last = emit.add("Gather", [rows, end], "last", axis=0)
        final[state] = functools.partial(_same, emit.squeeze(last, 0, state.result.name))
    what = describe("products of matrices in steps of doubling distance", exact)
    return Replacement(what, exact, every, final)


def _same(value: Value) -> Value:
    return value
