"""Nodes that an older opset says in a longer form, or takes of fewer types only.

For each a name, the oldest opset in which the nodes can be written, what they read, as ONNX text
declares it, and the nodes, which compute `y`.
"""

from .case import Case
from .computing import COMPUTING
from .control_flow import CONTROL_FLOW
from .moving import MOVING

CASES = [*MOVING, *COMPUTING, *CONTROL_FLOW]

__all__ = ["CASES", "Case"]
