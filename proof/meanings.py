"""What an operator means, apart from how an opset spells it.

Two versions of an operator whose meaning is the same are one head of terms, so that a model and its
conversion to another opset are compared by what they compute.
"""

from __future__ import annotations

import functools
from typing import Any

import onnx.defs

from ..ir import Operator, normal_domain


def meaning_of(op: Operator, version: int) -> tuple[Operator, int]:
    """An operator with its defaults written out, and the version that first meant the same."""
    schema = schema_of(op.op_type, version, normal_domain(op.domain))
    if schema is None:
        return op, version
    missing = [m for name, m in _defaults(schema).items() if name not in op.attributes]
    if missing:
        op = op.with_attributes([*op.attributes.values(), *missing])
    return op, schema.since_version


def is_known(op: Operator, version: int) -> bool:
    """Whether ONNX says what an operator does."""
    return schema_of(op.op_type, version, normal_domain(op.domain)) is not None


def has_any_outputs(op: Operator, version: int) -> bool:
    """Whether an operator has as many outputs as its node writes, such as Split."""
    schema = schema_of(op.op_type, version, normal_domain(op.domain))
    variadic = onnx.defs.OpSchema.FormalParameterOption.Variadic
    return schema is None or any(p.option == variadic for p in schema.outputs[-1:])


@functools.cache
def schema_of(op_type: str, version: int, domain: str) -> Any:
    """The schema of an operator; None where onnx has none."""
    try:
        return onnx.defs.get_schema(op_type, version, domain)
    except onnx.defs.SchemaError:
        return None


@functools.cache
def _defaults(schema: Any) -> dict[str, onnx.AttributeProto]:
    found = {}
    for name, attribute in schema.attributes.items():
        message = attribute.default_value
        if message.type != onnx.AttributeProto.UNDEFINED:
            copy = onnx.AttributeProto()
            copy.CopyFrom(message)
            copy.name = name
            found[name] = copy
    return found
