"""Between which numbers the elements of an integer tensor lie: what proves an index in range.

Bounds are dimensions, so that an ArgMax over N classes is known to give at most N - 1.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import onnx

from ..facts.dimension import Dimension
from ..facts.fact import Content, Fact
from ..ir import Node

_MOST_FACTOR = 1 << 31
"""A size times less than this stays far within int64."""


class Bounds(NamedTuple):
    """The smallest and the largest number that an element may be, both included."""

    low: Dimension
    high: Dimension


@dataclasses.dataclass(frozen=True, eq=False)
class Known:
    """What is known about a value: its fact, and for a tensor of integers the bounds."""

    fact: Fact
    bounds: Bounds | None = None


def alike(one: Known, other: Known) -> bool:
    """Whether just as much is known about both."""
    if one is other:
        return True
    types, others = [
        (known.fact.elem_type, known.fact.shape, known.fact.other, known.fact.count)
        for known in (one, other)
    ]
    same = types == others
    return same and one.bounds == other.bounds and same_content(one.fact, other.fact)


def same_content(one: Fact, other: Fact) -> bool:
    """Whether the elements of both are followed and the same, or of neither."""
    if one.content is None or other.content is None:
        return one.content is other.content
    if one.content.shape != other.content.shape:
        return False
    pairs = zip(one.content.reshape(-1), other.content.reshape(-1), strict=True)
    return all(a is not None and a == b for a, b in pairs)


Rule = Callable[[Node, Sequence[Known], Sequence[Fact]], Bounds | None]


def known_outputs(node: Node, inputs: Sequence[Known], facts: Sequence[Fact]) -> list[Known]:
    """What is known about the outputs of a node, their facts being given."""
    rule = _RULES.get(node.op_type) if node.domain in ("", "ai.onnx") else None
    given = rule(node, inputs, facts) if rule is not None else None
    position = 1 if node.op_type == "TopK" else 0
    all_alike = node.op_type == "Split"
    return [
        known(fact, given if all_alike or index == position else None)
        for index, fact in enumerate(facts)
    ]


def known(fact: Fact, bounds: Bounds | None = None) -> Known:
    """A fact with the tightest bounds there are: those of its content, or the given ones if no
    overflow can break them, or those of its type."""
    whole = _of_type(fact.elem_type)
    if whole is None:
        return Known(fact)
    exact = _of_content(fact.content) if fact.content is not None else None
    for candidate in (exact, bounds):
        if candidate is not None and _fits(candidate, whole, fact.elem_type):
            return Known(fact, candidate)
    return Known(fact, whole)


def join(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    """What holds for both; None where the two cannot be compared."""
    if one is None or other is None:
        return None
    low, high = least((one.low, other.low)), greatest((one.high, other.high))
    return None if low is None or high is None else Bounds(low, high)


def least(dims: Iterable[Dimension]) -> Dimension | None:
    """A number that none of these is below, one of them where they can be compared."""
    first, *rest = dims
    low: Dimension | None = first
    for dim in rest:
        low = _lower(low, dim)
    return low


def greatest(dims: Iterable[Dimension]) -> Dimension | None:
    """The counterpart of `least`."""
    low = least([-dim for dim in dims])
    return None if low is None else -low


def _lower(one: Dimension | None, other: Dimension) -> Dimension | None:
    if one is None:
        return None
    less = one.less(other)
    if less is not None:
        return one if less else other
    if other.less(one) is False:
        return one
    a, b = one.at_least, other.at_least
    return None if a is None or b is None else Dimension.constant(min(a, b))


def _of_type(elem_type: int) -> Bounds | None:
    if not elem_type or elem_type == onnx.TensorProto.STRING:
        return None
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    if dtype.kind not in "iu":
        return None
    info = np.iinfo(dtype)
    return Bounds(Dimension.constant(info.min), Dimension.constant(info.max))


def _fits(bounds: Bounds, whole: Bounds, elem_type: int) -> bool:
    """Whether the type can hold everything between the bounds."""
    for bound in bounds:
        if bound.value is None:
            large = any(abs(factor) >= _MOST_FACTOR for factor in bound.terms.values())
            if elem_type != onnx.TensorProto.INT64 or large:
                return False
        elif not whole.low.value <= bound.value <= whole.high.value:  # type: ignore[operator]
            return False
    return True


def _of_content(content: Content) -> Bounds | None:
    elements = list(content.reshape(-1))
    if not elements or not all(isinstance(e, Dimension) for e in elements):
        return None
    low, high = least(elements), greatest(elements)
    return None if low is None or high is None else Bounds(low, high)


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
    return functools.reduce(_min_of, [k.bounds for k in inputs])


def _maximum(node: Node, inputs: Sequence[Known], facts: Sequence[Fact]) -> Bounds | None:
    return functools.reduce(_max_of, [k.bounds for k in inputs])


def _min_of(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    if one is None or other is None:
        return None
    low = least((one.low, other.low))
    # Of two upper bounds that cannot be compared either one holds.
    high = one.high if other.high.less(one.high) is not True else other.high
    return None if low is None else Bounds(low, high)


def _max_of(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    flipped = _min_of(_negative(one), _negative(other))
    return _negative(flipped)


def _negative(bounds: Bounds | None) -> Bounds | None:
    return None if bounds is None else Bounds(-bounds.high, -bounds.low)


def _clip(node: Node, inputs: Sequence[Known], facts: Sequence[Fact]) -> Bounds | None:
    bounds = inputs[0].bounds
    for position, limit in ((1, _max_of), (2, _min_of)):
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

_RULES: dict[str, Rule] = {
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
