"""Model inputs as terms: one for each name, of the type that both models declare."""

from collections.abc import Container, Hashable, Mapping, Sequence
from types import MappingProxyType

import onnx

from ....facts.fact import PRIVATE, UNKNOWN, Fact, is_private
from ....facts.named_dimensions import with_sizes
from ....facts.polynomial import Dimension
from ....ir import Array
from ....reference.signature import Dim, dims_of, type_text
from ..terms.budget import OpenError
from ..terms.term import Term
from ..terms.term_manager import Terms


def overridable(model: onnx.ModelProto) -> set[str]:
    """Initializers that a caller may override (inputs too, IR version 4 on)."""
    if model.ir_version < 4:
        return set()
    names = {tensor.name for tensor in model.graph.initializer}
    # A sparse initializer has the name of its values.
    names |= {sparse.values.name for sparse in model.graph.sparse_initializer}
    return names & {info.name for info in model.graph.input}


def input_terms(
    terms: Terms,
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    bound: Mapping[str, Array],
    sizes: Mapping[str, Sequence[int | None]] = MappingProxyType({}),
) -> dict[str, Term]:
    """Terms of the inputs by name; constants for those with a fixed value.

    An input is what the rewrite takes: it may declare sizes that the original leaves open, where
    they were fixed. The claim is about inputs of the shapes in `sizes`, None for an open axis.
    """
    facts = {info.name: _fact(terms, info.type) for info in before.graph.input}
    for info in after.graph.input:
        before_fact, after_fact = facts.get(info.name, UNKNOWN), _fact(terms, info.type)
        facts[info.name] = _both(before_fact, after_fact)
    # All before the first term: a size that gets its number here may be one of other inputs.
    for name, dims in sizes.items():
        facts[name] = _sized(terms, facts[name], dims)
    inputs = {}
    for name, fact in facts.items():
        if name in bound:
            inputs[name] = terms.constant(bound[name])
        else:
            if terms.case and fact.shape is not None:
                shape = tuple([dim.replaced(terms.case) for dim in fact.shape])
                fact = Fact(fact.elem_type, shape)
            terms.facts.declared |= {name for dim in fact.shape or () for name in dim.symbols}
            terms.symbols.magnitudes.exists(fact.shape)
            inputs[name] = terms.leaf("input", name, terms.facts.one(fact))
    return inputs


def _sized(terms: Terms, fact: Fact, sizes: Sequence[int | None]) -> Fact:
    """Fact of an input of some sizes. An open size gets its number wherever it stands.

    Raises:
        OpenError: the input has other sizes.
    """
    if fact.shape is None:
        dims = [terms.symbols.fresh() if n is None else Dimension.constant(n) for n in sizes]
        return Fact(fact.elem_type, tuple(dims))
    if len(fact.shape) != len(sizes):
        raise OpenError(f"an input cannot have both {len(fact.shape)} and {len(sizes)} axes")
    for dim, size in zip(fact.shape, sizes, strict=True):
        number = dim.replaced(terms.case).value
        if size is not None and number is None and dim.only_symbol is not None:
            terms.case = {**terms.case, dim.only_symbol: Dimension.constant(size)}
        elif size is not None and number != size:
            raise OpenError(f"a size cannot be both {dim} and {size}")
    return fact


def conditions_of(model: onnx.ModelProto, sizes: Mapping[str, Sequence[int | None]]) -> set[str]:
    """Conditions of a claim about inputs of some sizes, a clause each."""
    types = {info.name: info.type for info in model.graph.input}
    narrow = {name: with_sizes(types[name], dims) for name, dims in sizes.items()}
    return {
        f"input '{name}' is {type_text(type_)}"
        for name, type_ in narrow.items()
        if _says_more(type_, types[name])
    }


