"""Two models as terms: their signatures, their inputs, and what each of them computes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import onnx

from ...ir import Array, Tensor
from ...ir.checker import check_well_formed
from ...ir.copying import forget_shape
from ...ir.onnx_errors import OnnxError, one_line
from ...reference.bodies import subgraphs
from ...reference.bound_inputs import bound_conditions
from ...reference.refused_nodes import infer_strictly, inference_query
from .execution import Execution
from .inference import fact_of, refine
from .polynomials import Dim
from .terms import CertificateError, Fact, Head, Terms, is_own, require_unique

Types = Mapping[str, onnx.TypeProto]
_Protos = tuple[onnx.ModelProto, onnx.ModelProto]


class Side(NamedTuple):
    """One of the models after its execution, with the terms of its outputs by name."""

    execution: Execution
    outputs: dict[str, int]


class Models(NamedTuple):
    """Both models over the same terms, and conditions on their inputs."""

    terms: Terms
    before: Side
    after: Side
    assumptions: set[str]


def execute(protos: _Protos, bound: Mapping[str, Array], folders: Sequence[Path | None]) -> Models:
    """Execute two models on the same inputs, of which the bound ones have their values."""
    terms, types = Terms(), [_inputs(proto) for proto in protos]
    assumptions = _compare(types[0], types[1], bound)
    facts = _facts(types[0], {name: types[1][name] for name in types[1] if name not in bound})
    defaults, sides = [], []
    for proto in protos:
        check_well_formed(proto)
        require_valid(proto, types[0])
    for proto, folder in zip(protos, folders, strict=True):
        own = [name for name in types[0] if name in _inputs(proto)]
        values = {n: terms.add(Head("input", key=n), fact=facts[n]) for n in own if n not in bound}
        values |= {name: terms.constant(bound[name]) for name in own if name in bound}
        initial = [t for t in proto.graph.initializer if t.name in values]
        initial = [t for t in initial if terms.tensor(values[t.name]) is None]
        defaults.append({t.name: terms.constant(Tensor(t, base_dir=folder)) for t in initial})
        execution = Execution(terms, proto, folder, is_original=proto is protos[0])
        names = [info.name for info in proto.graph.output]
        require_unique(names, "outputs")
        sides.append(Side(execution, dict(zip(names, execution.run(values), strict=True))))
    for number, _ in enumerate(terms.nodes):
        refine(terms, number)
    terms.infer = refine
    if [*sides[0].outputs] != [*sides[1].outputs] or defaults[0] != defaults[1]:
        raise CertificateError("the models have different outputs, or defaults of inputs")
    return Models(terms, sides[0], sides[1], assumptions)


def _inputs(model: onnx.ModelProto) -> dict[str, onnx.TypeProto]:
    """Types of the inputs that a caller passes, in their order."""
    fixed = {t.name for t in model.graph.initializer} if model.ir_version < 4 else set()
    require_unique([info.name for info in model.graph.input], "inputs")
    return {info.name: info.type for info in model.graph.input if info.name not in fixed}


def _compare(before: Types, after: Types, bound: Mapping[str, Array]) -> set[str]:
    """Assumptions under which both models have the same inputs, and bound ones their values."""
    free = [[name for name in side if name not in bound] for side in (before, after)]
    if not bound.keys() <= before.keys() or free[0] != free[1]:
        raise CertificateError("the models have different inputs")
    for name, value in bound.items():
        tensor = Tensor(array=value)
        for type_ in (before[name], after.get(name, before[name])):
            _is_narrower(name, fact_of(type_), Fact(tensor.elem_type, tuple(tensor.dims)))
    assumptions = bound_conditions(bound, after)
    ties = {dim for dim, places in _places(before, after, free[1]).items() if len(places) > 1}
    for name, type_ in ((name, after[name]) for name in free[1]):
        facts = fact_of(type_), fact_of(before[name])
        if 0 in (facts[0].elem_type, facts[1].elem_type) and type_ != before[name]:
            raise CertificateError(f"input '{name}' has different types")
        if _is_narrower(name, *facts) or not ties.isdisjoint(facts[0].shape or ()):
            assumptions.add(f"input '{name}' is {facts[0].text()}, as the rewrite declares it")
    return assumptions


def _places(before: Types, after: Types, names: Iterable[str]) -> dict[Dim, set[object]]:
    """Sizes of the original for each size that the rewrite declares for its inputs."""
    places = dict[Dim, set[object]]()
    for name in names:
        pairs = zip(
            fact_of(after[name]).shape or (), fact_of(before[name]).shape or (), strict=False
        )
        for axis, (dim, own) in enumerate(pairs):
            if isinstance(dim, str):
                places.setdefault(dim, set()).add((name, axis) if own is None else own)
    return places


def _facts(before: Types, after: Types) -> dict[str, Fact]:
    """Facts of the inputs: sizes of the original, and numbers that the rewrite declares."""
    facts = {name: fact_of(type_) for name, type_ in before.items()}
    numbers, ties = dict[Dim, Dim](), _places(before, after, after)
    for places in ties.values():
        names = [own for own in places if isinstance(own, str)]
        numbers.update(dict.fromkeys(names[1:], names[0] if names else None))
    for name, type_ in after.items():
        own, other = facts[name].shape, fact_of(type_).shape
        pairs = list(zip(own or (), other or (), strict=False))
        narrowed = [(a, b) for a, b in pairs if isinstance(a, str) and isinstance(b, int)]
        numbers.update({numbers.get(a, a): b for a, b in narrowed})
        if own is None and other is not None:
            other = tuple([dim if isinstance(dim, int) else None for dim in other])
            facts[name] = Fact(facts[name].elem_type, other)
        elif own is not None:
            sizes = [b if isinstance(b, int) else a for a, b in pairs] or own
            facts[name] = Fact(facts[name].elem_type, tuple(sizes))
    return {name: _renamed(fact, numbers) for name, fact in facts.items()}


def _renamed(fact: Fact, numbers: Mapping[Dim, Dim]) -> Fact:
    """Fact with other sizes for some; no size that an input names is the checker's own."""
    if fact.shape is None:
        return fact
    dims = [numbers.get(numbers.get(dim, dim), numbers.get(dim, dim)) for dim in fact.shape]
    return Fact(fact.elem_type, tuple([None if is_own(dim) else dim for dim in dims]))


