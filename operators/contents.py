"""The content of small integer tensors, operator by operator: shapes, sizes, comparisons of them.

Each rule takes the facts of a node's inputs and gives the content of its first output, or None.
numpy does the moving about; its object arrays hold dimensions as well as numbers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx

from ..facts.dimension import Dimension, product
from ..facts.fact import MAX_CONTENT, Content, Fact, content_from, integers
from ..ir import Node

Rule = Callable[[Node, Sequence[Fact]], Content | None]


def _shape(node: Node, facts: Sequence[Fact]) -> Content | None:
    dims = facts[0].shape
    if dims is None:
        return None
    return content_from(list(dims[slice(node.attribute("start"), node.attribute("end"))]))


def _size(node: Node, facts: Sequence[Fact]) -> Content | None:
    dims = facts[0].shape
    return None if dims is None else content_from(product(dims))


def _elementwise(function: Callable[..., Any]) -> Rule:
    def rule(node: Node, facts: Sequence[Fact]) -> Content | None:
        contents = [fact.content for fact in facts if fact.content is not None]
        if len(contents) < len(facts):
            return None
        if math.prod(np.broadcast_shapes(*(c.shape for c in contents))) > MAX_CONTENT:
            return None
        result = np.frompyfunc(function, len(contents), 1)(*contents)
        return content_from(result)

    return rule


def _strict(function: Callable[..., Any]) -> Rule:
    """An elementwise rule whose result is unknown where an operand is."""
    return _elementwise(lambda *a: None if any(x is None for x in a) else function(*a))


def _variadic(function: Callable[[Any, Any], Any]) -> Rule:
    """An elementwise rule that takes its operands two by two."""

    def reduced(*operands: Any) -> Any:
        return functools.reduce(lambda a, b: None if a is None else function(a, b), operands)

    return _strict(reduced)


def _divide(a: Dimension, b: Dimension) -> Dimension | None:
    if a.value is None or b.value is None:
        return a.divided_by(b)
    return Dimension.constant(_quotient(a.value, b.value)) if b.value else None


def _quotient(a: int, b: int) -> int:
    """ONNX divides integers towards zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _mod(node: Node, facts: Sequence[Fact]) -> Content | None:
    return _strict(_c_remainder if node.attribute("fmod", 0) else _remainder)(node, facts)


def _remainder(a: Dimension, b: Dimension) -> Dimension | None:
    """The remainder with the sign of the divisor."""
    if a.value is not None and b.value:
        return Dimension.constant(a.value % b.value)
    return Dimension.constant(0) if b.value and a.divided_by(b) is not None else None


def _c_remainder(a: Dimension, b: Dimension) -> Dimension | None:
    """The remainder with the sign of the dividend, as C's fmod."""
    if a.value is None or not b.value:
        return None
    return Dimension.constant(a.value - b.value * _quotient(a.value, b.value))


def _least(a: Dimension, b: Dimension) -> Dimension | None:
    less = a.less(b)
    if less is None:
        greater = b.less(a)
        return None if greater is None and a != b else (a if not greater else b)
    return a if less else b


def _greatest(a: Dimension, b: Dimension) -> Dimension | None:
    least = _least(a, b)
    return None if least is None else (b if least is a else a)


def _equal(a: Any, b: Any) -> bool | None:
    if isinstance(a, Dimension) and isinstance(b, Dimension):
        return a.equals(b)
    return bool(a == b)


def _less(a: Dimension, b: Dimension) -> bool | None:
    return a.less(b)


def _less_or_equal(a: Dimension, b: Dimension) -> bool | None:
    greater = b.less(a)
    return None if greater is None else not greater


def _and(a: bool | None, b: bool | None) -> bool | None:
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def _or(a: bool | None, b: bool | None) -> bool | None:
    if a is True or b is True:
        return True
    return None if a is None or b is None else False


def _where(condition: bool | None, a: Any, b: Any) -> Any:
    if condition is None:
        return a if a == b else None
    return a if condition else b


def _same(node: Node, facts: Sequence[Fact]) -> Content | None:
    return facts[0].content


def _cast(node: Node, facts: Sequence[Fact]) -> Content | None:
    content, to = facts[0].content, node.attribute("to")
    if content is None:
        return None
    was_bool = facts[0].elem_type == onnx.TensorProto.BOOL
    if to == onnx.TensorProto.BOOL:
        if was_bool:
            return content
        return _strict(lambda a: _negated(a.equals(0)))(node, facts)
    if to in (onnx.TensorProto.INT64, onnx.TensorProto.INT32):
        return _strict(Dimension.constant)(node, facts) if was_bool else content
    return None


def _negated(known: bool | None) -> bool | None:
    return None if known is None else not known


def _constants(facts: Sequence[Fact]) -> list[Any] | None:
    """The operands after the first, as numbers; None if one is not known."""
    numbers = [integers(fact) for fact in facts[1:]]
    return None if any(n is None for n in numbers) else numbers


def _gather(node: Node, facts: Sequence[Fact]) -> Content | None:
    content, numbers = facts[0].content, _constants(facts)
    if content is None or numbers is None:
        return None
    axis = node.attribute("axis", 0)
    indices = numbers[0]
    length = content.shape[axis]
    if indices.size and not (indices.min() >= -length and indices.max() < length):
        return None
    axis %= content.ndim
    taken = np.empty(content.shape[:axis] + indices.shape + content.shape[axis + 1 :], object)
    taken[...] = np.take(content, indices, axis=axis)
    return taken


