"""A case: nodes that compute `y`."""

from typing import NamedTuple

NEWEST = 27


class Case(NamedTuple):
    """Nodes that compute `y`.

    Attributes:
        name: what is special about them.
        since: the oldest opset in which they can be written.
        inputs: what they read.
        nodes: ONNX text.
        until: the newest opset in which they can be written.
        nan: whether it is defined what they make of NaN.
        gives: what they give, where onnx does not infer it.
    """

    name: str
    since: int
    inputs: str
    nodes: str
    until: int = NEWEST
    nan: bool = True
    gives: str = "y"
