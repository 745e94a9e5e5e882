"""Transfer function of calls, cached for calls with equal arguments.

A function that calls another twice, which calls a third twice, has a call graph with shared paths:
a walk call by call takes time exponential in its depth.
"""

import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
import onnx

from ...facts.fact import Fact, Symbols, is_private
from ...facts.polynomial import Dimension
from ...ir import Function, Operator

Attributes = Mapping[str, onnx.AttributeProto]


class CallFacts:
    """The facts of calls by function, attributes and facts of the arguments.

    Args:
        symbols: makes new symbols. A new size in a call (the number of nonzero elements) differs in
            every call, even for equal arguments.
        cache: the results of other inferences, which this one extends.
    """

    def __init__(self, symbols: Symbols, cache: dict[Hashable, list[Fact]] | None = None) -> None:
        self._symbols = symbols
        self._cache = {} if cache is None else cache

    def of(
        self,
        function: Function,
        op: Operator,
        inputs: Sequence[Fact],
        infer: Callable[[], list[Fact]],
    ) -> list[Fact]:
        """The facts of a call's outputs, from the cache or inferred."""
        attributes = tuple([m.SerializeToString() for m in op.attributes.values()])
        key = (function, attributes, tuple([fact_key(fact) for fact in inputs]))
        if key not in self._cache:
            self._cache[key] = infer()
            return self._cache[key]
        names = {name for fact in inputs for dim in _dimensions(fact) for name in dim.symbols}
        return self._with_new_symbols(self._cache[key], names)

    def _with_new_symbols(self, facts: Sequence[Fact], arguments: set[str]) -> list[Fact]:
        """The same facts with new symbols for those that the call made itself."""
        own = {name for fact in facts for dim in _dimensions(fact) for name in dim.symbols}
        renamed = {name: self._symbols.fresh() for name in own - arguments if is_private(name)}
        return [_with(fact, renamed) for fact in facts] if renamed else list(facts)


def fact_key(fact: Fact) -> Hashable:
    """The key of a fact."""
    content = None
    if fact.content is not None:
        content = (fact.content.shape, tuple(map(_element_key, fact.content.reshape(-1))))
    other = None if fact.other is None else fact.other.SerializeToString(deterministic=True)
    return fact.elem_type, fact.shape, content, other, fact.count


def _element_key(element: object) -> Hashable:
    """The key of an element: True equals 1 in Python, but is a different element."""
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
