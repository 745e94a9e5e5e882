"""Operators: the computation of a node, apart from its connections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx

from .attributes import value_of
from .errors import OpenAttributeError
from .kinds import takes
from .places import FunctionKey, key_of

if TYPE_CHECKING:
    from .tensor import Tensor

_GRAPHS = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)


@takes(name=str)
def attribute_message(name: str, value: Any) -> onnx.AttributeProto:
    """An attribute message for a Python value; an empty list is one of integers."""
    kind = onnx.AttributeProto.INTS if isinstance(value, list | tuple) and not value else None
    return onnx.helper.make_attribute(name, value, attr_type=kind)


class Operator:
    """An operator with its attributes: immutable, shared by all clones of a node.

    Attributes:
        op_type: the name of the operator, as ONNX writes it.
        domain: its domain as written in the model ("" and "ai.onnx" are the same one).
        overload: the overload of a called model function.
        attributes: messages by name, in order. The message of a graph attribute is a shell; the
            graphs are in `Node.bodies`.
        holds_graphs: true for a graph attribute among its attributes.
        constant: for a Constant, the folder of its data and its tensor, once they are read.
        encoding: the bytes of a node of it without names, for a small one from a message.
        qualname: "Loop" for operators of the default domain, "domain::Name" for others.
        references: true where an attribute refers to one of the enclosing function.

    Examples:
        >>> import straightline as sl
        >>> sl.ir.Operator("Gelu", domain="com.microsoft").qualname
        'com.microsoft::Gelu'
    """

    __slots__ = (
        "_described",
        "_extra",
        "_form",
        "_origin",
        "attributes",
        "constant",
        "domain",
        "encoding",
        "holds_graphs",
        "op_type",
        "overload",
        "qualname",
        "references",
    )

    def __init__(
        self,
        op_type: str,
        attributes: Mapping[str, onnx.AttributeProto] | None = None,
        domain: str = "",
        overload: str = "",
        extra: onnx.NodeProto | None = None,
    ) -> None:
        self.op_type = op_type
        self.domain = domain
        self.overload = overload
        self.attributes: Mapping[str, onnx.AttributeProto] = attributes or {}
        self._extra = extra
        self._described: onnx.NodeProto | None = None
        self.encoding: bytes | None = None
        self.constant: tuple[Path | None, Tensor] | None = None
        self._origin: Operator | None = None
        self._form: Operator | None = None
        self.references = self.holds_graphs = False
        for message in self.attributes.values():
            if message.ref_attr_name:
                self.references = True
            if message.type in _GRAPHS:
                self.holds_graphs = True
        self.qualname = op_type if domain in ("", "ai.onnx") else f"{domain}::{op_type}"

    @classmethod
    def make(cls, op_type: str, domain: str = "", **attributes: Any) -> Operator:
        """An operator with attributes as Python values.

        >>> Operator.make("Concat", axis=0).attribute("axis")
        0
        """
        messages = {name: attribute_message(name, value) for name, value in attributes.items()}
        return cls(op_type, messages, domain)

    @property
    def extra(self) -> onnx.NodeProto | None:
        """Doc string, metadata and device configurations of the node, or None. With device
        configurations also the original names of inputs and outputs, to which sharding refers."""
        described = self._described
        if described is not None:
            extra = onnx.NodeProto(metadata_props=described.metadata_props)
            if described.HasField("doc_string"):
                extra.doc_string = described.doc_string
            self._extra, self._described = extra, None
        return self._extra

    @property
    def has_extra(self) -> bool:
        """Test for doc string, metadata or device configurations."""
        return self._extra is not None or self._described is not None

    @property
    def is_sharded(self) -> bool:
        """Test for device configurations."""
        return self._extra is not None and bool(self._extra.device_configurations)

    def describe_like(self, node: onnx.NodeProto) -> None:
        """Let `extra` copy doc string and metadata of a message, where they are asked for."""
        self._described = node

    def attribute(self, name: str, default: Any = None) -> Any:
        """The value of an attribute as Python sees it, or `default` where it is absent.

        Raises:
            OpenAttributeError: the value is that of an attribute of the enclosing function.
        """
        message = self.attributes.get(name)
        if message is None:
            return default
        if message.ref_attr_name:
            raise OpenAttributeError(
                f"attribute '{name}' of {self} is '{message.ref_attr_name}' of the function around"
                " it; inline the function first"
            )
        return value_of(message)

    def with_attributes(self, attributes: Iterable[onnx.AttributeProto]) -> Operator:
        """The same operator with other attributes."""
        by_name = {message.name: message for message in attributes}
        copy = Operator(self.op_type, by_name, self.domain, self.overload, self.extra)
        copy._origin = self.origin
        return copy

    def for_call(self, given: Mapping[str, onnx.AttributeProto]) -> Operator:
        """The same operator for one call of the enclosing function, references replaced.

        Without a value or a default in the call the attribute is omitted, so that the default of
        the operator applies (ONNX specification, IR, "Functions").
        """
        messages = [given_for(message, given) for message in self.attributes.values()]
        return self.with_attributes(message for message in messages if message is not None)

    def descended_from(self, other: Operator) -> Operator:
        """The same operator with the origin of another one."""
        copy = self.with_attributes(self.attributes.values())
        copy._origin = other.origin
        return copy

    @property
    def origin(self) -> Operator:
        """The first operator from which this one derives, or itself. It identifies a node after a
        rewrite."""
        return self._origin or self

    @property
    def form(self) -> Operator:
        """An operator with the same attributes; those of a file that differ in doc string and
        metadata alone share theirs."""
        return self._form or self

    def share_form(self, forms: dict[object, Operator]) -> None:
        """Share the form with equal operators.

        Args:
            forms: the forms of a file so far, extended by new ones.
        """
        attributes = [m.SerializeToString() for m in self.attributes.values()]
        self._form = forms.setdefault((self.function_key, self.domain, *attributes), self)
        if self._form is self:
            self._form = None

    @property
    def function_key(self) -> FunctionKey:
        """The key of the model function that it calls, if there is one."""
        return key_of(self.domain, self.op_type, self.overload)

    def node_proto(self) -> onnx.NodeProto:
        """A node message of this operator without connections and graphs."""
        proto = onnx.NodeProto()
        self.fill(proto)
        proto.attribute.extend(m for m in self.attributes.values() if m.type not in _GRAPHS)
        return proto

    def fill(self, proto: onnx.NodeProto) -> None:
        """Write everything but name, connections and attributes into a message."""
        if self.extra is not None:
            proto.CopyFrom(self.extra)
            # `extra` has the names of the file there, for sharding alone.
            proto.ClearField("input")
            proto.ClearField("output")
        proto.op_type = self.op_type
        if self.domain:
            proto.domain = self.domain
        if self.overload:
            proto.overload = self.overload

    def __repr__(self) -> str:
        return self.qualname


def given_for(
    message: onnx.AttributeProto, arguments: Mapping[str, onnx.AttributeProto]
) -> onnx.AttributeProto | None:
    """Resolve an attribute for a call: itself, or the value that it refers to, under its own name;
    None where the call lacks that."""
    if not message.ref_attr_name:
        return message
    value = arguments.get(message.ref_attr_name)
    if value is None or value.name == message.name:
        return value
    renamed = onnx.AttributeProto()
    renamed.CopyFrom(value)
    renamed.name = message.name
    return renamed