def _is_narrower(name: str, fact: Fact, other: Fact) -> bool:
    """Test whether a fact leaves fewer sizes open than another one that it fits."""
    a, b = fact.shape, other.shape
    pairs = list(zip(a, b, strict=False)) if a is not None and b is not None else []
    odd = any(isinstance(x, int) and isinstance(y, int) and x != y for x, y in pairs)
    same_rank = a is None or b is None or len(a) == len(b)
    if fact.elem_type != other.elem_type or odd or not same_rank:
        raise CertificateError(f"input '{name}' has different types")
    if a is None or b is None:
        return a is not None
    return any(isinstance(x, int) and not isinstance(y, int) for x, y in pairs)


def require_valid(model: onnx.ModelProto, inputs: Mapping[str, onnx.TypeProto]) -> None:
    """Require a model whose types onnx can infer from those of the original's inputs."""
    query = inference_query(model)
    for info in query.graph.input:
        if info.name in inputs:
            info.type.CopyFrom(inputs[info.name])
    _forget_inputs(query.graph)
    try:
        infer_strictly(query)
    except OnnxError as error:
        text = f"onnx refuses a node: {one_line(error.__cause__ or error)}"
        raise CertificateError(text) from error


def _forget_inputs(graph: onnx.GraphProto) -> None:
    """Drop the sizes that bodies declare of their inputs: they may be wrong."""
    for node in graph.node:
        for body in subgraphs(node):
            for info in body.input:
                forget_shape(info.type)
            _forget_inputs(body)
