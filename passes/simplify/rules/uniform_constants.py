"""Constants with one number everywhere."""

import functools

import numpy as np
import onnx

from ....ir import Array, Tensor

_MOST_READ = 1 << 20
"""The most elements of a constant that is compared with a number."""


class UniformConstants:
    """Comparison of constants with numbers; each constant is read once."""

    def __init__(self) -> None:
        self._elements: dict[Tensor, bytes | None] = {}

    def holds(self, tensor: Tensor, number: float) -> bool:
        """Test for a constant all of whose elements have the bytes of a number."""
        if tensor in self._elements:
            element = self._elements[tensor]
            return element is not None and element == _bytes_of(repr(number), tensor.elem_type)
        if tensor.is_sparse or tensor.is_external or not 0 < tensor.size <= _MOST_READ:
            self._elements[tensor] = None
            return False
        expected = _bytes_of(repr(number), tensor.elem_type)
        if expected is None:  # it may be of a type that cannot be read
            return False
        self._elements[tensor] = element = _element(tensor.numpy())
        return element == expected


def _element(array: Array) -> bytes | None:
    """The bytes of all elements; None where they differ."""
    content = array.tobytes()
    element = content[: len(content) // array.size]
    if array.size > 1 and (content[-len(element) :] != element or content != element * array.size):
        return None
    return element


@functools.cache
def _bytes_of(number: str, elem_type: int) -> bytes | None:
    """The bytes of an element; a number as text, because 0.0 equals -0.0."""
    element = as_element(float(number), elem_type)
    return None if element is None else element.tobytes()


def as_element(number: float, elem_type: int) -> Array | None:
    """A number as a scalar of an element type; None if the type lacks it."""
    try:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    except KeyError:
        return None
    if dtype.kind in "OSU":
        return None
    is_integer = dtype.kind in "iub"
    if is_integer and not float(number).is_integer():
        return None
    if dtype.kind in "iu" and not np.iinfo(dtype).min <= number <= np.iinfo(dtype).max:
        return None
    if dtype.kind == "b" and number not in (0, 1):
        return None
    with np.errstate(over="ignore"):
        return np.asarray(int(number) if is_integer else number).astype(dtype)
