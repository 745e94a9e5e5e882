"""Opset imports: the version of each domain, as messages say it."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, MutableSequence
from typing import NamedTuple

import onnx

from ...errors import ModelError
from ...places import normal_domain
from .node_bytes import characters
from .wire import delimited

_OF_FUNCTION = "\x4a"
"""The character before an import of a function."""
_MOST_KNOWN = 1_000
"""So many different imports are remembered."""


class Import(NamedTuple):
    """An entry.

    Attributes:
        domain: as it is written.
        version: of the domain.
        plain: whether the message says nothing else, and what is written of the two is the same.
    """

    domain: str
    version: int
    plain: bool


Imports = tuple[Import, ...]


def imports_of(entries: Iterable[onnx.OperatorSetIdProto]) -> Imports:
    """The imports of a model or function, in order; equal ones are made once."""
    return tuple([_import(entry.SerializePartialToString()) for entry in entries])


@functools.lru_cache(_MOST_KNOWN)
def _import(said: bytes) -> Import:
    entry = onnx.OperatorSetIdProto.FromString(said)
    domain, version = entry.domain, entry.version
    plain = isinstance(domain, str) and said == _said(domain, version)
    return Import(domain, version, plain)


def _said(domain: str, version: int) -> bytes:
    entry: bytes = onnx.OperatorSetIdProto(domain=domain, version=version).SerializeToString()
    return entry


def versions_of(imports: Imports, where: object) -> dict[str, int]:
    """The version of each domain.

    Raises:
        ModelError: there are two of one.
    """
    found = {entry.domain: entry.version for entry in imports}
    if len(found) == len(imports) and "ai.onnx" not in found:
        return found
    versions: dict[str, int] = {}
    for domain, version, _ in imports:
        if versions.setdefault(normal_domain(domain), version) != version:
            raise ModelError(f"{where} imports two versions of domain '{domain}'")
    return found


def are_plain(imports: Imports) -> bool:
    """Whether `versions_of` them says all that the messages say."""
    if len(imports) == 1:
        return imports[0].plain
    domains = {entry.domain for entry in imports}
    return len(domains) == len(imports) and all(entry.plain for entry in imports)


def update_imports(
    entries: MutableSequence[onnx.OperatorSetIdProto], versions: Mapping[str, int]
) -> None:
    """Make the entries that came with the file say what is imported now."""
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


def imports_in(versions: Mapping[str, int]) -> str:
    """Imports as fields of a function, in characters."""
    return "".join([_import_in(*pair) for pair in versions.items()])


@functools.lru_cache(_MOST_KNOWN)
def _import_in(domain: str, version: int) -> str:
    return _OF_FUNCTION + characters(delimited(_said(domain, version)))
