"""Headers of messages: metadata without graphs and nodes, imports, and fields of a newer onnx."""

import functools
import struct
from collections.abc import Collection, Iterable, Mapping, MutableSequence
from typing import Any, NamedTuple, TypeVar

import onnx
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from ...errors import ModelError
from ...model import FunctionName
from ...places import normal_domain
from .node_bytes import characters
from .wire import delimit, varint

_APART = ("input", "output", "node", "value_info")
"""The fields of a function that its graph holds."""

_NAMED = ("name", "domain", "opset_import")
"""The other fields that most functions have."""

_RARE = [f for f in onnx.FunctionProto.DESCRIPTOR.fields if f.name not in (*_APART, *_NAMED)]
_RARE_TEXTS = tuple(field.name for field in _RARE if not field.is_repeated)
_RARE_LISTS = tuple(field.name for field in _RARE if field.is_repeated)


def model_header(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The header of a model: all fields but graphs, functions and training."""
    header = copy_without(proto, ("graph", "functions", "training_info"))
    copy_unknown(proto, header)
    return header


def function_header(
    proto: onnx.FunctionProto, imports: "Imports"
) -> onnx.FunctionProto | FunctionName:
    """The header of a function: all fields but those of its graph. The name alone where it has no
    field but imports beside."""
    if _has_only_a_name(proto) and are_plain(imports):
        return FunctionName(proto.domain, proto.name)
    header = copy_without(proto, _APART)
    copy_unknown(proto, header)
    return header


def _has_only_a_name(proto: onnx.FunctionProto) -> bool:
    has = proto.HasField
    if any(map(has, _RARE_TEXTS)) or any(getattr(proto, name) for name in _RARE_LISTS):
        return False
    # A domain that is written, though empty, must stay.
    return bool(proto.domain or not has("domain")) and not has_unknown(proto)


def graph_header(proto: onnx.GraphProto) -> onnx.GraphProto:
    """Name, doc string and metadata of a graph."""
    header = onnx.GraphProto()
    if proto.HasField("name"):
        header.name = proto.name
    if proto.HasField("doc_string"):
        header.doc_string = proto.doc_string
    header.metadata_props.extend(proto.metadata_props)
    copy_unknown(proto, header)
    return header


_OF_FUNCTION = "\x4a"
"""The tag of an import of a function."""
_CACHE_SIZE = 1_000
"""The size of the caches of imports."""


class Import(NamedTuple):
    """An entry of opset imports.

    Attributes:
        domain: as it is written.
        version: of the domain.
        plain: true where the message equals the encoding of the two.
    """

    domain: str
    version: int
    plain: bool


Imports = tuple[Import, ...]


def imports_of(entries: Iterable[onnx.OperatorSetIdProto]) -> Imports:
    """Read the imports of a model or function in order, equal ones once."""
    return tuple([_import(entry.SerializePartialToString()) for entry in entries])


@functools.lru_cache(_CACHE_SIZE)
def _import(content: bytes) -> Import:
    entry = onnx.OperatorSetIdProto.FromString(content)
    domain, version = entry.domain, entry.version
    plain = isinstance(domain, str) and content == _encode(domain, version)
    return Import(domain, version, plain)


def _encode(domain: str, version: int) -> bytes:
    entry: bytes = onnx.OperatorSetIdProto(domain=domain, version=version).SerializeToString()
    return entry


def versions_of(imports: Imports, where: object) -> dict[str, int]:
    """The version of each domain.

    Raises:
        ModelError: a domain has two versions.
    """
    pairs = {entry.domain: entry.version for entry in imports}
    # Only "ai.onnx" may mean the same domain as another entry.
    if len(pairs) == len(imports) and "ai.onnx" not in pairs:
        return pairs
    versions: dict[str, int] = {}
    for domain, version, _ in imports:
        if versions.setdefault(normal_domain(domain), version) != version:
            raise ModelError(f"{where} imports two versions of domain '{domain}'")
    return pairs


def are_plain(imports: Imports) -> bool:
    """Test whether `versions_of` keeps all that the messages contain."""
    if len(imports) == 1:
        return imports[0].plain
    domains = {entry.domain for entry in imports}
    return len(domains) == len(imports) and all(entry.plain for entry in imports)


def update_imports(
    entries: MutableSequence[onnx.OperatorSetIdProto], versions: Mapping[str, int]
) -> None:
    """Update the entries of a file to the present imports."""
    if [(entry.domain, entry.version) for entry in entries] == list(versions.items()):
        return
    for entry in list(entries):
        if entry.domain not in versions:
            entries.remove(entry)
        elif entry.version != versions[entry.domain]:
            entry.version = versions[entry.domain]
    present = {entry.domain for entry in entries}
    for domain, version in versions.items():
        if domain not in present:
            entries.append(onnx.OperatorSetIdProto(domain=domain, version=version))


def encode_imports(versions: Mapping[str, int]) -> str:
    """Encode imports as fields of a function, in characters."""
    return "".join([_encode_import(*pair) for pair in versions.items()])


@functools.lru_cache(_CACHE_SIZE)
def _encode_import(domain: str, version: int) -> str:
    return _OF_FUNCTION + characters(delimit(_encode(domain, version)))


M = TypeVar("M", bound=Message)
_VARINT, _FIXED_64, _DELIMITED, _GROUP, _END_GROUP, _FIXED_32 = range(6)


def copy_unknown(source: Message, target: Message) -> None:
    """Copy the unknown fields of a message to another one of its kind."""
    fields = UnknownFieldSet(source)
    if len(fields):
        target.MergeFromString(encode(fields))


def has_unknown(message: Message) -> bool:
    """Test whether a message itself has unknown fields."""
    return bool(len(UnknownFieldSet(message)))


def copy_without(message: M, fields: Collection[str]) -> M:
    """Copy a message without some of its fields, which are not read."""
    copy: M = type(message)()
    for field in message.DESCRIPTOR.fields:
        name = field.name
        if name in fields:
            continue
        value: Any = getattr(message, name)
        single = isinstance(value, int | float | str | bytes)
        # A copy of the default would set the field.
        if (single or isinstance(value, Message)) and not message.HasField(name):
            continue
        if single:
            setattr(copy, name, value)
        else:
            getattr(copy, name).MergeFrom(value)
    return copy


def encode(fields: Iterable[Any]) -> bytes:
    """Encode unknown fields.

    https://protobuf.dev/programming-guides/encoding/
    """
    return b"".join(
        _field(field.field_number << 3, field.wire_type, field.data) for field in fields
    )


def _field(number: int, wire_type: int, data: Any) -> bytes:
    tag = varint(number | wire_type)
    if wire_type == _VARINT:
        return tag + varint(data)
    if wire_type == _DELIMITED:
        return tag + delimit(data)
    if wire_type == _GROUP:
        return tag + encode(data) + varint(number | _END_GROUP)
    return tag + struct.pack("<Q" if wire_type == _FIXED_64 else "<I", data)
