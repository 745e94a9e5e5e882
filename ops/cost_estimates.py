"""Cost estimates: sizes of outputs, and steps of about a nanosecond in the reference interpreter.

Each number was measured, and rounded up by two to four times: what is refused for its cost stays in
the model, what is not must end.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir import Node

EACH = 500
"""Steps for each element that goes into or comes out of most operators."""

FEW = 5
"""The same where numpy computes or moves all of them at once."""

FREE = ("Constant", "Identity")
"""Operators without a noticeable cost at run time."""

LONG = "long_blocks"
"""The name of a branch that keeps a Loop where blocks of rows are long."""

SLID = 40
"""Steps for each element that a window sees, at each place of it."""


def elements(arrays: Sequence[Any]) -> int:
    """The number of elements of arrays; absent ones have none."""
    return sum(array.size for array in arrays if array is not None)


def places(node: Node, image: Any) -> float:
    """The most places of a window in an image, including batch and channels."""
    pads = node.attribute("pads", [])
    room = 2 * max(map(abs, pads), default=0)
    spread = max(node.attribute("dilations", []), default=1)
    reach = max(node.attribute("kernel_shape", []), default=1) * spread
    around = max(room, reach) if node.attribute("auto_pad") else room
    sides = [float(dim + around) for dim in image.shape[2:]]
    return math.prod(sides) * math.prod(map(float, image.shape[:2]))


def convolution(node: Node, image: Any, kernel: Any, each: float) -> float:
    """Steps for each element of a kernel at each place of each image."""
    channels = max(1, image.shape[1]) if image.ndim > 1 else 1
    return float(each * places(node, image) / channels * kernel.size)


def matching(pattern: str, texts: Any) -> float:
    """Steps of a regular expression that backtracks, at most.

    What repeats without a bound may begin and end anywhere, and what may be left out, or is one of
    several, doubles the ways. A group that is repeated has ways without end.
    """
    longest = max((len(str(text)) for text in texts.reshape(-1)), default=0) + 1
    repeated = any(f"){sign}" in pattern for sign in "*+{?")
    if repeated or "\\" in pattern.replace("\\.", "").replace("\\d", "").replace("\\w", ""):
        return math.inf if longest > 1 else float(EACH)
    ways = 2.0 ** min(pattern.count("?") + pattern.count("|") + pattern.count("{"), 100)
    unbounded = min(sum(map(pattern.count, "*+{")), 20)
    return float(EACH * texts.size * float(longest) ** (1 + unbounded) * ways)


def size_of(shape: Any) -> float:
    """The number of elements of a tensor of a shape."""
    return float(np.prod(np.abs(np.asarray(shape, np.float64))))


def times(array: Any, factors: Any) -> float:
    """Number of elements after the axes of an array grow."""
    return float(array.size * size_of(factors))


def broadcast_size(arrays: Sequence[Any]) -> float:
    """The number of elements of broadcast arrays; 0 if they do not broadcast."""
    return broadcast_shapes_size([a.shape for a in arrays])


def broadcast_shapes_size(shapes: Sequence[Sequence[int]]) -> float:
    """The number of elements of a broadcast of shapes; 0 if they do not broadcast."""
    rank = max(map(len, shapes), default=0)
    aligned = [(1,) * (rank - len(shape)) + tuple(map(int, shape)) for shape in shapes]
    sizes = [{size for size in axis if size != 1} for axis in zip(*aligned, strict=True)]
    if any(len(axis) > 1 for axis in sizes):
        return 0
    return float(math.prod(size for axis in sizes for size in axis))
