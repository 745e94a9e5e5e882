"""Functions: one call's body, with the attributes of that call written into it."""

from collections.abc import Iterable

import onnx

from ..ir.operator import given_for
from ..ir.places import FunctionKey, key_of
from .bodies import subgraphs


def function_key(proto: onnx.FunctionProto | onnx.NodeProto) -> FunctionKey:
    """Key of a function and of its calls: domain, name, overload."""
    name = proto.name if isinstance(proto, onnx.FunctionProto) else proto.op_type
    return key_of(proto.domain, name, proto.overload)


def specialize(
    function: onnx.FunctionProto, attributes: Iterable[onnx.AttributeProto]
) -> onnx.FunctionProto:
    """``function`` for one call: references to its attributes replaced at every depth.

    A referenced attribute that is neither given nor has a default is left out, so that the
    default of the operator that refers to it applies (ONNX specification, IR, functions).
    """
    values = {attribute.name: attribute for attribute in function.attribute_proto}
    values.update((attribute.name, attribute) for attribute in attributes)
    if not values and not function.attribute:
        return function
    special = onnx.FunctionProto()
    special.CopyFrom(function)
    for node in special.node:
        _substitute(node, values)
    return special


def _substitute(node: onnx.NodeProto, values: dict[str, onnx.AttributeProto]) -> None:
    results = [given_for(attribute, values) for attribute in node.attribute]
    for graph in subgraphs(node):
        for inner in graph.node:
            _substitute(inner, values)
    if any(attribute.ref_attr_name for attribute in node.attribute):
        present = [attribute for attribute in results if attribute is not None]
        copies = [onnx.AttributeProto.FromString(a.SerializeToString()) for a in present]
        del node.attribute[:]
        node.attribute.extend(copies)
