"""Operators shared by nodes that differ in names only.

The bytes after its names are the key of a node. Most nodes of a model need no check or read but a
look-up of this key.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import onnx

from ..attributes import LARGE
from ..checker.schemas import large_kinds
from ..errors import ModelError
from ..graph import NodeRow
from ..operator import Operator
from ..places import FunctionKey, key_of
from .protobuf.message_headers import copy_unknown, has_unknown
from .protobuf.node_bytes import SHORT, after_names

Check = Callable[[onnx.NodeProto, Sequence[str], Sequence[str]], None]
"""Checks a node with its inputs and outputs before its reading, and raises."""

_SMALL = 1 << 12
"""The most bytes of an operator that are kept for writing."""

_FEW = 16
"""The most elements of a tensor among the attributes of operators that are shared."""

_GRAPHS = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)
_TENSOR = onnx.AttributeProto.TENSOR


class Operators:
    """The operators of a model's nodes, each made once.

    Args:
        functions: the model's own functions; each call is checked.
    """

    def __init__(self, functions: Collection[FunctionKey]) -> None:
        self._functions = functions
        self._operators: dict[tuple[Any, ...], Operator] = {}
        self._forms: dict[object, Operator] = {}
        self._small: set[str] = set()  # operators of ONNX without large attributes

    def rows(self, nodes: Iterable[onnx.NodeProto], check: Check) -> Iterator[NodeRow]:
        """The plain nodes up to the first other one: nodes with one output, all inputs and no large
        attributes, which are most of a model."""
        find, small = self._operators.get, self._small
        for node in nodes:
            inputs, outputs, op_type, name = node.input[:], node.output[:], node.op_type, node.name
            if op_type not in small:
                if self._functions or _may_hold(op_type, "") is not False:
                    return
                small.add(op_type)
            if len(outputs) != 1 or not outputs[0] or "" in inputs:
                return
            content, count = node.SerializePartialToString(), len(inputs)
            names = f"{''.join(inputs)}{outputs[0]}{name}"
            if len(names) <= SHORT and names.isascii():  # without a call
                content = content[len(names) + 2 * count + (4 if name else 2) :]
            else:
                content = after_names(content, inputs, outputs, name)
            op = find((content, count, 1))
            if op is None:
                if node.domain:
                    return
                op = self.of(node, inputs, outputs, check)
            yield op, inputs, outputs[0], name

    def of(
        self,
        node: onnx.NodeProto,
        inputs: Sequence[str],
        outputs: Sequence[str],
        check: Check | None = None,
    ) -> Operator:
        """The operator of a node. It checks the first of equal nodes. A call and a node that may
        hold much are equal to no other.

        Raises:
            ModelError: the node has an attribute twice, or `check` raises it.
        """
        op_type, domain = node.op_type, node.domain
        holds = _may_hold(op_type, domain)
        is_single = holds is None or (holds and not _holds_little(node))
        if self._functions and not is_single:
            is_single = key_of(domain, op_type, node.overload) in self._functions
        alike = () if is_single else _key(node, inputs, outputs)
        op = self._operators.get(alike)
        if op is None:
            if check is not None:
                check(node, inputs, outputs)
            op = _operator(node)
            if alike and not op.is_sharded and not op.holds_graphs:  # sharding refers to names
                self._operators[alike] = op
                if len(alike[0]) <= _SMALL:
                    op.encoding = alike[0]
                if op.has_extra:
                    op.share_form(self._forms)
            elif not (op.attributes or op.has_extra or op.overload):
                op = self._operators.setdefault((op.domain, op.op_type), op)
        return op


def _key(node: onnx.NodeProto, inputs: Sequence[str], outputs: Sequence[str]) -> tuple[Any, ...]:
    """The key of equal nodes: operator, attributes, doc string, metadata, and which inputs and
    outputs are present."""
    content = after_names(node.SerializePartialToString(), inputs, outputs, node.name)
    if "" in inputs or "" in outputs:
        return content, *map(bool, inputs), None, *map(bool, outputs)
    return content, len(inputs), len(outputs)


@functools.cache
def _may_hold(op_type: str, domain: str) -> bool | None:
    """Test for attributes with tensors; None where they may hold graphs, or ONNX lacks the
    operator."""
    kinds = large_kinds(op_type) if domain in ("", "ai.onnx") else None
    return None if kinds is None or not kinds.isdisjoint(_GRAPHS) else bool(kinds)


def _holds_little(node: onnx.NodeProto) -> bool:
    """Test that its tensors are as small as those of shapes and scales."""
    for attribute in node.attribute:
        kind = attribute.type
        if kind == _TENSOR:
            if math.prod(attribute.t.dims[:]) > _FEW:
                return False
        elif kind in LARGE or not kind:
            return False
    return True


def _operator(proto: onnx.NodeProto) -> Operator:
    attributes: dict[str, onnx.AttributeProto] = {}
    for attribute in proto.attribute:
        message = _shell(attribute) if attribute.type in _GRAPHS else attribute
        if attributes.setdefault(attribute.name, message) is not message:
            raise ModelError(
                f"{proto.op_type} '{proto.name}' has two attributes '{attribute.name}'"
            )
    op_type, domain, overload = proto.op_type, proto.domain, proto.overload
    has = proto.HasField
    texts = ("name", proto.name), ("domain", domain), ("overload", overload)
    empty = [field for field, text in texts if not text and has(field)]
    if empty or proto.device_configurations or has_unknown(proto):
        return Operator(op_type, attributes, domain, overload, _extra(proto, empty))
    op = Operator(op_type, attributes, domain, overload)
    if proto.metadata_props or has("doc_string"):
        op.describe_like(proto)
    return op


def _extra(proto: onnx.NodeProto, empty: Sequence[str]) -> onnx.NodeProto:
    """The rest of a node message: doc string, metadata, device configurations, fields of a newer
    onnx, and fields that are set but empty."""
    has = proto.HasField
    extra = onnx.NodeProto(
        metadata_props=proto.metadata_props, device_configurations=proto.device_configurations
    )
    if has("doc_string"):
        extra.doc_string = proto.doc_string
    for field in empty:
        setattr(extra, field, "")
    if has_unknown(proto):
        copy_unknown(proto, extra)
    if proto.device_configurations:
        # Sharding refers to the node's tensors by name: keep these names.
        extra.input.extend(proto.input)
        extra.output.extend(proto.output)
    return extra


def _shell(attribute: onnx.AttributeProto) -> onnx.AttributeProto:
    shell = onnx.AttributeProto(name=attribute.name, type=attribute.type)
    if attribute.HasField("ref_attr_name"):
        shell.ref_attr_name = attribute.ref_attr_name
    if attribute.HasField("doc_string"):
        shell.doc_string = attribute.doc_string
    copy_unknown(attribute, shell)
    return shell
