"""The operators of nodes as they are read: nodes that say the same but for names share one.

What a node says is seen of its bytes: those behind its names are the same for nodes that say the
same. So most nodes of a model are checked and read by looking that up.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence

import onnx

from ..checker.schemas import may_say_much
from ..errors import ModelError
from ..operator import Operator
from ..places import FunctionKey, key_of
from .protobuf.node_bytes import behind_names
from .protobuf.unknown_fields import has_unknown, keep_unknown

Check = Callable[[onnx.NodeProto, Sequence[str], Sequence[str]], None]
"""Looks at a node with its inputs and outputs before it is read, and raises."""

_GRAPHS = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)


class Operators:
    """The operators of nodes, each made once.

    Args:
        functions: the model's own functions; of their calls each is looked at.
    """

    def __init__(self, functions: Collection[FunctionKey]) -> None:
        self._functions = functions
        self._known: dict[tuple[object, ...], Operator] = {}

    def of(
        self,
        node: onnx.NodeProto,
        inputs: Sequence[str],
        outputs: Sequence[str],
        check: Check | None = None,
    ) -> Operator:
        """The operator of a node, which was checked if one that says the same was.

        Raises:
            ModelError: the node has an attribute twice, or what `check` raises.
        """
        alike = self._alike(node, inputs, outputs)
        op = self._known.get(alike)
        if op is None:
            if check is not None:
                check(node, inputs, outputs)
            op = _operator(node)
            placed = op.extra is not None and op.extra.device_configurations  # speaks of names
            if alike and not placed and not op.holds_graphs:
                self._known[alike] = op
            elif not (op.attributes or op.extra or op.overload):
                op = self._known.setdefault((op.domain, op.op_type), op)
        return op

    def _alike(
        self, node: onnx.NodeProto, inputs: Sequence[str], outputs: Sequence[str]
    ) -> tuple[object, ...]:
        """What nodes have in common that say the same: operator, attributes, doc string, metadata,
        and which inputs and outputs are there. Nothing for one that may say much, or is a call."""
        op_type, domain = node.op_type, node.domain
        if not _says_little(op_type, domain):
            return ()
        if self._functions and key_of(domain, op_type, node.overload) in self._functions:
            return ()
        name = node.name
        names = [*inputs, *outputs, name] if name else [*inputs, *outputs]
        said = behind_names(node.SerializePartialToString(), names)
        if "" in inputs or "" in outputs:
            return said, *map(bool, inputs), None, *map(bool, outputs)
        return said, len(inputs), len(outputs)


@functools.cache
def _says_little(op_type: str, domain: str) -> bool:
    return domain in ("", "ai.onnx") and not may_say_much(op_type)


def _operator(proto: onnx.NodeProto) -> Operator:
    attributes: dict[str, onnx.AttributeProto] = {}
    for attribute in proto.attribute:
        kept = _shell(attribute) if attribute.type in _GRAPHS else attribute
        if attributes.setdefault(attribute.name, kept) is not kept:
            raise ModelError(
                f"{proto.op_type} '{proto.name}' has two attributes '{attribute.name}'"
            )
    return Operator(proto.op_type, attributes, proto.domain, proto.overload, _extra(proto))


def _extra(proto: onnx.NodeProto) -> onnx.NodeProto | None:
    """What a node message says beyond its operator: doc string, metadata, device configurations,
    fields of a newer onnx, and which fields it writes out although they are empty."""
    has = proto.HasField
    empty = []
    if not proto.name and has("name"):
        empty.append("name")
    if not proto.domain and has("domain"):
        empty.append("domain")
    if not proto.overload and has("overload"):
        empty.append("overload")
    placed = bool(proto.device_configurations)
    newer = has_unknown(proto)
    if not (empty or placed or newer or proto.metadata_props or has("doc_string")):
        return None
    extra = onnx.NodeProto(
        metadata_props=proto.metadata_props, device_configurations=proto.device_configurations
    )
    if has("doc_string"):
        extra.doc_string = proto.doc_string
    for field in empty:
        setattr(extra, field, "")
    if newer:
        keep_unknown(proto, extra)
    if placed:
        # Sharding speaks of the node's tensors by name: keep the names it means.
        extra.input.extend(proto.input)
        extra.output.extend(proto.output)
    return extra


def _shell(attribute: onnx.AttributeProto) -> onnx.AttributeProto:
    shell = onnx.AttributeProto(name=attribute.name, type=attribute.type)
    if attribute.HasField("ref_attr_name"):
        shell.ref_attr_name = attribute.ref_attr_name
    if attribute.HasField("doc_string"):
        shell.doc_string = attribute.doc_string
    keep_unknown(attribute, shell)
    return shell
