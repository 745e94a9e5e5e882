"""Whether a node is one that its opset has: what a runtime refuses to load is proved of nothing."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import onnx
import onnx.defs

from ..ir import normal_domain
from ..reference.bodies import label
from .budget import OpenError
from .history import BODIES
from .meanings import schema_of

if TYPE_CHECKING:
    from .programs import Step

LEFT_OUT = -1
"""The element type of an input that is absent."""


def require_valid(step: Step, elem_types: Sequence[int]) -> None:
    """See that an operator has the inputs, types and attributes that its version takes.

    Args:
        step: a node that calls no function.
        elem_types: the element types of its inputs; LEFT_OUT for one that is absent, 0 where it is
            not known.

    Raises:
        OpenError: it has not.
    """
    node, version, width = step.node, step.operation.version, step.operation.width
    schema = schema_of(node.op_type, version, normal_domain(node.domain))
    if schema is None:
        return
    if not schema.min_input <= len(elem_types) <= schema.max_input:
        raise OpenError(f"{label(node)} has {len(elem_types)} inputs in opset {version}")
    if not schema.min_output <= width <= schema.max_output:
        raise OpenError(f"{label(node)} has {width} outputs in opset {version}")
    for attribute in node.attribute:
        if attribute.name not in schema.attributes:
            raise OpenError(f"{label(node)} has no '{attribute.name}' in opset {version}")
    formals = _formals(schema.name, schema.domain, schema.since_version)
    _require_present(step, elem_types, formals)
    _require_types(step, elem_types, formals)


class _Formal(NamedTuple):
    """An input: the name of its type, which types that may be, whether all inputs of the name have
    one type, and whether it may be left out."""

    variable: str
    allowed: frozenset[str]
    is_bound: bool
    is_optional: bool


def _require_present(step: Step, elem_types: Sequence[int], formals: Sequence[_Formal]) -> None:
    """Nothing is left out that is needed; what a function's body reads may be."""
    for position, elem_type in enumerate(elem_types):
        if elem_type == LEFT_OUT and not formals[min(position, len(formals) - 1)].is_optional:
            raise OpenError(f"{label(step.node)} is given no input {position}")


def _require_types(step: Step, elem_types: Sequence[int], formals: Sequence[_Formal]) -> None:
    """All types that are known are taken, and those of one name are the same."""
    version = step.operation.version
    bound: dict[str, int] = {}
    for position, elem_type in enumerate(elem_types):
        formal = formals[min(position, len(formals) - 1)]
        if elem_type <= 0:
            continue
        name = onnx.TensorProto.DataType.Name(elem_type).lower()
        if f"tensor({name})" not in formal.allowed:
            raise OpenError(f"{label(step.node)} takes no {name} in opset {version}")
        if formal.is_bound and bound.setdefault(formal.variable, elem_type) != elem_type:
            raise OpenError(f"{label(step.node)} has inputs of types that do not fit")


@functools.cache
def _formals(name: str, domain: str, since: int) -> tuple[_Formal, ...]:
    schema = onnx.defs.get_schema(name, since, domain)
    allowed = {c.type_param_str: frozenset(c.allowed_type_strs) for c in schema.type_constraints}
    return tuple(
        _Formal(
            formal.type_str,
            allowed.get(formal.type_str, frozenset([formal.type_str])),
            formal.type_str in allowed and formal.is_homogeneous,
            formal.option == onnx.defs.OpSchema.FormalParameterOption.Optional or name in BODIES,
        )
        for formal in schema.inputs
    )
