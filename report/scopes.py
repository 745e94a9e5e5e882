"""Modules of nodes, as exporters record them in metadata or in names.

torch.export writes metadata such as `['', 'encoder', 'encoder.0', 'linear']`, whose last entry is
the node itself. TorchScript, Keras and tf2onnx write names such as `/encoder/encoder.0/MatMul`.
"""

import re

from ..ir import Operator
from .texts import cut

_SCOPES, _NAMESPACE = "pkg.torch.onnx.name_scopes", "namespace"
_MOST = 12
"""The most nested modules."""
_QUOTED = re.compile(r"""'([^']*)'|"([^"]*)\"""")


def scopes_of(op: Operator) -> tuple[str, ...]:
    """The modules of an operator by its metadata, outer before inner; none without metadata.

    >>> import onnx
    >>> extra = onnx.NodeProto()
    >>> _ = extra.metadata_props.add(key="namespace", value="encoder/layer.0")
    >>> scopes_of(Operator("Add", extra=extra))
    ('encoder', 'layer.0')
    """
    if not op.has_extra or op.extra is None:
        return ()
    metadata = {entry.key: entry.value for entry in op.extra.metadata_props}
    if _SCOPES in metadata:
        parts = ["".join(pair) for pair in _QUOTED.findall(metadata[_SCOPES])][:-1]
    elif _NAMESPACE in metadata:
        parts = metadata[_NAMESPACE].split("/")
        if ": " in metadata[_NAMESPACE]:  # torch adds classes, and the node itself
            parts = [part.partition(": ")[0] for part in parts[:-1]]
    else:
        return ()
    return _shortened(parts)


def scopes_in(name: str) -> tuple[str, ...]:
    """The modules in the name of a node, which separates them by slashes.

    >>> scopes_in("/encoder/encoder.0/MatMul")
    ('encoder', 'encoder.0')
    """
    return _shortened(name.split("/")[:-1])


def _shortened(parts: list[str]) -> tuple[str, ...]:
    return tuple([cut(part) for part in parts if part][:_MOST])
