"""Operators shared by nodes that differ in names only.

The bytes after its names are the key of a node. Most nodes of a model need no check or read but a
look-up of this key.
"""

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
from .protobuf.node_bytes import GIVES, NAMED, READS, SHORT, after_names

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

    def rows(self, nodes: Iterable[onnx.NodeProto], check: Check) -> Iterator[NodeRow]:
        """The plain nodes up to the first other one: nodes with inputs, one output, short ASCII
        names and no large attributes, which are most of a model."""
        find, reads, most = self._operators.get, READS, SHORT
        for node in nodes:
            # Its names come first, each after a tag and a size. Slices of one text take half the
            # time of protobuf's own fields. The 0 ends a node without an operator.
            content = node.SerializePartialToString() + b"\0"
            text, at, inputs = content.decode("latin-1"), 0, []
            while content[at] == reads:
                size = content[at + 1]
                if not 0 < size <= most:
                    return
                at += 2 + size
                inputs.append(text[at - size : at])
            if not inputs or content[at] != GIVES:
                return
            size = content[at + 1]
            if not 0 < size <= most:
                return
            at += 2 + size
            output, name, tag = text[at - size : at], "", content[at]
            if tag == NAMED:
                size = content[at + 1]
                if size > most:
                    return
                if size:  # an empty name that is written belongs to the rest
                    at += 2 + size
                    name = text[at - size : at]
            if tag == GIVES or not (content.isascii() or text[:at].isascii()):
                return
            op = find((content[at:-1], len(inputs), 1))
            if op is None:
                if node.domain or self._functions or _may_hold(node.op_type, "") is not False:
                    return
                op = self.of(node, inputs, (output,), check)
            yield op, inputs, output, name

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
        if holds is None and domain:  # its own attributes tell
            holds = True
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
