"""What each version of an operator is, from `onnx.defs`."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import onnx

from ..ir import MAX_OPSET

REVIEWED = 28
"""Up to this opset, every change between two versions of an operator was read: a change that its
schema does not show has an adapter. Later ones go through `onnx.version_converter`."""

OLDEST = 7
"""Below this version operators broadcast by attributes: models come up from there through
`onnx.version_converter`, and none goes down."""

Schema = Any  # onnx.defs.OpSchema has no usable type stubs


@functools.cache
def schema_at(op_type: str, version: int) -> Schema | None:
    """The schema of an operator of the default domain in an opset; None where it has none."""
    try:
        return onnx.defs.get_schema(op_type, version, "")
    except onnx.defs.SchemaError:
        return None


def first_opset(op_type: str) -> int | None:
    """The opset in which an operator of the default domain came to be; None if there is none."""
    newest = schema_at(op_type, MAX_OPSET)
    if newest is None:
        return None
    return next(v for v in range(1, MAX_OPSET + 1) if schema_at(op_type, v) is not None)


@functools.cache
def operators() -> tuple[str, ...]:
    """Every operator that the default domain has or had."""
    return tuple(sorted({s.name for s in onnx.defs.get_all_schemas() if not s.domain}))


@functools.cache
def changes(op_type: str, version: int, other: int) -> bool:
    """Whether an operator is not the same thing in two opsets."""
    a, b = schema_at(op_type, version), schema_at(op_type, other)
    if a is None or b is None:
        return a is not b
    return bool(a.since_version != b.since_version)


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


@functools.cache
def takes_all(op_type: str, source: int, target: int) -> bool:
    """Whether an operator takes in another opset all types that it takes in one, in all places."""
    pairs = [formals(schema_at(op_type, version)) for version in (source, target)]
    return all(
        len(old) == len(new)
        and [f.type_str for f in old] == [f.type_str for f in new]
        and all(o.allowed <= n.allowed for o, n in zip(old, new, strict=True))
        and all(o.is_homogeneous or not n.is_homogeneous for o, n in zip(old, new, strict=True))
        for old, new in zip(*pairs, strict=True)
    )


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


def constant_takes(elem_type: int, version: int) -> bool:
    """Whether a Constant node can hold elements of a type in an opset."""
    return tensor_text(elem_type) in allowed_types(schema_at("Constant", version), "T")
