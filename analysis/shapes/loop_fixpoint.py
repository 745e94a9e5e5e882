"""Fixpoint of facts about loop-carried values.

The facts of the initial values are assumed of the body's inputs, joined with those of its outputs,
and assumed again, until the body preserves them.

    body (a) => (e) { e = Concat <axis = 0> (a, w) }      # a starts as [2, 3], w is [1, 3]
    round 1: a [2, 3], e [3, 3]; joined [s, 3] with a new symbol
    round 2: a [s, 3], e [s + 1, 3]; joined [s, 3] again, which holds in every iteration
"""

from collections.abc import Sequence
from typing import Protocol

from ...facts.fact import UNKNOWN, Fact, Symbols, is_named
from ...facts.polynomial import Dimension
from ...facts.types import agreed
from ...ir import Graph, Model, Node, Value

_MOST_ROUNDS = 4


class Inference(Protocol):
    """The interface of a model's inference (`inference.py`)."""

    symbols: Symbols
    model: Model

    def version_of(self, node: Node, /) -> int:
        """The opset version of a node."""

    def fact(self, value: Value) -> Fact:
        """The facts about a value."""

    def enter(self, value: Value, fact: Fact) -> None:
        """Assume a fact about an input of a body."""

    def trial(self) -> "Inference":
        """A copy for assumptions that may be discarded."""

    def keep(self) -> None:
        """Merge the facts of a trial into its original."""


def fact_of(inference: Inference, value: Value | None) -> Fact:
    """The facts about an input that may be absent."""
    return UNKNOWN if value is None else inference.fact(value)


def of_type_only(fact: Fact) -> Fact:
    """A fact without shape and elements."""
    return Fact(fact.elem_type, None, None, fact.other)


def invariant(
    inference: Inference,
    body: Graph,
    before: Sequence[Fact],
    initial: Sequence[Fact],
    first_output: int,
    after: Sequence[Fact] = (),
) -> list[Fact]:
    """Weaken the facts of carried values until the body preserves them."""
    own = [Slot(inference.symbols) for _ in initial]
    facts = list(initial)
    for _ in range(_MOST_ROUNDS):
        # A round that does not hold must leave no facts behind.
        trial = inference.trial()
        for value, fact in zip(body.inputs, [*before, *facts, *after], strict=True):
            trial.enter(value, fact)
        results = [trial.fact(v) for v in body.outputs[first_output : first_output + len(facts)]]
        joined = [slot.join(a, b) for slot, a, b in zip(own, facts, results, strict=True)]
        if all(_same(a, b) for a, b in zip(facts, joined, strict=True)):
            trial.keep()
            return facts
        facts = joined
    # Without a fixpoint no size is certain.
    return [of_type_only(fact) for fact in facts]


class Slot:
    """A loop-carried value; each varying size has one symbol."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.varying: dict[int, Dimension] = {}

    def join(self, one: Fact, other: Fact) -> Fact:
        """Join two facts."""
        if one.other is not None or other.other is not None:
            type_ = agreed(one.other, other.other)
            if type_ is not None and 0 in (one.count, other.count):
                # An empty sequence holds nothing of another shape.
                type_ = other.other if one.count == 0 else one.other
            return Fact(other=type_, count=one.count if one.count == other.count else None)
        elem_type = one.elem_type if one.elem_type == other.elem_type else 0
        if one.shape is None or other.shape is None or len(one.shape) != len(other.shape):
            return Fact(elem_type)
        dims = [
            self._dim(i, a, b) for i, (a, b) in enumerate(zip(one.shape, other.shape, strict=True))
        ]
        return Fact(elem_type, tuple(dims))

    def _dim(self, axis: int, one: Dimension, other: Dimension) -> Dimension:
        if one == other:
            return one
        if axis not in self.varying:
            self.varying[axis] = self.symbols.fresh()
        return self.varying[axis]


def _same(one: Fact, other: Fact) -> bool:
    return all(
        getattr(one, name) == getattr(other, name)
        for name in ("elem_type", "shape", "other", "count")
    )


def after_any_iterations(
    symbols: Symbols, initial: Sequence[Fact], results: Sequence[Fact]
) -> list[Fact]:
    """The facts of loop-carried values after a loop: initial values or last outputs."""
    return [
        outside(symbols, Slot(symbols).join(a, b), (a,))
        for a, b in zip(initial, results, strict=True)
    ]


def outside(symbols: Symbols, fact: Fact, visible: Sequence[Fact]) -> Fact:
    """A fact of a body outside it: sizes that vary by iteration become new ones."""
    if fact.shape is None:
        return fact
    dims_outside = {dim for other in visible for dim in other.shape or ()}
    dims = [dim if dim in dims_outside or is_named(dim) else symbols.fresh() for dim in fact.shape]
    return Fact(fact.elem_type, tuple(dims), None, fact.other)


def stack(symbols: Symbols, element: Fact, axis: int, length: Dimension | None) -> Fact:
    """Stack a body's output over all iterations along a new axis."""
    each = outside(symbols, element, ())
    if each.shape is None:
        return Fact(element.elem_type)
    dims = list(each.shape)
    axis += len(dims) + 1 if axis < 0 else 0
    dims.insert(axis, length or symbols.fresh())
    return Fact(element.elem_type, tuple(dims))
