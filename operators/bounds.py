"""Operator by operator, between which numbers the elements of integer tensors lie."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence

import onnx

from ..facts.bounds import Bounds, Known, greater, greatest, join, least, lesser
from ..facts.dimension import Dimension
from ..facts.fact import Fact
from ..ir import Node

Rule = Callable[[Node, Sequence[Known], Sequence[Fact]], Bounds | None]


def _first(node: Node, inputs: Sequence[Known], facts: Sequence[Fact]) -> Bounds | None:
    return inputs[0].bounds


def _joined(positions: slice | tuple[int, ...]) -> Rule:
    """The result's elements are elements of these inputs."""

    def rule(node: Node, inputs: Sequence[Known], facts: Sequence[Fact]) -> Bounds | None:
        chosen = (
            inputs[positions] if isinstance(positions, slice) else [inputs[p] for p in positions]
        )
        return functools.reduce(join, [k.bounds for k in chosen])

    return rule


def _arithmetic(function: Callable[..., Iterable[Dimension]]) -> Rule:
    """The result lies between the extremes of the given combinations of bounds."""

    def rule(node: Node, inputs: Sequence[Known], facts: Sequence[Fact]) -> Bounds | None:
        bounds = [k.bounds for k in inputs]
        if any(b is None for b in bounds):
            return None
        results = list(function(*bounds))
        low, high = least(results), greatest(results)
        return None if low is None or high is None else Bounds(low, high)

    return rule


def _scatter(node: Node, inputs: Sequence[Known], facts: Sequence[Fact]) -> Bounds | None:
    if node.attribute("reduction", b"none") != b"none":
        return None
    return join(inputs[0].bounds, inputs[2].bounds)


def _minimum(node: Node, inputs: Sequence[Known], facts: Sequence[Fact]) -> Bounds | None:
    return functools.reduce(lesser, [k.bounds for k in inputs])


def _maximum(node: Node, inputs: Sequence[Known], facts: Sequence[Fact]) -> Bounds | None:
    return functools.reduce(greater, [k.bounds for k in inputs])


def _clip(node: Node, inputs: Sequence[Known], facts: Sequence[Fact]) -> Bounds | None:
    bounds = inputs[0].bounds
    for position, limit in ((1, greater), (2, lesser)):
        if position < len(node.inputs) and node.inputs[position] is not None:
            bounds = limit(bounds, inputs[position].bounds)
    return bounds


def _mod(node: Node, inputs: Sequence[Known], facts: Sequence[Fact]) -> Bounds | None:
    value, divisor = inputs[0].bounds, inputs[1].bounds
    if value is None or divisor is None or divisor.low.less(1) is not False:
        return None
    if node.attribute("fmod", 0) and value.low.less(0) is not False:
        # C's remainder takes the sign of the dividend.
        return None
    return Bounds(Dimension.constant(0), divisor.high - 1)


def _position(node: Node, inputs: Sequence[Known], facts: Sequence[Fact]) -> Bounds | None:
    """Positions along an axis: ArgMax, ArgMin, TopK."""
    shape = inputs[0].fact.shape
    axis = node.attribute("axis", -1 if node.op_type == "TopK" else 0)
    if shape is None or not -len(shape) <= axis < len(shape):
        return None
    return Bounds(Dimension.constant(0), shape[axis] - 1)


def _nonzero(node: Node, inputs: Sequence[Known], facts: Sequence[Fact]) -> Bounds | None:
    shape = inputs[0].fact.shape
    most = greatest(shape) if shape else None
    return None if most is None else Bounds(Dimension.constant(0), most - 1)


def _range(node: Node, inputs: Sequence[Known], facts: Sequence[Fact]) -> Bounds | None:
    start, limit, delta = [k.bounds for k in inputs]
    if start is None or limit is None or delta is None or delta.low.less(1) is not False:
        return None
    return Bounds(start.low, limit.high - 1)


def _cast(node: Node, inputs: Sequence[Known], facts: Sequence[Fact]) -> Bounds | None:
    if inputs[0].fact.elem_type == onnx.TensorProto.BOOL:
        return Bounds(Dimension.constant(0), Dimension.constant(1))
    return inputs[0].bounds


def _constant_of_shape(node: Node, inputs: Sequence[Known], facts: Sequence[Fact]) -> Bounds | None:
    tensor = node.attribute("value")
    if tensor is None:
        return None
    array = onnx.numpy_helper.to_array(tensor)
    if array.dtype.kind not in "iu":
        return None
    fill = Dimension.constant(int(array.reshape(-1)[0]))
    return Bounds(fill, fill)


_MOVING = (
    "Compress DepthToSpace Expand Flatten Gather GatherElements GatherND Identity Reshape Slice"
    " SpaceToDepth Split Squeeze Tile Transpose Unsqueeze"
)

RULES: dict[str, Rule] = {
    **dict.fromkeys(_MOVING.split(), _first),
    "Concat": _joined(slice(None)),
    "Where": _joined((1, 2)),
    "Scatter": _scatter,
    "ScatterElements": _scatter,
    "ScatterND": _scatter,
    "Add": _arithmetic(lambda a, b: (a.low + b.low, a.high + b.high)),
    "Sub": _arithmetic(lambda a, b: (a.low - b.high, a.high - b.low)),
    "Mul": _arithmetic(lambda a, b: [x * y for x in a for y in b]),
    "Neg": _arithmetic(lambda a: (-a.high, -a.low)),
    "Min": _minimum,
    "Max": _maximum,
    "Clip": _clip,
    "Mod": _mod,
    "ArgMax": _position,
    "ArgMin": _position,
    "TopK": _position,
    "NonZero": _nonzero,
    "Range": _range,
    "Cast": _cast,
    "ConstantOfShape": _constant_of_shape,
}
