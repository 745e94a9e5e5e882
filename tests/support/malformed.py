"""Models that are not well formed: each by name, with what an error about it says."""

import malformed_contents
import malformed_nodes
import onnx
from malformed_base import REFUSED, model

__all__ = ["REFUSED", "malformed", "malformed_contents", "malformed_nodes"]


def malformed(name: str) -> onnx.ModelProto:
    proto = model()
    change, _ = REFUSED[name]
    result = change(proto)
    return result if isinstance(result, onnx.ModelProto) else proto
