"""What calls of a model's functions give out, found once for calls that are given the same.

A function that calls another twice, which calls a third twice, makes a call graph that joins again:
to walk it call by call takes time exponential in its depth.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
import onnx

from ...facts.fact import Fact, Symbols, is_private
from ...facts.polynomial import Dimension
from ...ir import Function, Operator

Attributes = Mapping[str, onnx.AttributeProto]


class CallFacts:
    """The results of calls, by function, attributes and what is known of the arguments.

    Args:
        symbols: makes new symbols. A size that a call makes anew (how many elements are not zero)
            is another one in every call, however alike the arguments are.
        known: what other inferences have found out, to which this one adds.
    """

    def __init__(self, symbols: Symbols, known: dict[Hashable, list[Fact]] | None = None) -> None:
        self._symbols = symbols
        self._known = {} if known is None else known

    def of(
        self,
        function: Function,
        op: Operator,
        inputs: Sequence[Fact],
        infer: Callable[[], list[Fact]],
    ) -> list[Fact]:
        """The facts of a call's outputs; those of an earlier call of this kind, or inferred."""
        attributes = tuple([m.SerializeToString() for m in op.attributes.values()])
        key = (function, attributes, tuple([fact_key(fact) for fact in inputs]))
        if key not in self._known:
            self._known[key] = infer()
            return self._known[key]
        given = {name for fact in inputs for dim in _dimensions(fact) for name in dim.symbols}
        return self._renewed(self._known[key], given)

    def _renewed(self, facts: Sequence[Fact], given: set[str]) -> list[Fact]:
        """The same facts with new symbols for those that the call itself made."""
        own = {name for fact in facts for dim in _dimensions(fact) for name in dim.symbols}
        renamed = {name: self._symbols.fresh() for name in own - given if is_private(name)}
        return [_with(fact, renamed) for fact in facts] if renamed else list(facts)


def fact_key(fact: Fact) -> Hashable:
    """What tells a fact from others."""
    content = None
    if fact.content is not None:
        content = (fact.content.shape, tuple(map(_element_key, fact.content.reshape(-1))))
    other = None if fact.other is None else fact.other.SerializeToString(deterministic=True)
    return fact.elem_type, fact.shape, content, other, fact.count


def _element_key(element: object) -> Hashable:
    """True equals the size 1, and is not it."""
    return isinstance(element, bool), element


def _dimensions(fact: Fact) -> list[Dimension]:
    content = () if fact.content is None else fact.content.reshape(-1)
    return [*(fact.shape or ()), *(e for e in content if isinstance(e, Dimension))]


def _with(fact: Fact, renamed: dict[str, Dimension]) -> Fact:
    shape = fact.shape and tuple([dim.replaced(renamed) for dim in fact.shape])
    if fact.content is None:
        return dataclasses.replace(fact, shape=shape)
    content = np.empty(fact.content.shape, dtype=object)
    content.reshape(-1)[:] = [
        e.replaced(renamed) if isinstance(e, Dimension) else e for e in fact.content.reshape(-1)
    ]
    return dataclasses.replace(fact, shape=shape, content=content)
