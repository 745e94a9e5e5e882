"""Meaning of an operator at an opset: the newest version of ONNX that means the same."""

# A version that adds optional attributes, inputs and outputs alone means the same as the one
# before, unless it stands in `_CHANGED`.

import functools
from typing import Any

import onnx
import onnx.defs

from .terms import Attributes, Head

# Operators whose versions differ only where ceil_mode adds a window that starts in the padding.
_POOLING = ("AveragePool", "LpPool", "MaxPool")
# Versions that mean something else although their schemas extend the one before.
_CHANGED = {
    *(("Attention", 24), ("AveragePool", 19), ("AveragePool", 22), ("BatchNormalization", 9)),
    *(("BatchNormalization", 14), ("ConvTranspose", 11), ("Gather", 11), ("LpPool", 18)),
    *(("GroupNormalization", 21), ("LpPool", 22), ("MaxPool", 22), ("OneHot", 11)),
    *(("Dropout", 10), ("Resize", 11), ("RoiAlign", 16), ("Split", 18)),
    *(("Max", 8), ("Mean", 8), ("Min", 8), ("Sum", 8)),
}
# First opset whose operators broadcast without attributes, some without a new version.
FIRST = 7
# Operators with bodies, and the version from which on they mean the same: later ones add types.
_BODIES = {"If": 1, "Loop": 1, "Scan": 9}
# Branches of an If, with the condition under which each runs.
BRANCHES = {"then_branch": True, "else_branch": False}


def head_of(name: str, domain: str, version: int, attributes: Attributes, outputs: int) -> Head:
    """Head of an operator at an opset, without its bodies."""
    qualname, schema = f"{domain}::{name}" if domain else name, schema_of(name, version, domain)
    if schema is None:
        return Head(qualname, version, attributes, outputs)
    since, first = schema.since_version, _BODIES.get(name, 0)
    head = Head(qualname, since, _with_defaults(name, since, domain, attributes), outputs)
    if not domain and first:
        return head._replace(version=min(since, first))
    bare = Head(name, since, attributes)
    # No axis counts from the back before opset 11.
    negative = min([0, *(bare.integers("axes") or ()), bare.integer("axis")]) < 0
    return head if domain or (version < 11 and negative) else _newest(head, version)


@functools.lru_cache(maxsize=1 << 12)
def _newest(head: Head, version: int) -> Head:
    for opset in range(head.version + 1, onnx.defs.onnx_opset_version() + 1):
        later = schema_of(head.name, opset, "").since_version
        if later <= head.version:
            continue
        same = head.name in _POOLING and not head.integer("ceil_mode")
        same |= (head.name, later) not in _CHANGED
        same &= _extends(head.name, head.version, later)
        # One output is that of inference, as it is without `training_mode`.
        same |= (head.name, later, head.outputs) == ("BatchNormalization", 14, 1)
        if version < FIRST <= later or not same:
            break
        attributes = _with_defaults(head.name, later, "", head.attributes)
        head = head._replace(version=later, attributes=attributes)
    return head


@functools.cache
def schema_of(name: str, version: int, domain: str) -> Any:
    """Schema of an operator; None if onnx has none."""
    try:
        return onnx.defs.get_schema(name, version, domain)
    except onnx.defs.SchemaError:
        return None


@functools.cache
def _extends(name: str, version: int, later: int) -> bool:
    """Test whether the schema of a later version has all that the earlier one has."""
    old, new = schema_of(name, version, ""), schema_of(name, later, "")
    before, after = ({k: _form(a) for k, a in s.attributes.items()} for s in (old, new))
    added = [attribute for key, attribute in new.attributes.items() if key not in before]
    if new.deprecated or not before.items() <= after.items() or any(a.required for a in added):
        return False
    options = onnx.defs.OpSchema.FormalParameterOption
    for one, other in ((old.inputs, new.inputs), (old.outputs, new.outputs)):
        pairs = [(a.option, b.option) for a, b in zip(one, other, strict=False)]
        same = all(a == b or (a, b) == (options.Single, options.Optional) for a, b in pairs)
        more = [formal.option for formal in other[len(one) :]]
        if not same or len(one) > len(other) or set(more) - {options.Optional}:
            return False
    return True


def _form(attribute: Any) -> tuple[Any, bytes]:
    return attribute.type, attribute.default_value.SerializeToString(deterministic=True)


@functools.lru_cache(maxsize=1 << 12)
def _with_defaults(name: str, version: int, domain: str, attributes: Attributes) -> Attributes:
    """Attributes with the defaults of a version written out."""
    every = dict(attributes)
    for key, attribute in schema_of(name, version, domain).attributes.items():
        message = onnx.AttributeProto.FromString(attribute.default_value.SerializeToString())
        if key not in every and message.type != onnx.AttributeProto.UNDEFINED:
            message.name = key
            every[key] = message.SerializeToString(deterministic=True)
    return tuple(sorted(every.items()))