def narrower(
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    bound: Container[str],
    shapes: Mapping[str, Sequence[int | None]],
) -> set[str]:
    """Conditions that the rewrite declares for its inputs and the original does not; those that the
    caller did not state are the rewrite's own.

    Args:
        bound: inputs with a fixed value.
        shapes: sizes that the caller fixed, by input; None for an open one.
    """
    own = {info.name: info.type for info in before.graph.input}
    types = dict(own)
    for name, type_ in own.items():
        if name in shapes and type_.HasField("tensor_type"):
            types[name] = with_sizes(type_, shapes[name])
    free = [info for info in after.graph.input if info.name in types and info.name not in bound]
    ties = _ties(types, free)
    conditions = set()
    for name, type_ in ((info.name, info.type) for info in free):
        is_own = not ties.isdisjoint(dims_of(type_.tensor_type) or ())
        is_own |= _says_more(type_, types[name])
        if is_own or _says_more(type_, own[name]):
            end = ", as the rewrite declares it" if is_own else ""
            conditions.add(f"input '{name}' is {type_text(type_)}{end}")
    return conditions


def _ties(types: Mapping[str, onnx.TypeProto], after: Sequence[onnx.ValueInfoProto]) -> set[Dim]:
    """Names that the rewrite gives to axes of inputs which may differ in the original: runtimes
    reuse memory by such names."""
    axes: dict[Dim, set[Hashable]] = {}
    for info in after:
        pairs = zip(
            dims_of(info.type.tensor_type) or (),
            dims_of(types[info.name].tensor_type) or (),
            strict=False,
        )
        for axis, (dim, before) in enumerate(pairs):
            if isinstance(dim, str):
                place = (info.name, axis) if before is None else before
                axes.setdefault(dim, set()).add(place)
    return {name for name, places in axes.items() if len(places) > 1}


def _says_more(type_: onnx.TypeProto, other: onnx.TypeProto) -> bool:
    """Test whether a type determines something that another one leaves open."""
    kind = other.WhichOneof("value")
    if kind != type_.WhichOneof("value"):
        return kind is None
    if kind in ("sequence_type", "optional_type"):
        return _says_more(getattr(type_, kind).elem_type, getattr(other, kind).elem_type)
    if kind != "tensor_type":
        return False
    one, two = type_.tensor_type, other.tensor_type
    if one.elem_type and not two.elem_type:
        return True
    dims, others = dims_of(one), dims_of(two)
    if dims is None or others is None:
        return dims is not None
    return any(
        isinstance(a, int) and not isinstance(b, int) for a, b in zip(dims, others, strict=False)
    )


def require_same_defaults(before: Mapping[str, Term], after: Mapping[str, Term]) -> None:
    """Require equal defaults of inputs for which a caller passes no value.

    Raises:
        OpenError: they do not.
    """
    for name, value in before.items():
        if after.get(name) is not value:
            raise OpenError(f"input '{name}' has another default")


def _fact(terms: Terms, type_: onnx.TypeProto) -> Fact:
    """Fact of a declared type."""
    fact = terms.symbols.fact(type_)
    if fact.shape is None:
        return fact
    names = {s: symbol_of(s) for dim in fact.shape for s in dim.symbols}
    odd = {s: terms.symbols.named(name) for s, name in names.items() if name != s}
    return Fact(fact.elem_type, tuple([dim.replaced(odd) for dim in fact.shape]))


def symbol_of(name: str) -> str:
    """Symbol of the name of a size. "2*n" is a name, not twice another size."""
    plain = name.isidentifier() or is_private(name)
    return name if plain else f"{PRIVATE}'{name.encode().hex()}'"


def _both(one: Fact, other: Fact) -> Fact:
    """Fact of two declarations; a number wins over a name."""
    if one.other is not None or other.other is not None:
        return one if one.other is not None else other
    elem_type = one.elem_type or other.elem_type
    if one.shape is None or other.shape is None or len(one.shape) != len(other.shape):
        return Fact(elem_type, other.shape if one.shape is None else one.shape)
    dims = [b if b.value is not None else a for a, b in zip(one.shape, other.shape, strict=True)]
    return Fact(elem_type, tuple(dims))
