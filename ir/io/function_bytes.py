"""Functions as protobuf writes them, where they say nothing but their name, imports and nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .protobuf.node_bytes import size_of, sized
from .protobuf.opset_imports import imports_in

_FIELD = "\xca\x01"
"""The characters before a function of a model."""
_NAME, _INPUT, _OUTPUT, _DOMAIN = "\x0a", "\x22", "\x2a", "\x52"


def function_in(
    domain: str,
    name: str,
    versions: Mapping[str, int],
    inputs: Iterable[str],
    outputs: Iterable[str],
    nodes: Iterable[str],
) -> str:
    """A function as a field of a model, in characters.

    Args:
        domain: its domain; one that is empty is not written.
        name: its name.
        versions: what it imports.
        inputs: what it takes, `sized`.
        outputs: what it gives, `sized`.
        nodes: its nodes as fields.
    """
    name, domain_in = sized([name, domain])
    function = "".join(
        [
            f"{_NAME}{name}",
            *[f"{_INPUT}{one}" for one in inputs],
            *[f"{_OUTPUT}{one}" for one in outputs],
            *nodes,
            imports_in(versions),
            f"{_DOMAIN}{domain_in}" if domain else "",
        ]
    )
    return f"{_FIELD}{size_of(function)}{function}"
