"""Schemas of ONNX's own operators: parameters, element types, and faults of nodes against them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import onnx
import onnx.defs

NEGATIVE_AXES = 11
"""From this opset on, axes may be counted from the end."""
MIN_OF_INTEGERS = 12
"""From this opset on, Min and Max take integers."""
ALLOWZERO = 14
"""From this opset on, Reshape can make an axis of size 0."""


def type_obstacle(
    op_types: Iterable[str], elem_type: int | None, opset: int, holder: str
) -> str | None:
    """Why a tensor cannot go through some operators that move tensors; None if it can.

    The answer continues a sentence that begins with the tensor: "'y' is of type int4, which ...".

    Args:
        op_types: the operators.
        elem_type: that of the tensor; None (or 0) where it is not known.
        opset: the version to write for.
        holder: an operator that the tensor goes through as it is, so that its types are those that
            the tensor may have.
    """
    for op_type in op_types:
        types = data_types(op_type, opset)
        if not elem_type and not data_types(holder, opset) <= types:
            return (
                f"is of unknown type, and {op_type} does not support all types in opset"
                f" {opset}; declare it"
            )
        if elem_type and tensor_text(elem_type) not in types:
            name = onnx.TensorProto.DataType.Name(elem_type).lower()
            return f"is of type {name}, which {op_type} does not support in opset {opset}"
    return None


@functools.cache
def data_types(op_type: str, opset: int) -> frozenset[str]:
    """The output types of an operator of the default domain.

    An operator that moves tensors takes them, too. Empty where the opset does not have it.
    """
    schema = schema_at(op_type, opset)
    types = () if schema is None else types_of(schema, schema.outputs[0])
    return frozenset(text for text in types if text.startswith("tensor("))


@functools.cache
def formal_inputs(op_type: str, opset: int) -> int | None:
    """The number of formal inputs of an operator; None if the opset does not have it."""
    schema = schema_at(op_type, opset)
    return None if schema is None else len(schema.inputs)


@functools.cache
def takes(op_type: str, position: int, elem_type: int, opset: int) -> bool:
    """Test that an operator of the default domain takes an element type at an input."""
    schema = schema_at(op_type, opset)
    return schema is not None and tensor_text(elem_type) in types_of(
        schema, schema.inputs[position]
    )


@functools.cache
def takes_all(op_type: str, opset: int) -> bool:
    """Test that an operator moves tensors of all types of an opset."""
    return data_types("Identity", opset) <= data_types(op_type, opset)


Actual = tuple[str, Sequence[str]]
"""The name of a value, and its types as schemas write them."""
Texts = tuple[tuple[str, ...] | None, ...]
"""The types of some values; None for one that is absent."""

_MOST_REMEMBERED = 10_000
"""Of so many nodes that look alike is remembered whether their types fit."""

Schema = Any  # onnx.defs.OpSchema has no usable type stubs


@functools.cache
def schema_at(op_type: str, version: int, domain: str = "") -> Schema | None:
    """The schema of an operator in an opset of its domain; None where it has none."""
    try:
        return onnx.defs.get_schema(op_type, version, domain)
    except onnx.defs.SchemaError:
        return None


def is_defined(op_type: str, version: int, domain: str = "") -> bool:
    """Test for an operator that ONNX has in an opset of its domain."""
    schema = schema_at(op_type, version, domain)
    return schema is not None and not schema.deprecated


@functools.cache
def operators() -> tuple[str, ...]:
    """Every operator that the default domain has or had."""
    return tuple(sorted({s.name for s in onnx.defs.get_all_schemas() if not s.domain}))


@functools.cache
def default_of(schema: Schema, name: str) -> Any:
    """The default of an attribute as Python sees it; None where it has none."""
    attribute = schema.attributes.get(name)
    if attribute is None or not attribute.default_value.name:
        return None
    return onnx.helper.get_attribute_value(attribute.default_value)


@functools.cache
def allowed_types(schema: Schema, type_str: str) -> frozenset[str]:
    """The types that a formal parameter takes, such as "tensor(float)"."""
    for constraint in schema.type_constraints:
        if constraint.type_param_str == type_str:
            return frozenset(constraint.allowed_type_strs)
    return frozenset([type_str])


class Formal(NamedTuple):
    """A formal parameter of an operator; asking `onnx.defs` for one takes longer than using it."""

    name: str
    type_str: str
    allowed: frozenset[str]
    is_homogeneous: bool
    is_required: bool
    is_variadic: bool


@functools.cache
def formals(schema: Schema) -> tuple[tuple[Formal, ...], tuple[Formal, ...]]:
    """The formal inputs and outputs of an operator."""
    option = onnx.defs.OpSchema.FormalParameterOption
    inputs, outputs = (
        tuple(
            Formal(
                p.name,
                p.type_str,
                allowed_types(schema, p.type_str),
                p.is_homogeneous,
                p.option == option.Single,
                p.option == option.Variadic,
            )
            for p in parameters
        )
        for parameters in (schema.inputs, schema.outputs)
    )
    return inputs, outputs


def type_text(type_: onnx.TypeProto) -> str:
    """A type as schemas write it; empty where part of it is not known."""
    kind = type_.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        elem_type = getattr(type_, kind).elem_type
        text = tensor_text(elem_type) if elem_type else ""
        return text if kind == "tensor_type" or not text else f"sparse_{text}"
    if kind in ("sequence_type", "optional_type"):
        inner = type_text(getattr(type_, kind).elem_type)
        return f"{'seq' if kind == 'sequence_type' else 'optional'}({inner})" if inner else ""
    return ""


@functools.cache
def tensor_text(elem_type: int) -> str:
    """A tensor's type as schemas write it."""
    return f"tensor({onnx.TensorProto.DataType.Name(elem_type).lower()})"


