"""Validity of a node at its opset: no proof speaks of a model that runtimes refuse."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import onnx
import onnx.defs

from ....ir import normal_domain
from ....ir.subgraph_arity import BODIES
from ....reference.bodies import label
from ..terms.budget import OpenError
from ..terms.op_semantics import schema_of

LEFT_OUT = -1
"""Element type of an absent input."""


class InvalidError(OpenError):
    """Signal that a node is invalid at its opset: a checker refuses the model."""


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
    version, op_type = imports[domain], node.op_type
    attributes = tuple([attribute.name for attribute in node.attribute])
    fault = _form_fault(op_type, version, domain, len(node.input), len(node.output), attributes)
    if not fault and not domain and op_type in _RESTRICTED:
        fault = _value_fault(node, version)
    if fault:
        raise InvalidError(f"{label(node)} {fault} in opset {version}")


@functools.lru_cache(maxsize=1 << 12)
def _form_fault(
    op_type: str, version: int, domain: str, inputs: int, outputs: int, attributes: Sequence[str]
) -> str:
    """Fault of nodes with so many inputs and outputs and attributes of these names."""
    schema = schema_of(op_type, version, domain)
    if schema is None:
        return "is not" if not domain and onnx.defs.has(op_type) else ""
    if schema.deprecated:
        return "is deprecated"
    if not schema.min_input <= inputs <= schema.max_input:
        return f"has {inputs} inputs"
    if not schema.min_output <= outputs <= schema.max_output:
        return f"has {outputs} outputs"
    unknown = sorted(set(attributes) - set(schema.attributes))
    return f"has no '{unknown[0]}'" if unknown else ""


def _value_fault(node: onnx.NodeProto, version: int) -> str:
    """Fault of the attributes of a node, whose names are known."""
    for attribute in node.attribute:
        least = _VALUES.get((node.op_type, attribute.name))
        value = None if least is None else onnx.helper.get_attribute_value(attribute)
        if least is not None and version < least.version and not least.takes(value):
            return f"has {attribute.name} = {value!r}"
    has_number = any(attribute.name == "num_outputs" for attribute in node.attribute)
    has_sizes = len(node.input) > 1 and bool(node.input[1])
    if node.op_type == "Split" and version >= 18 and not (has_number or has_sizes):
        return "has neither sizes nor their number"
    return ""


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


_RESTRICTED = {"Split", *(op_type for op_type, _ in _VALUES)}


def require_valid(node: onnx.NodeProto, version: int, elem_types: tuple[int, ...]) -> None:
    """Require inputs and types that the operator's version accepts.

    Args:
        node: a node that calls no function.
        version: the version of its domain.
        elem_types: element types of its inputs; LEFT_OUT for an absent one, 0 if unknown.

    Raises:
        InvalidError: it has not.
    """
    fault = _type_fault(node.op_type, version, normal_domain(node.domain), elem_types)
    if fault:
        raise InvalidError(f"{label(node)} {fault}")


def raise_type_conflict(name: str, declared: int, elem_type: int) -> NoReturn:
    """Refuse a value of another type than its graph declares.

    Raises:
        InvalidError: always; no runtime loads such a model.
    """
    one, other = (onnx.TensorProto.DataType.Name(t).lower() for t in (declared, elem_type))
    raise InvalidError(f"'{name}' is declared as {one} and is {other}")


@functools.lru_cache(maxsize=1 << 12)
def _type_fault(op_type: str, version: int, domain: str, elem_types: Sequence[int]) -> str:
    """Fault of absent inputs and of types; equal ones are required for one type variable. A
    function's body may lack some inputs."""
    schema = schema_of(op_type, version, domain)
    if schema is None:
        return ""
    formals = _formals(schema.name, schema.domain, schema.since_version)
    of_input = [formals[min(n, len(formals) - 1)] for n in range(len(elem_types))]
    for position, (elem_type, formal) in enumerate(zip(elem_types, of_input, strict=True)):
        if elem_type == LEFT_OUT and not formal.is_optional:
            return f"lacks input {position}"
    bound: dict[str, int] = {}
    for elem_type, formal in zip(elem_types, of_input, strict=True):
        if elem_type <= 0:
            continue
        name = onnx.TensorProto.DataType.Name(elem_type).lower()
        if f"tensor({name})" not in formal.allowed:
            return f"does not accept {name} in opset {version}"
        if formal.is_bound and bound.setdefault(formal.variable, elem_type) != elem_type:
            return "has inputs of different types"
    return ""


class _Formal(NamedTuple):
    """Formal input: its type variable, allowed types, and whether it is bound or optional."""

    variable: str
    allowed: frozenset[str]
    is_bound: bool
    is_optional: bool


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
