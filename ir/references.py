"""Tensors named by strings, outside the data flow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx

from .errors import ModelError
from .operator import Operator
from .topological_sort import free_names

_Kind = onnx.AttributeProto
_GRADIENTS = ("ai.onnx.preview.training::Gradient", "ai.onnx.training::Gradient")


def named_tensors(op: Operator) -> list[str]:
    """The tensors named by an operator's attributes: `xs`, `zs` and `y` of Gradient.

    Raises:
        ModelError: an attribute holds no names.
    """
    if op.qualname not in _GRADIENTS or op.references:
        return []
    names: list[bytes] = []
    for attribute in ("xs", "zs", "y"):
        message = op.attributes.get(attribute, onnx.AttributeProto())
        if message.type not in (_Kind.UNDEFINED, _Kind.STRING, _Kind.STRINGS):
            raise ModelError(f"attribute '{attribute}' of {op} names no tensors")
        names += [*message.strings, message.s]
    try:
        return [name.decode() for name in names if name]
    except UnicodeDecodeError as error:
        raise ModelError(f"{op} names a tensor by {error.object!r}, which is not UTF-8") from error


def trained_tensors(infos: Iterable[onnx.TrainingInfoProto]) -> Iterator[str]:
    """The initializers that training assigns to: the keys of its bindings."""
    for info in infos:
        for binding in (*info.initialization_binding, *info.update_binding):
            yield binding.key


def named_tensors_of_training(infos: Iterable[onnx.TrainingInfoProto]) -> Iterator[str]:
    """The names of main graph tensors in training information: both sides of its bindings, and the
    free names of its graphs (IR specification, "TrainingInfoProto")."""
    for info in infos:
        for binding in (*info.initialization_binding, *info.update_binding):
            yield from (binding.key, binding.value)
        for graph in (info.initialization, info.algorithm):
            yield from free_names(graph)
            for node in graph.node:
                attributes = {attribute.name: attribute for attribute in node.attribute}
                yield from named_tensors(Operator(node.op_type, attributes, node.domain))
