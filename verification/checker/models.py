"""Two models as terms: their signatures, their inputs, and what each of them computes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import onnx

from ...ir import Array, Tensor
from ...ir.checker import check_well_formed
from .execution import Execution
from .inference import fact_of, infer
from .terms import CertificateError, Fact, Head, Terms

Types = Mapping[str, onnx.TypeProto]


class Side(NamedTuple):
    """One of the models after its execution, with the terms of its outputs by name."""

    execution: Execution
    outputs: dict[str, int]


class Models(NamedTuple):
    """Both models over the same terms, and what the rewrite alone declares of its inputs."""

    terms: Terms
    before: Side
    after: Side
    assumptions: set[str]


def execute(
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    bound: Mapping[str, Array],
    folders: tuple[Path | None, Path | None],
) -> Models:
    """Execute two models on the same inputs; the rewrite does not have those that are bound.

    Raises:
        CertificateError: their signatures differ, or a model is not for this checker.
    """
    terms = Terms()
    protos, types = (before, after), (_inputs(before), _inputs(after))
    assumptions = _compare(types[0], types[1], bound)
    defaults, sides = [], []
    for proto in protos:
        check_well_formed(proto)
    for proto, folder, side in zip(protos, folders, ("before", "after"), strict=True):
        values = {
            name: terms.constant(bound[name])
            if name in bound
            else terms.add(Head("input", key=name), fact=fact_of(type_))
            for name, type_ in types[0].items()
            if name in _inputs(proto)
        }
        defaults.append(_defaults(terms, proto, values, folder))
        execution = Execution(terms, proto, infer(proto, types[0], side), folder)
        names = [info.name for info in proto.graph.output]
        sides.append(Side(execution, dict(zip(names, execution.run(values), strict=True))))
    if [*sides[0].outputs] != [*sides[1].outputs] or defaults[0] != defaults[1]:
        raise CertificateError("the models have different outputs, or defaults of inputs")
    return Models(terms, sides[0], sides[1], assumptions)


def _inputs(model: onnx.ModelProto) -> dict[str, onnx.TypeProto]:
    """Types of the inputs that a caller passes, in their order."""
    fixed = {t.name for t in model.graph.initializer} if model.ir_version < 4 else set()
    return {info.name: info.type for info in model.graph.input if info.name not in fixed}


def _defaults(
    terms: Terms, model: onnx.ModelProto, values: Mapping[str, int], folder: Path | None
) -> dict[str, int]:
    """Values of the inputs that a caller may leave out."""
    return {
        tensor.name: terms.constant(Tensor(tensor, base_dir=folder))
        for tensor in model.graph.initializer
        if tensor.name in values and terms.tensor(values[tensor.name]) is None
    }


def _compare(before: Types, after: Types, bound: Mapping[str, Array]) -> set[str]:
    """Assumptions under which the inputs of both models are the same."""
    free = [[name for name in side if name not in bound] for side in (before, after)]
    if not bound.keys() <= before.keys() or free[0] != free[1]:
        raise CertificateError("the models have different inputs")
    for name, value in bound.items():
        tensor = Tensor(array=value)
        for type_ in (before[name], after.get(name, before[name])):
            _is_narrower(name, fact_of(type_), Fact(tensor.elem_type, tuple(tensor.dims)))
    assumptions, axes = set(), dict[object, set[object]]()
    for name in free[1]:
        pairs = zip(
            fact_of(after[name]).shape or (), fact_of(before[name]).shape or (), strict=False
        )
        for axis, (dim, own) in enumerate(pairs):
            if isinstance(dim, str):
                axes.setdefault(dim, set()).add((name, axis) if own is None else own)
    ties = {dim for dim, places in axes.items() if len(places) > 1}
    for name, type_ in ((name, after[name]) for name in free[1]):
        facts = fact_of(type_), fact_of(before[name])
        if 0 in (facts[0].elem_type, facts[1].elem_type) and type_ != before[name]:
            raise CertificateError(f"input '{name}' has different types")
        if _is_narrower(name, *facts) or not ties.isdisjoint(facts[0].shape or ()):
            assumptions.add(f"input '{name}' is {facts[0].text()}, as the rewrite declares it")
    return assumptions


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
