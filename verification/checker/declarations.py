"""Declarations of the rewrite: runtimes refuse wrong types, and make room for the sizes.

A name of a size ties all values that have it: runtimes let one use the memory of another.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import onnx

from .execution import Declaration
from .inference import fact_of, numbers_of, refine
from .polynomials import Dim
from .terms import ABSENT, Shape, Terms

_Place = tuple[int, int]
_Types = Iterable[Declaration]
_Tie = tuple[Declaration, _Place, Dim]


def wrong_declarations(terms: Terms, before: _Types, after: _Types) -> Iterator[str]:
    """Names of values of which the rewrite declares what is not derived."""
    original, names = set[tuple[int, object]](), dict[_Place, set[Dim]]()
    for each in before:
        root, shape = terms.find(each.term), fact_of(each.type_).shape
        original |= {(root, _type(each.type_)), (root, _rank(shape))}
        for axis, dim in enumerate(shape or ()):
            original.add((root, (axis, dim)))
            names.setdefault((root, axis), set()).add(dim)
    ties: dict[str, list[_Tie]] = {}
    for each in after:
        refine(terms, each.term)  # more may be known than when the term was built
        root, own, type_ = terms.find(each.term), terms.fact(each.term), each.type_
        shape, sizes = fact_of(type_).shape, own.shape or ()
        is_own = type_.WhichOneof("value") == "tensor_type"
        is_own &= type_.tensor_type.elem_type in (0, own.elem_type)
        has_rank = _rank(shape) in (None, _rank(own.shape)) or (root, _rank(shape)) in original
        if not has_rank or not (is_own or (root, _type(type_)) in original):
            yield each.name
            continue
        for axis, dim in enumerate(shape or ()):
            derived = sizes[axis] if axis < len(sizes) else None
            if isinstance(dim, int) and dim != derived and (root, (axis, dim)) not in original:
                yield each.name
            if isinstance(dim, str):
                ties.setdefault(dim, []).append((each, (root, axis), derived))
    for name, values in ties.items():
        yield from _untied(names, name, values)


def same_below(terms: Terms, roots: Iterable[int], before: _Types, after: _Types) -> bool:
    """Test for the same declared sizes of all terms that some are made of."""
    reach, stack = {ABSENT}, list(roots)
    while stack:
        at = stack.pop()
        if at not in reach:
            reach.add(at)
            stack += terms.nodes[at].args
    rows = [
        {(e.term, numbers_of(e.type_)) for e in side if e.term in reach} for side in (before, after)
    ]
    one, other = ({row for row in side if row[1]} for side in rows)
    return one == other


def _rank(shape: Shape | None) -> int | None:
    return None if shape is None else len(shape)


def _untied(names: Mapping[_Place, set[Dim]], name: str, values: Sequence[_Tie]) -> Iterator[str]:
    """Names of values that share the name of a size without reason."""
    new = [value for value in values if name not in names.get(value[1], ())]
    places = {place for _, place, _ in values}
    sizes = {derived for _, _, derived in new}
    if not new or len(places) == 1:
        return
    shared = {derived for _, place, derived in values if name in names.get(place, ())}
    if len(sizes) > 1 or None in sizes or (shared and not sizes <= shared):
        yield new[0][0].name


def _type(type_: onnx.TypeProto) -> bytes:
    """Type without the sizes of a tensor."""
    bare = onnx.TypeProto.FromString(type_.SerializeToString())
    bare.ClearField("denotation")
    if bare.WhichOneof("value") == "tensor_type":
        bare.tensor_type.ClearField("shape")
    return bare.SerializeToString(deterministic=True)