def each_formal(parameters: Sequence[Formal], count: int) -> Iterator[Formal]:
    """The formal parameter of each actual one: the last is repeated where it is variadic."""
    for index in range(count if parameters else 0):
        yield parameters[min(index, len(parameters) - 1)]


def type_fault(
    op_type: str, version: int, inputs: Sequence[Actual | None], outputs: Sequence[Actual | None]
) -> str | None:
    """The first fault of input and output types in an opset; None if there is none."""
    input_types = tuple([None if actual is None else (*actual[1],) for actual in inputs])
    output_types = tuple([None if actual is None else (*actual[1],) for actual in outputs])
    if _types_fit(op_type, version, input_types, output_types):
        return None
    return next(_type_faults(op_type, version, inputs, outputs), None)


@functools.lru_cache(_MOST_REMEMBERED)
def _types_fit(op_type: str, version: int, inputs: Texts, outputs: Texts) -> bool:
    """Test for the absence of faults, which does not depend on names of values."""
    actual = [[None if types is None else ("", types) for types in t] for t in (inputs, outputs)]
    return next(_type_faults(op_type, version, *actual), None) is None


def _type_faults(
    op_type: str, version: int, inputs: Sequence[Actual | None], outputs: Sequence[Actual | None]
) -> Iterator[str]:
    of_variables: dict[str, tuple[str, Sequence[str]]] = {}
    schema = schema_at(op_type, version)
    if schema is None:
        return
    for actual, parameters in zip((inputs, outputs), formals(schema), strict=True):
        for value, parameter in zip(actual, each_formal(parameters, len(actual)), strict=False):
            if value is None:
                continue
            name, types = value
            for text in types:
                if text not in parameter.allowed:
                    misfit = f"{op_type} does not support in opset {version}"
                    yield f"'{name}' is a {text}, which {misfit}"
            if types and parameter.is_homogeneous:
                other, others = of_variables.setdefault(parameter.type_str, (parameter.name, types))
                # What a schema gives one type variable has one type (in each call, of several).
                if set(others) != set(types):
                    yield (
                        f"{other} is a {' or '.join(others)} and {parameter.name} a"
                        f" {' or '.join(types)}, which opset {version} requires to be of one type"
                    )


def types_of(schema: onnx.defs.OpSchema, formal: onnx.defs.OpSchema.FormalParameter) -> set[str]:
    """The types of an input or output, as schemas write them.

    `formal.types` would do from onnx 1.22 on; before, Python cannot read it.
    """
    constraints = {one.type_param_str: one.allowed_type_strs for one in schema.type_constraints}
    return set(constraints.get(formal.type_str, [formal.type_str]))
