"""Operator by operator, when a node cannot fail: a list of what is allowed, with conditions.

Float arithmetic never fails: infinities and NaN are results, and they are thrown away.
Sources: the operator specifications, and what onnxruntime and onnx's reference refuse besides.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx

from ..facts.dimension import Dimension, product
from ..facts.fact import Shape
from ..facts.premises import (
    Premises,
    Unproven,
    at_least,
    axis_of,
    broadcast,
    broadcast_to,
    require,
    same,
    same_shape,
    shown,
)
from .speculation_layers import LAYER_RULES

# Arithmetic -------------------------------------------------------------------------------------


def _elementwise(given: Premises) -> None:
    broadcast([k.fact.shape for k, v in zip(given.inputs, given.node.inputs, strict=True) if v])


def _division(given: Premises) -> None:
    _elementwise(given)
    if not given.is_integer(1):
        return
    require(_never(given, 0), f"{given.name(1)} may be zero")
    if not _never(given, -1):
        # The smallest integer by -1 overflows, which stops the program on some processors.
        least = np.iinfo(onnx.helper.tensor_dtype_to_np_dtype(given.elem_type(1))).min
        smallest = given.bounds(0).low.less(least + 1) is not False
        what = f"{given.name(1)} may be -1 where {given.name(0)} is the smallest integer"
        require(not smallest, what)


def _never(given: Premises, number: int) -> bool:
    """Whether no element of the divisor is this number."""
    low, high = given.bounds(1)
    if low.less(number + 1) is False or high.less(number) is True:
        return True
    content = given.inputs[1].fact.content
    elements = [None] if content is None else content.reshape(-1)
    return all(e is not None and e.equals(number) is False for e in elements)


def _power(given: Premises) -> None:
    _elementwise(given)
    if given.is_integer(0) and given.is_integer(1):
        require(given.bounds(1).low.less(0) is False, f"{given.name(1)} may be negative")


def _shift(given: Premises) -> None:
    _elementwise(given)
    bits = onnx.helper.tensor_dtype_to_np_dtype(given.elem_type(0)).itemsize * 8
    require(given.bounds(1).high.less(bits) is True, f"{given.name(1)} may be {bits} or more")


def _cast(given: Premises) -> None:
    require(given.elem_type(0) != onnx.TensorProto.STRING, "a string may not spell a number")


def _clip(given: Premises) -> None:
    for index in range(1, len(given.node.inputs)):
        if given.has(index):
            given.shape(index, 0)


def _prelu(given: Premises) -> None:
    broadcast_to(given.shape(1), given.shape(0), "the slope")


# Moving elements --------------------------------------------------------------------------------


def _transpose(given: Premises) -> None:
    perm = given.node.attribute("perm")
    if perm is not None:
        rank = len(given.shape(0))
        require(sorted(perm) == list(range(rank)), f"perm does not fit rank {rank}")


def _flatten(given: Premises) -> None:
    rank = len(given.shape(0))
    axis = given.node.attribute("axis", 1)
    require(-rank <= axis <= rank, f"axis {axis} does not exist for rank {rank}")


def _reshape(given: Premises) -> None:
    given.shape(1, 1)
    target = list(given.content(1))
    source = given.shape(0)
    keeps_zero = not given.node.attribute("allowzero", 0)
    dims: list[Dimension] = []
    for position, size in enumerate(target):
        if size == 0 and keeps_zero:
            require(position < len(source), f"{given.name(1)} copies an axis that is not there")
            dims.append(source[position])
        elif size != -1:
            copies = position < len(source) and size == source[position]
            if not copies:
                at_least(size, 1 if keeps_zero else 0, "an axis of the new shape")
            dims.append(size)
    total, wanted = product(source), product(dims)
    if len(dims) == len(target):
        same(total, wanted, "the number of elements")
        return
    require(len(dims) == len(target) - 1, f"{given.name(1)} may hold -1 twice")
    at_least(wanted, 1, "the rest of the new shape, which decides the axis of -1,")
    require(total.divided_by(wanted) is not None, "the new shape may not divide the elements")


def _expand(given: Premises) -> None:
    given.shape(1, 1)
    target = tuple(given.content(1))
    for dim in target:
        at_least(dim, 0, "an axis of the new shape")
    broadcast([given.shape(0), target])


def _tile(given: Premises) -> None:
    repeats = given.numbers(1).reshape(-1)
    require(len(repeats) == len(given.shape(0)), f"{given.name(1)} may not fit the rank")
    require(all(count >= 0 for count in repeats), f"{given.name(1)} holds a negative number")


def _squeeze(given: Premises) -> None:
    axes = given.axes(1)
    shape = given.shape(0) if axes else ()
    for axis in axes or ():
        same(shape[axis_of(axis, len(shape))], 1, "a squeezed axis")


def _unsqueeze(given: Premises) -> None:
    axes = given.axes(1)
    require(axes is not None, "its axes are absent")
    rank = len(given.shape(0)) + len(axes or ())
    places = {axis_of(axis, rank) for axis in axes or ()}
    require(len(places) == len(axes or ()), "an axis stands twice in its axes")


def _concat(given: Premises) -> None:
    first = given.shape(0)
    axis = given.axis(len(first), 1)
    for index in range(1, len(given.node.inputs)):
        other = given.shape(index, len(first))
        for position, (dim, wanted) in enumerate(zip(other, first, strict=True)):
            if position != axis:
                same(dim, wanted, f"sizes along axis {position}")


def _split(given: Premises) -> None:
    shape = given.shape(0)
    length = shape[given.axis(len(shape), 0)]
    sizes = given.node.attribute("split")
    if sizes is None and given.has(1):
        sizes = given.numbers(1).reshape(-1).tolist()
    parts = len(given.node.outputs)
    if sizes is None:
        require(length.divided_by(parts) is not None, f"{shown(length)} may not divide by {parts}")
        return
    require(len(sizes) == parts and min(sizes, default=0) >= 0, "its sizes do not fit its outputs")
    same(length, sum(sizes), "the sum of its sizes")


def _slice(given: Premises) -> None:
    rank = len(given.shape(0))
    if given.opset < 10:
        count, axes = len(given.node.attribute("starts", [])), given.node.attribute("axes")
        require(len(given.node.attribute("ends", [])) == count, "its bounds differ in number")
    else:
        count, axes = given.vector(1), given.axes(3)
        require(given.vector(2) == count, "its bounds differ in number")
    places = [axis_of(axis, rank) for axis in (range(count) if axes is None else axes)]
    require(len(set(places)) == len(places) == count, "its axes do not fit its bounds")
    if given.has(4):
        steps = given.numbers(4)
        require(steps.shape == (count,) and bool(steps.all()), "its steps do not fit its bounds")


def _pad(given: Premises) -> None:
    require(given.node.attribute("mode", b"constant") == b"constant", "its mode restricts sizes")
    pads = given.node.attribute("pads")
    if pads is None:
        pads = given.numbers(1).reshape(-1).tolist()
    require(min(pads, default=0) >= 0, "it cuts off elements")
    require(not given.has(3), "it names axes")
    require(len(pads) == 2 * len(given.shape(0)), "its pads do not fit the rank")
    if given.has(2):
        given.one_element(2)


def _trilu(given: Premises) -> None:
    require(len(given.shape(0)) >= 2, f"{given.name(0)} has fewer than two axes")
    if given.has(1):
        given.one_element(1)


def _cumsum(given: Premises) -> None:
    axis = given.numbers(1)
    require(axis.size == 1, f"{given.name(1)} does not hold one element")
    axis_of(int(axis.reshape(())), len(given.shape(0)))


# Making tensors ---------------------------------------------------------------------------------


def _constant_of_shape(given: Premises) -> None:
    given.shape(0, 1)
    for dim in given.content(0):
        at_least(dim, 0, "an axis")


def _range(given: Premises) -> None:
    for index in range(3):
        given.shape(index, 0)
        given.content(index)
    require(bool(given.numbers(2)), f"{given.name(2)} is zero")


def _one_hot(given: Premises) -> None:
    rank = len(given.shape(0))
    given.axis(rank, -1, extra=1)
    depth = given.numbers(1)
    require(depth.size == 1 and int(depth.reshape(())) > 0, f"{given.name(1)} is not positive")
    require(given.vector(2) == 2, f"{given.name(2)} does not hold two elements")


# Indexing ---------------------------------------------------------------------------------------


def _gather(given: Premises) -> None:
    shape = given.shape(0)
    given.within(1, [shape[given.axis(len(shape), 0)]])


def _gather_elements(given: Premises) -> None:
    _along_axis(given, given.shape(0), given.shape(1, len(given.shape(0))))


def _along_axis(given: Premises, data: Shape, indices: Shape) -> None:
    axis = given.axis(len(data), 0)
    given.within(1, [data[axis]])
    for position, (have, want) in enumerate(zip(data, indices, strict=True)):
        fits = position == axis or have == want or have.less(want) is False
        require(fits, f"{given.name(1)} may be larger than {given.name(0)} along axis {position}")


def _scatter_elements(given: Premises) -> None:
    data = given.shape(0)
    indices = given.shape(1, len(data))
    _along_axis(given, data, indices)
    same_shape(given.shape(2), indices, given.name(2))


def _gather_nd(given: Premises) -> None:
    require(given.node.attribute("batch_dims", 0) == 0, "it has batch axes")
    _tuples(given)


def _scatter_nd(given: Premises) -> None:
    indexed = _tuples(given)
    same_shape(given.shape(2), given.shape(1)[:-1] + given.shape(0)[indexed:], given.name(2))


def _tuples(given: Premises) -> int:
    """Check tuples of indices; how many axes they index."""
    data, indices = given.shape(0), given.shape(1)
    require(bool(indices), f"{given.name(1)} has no axis")
    length = indices[-1].value
    if length is None or not 1 <= length <= len(data):
        raise Unproven(f"the last axis of {given.name(1)} may not fit {given.name(0)}")
    given.within(1, data[:length])
    return length


_TOTAL = (
    "Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Constant Cos Cosh Dropout Elu Erf"
    " Exp Floor Gelu HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Log Mish Neg NonZero Not"
    " Reciprocal Relu Round Selu Shape Shrink Sigmoid Sign Sin Sinh Size Softplus Softsign Sqrt Tan"
    " Tanh ThresholdedRelu"
)

ALWAYS_SAFE = frozenset(_TOTAL.split())
"""Operators that give a result whatever they are given."""

_ELEMENTWISE = (
    "Add And BitwiseAnd BitwiseOr BitwiseXor Equal Greater GreaterOrEqual Less LessOrEqual Max Mean"
    " Min Mul Or Sub Sum Where Xor"
)
RULES: dict[str, Callable[[Premises], None]] = {
    **LAYER_RULES,
    **dict.fromkeys(_ELEMENTWISE.split(), _elementwise),
    **dict.fromkeys(("Scatter", "ScatterElements"), _scatter_elements),
    "BitShift": _shift,
    "Cast": _cast,
    "Clip": _clip,
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "CumSum": _cumsum,
    "Div": _division,
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "Mod": _division,
    "OneHot": _one_hot,
    "PRelu": _prelu,
    "Pad": _pad,
    "Pow": _power,
    "Range": _range,
    "Reshape": _reshape,
    "ScatterND": _scatter_nd,
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Trilu": _trilu,
    "Unsqueeze": _unsqueeze,
}
"""Operators that cannot fail once the rule has proven something about their inputs."""
