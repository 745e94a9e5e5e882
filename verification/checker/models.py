"""Two models as terms: their signatures, their inputs, and what each of them computes."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import onnx

from ...ir import Array, Tensor
from ...ir.checker import check_well_formed
from ...ir.onnx_errors import OnnxError, one_line
from ...reference.bound_inputs import bound_conditions
from ...reference.refused_nodes import infer_strictly, inference_query
from .execution import Execution
from .inference import fact_of, refine
from .polynomials import Dim
from .terms import CertificateError, Fact, Head, Terms, is_own, require_unique

Types = Mapping[str, onnx.TypeProto]
_Facts = dict[str, Fact]
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
    facts, assumptions = _compare(types[0], types[1], bound)
    defaults, sides = [], []
    for proto, folder in zip(protos, folders, strict=True):
        check_well_formed(proto)
        require_valid(proto, types[0])
        own = [name for name in types[0] if name in _inputs(proto)]
        values = {n: terms.add(Head("input", key=n), fact=facts[n]) for n in own if n not in bound}
        values |= {name: terms.constant(bound[name]) for name in own if name in bound}
        initial = [t for t in proto.graph.initializer if t.name in values.keys() - bound.keys()]
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


def _compare(before: Types, after: Types, bound: Mapping[str, Array]) -> tuple[_Facts, set[str]]:
    """Facts of the inputs, and the assumptions under which both models have them."""
    free = [[name for name in side if name not in bound] for side in (before, after)]
    if not bound.keys() <= before.keys() or free[0] != free[1]:
        raise CertificateError("the models have different inputs")
    for name, value in bound.items():
        tensor = Tensor(array=value)
        for type_ in (before[name], after.get(name, before[name])):
            _require_fit(name, fact_of(type_), Fact(tensor.elem_type, tuple(tensor.dims)))
    assumptions, facts = bound_conditions(bound, after), dict[str, Fact]()
    ends = {name: (fact_of(before[name]), fact_of(after[name])) for name in free[1]}
    rows = {name: [*_pairs(name, *pair)] for name, pair in ends.items()}
    classes = dict[object, set[Any]]()
    for pair in [pair for row in rows.values() for pair in row]:
        joined = set().union(*[classes.get(each, {each}) for each in pair])
        classes.update(dict.fromkeys(joined, joined))
    for name, (own, other) in ends.items():
        if 0 in (own.elem_type, other.elem_type) and after[name] != before[name]:
            raise CertificateError(f"input '{name}' has different types")
        _require_fit(name, own, other)
        sizes = [_size(name, classes[size]) for size, _ in rows[name]]
        if any(is_new for _, is_new in sizes) or (own.shape is None and other.shape is not None):
            assumptions.add(f"input '{name}' is {other.text()}, as the rewrite declares it")
        shape = None if own.shape is None and other.shape is None else tuple([n for n, _ in sizes])
        facts[name] = Fact(own.elem_type, shape)
    return facts, assumptions


def _pairs(name: str, own: Fact, other: Fact) -> Iterator[tuple[object, object]]:
    """Sizes of an input by both declarations; unknown and new ones are marked."""
    rank = len(own.shape or other.shape or ())
    pairs = zip(own.shape or (None,) * rank, other.shape or (None,) * rank, strict=False)
    for axis, (one, two) in enumerate(pairs):
        size: object = (name, axis) if one is None or is_own(one) else one
        yield size, size if two is None else (two,) if isinstance(two, str) else two


def _size(name: str, same: set[Any]) -> tuple[Dim, bool]:
    """Size that others are equal to, and whether the original alone does not say so."""
    members = [each for each in same if not isinstance(each, tuple) or len(each) > 1]
    numbers = [each for each in members if isinstance(each, int)]
    names = sorted([each for each in members if isinstance(each, str)])
    if len(numbers) > 1:
        raise CertificateError(f"input '{name}' has different types")
    return (*numbers, *names, None)[0], len(members) > 1


def _require_fit(name: str, fact: Fact, other: Fact) -> None:
    """Require one type, and sizes that may be the same."""
    pairs = [*zip(fact.shape or (), other.shape or (), strict=False)]
    odd = any(isinstance(x, int) and isinstance(y, int) and x != y for x, y in pairs)
    ranks = {len(shape) for shape in (fact.shape, other.shape) if shape is not None}
    if fact.elem_type != other.elem_type or odd or len(ranks) > 1:
        raise CertificateError(f"input '{name}' has different types")


def require_valid(model: onnx.ModelProto, inputs: Mapping[str, onnx.TypeProto]) -> None:
    """Require a model whose types onnx can infer from those of the original's inputs."""
    query = inference_query(model, keeps_inputs=False)  # what bodies declare may be wrong
    for info in query.graph.input:
        if info.name in inputs:
            info.type.CopyFrom(inputs[info.name])
    try:
        infer_strictly(query)
    except OnnxError as error:
        text = f"onnx refuses a node: {one_line(error.__cause__ or error)}"
        raise CertificateError(text) from error
