"""Constants in the place of computed sizes that Reshape, Expand and Slice read."""

from collections.abc import Sequence

import numpy as np
import onnx

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Fact, Shape, integers, vector
from ...facts.polynomial import Dimension, product
from ...ir import Graph, Node, Tensor

_LAST = np.iinfo(np.int64).max

_ENDS, _AXES, _STEPS = 2, 3, 4
"""Inputs of Slice."""


def set_constant_sizes(graph: Graph, node: Node, inference: ShapeInference) -> bool:
    """Replace computed sizes that a node reads by a constant with the same effect.

    Returns:
        true after a change.
    """
    position = _ENDS if node.is_op("Slice") else 1
    operand = node.input(position)
    if operand is None or operand.constant is not None or node.op.references:
        return False
    inputs = [Fact() if value is None else inference.fact(value) for value in node.inputs]
    if node.is_op("Reshape"):
        numbers = _reshaped(node, inputs)
    elif node.is_op("Expand"):
        numbers = _expanded(inputs)
    else:
        numbers = _ends(inputs)
    if numbers is None:
        return False
    array = np.array(numbers, onnx.helper.tensor_dtype_to_np_dtype(inputs[position].elem_type))
    if node.attribute("allowzero", 0):
        messages = [m for name, m in node.op.attributes.items() if name != "allowzero"]
        graph.set_operator(node, node.op.with_attributes(messages))
    graph.set_input(node, position, graph.add_initializer(operand.name, Tensor(array=array)))
    return True


def _reshaped(node: Node, inputs: Sequence[Fact]) -> list[int] | None:
    """The operand of a Reshape: 0 copies a size of the source, -1 is the rest."""
    source, target = inputs[0].shape, vector(inputs[1])
    if source is None or target is None or None in target:
        return None
    if node.attribute("allowzero", 0) and any(dim.equals(0) is not False for dim in target):
        return None
    target = _with_rest(source, target)
    if product(source) != product(target) or 0 in target:
        return None  # it may fail, and must do so; as a constant, 0 has another meaning
    sizes = [_size(dim, source[axis : axis + 1]) for axis, dim in enumerate(target)]
    if -1 not in sizes:
        return sizes
    # An empty tensor has no axis that the others decide.
    others = [dim for dim, size in zip(target, sizes, strict=True) if size != -1]
    positive = all((dim.at_least or 0) > 0 for dim in others)
    return sizes if positive and sizes.count(-1) == 1 else None


def _size(dim: Dimension, copied: Shape) -> int:
    """An element of the operand of a Reshape."""
    if dim.value is not None:
        return dim.value
    return 0 if (dim,) == copied else -1


def _with_rest(source: Shape, target: Sequence[Dimension]) -> list[Dimension]:
    """The target of a Reshape, with sizes for -1 and 0 if these follow.

    The Reshape fails where -1 meets sizes that multiply to 0.
    """
    sizes = [
        source[axis] if dim == 0 and axis < len(source) else dim for axis, dim in enumerate(target)
    ]
    open_ = [axis for axis, dim in enumerate(sizes) if dim == -1]
    if len(open_) == 1:
        others = product(dim for dim in sizes if dim != -1)
        rest = product(source).divided_by(others) if others.value != 0 else None
        sizes[open_[0]] = sizes[open_[0]] if rest is None else rest
    return sizes


def _expanded(inputs: Sequence[Fact]) -> list[int] | None:
    """The operand of an Expand: 1 keeps a size of the source."""
    source, target = inputs[0].shape, vector(inputs[1])
    if source is None or target is None or None in target:
        return None
    sizes = []
    for axis, dim in enumerate(target, len(source) - len(target)):
        own = source[axis] if axis >= 0 else Dimension.constant(1)
        if dim.value is None and axis >= 0 and dim == own:
            sizes.append(1)
        elif dim.value is not None and (dim == own or 1 in (dim, own)):
            sizes.append(dim.value)
        else:
            return None  # the size is open, or may not fit
    return sizes


def _ends(inputs: Sequence[Fact]) -> list[int] | None:
    """The ends of a Slice: the largest integer where a slice ends with its axis."""
    source, ends = inputs[0].shape, vector(inputs[_ENDS])
    if source is None or ends is None or None in ends:
        return None
    axes = list(range(len(ends)))
    steps = [1] * len(ends)
    for numbers, position in ((axes, _AXES), (steps, _STEPS)):
        if position < len(inputs) and inputs[position].elem_type:
            array = integers(inputs[position])
            if array is None or array.shape != (len(ends),):
                return None
            numbers[:] = array.tolist()
    last = min(_LAST, np.iinfo(onnx.helper.tensor_dtype_to_np_dtype(inputs[_ENDS].elem_type)).max)
    numbers = []
    for axis, step, end in zip(axes, steps, ends, strict=True):
        if end.value is not None:
            numbers.append(end.value)
        elif step > 0 and -len(source) <= axis < len(source) and end == source[axis]:
            numbers.append(last)
        else:
            return None
    return numbers
