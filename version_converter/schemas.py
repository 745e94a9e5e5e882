"""Changes of operators between opsets, from `onnx.defs`."""

import functools

from ..ir import MAX_OPSET
from ..ops.schema_queries import allowed_types, formals, schema_at, tensor_text

REVIEWED = 28
"""Opset up to which every change of an operator is reviewed: a change that schemas do not show has
an adapter. What a later opset changes is refused."""

OLDEST = 7
"""Oldest opset of a result. Before, operators broadcast by attributes, and no runtime supports it;
models from there are converted upwards only."""


def first_opset(op_type: str) -> int | None:
    """The opset that introduced an operator of the default domain; None if there is none."""
    newest = schema_at(op_type, MAX_OPSET)
    if newest is None:
        return None
    return next(v for v in range(1, MAX_OPSET + 1) if schema_at(op_type, v) is not None)


@functools.cache
def changes(op_type: str, version: int, other: int) -> bool:
    """Test whether an operator differs between two opsets."""
    a, b = schema_at(op_type, version), schema_at(op_type, other)
    if a is None or b is None:
        return a is not b
    return bool(a.since_version != b.since_version)


@functools.cache
def takes_all(op_type: str, source: int, target: int) -> bool:
    """Test whether an operator accepts in `target` all types that it accepts in `source`."""
    pairs = [formals(schema_at(op_type, version)) for version in (source, target)]
    return all(
        len(old) == len(new)
        and [f.type_str for f in old] == [f.type_str for f in new]
        and all(o.allowed <= n.allowed for o, n in zip(old, new, strict=True))
        and all(o.is_homogeneous or not n.is_homogeneous for o, n in zip(old, new, strict=True))
        for old, new in zip(*pairs, strict=True)
    )


def constant_takes(elem_type: int, version: int) -> bool:
    """Test whether a Constant node can hold elements of a type in an opset."""
    return tensor_text(elem_type) in allowed_types(schema_at("Constant", version), "T")
