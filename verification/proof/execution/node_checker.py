"""Validity of a node at its opset: no proof speaks of a model that runtimes refuse."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import onnx
import onnx.defs

from ....ir import normal_domain
from ....reference.bodies import label
from ..terms.budget import OpenError
from ..terms.op_semantics import BODIES, schema_of

LEFT_OUT = -1
"""Element type of an absent input."""


class InvalidError(OpenError):
    """Signal that a node is invalid at its opset: a checker refuses the model.

    Attributes:
        side: 0 for a node of the original, 1 for one of the rewrite.
    """

    side = 0


def require_form(node: onnx.NodeProto, imports: Mapping[str, int]) -> None:
    """Require that an operator exists in its opset, with these inputs, outputs and attributes.

    Args:
        node: a node that calls no function.
        imports: the opsets that it is written for.

    Raises:
        InvalidError: it is not.
    """
    domain = normal_domain(node.domain)
    if domain not in imports:
        raise InvalidError(f"{label(node)} is of domain '{domain}', which is not imported")
    version, name = imports[domain], label(node)
    schema = schema_of(node.op_type, version, domain)
    if schema is None:
        if not domain and onnx.defs.has(node.op_type):
            raise InvalidError(f"{name} is not in opset {version}")
        return
    if schema.deprecated:
        raise InvalidError(f"{name} is deprecated in opset {version}")
    if not schema.min_input <= len(node.input) <= schema.max_input:
        raise InvalidError(f"{name} has {len(node.input)} inputs in opset {version}")
    if not schema.min_output <= len(node.output) <= schema.max_output:
        raise InvalidError(f"{name} has {len(node.output)} outputs in opset {version}")
    attributes = {attribute.name for attribute in node.attribute}
    for attribute in sorted(attributes - set(schema.attributes)):
        raise InvalidError(f"{name} has no '{attribute}' in opset {version}")
    for attribute in node.attribute:
        least = _VALUES.get((node.op_type, attribute.name)) if not domain else None
        value = onnx.helper.get_attribute_value(attribute) if least is not None else None
        if least is not None and version < least.version and not least.takes(value):
            raise InvalidError(f"{name} has {attribute.name} = {value!r} in opset {version}")
    if _is_bare_split(node, schema.since_version):
        raise InvalidError(f"{name} has neither sizes nor their number in opset {version}")


class _Restriction(NamedTuple):
    """A restriction of an attribute: the version that lifts it, and which values it allows."""

    version: int
    takes: Callable[[Any], bool]


_VALUES = {
    ("Flatten", "axis"): _Restriction(11, lambda axis: axis >= 0),
    ("TopK", "k"): _Restriction(10, lambda k: k > 0),
    ("GridSample", "mode"): _Restriction(20, lambda mode: mode not in (b"linear", b"cubic")),
}
"""Attributes with values that earlier versions lack; runtimes refuse to load these."""


def _is_bare_split(node: onnx.NodeProto, since: int) -> bool:
    """Test whether a Split has neither sizes nor `num_outputs` (18 on)."""
    has_number = any(attribute.name == "num_outputs" for attribute in node.attribute)
    has_sizes = len(node.input) > 1 and bool(node.input[1])
    return (
        node.op_type == "Split"
        and since >= 18
        and not node.domain
        and not (has_number or has_sizes)
    )


def require_valid(node: onnx.NodeProto, version: int, elem_types: Sequence[int]) -> None:
    """Require inputs and types that the operator's version accepts.

    Args:
        node: a node that calls no function.
        version: the version of its domain.
        elem_types: element types of its inputs; LEFT_OUT for an absent one, 0 if unknown.

    Raises:
        InvalidError: it has not.
    """
    schema = schema_of(node.op_type, version, normal_domain(node.domain))
    if schema is None:
        return
    formals = _formals(schema.name, schema.domain, schema.since_version)
    _require_present(node, elem_types, formals)
    _require_types(node, version, elem_types, formals)


class _Formal(NamedTuple):
    """Formal input: its type variable, allowed types, and whether it is bound or optional."""

    variable: str
    allowed: frozenset[str]
    is_bound: bool
    is_optional: bool


def _require_present(
    node: onnx.NodeProto, elem_types: Sequence[int], formals: Sequence[_Formal]
) -> None:
    """Require all inputs that are not optional; a function's body may lack some."""
    for position, elem_type in enumerate(elem_types):
        if elem_type == LEFT_OUT and not formals[min(position, len(formals) - 1)].is_optional:
            raise InvalidError(f"{label(node)} lacks input {position}")


def _require_types(
    node: onnx.NodeProto, version: int, elem_types: Sequence[int], formals: Sequence[_Formal]
) -> None:
    """Require types that are accepted, and equal ones for one type variable."""
    bound: dict[str, int] = {}
    for position, elem_type in enumerate(elem_types):
        formal = formals[min(position, len(formals) - 1)]
        if elem_type <= 0:
            continue
        name = onnx.TensorProto.DataType.Name(elem_type).lower()
        if f"tensor({name})" not in formal.allowed:
            raise InvalidError(f"{label(node)} does not accept {name} in opset {version}")
        if formal.is_bound and bound.setdefault(formal.variable, elem_type) != elem_type:
            raise InvalidError(f"{label(node)} has inputs of different types")


@functools.cache
def _formals(name: str, domain: str, since: int) -> tuple[_Formal, ...]:
    schema, option = (
        onnx.defs.get_schema(name, since, domain),
        onnx.defs.OpSchema.FormalParameterOption,
    )
    allowed = {c.type_param_str: frozenset(c.allowed_type_strs) for c in schema.type_constraints}
    return tuple(
        _Formal(
            formal.type_str,
            allowed.get(formal.type_str, frozenset([formal.type_str])),
            formal.type_str in allowed and formal.is_homogeneous,
            formal.option == option.Optional
            or (formal.option == option.Variadic and name in BODIES),
        )
        for formal in schema.inputs
    )
