"""Declarations of the rewrite: runtimes refuse wrong types, and make room for the sizes.

A name of a size ties all values that have it: runtimes let one use the memory of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import onnx

from .execution import Declaration
from .inference import fact_of, refine
from .polynomials import Dim
from .terms import ABSENT, Terms

_Place = tuple[int, int]
_Types = Iterable[Declaration]
_Tie = tuple[Declaration, _Place, Dim]


def wrong_declarations(terms: Terms, before: _Types, after: _Types) -> Iterator[str]:
    """Names of values of which the rewrite declares what is not derived."""
    original = _Original(terms, before)
    ties: dict[str, list[_Tie]] = {}
    for each in after:
        refine(terms, each.term)  # more may be known than when the term was built
        if not original.has_type(each) or not original.has_rank(each):
            yield each.name
            continue
        own = terms.fact(each.term).shape
        for axis, dim in enumerate(fact_of(each.type_).shape or ()):
            place = (terms.find(each.term), axis)
            derived = own[axis] if own is not None and axis < len(own) else None
            if isinstance(dim, int) and dim not in (derived, original.sizes.get(place)):
                yield each.name
            if isinstance(dim, str):
                ties.setdefault(dim, []).append((each, place, derived))
    for name, values in ties.items():
        yield from _untied(original, name, values)


def same_below(terms: Terms, roots: Iterable[int], before: _Types, after: _Types) -> bool:
    """Test for the same declared sizes of all terms that some are made of."""
    reach, stack = {ABSENT}, list(roots)
    while stack:
        at = stack.pop()
        if at not in reach:
            reach.add(at)
            stack += terms.nodes[at].args
    sides = [
        [(e.term, *_numbers(e.type_)) for e in side if e.term in reach] for side in (before, after)
    ]
    one, other = ({row for row in side if row[1:]} for side in sides)
    return one == other


def _numbers(type_: onnx.TypeProto) -> list[Dim]:
    """Sizes of a type that are numbers, and None in the place of others."""
    dims: list[Dim] = [d if isinstance(d, int) else None for d in fact_of(type_).shape or ()]
    return dims if any(dim is not None for dim in dims) else []


def _untied(original: _Original, name: str, values: Sequence[_Tie]) -> Iterator[str]:
    """Names of values that share the name of a size without reason."""
    new = [value for value in values if name not in original.names.get(value[1], ())]
    places = {place for _, place, _ in values}
    sizes = {derived for _, _, derived in new}
    if not new or len(places) == 1:
        return
    shared = {derived for _, place, derived in values if name in original.names.get(place, ())}
    if len(sizes) > 1 or None in sizes or (shared and not sizes <= shared):
        yield new[0][0].name


class _Original:
    """Declarations of the original by values."""

    def __init__(self, terms: Terms, declarations: Iterable[Declaration]) -> None:
        self._terms = terms
        self._types: set[tuple[int, bytes]] = set()
        self._ranks: set[tuple[int, int]] = set()
        self.sizes: dict[_Place, int] = {}
        self.names: dict[_Place, set[str]] = {}
        for each in declarations:
            root, shape = terms.find(each.term), fact_of(each.type_).shape
            self._types.add((root, _type(each.type_)))
            if shape is not None:
                self._ranks.add((root, len(shape)))
            for axis, dim in enumerate(shape or ()):
                if isinstance(dim, int):
                    self.sizes[root, axis] = dim
                elif isinstance(dim, str):
                    self.names.setdefault((root, axis), set()).add(dim)

    def has_type(self, declaration: Declaration) -> bool:
        """Test whether the type of a value is the one that a declaration gives it."""
        own, type_ = self._terms.fact(declaration.term).elem_type, declaration.type_
        if (self._terms.find(declaration.term), _type(type_)) in self._types:
            return True
        is_tensor = type_.WhichOneof("value") == "tensor_type"
        return is_tensor and type_.tensor_type.elem_type in (0, own)

    def has_rank(self, declaration: Declaration) -> bool:
        """Test whether a value has as many axes as a declaration gives it."""
        shape = fact_of(declaration.type_).shape
        own = self._terms.fact(declaration.term).shape
        place = self._terms.find(declaration.term), len(shape or ())
        return shape is None or place in self._ranks or (own is not None and len(own) == place[1])


def _type(type_: onnx.TypeProto) -> bytes:
    """Type without the sizes of a tensor."""
    bare = onnx.TypeProto.FromString(type_.SerializeToString())
    bare.ClearField("denotation")
    if bare.WhichOneof("value") == "tensor_type":
        bare.tensor_type.ClearField("shape")
    return bare.SerializeToString(deterministic=True)
