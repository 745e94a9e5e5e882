"""Large constants that repeat a smaller one, where their readers broadcast by themselves.

agraph (float[8, 90] x) => (float[8, 90] y)    agraph (float[8, 90] x) => (float[8, 90] y)
<float[1, 90] row, int64[2] reps = {8, 1}> {   <float[1, 90] row> {
   t = Tile (row, reps)                     ->    y = Add (x, row)
   y = Add (x, t)                              }
}
"""

from collections.abc import Callable, Sequence

import numpy as np

from ...analysis.shapes.inference import ShapeInference
from ...ir import Array, Graph, Node, Tensor, Value
from ...ops import rules_of
from ...ops.elementwise import Elementwise, Where

_BROADCAST = 8
"""Opset from which on all elementwise operators broadcast in all directions."""


def narrowed(
    graph: Graph, node: Node, results: Sequence[Tensor], infer: Callable[[], ShapeInference]
) -> Tensor | None:
    """Return the constant that all readers of a node may read instead of its result.

    Tile of a row, ConstantOfShape, Expand: it is the same, whichever nodes compute the constant.

    Args:
        node: a node with constant operands.
        results: the values of its outputs.
        infer: returns facts of the other operands of the readers; most constants need none.

    Returns:
        the least part of which the result is the broadcast; None where the node repeats nothing,
        or another operand of a reader may be smaller.
    """
    whole = results[0].numpy()
    users = graph.users(node.output())
    if len(results) > 1 or whole.dtype == object or graph.root.opset() < _BROADCAST:
        return None
    # Clients fuse a scale of as many numbers as there are channels, and read others wrongly.
    if any(
        v is not None and v.constant is not None and v.constant.size >= whole.size
        for v in node.inputs
    ):
        return None
    small = smallest(whole)
    if 2 * small.nbytes > whole.nbytes or not users:
        return None
    axes = [
        axis - whole.ndim
        for axis, sizes in enumerate(zip(small.shape, whole.shape, strict=True))
        if sizes[0] != sizes[1]
    ]
    sizes = {axis: whole.shape[axis] for axis in axes}
    inference = infer()
    for user in users:
        if not isinstance(user, Node) or not _covers(user, node.output(), sizes, inference):
            return None
    return Tensor(array=small)


def _covers(user: Node, value: Value, sizes: dict[int, int], inference: ShapeInference) -> bool:
    """Test for another operand that has some sizes, by axes from the end."""
    rules = rules_of(user.op)
    # onnxruntime's Where has other kernels for broadcast operands, which treat -0 differently.
    if not isinstance(rules, Elementwise) or isinstance(rules, Where):
        return False
    others = [other for other in user.inputs if other is not None and other is not value]
    shapes = [inference.fact(other).shape or () for other in others]
    return any(
        all(-axis <= len(shape) and shape[axis] == size for axis, size in sizes.items())
        for shape in shapes
    )


def smallest(array: Array) -> Array:
    """Return the least part of which an array is the broadcast, bit for bit."""
    for axis, size in enumerate(array.shape):
        first = array.take([0], axis) if size > 1 else array
        if size > 1 and _bits(array) == _bits(np.broadcast_to(first, array.shape)):
            array = first
    return array


def _bits(array: Array) -> bytes:
    return np.ascontiguousarray(array).tobytes()
