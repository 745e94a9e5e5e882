"""Opset imports of messages: the version of each domain."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, MutableSequence
from typing import NamedTuple

import onnx

from ...errors import ModelError
from ...places import normal_domain
from .node_bytes import characters
from .wire import delimit

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
