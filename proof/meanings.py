"""What an operator means, apart from how an opset spells it.

Two versions of an operator whose meaning is the same are one head of terms, so that a model and its
conversion to another opset are compared by what they compute. What is an attribute here and an
input there is told in `spellings/`.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import onnx.defs

from ..ir import Operator, normal_domain
from .history import newest, with_defaults


class Meaning(NamedTuple):
    """An operator in the newest spelling of what it means.

    Attributes:
        op: the operator with all defaults written out.
        since: the version of the operator that this is.
        opset: the last opset that has this version.
    """

    op: Operator
    since: int
    opset: int


def meaning_of(op: Operator, version: int, outputs: int) -> Meaning:
    """What an operator means that is written for a version of its domain.

    Args:
        op: the operator.
        version: the version of its domain.
        outputs: how many outputs its node has; 0 where that is not known.
    """
    domain = normal_domain(op.domain)
    schema = schema_of(op.op_type, version, domain)
    if schema is None:
        return Meaning(op, version, version)
    if domain:
        return Meaning(with_defaults(op, schema), schema.since_version, version)
    return Meaning(*newest(op, version, outputs))


def is_known(op: Operator, version: int) -> bool:
    """Whether ONNX says what an operator does."""
    return schema_of(op.op_type, version, normal_domain(op.domain)) is not None


def has_any_outputs(op: Operator, version: int) -> bool:
    """Whether an operator has as many outputs as its node writes, such as Split."""
    return _has_any_outputs(op.op_type, version, normal_domain(op.domain))


@functools.cache
def _has_any_outputs(op_type: str, version: int, domain: str) -> bool:
    schema = schema_of(op_type, version, domain)
    variadic = onnx.defs.OpSchema.FormalParameterOption.Variadic
    return schema is None or any(p.option == variadic for p in schema.outputs[-1:])


@functools.cache
def schema_of(op_type: str, version: int, domain: str) -> Any:
    """The schema of an operator; None where onnx has none."""
    try:
        return onnx.defs.get_schema(op_type, version, domain)
    except onnx.defs.SchemaError:
        return None
