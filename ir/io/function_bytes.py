"""The encoding of functions that have only a name, imports and nodes."""

from collections.abc import Iterable, Mapping

from .protobuf.message_headers import encode_imports
from .protobuf.node_bytes import size_of, with_sizes

_FIELD = "\xca\x01"
"""The characters before a function of a model."""
_NAME, _INPUT, _OUTPUT, _DOMAIN = "\x0a", "\x22", "\x2a", "\x52"


def encode_function(
    domain: str,
    name: str,
    versions: Mapping[str, int],
    inputs: Iterable[str],
    outputs: Iterable[str],
    nodes: Iterable[str],
) -> str:
    """Encode a function as a field of a model, in characters.

    Args:
        domain: its domain; omitted where empty.
        versions: its opset imports.
        inputs: its inputs, `with_sizes`.
        outputs: its outputs, `with_sizes`.
        nodes: its nodes as fields.
    """
    name, domain_in = with_sizes([name, domain])
    function = "".join(
        [
            f"{_NAME}{name}",
            *[f"{_INPUT}{one}" for one in inputs],
            *[f"{_OUTPUT}{one}" for one in outputs],
            *nodes,
            encode_imports(versions),
            f"{_DOMAIN}{domain_in}" if domain else "",
        ]
    )
    return f"{_FIELD}{size_of(function)}{function}"
