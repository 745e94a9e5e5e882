"""Operands of an operator, such as scale and bias, that are sums."""

from collections.abc import Sequence

import numpy as np
import onnx

from ....facts.fact import Shape
from ....ir import Array, Value
from .algebra import Algebra, Factors, Sum
from .replacement import Site

_MOST_ELEMENTS = 1 << 24
"""Most elements of a constant that is computed."""


def parameter(
    site: Site, algebra: Algebra, one: Sum, elem_type: int, shape: Shape, operand: Shape
) -> Value | Array | None:
    """The operand that a sum is; None if it is none.

    Args:
        operand: the shape in which the sum broadcasts as the operand does.
    """
    value = _alone(algebra, one)
    if value is not None and site.elem_type(value) == elem_type:
        source = _source(site, value, shape, operand)
        if source is not None:
            return source
    sizes = [dim.value for dim in shape]
    numbers = [size for size in sizes if size is not None]
    if len(numbers) < len(sizes) or not 0 < np.prod(numbers, dtype=object) <= _MOST_ELEMENTS:
        return None
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    total = np.zeros([dim.value or 0 for dim in operand], np.float64)
    for key, number in one.items():
        array = _constant(algebra, key, operand)
        if array is None:
            return None
        total = total + number * array
    with np.errstate(all="ignore"):
        result: Array = total.astype(dtype)
    is_exact = bool((result.astype(np.float64) == total).all())
    return result.reshape(numbers) if is_exact else None


def _alone(algebra: Algebra, one: Sum) -> Value | None:
    """The tensor that a sum is."""
    if len(one) != 1:
        return None
    ((key, number),) = one.items()
    if number != 1 or len(key) != 1 or key[0][1] != 1:
        return None
    return algebra.atoms[key[0][0]].value


def _source(site: Site, value: Value, shape: Shape, operand: Shape) -> Value | None:
    """The value in the shape of an operand: itself, or what it is a view of."""
    own = site.shape(value)
    if own == shape == operand:
        return value
    while own is not None and len(own) > len(operand) and own[0] == 1:
        own = own[1:]
    node = value.producer
    if own != operand or node is None or not node.is_op("Reshape", "Unsqueeze"):
        return None
    source = node.input(0)
    return source if source is not None and site.shape(source) == shape else None


def _constant(algebra: Algebra, key: Factors, operand: Shape) -> Array | None:
    """Constant that a product is, without axes beyond those of an operand."""
    if not key:
        return np.ones((), np.float64)
    value = algebra.atoms[key[0][0]].value
    tensor = None if value is None or len(key) > 1 or key[0][1] != 1 else value.constant
    if tensor is None or not tensor.is_readable:
        return None
    dims = tensor.dims
    while len(dims) > len(operand) and dims[0] == 1:
        dims = dims[1:]
    sizes: Sequence[int | None] = [dim.value for dim in operand[len(operand) - len(dims) :]]
    if len(dims) > len(operand) or any(d not in (1, s) for d, s in zip(dims, sizes, strict=True)):
        return None
    return tensor.numpy().reshape(dims).astype(np.float64)
