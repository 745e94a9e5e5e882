"""Replace rotations of pairs of elements by RotaryEmbedding.

a, b = Split (x)   n = Neg (b)   r = Concat <axis = -1> (n, a)
p = Mul (x, cos)   q = Mul (r, sin)   y = Add (p, q)
->
y = RotaryEmbedding (x, half_of_cos, half_of_sin)

Both halves of the cosines and sines must be equal: constants bit for bit, or functions of a Concat
of one tensor with itself. Kept: rotations of neighbouring elements or of a part, and cosines of
another batch, which onnxruntime does not broadcast.
"""

from typing import ClassVar

import numpy as np

from ....facts.fact import Shape
from ....ir import Array, Node, Operator, Value
from ....ops.axes import ONE
from ....ops.views import read_slice
from .attention_scores import only_reader
from .reading import is_plain, uniform_number
from .replacement import FLOAT, HALF, Emitted, Match, Operand, Raising, Site

_MOST_STEPS = 4
"""Most functions of angles between their Concat and the product."""
_LARGEST = 1 << 20
"""Most elements of a constant that is compared."""


class RaiseRotations(Raising):
    """Replace rotations of pairs of elements by RotaryEmbedding, from opset 23 on."""

    name: ClassVar[str] = "raise-rotations"
    seeds: ClassVar[tuple[str, ...]] = ("Concat",)

    def match(self, site: Site, seed: Node) -> Match | None:
        """Return the rotation around the Concat of the second, negative half and the first."""
        source = _rotated(site, seed)
        shape = None if source is None else site.shape(source)
        if source is None or not shape or not site.takes("RotaryEmbedding", site.elem_type(source)):
            return None
        sine = only_reader(site, seed.output())
        root = None if sine is None else only_reader(site, sine.output())
        if sine is None or root is None or not sine.is_op("Mul") or not root.is_op("Add"):
            return None
        cosine = next((v.producer for v in root.inputs if v and v.producer is not sine), None)
        if cosine is None or not cosine.is_op("Mul") or not site.stands_for(source, root):
            return None
        if not all(map(is_plain, (sine, cosine, root))):
            return None
        factors = _other(cosine, source), _other(sine, seed.output())
        caches = [None if f is None else _cache(site, f, shape) for f in factors]
        if caches[0] is None or caches[1] is None:
            return None
        return site.completed(Match(Operator("RotaryEmbedding"), [source, *caches], root))


def _other(node: Node, value: Value) -> Value | None:
    """The other operand of a product."""
    one, other = node.inputs
    if value is one:
        return other
    return one if value is other else None


def _rotated(site: Site, node: Node) -> Value | None:
    """Tensor of rank 4 whose halves along the last axis a Concat exchanges."""
    if len(node.inputs) != 2 or node.inputs[0] is None or node.inputs[1] is None:
        return None
    shape, negative = site.shape(node.output()), node.inputs[0].producer
    if not shape or len(shape) != 4 or node.attribute("axis") not in (-1, 3):
        return None
    if negative is None or not negative.is_op("Neg") or negative.input(0) is None:
        return None
    second, first = _half(site, negative.inputs[0]), _half(site, node.inputs[1])
    if first is None or second is None or first[0] is not second[0]:
        return None
    is_whole = site.shape(first[0]) == shape and (first[1], second[1]) == (0, 1)
    return first[0] if is_whole else None


def _half(site: Site, value: Value | None) -> tuple[Value, int] | None:
    """Tensor of which a value is one half along the last axis, and which one."""
    node = None if value is None else value.producer
    source = None if node is None else node.input(0)
    if value is None or node is None or source is None or node.op.references:
        return None
    whole, own = site.shape(source), site.shape(value)
    if not whole or not own or len(own) != len(whole) or own[-1] * 2 != whole[-1]:
        return None
    axis = len(whole) - 1
    if node.is_op("Split"):
        is_last = node.attribute("axis", 0) in (-1, axis) and len(node.outputs) == 2
        return (source, node.outputs.index(value)) if is_last else None
    view = read_slice(node, site.inference.fact)
    if view is None or view.axis != axis or view.start is None:
        return None
    if view.start == 0:
        return source, 0
    return (source, 1) if own[-1].value == view.start.value is not None else None


def _cache(site: Site, factor: Value, shape: Shape) -> Operand:
    """First half of a factor, of the shape batch, places, half of a head.

    None if its second half is another one, or if it differs between heads.
    """
    if factor.constant is not None:
        return _constant_cache(factor, shape)
    batch, _, places, size = shape
    node, rows = factor.producer, (batch, places, size)
    if (
        node is None
        or node.graph is not site.graph
        or site.shape(factor) != (batch, ONE, *rows[1:])
    ):
        return None
    source = node.input(0) if node.is_op("Unsqueeze", "Reshape") else None
    if source is None or site.shape(source) != rows or site.elem_type(source) not in (FLOAT, HALF):
        return None
    return _angle_function(site, source)


def _constant_cache(factor: Value, shape: Shape) -> Array | None:
    tensor, sizes = factor.constant, [dim.value for dim in (shape[0], shape[2], shape[3])]
    if tensor is None or not tensor.is_readable or tensor.size > _LARGEST or None in sizes:
        return None
    batch, places, size = (size or 0 for size in sizes)
    if len(tensor.dims) > 4 or tensor.dims[-1:] != (size,) or size % 2:
        return None
    dims = [1] * (4 - len(tensor.dims)) + list(tensor.dims)
    array: Array = tensor.numpy().reshape(dims)
    first, second = array[..., : size // 2], array[..., size // 2 :]
    if dims[0] not in (1, batch) or dims[1] != 1 or dims[2] not in (1, places):
        return None
    # By bits: == takes -0 for 0, and finds no NaN equal to itself.
    if first.tobytes() != second.tobytes():
        return None
    return np.ascontiguousarray(np.broadcast_to(first[:, 0], (batch, places, size // 2)))


def _angle_function(site: Site, value: Value) -> Operand:
    """Function of a Concat of equal halves, on one of them."""
    node = value.producer
    steps: list[tuple[Operator, int, Value | None]] = []
    while node is not None and node.graph is site.graph and len(steps) <= _MOST_STEPS:
        if node.is_op("Concat"):
            one, axis = node.input(0), node.attribute("axis")
            rank = len(site.shape(node.output()) or ())
            if len(node.inputs) != 2 or one is not node.inputs[1] or axis not in (-1, rank - 1):
                return None
            result: Operand = one
            for op, index, number in reversed(steps):
                operands = [result] if number is None else [result, number]
                result = Emitted(op, operands[::-1] if index else operands)
            return result
        step = _step(node)
        if step is None:
            return None
        steps.append(step)
        below = node.input(step[1])
        node = None if below is None else below.producer
    return None


def _step(node: Node) -> tuple[Operator, int, Value | None] | None:
    """Function of one tensor: operator, position of the tensor, and other operand."""
    if node.op.references:
        return None
    if node.is_op("Cos", "Sin", "Cast", "Identity"):
        return node.op, 0, None
    if node.is_op("Mul") and is_plain(node):
        for index, value in enumerate(node.inputs):
            number = node.inputs[1 - index]
            if value is not None and number is not None and _is_scalar(number):
                return node.op, index, number
    return None


def _is_scalar(value: Value) -> bool:
    return (
        value.constant is not None and not value.constant.dims and uniform_number(value) is not None
    )