def _concat(node: Node, facts: Sequence[Fact]) -> Content | None:
    contents = [fact.content for fact in facts]
    if any(content is None for content in contents):
        return None
    return np.concatenate(contents, axis=node.attribute("axis", 1))  # type: ignore[arg-type]


def _axes(node: Node, facts: Sequence[Fact]) -> list[int] | None:
    axes = node.attribute("axes")
    if axes is not None:
        return list(axes)
    numbers = _constants(facts)
    return [int(axis) for axis in numbers[0].reshape(-1)] if numbers else None


def _unsqueeze(node: Node, facts: Sequence[Fact]) -> Content | None:
    content, axes = facts[0].content, _axes(node, facts)
    return None if content is None or axes is None else np.expand_dims(content, tuple(axes))


def _squeeze(node: Node, facts: Sequence[Fact]) -> Content | None:
    content = facts[0].content
    if content is None or (len(facts) > 1 and _axes(node, facts) is None):
        return None
    axes = _axes(node, facts)
    return np.squeeze(content) if axes is None else np.squeeze(content, tuple(axes))


def _reshape(node: Node, facts: Sequence[Fact]) -> Content | None:
    content, numbers = facts[0].content, _constants(facts)
    if content is None or not numbers:
        return None
    allow_zero = node.attribute("allowzero", 0)
    target = [
        content.shape[i] if size == 0 and not allow_zero else int(size)
        for i, size in enumerate(numbers[0])
    ]
    return content.reshape(target)


def _slice(node: Node, facts: Sequence[Fact]) -> Content | None:
    content = facts[0].content
    numbers = _constants(facts)
    if content is None or numbers is None:
        return None
    if node.attribute("starts") is not None:
        numbers = [np.array(node.attribute(name)) for name in ("starts", "ends")]
        if node.attribute("axes") is not None:
            numbers.append(np.array(node.attribute("axes")))
    if len(numbers) < 2:
        return None
    axes = numbers[2] if len(numbers) > 2 else range(len(numbers[0]))
    steps = numbers[3] if len(numbers) > 3 else [1] * len(numbers[0])
    index = [slice(None)] * content.ndim
    for start, end, axis, step in zip(*numbers[:2], axes, steps, strict=True):
        # numpy reads a large negative end as "up to and including the first", as ONNX does.
        stop = None if step < 0 and end < -content.shape[axis] else int(end)
        index[axis] = slice(int(start), stop, int(step))
    return content[tuple(index)]


def _product(node: Node, facts: Sequence[Fact]) -> Content | None:
    return _reduce(node, facts, lambda items: math.prod(items, start=Dimension.constant(1)))


def _sum(node: Node, facts: Sequence[Fact]) -> Content | None:
    return _reduce(node, facts, lambda items: sum(items, Dimension.constant(0)))


def _reduce(
    node: Node, facts: Sequence[Fact], function: Callable[[list[Dimension]], Dimension]
) -> Content | None:
    """Reduce a vector to one element, which is how sizes are computed."""
    content = facts[0].content
    if content is None or content.ndim != 1 or any(e is None for e in content):
        return None
    if node.attribute("noop_with_empty_axes", 0):
        axes = integers(facts[1]) if len(facts) > 1 else None
        if axes is None or not axes.size:
            return None
    result = content_from(function(list(content)))
    return result.reshape(1) if node.attribute("keepdims", 1) else result


def _constant_of_shape(node: Node, facts: Sequence[Fact]) -> Content | None:
    numbers = _constants([*facts[:1], *facts[:1]])
    tensor = node.attribute("value")
    if not numbers or tensor is None or math.prod(numbers[0].tolist()) > MAX_CONTENT:
        return None
    value = onnx.numpy_helper.to_array(tensor).reshape(-1)[0]
    if value.dtype.kind not in "ib":
        return None
    fill = bool(value) if value.dtype == np.bool_ else Dimension.constant(int(value))
    content = np.empty(numbers[0].tolist(), dtype=object)
    content[...] = fill
    return content


RULES: dict[str, Rule] = {
    "Shape": _shape,
    "Size": _size,
    "Identity": _same,
    "Cast": _cast,
    "Add": _strict(lambda a, b: a + b),
    "Sub": _strict(lambda a, b: a - b),
    "Mul": _strict(lambda a, b: a * b),
    "Div": _strict(_divide),
    "Mod": _mod,
    "Neg": _strict(lambda a: -a),
    "Min": _variadic(_least),
    "Max": _variadic(_greatest),
    "Equal": _strict(_equal),
    "Less": _strict(_less),
    "Greater": _strict(lambda a, b: _less(b, a)),
    "LessOrEqual": _strict(_less_or_equal),
    "GreaterOrEqual": _strict(lambda a, b: _less_or_equal(b, a)),
    "Not": _elementwise(_negated),
    "And": _elementwise(_and),
    "Or": _elementwise(_or),
    "Where": _elementwise(_where),
    "Gather": _gather,
    "Concat": _concat,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Reshape": _reshape,
    "Slice": _slice,
    "ReduceProd": _product,
    "ReduceSum": _sum,
    "ConstantOfShape": _constant_of_shape,
}
"""The operators through which content is followed."""
