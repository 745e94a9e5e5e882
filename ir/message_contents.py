"""Checks of text, tensors and types: UTF-8, element types that ONNX defines, fitting elements."""

import functools
import math
from collections.abc import Collection, Iterator

import numpy as np
import onnx
import onnx.numpy_helper
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from .errors import ModelError

_KNOWN = frozenset(onnx.TensorProto.DataType.values()) - {onnx.TensorProto.UNDEFINED}
_FIELDS = {t: onnx.helper.tensor_dtype_to_field(t) for t in _KNOWN}
_NUMBERS = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")
_SMALL = 1 << 16
"""The limit in bytes for checks of elements: protobuf copies them at each access."""


@functools.cache
def element_bits(elem_type: int) -> int:
    """The bits of an element, measured by the size of eight in onnx.

    Raises:
        KeyError: ONNX does not define the element type.
        ValueError: strings have no fixed size.
    """
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    if dtype.hasobject:
        raise ValueError("text has no fixed size")
    return len(onnx.numpy_helper.from_array(np.zeros(8, dtype)).raw_data)


_BITS = {t: 64 if t == onnx.TensorProto.STRING else element_bits(t) for t in _KNOWN}


def check_element_type(elem_type: int, what: str) -> None:
    """Check that ONNX defines an element type; an absent one passes."""
    if elem_type and elem_type not in _KNOWN:
        raise ModelError(f"{what} has the element type {elem_type}, which ONNX does not know")


def check_tensor(tensor: onnx.TensorProto, what: str, name: object = "") -> None:
    """Check a tensor's element type and shape, and for small ones the element count.

    A tensor without any elements passes: the file may have been stripped of its weights.

    Args:
        what: its description in errors, with a placeholder for its name.
        name: its name, or what the placeholder makes one of.

    Raises:
        ModelError: they do not fit.
        TypeError: the location of its elements is not UTF-8.
    """
    elem_type, dims = tensor.data_type, tensor.dims[:]
    bits = _BITS.get(elem_type)
    if bits is None:
        check_element_type(elem_type, what.format(name))
        raise ModelError(f"{what.format(name)} has no element type")
    if dims and min(dims) < 0:
        raise ModelError(f"{what.format(name)} has a negative dimension: {dims}")
    if tensor.external_data and has_odd_text(tensor, ("raw_data",)):
        raise TypeError
    count = math.prod(dims)
    if count * bits > 8 * _SMALL or tensor.data_location:
        return
    length = len(tensor.raw_data)
    if length or tensor.HasField("raw_data"):
        needed, unit = -(-count * bits // 8), "bytes"
    else:
        length = len(getattr(tensor, _FIELDS[elem_type]))
        needed, unit = _entries(elem_type, count), "elements"
    if length != needed and (length or any(len(getattr(tensor, field)) for field in _NUMBERS)):
        raise ModelError(
            f"{what.format(name)} has {length} {unit} where its shape {dims} needs {needed}"
        )


def _entries(elem_type: int, count: int) -> int:
    """The number of entries in the field of a tensor: two for a complex number, shared by small
    ones."""
    if _BITS[elem_type] in (2, 4):
        return -(-count * _BITS[elem_type] // 8)
    complex_ = elem_type in (onnx.TensorProto.COMPLEX64, onnx.TensorProto.COMPLEX128)
    return 2 * count if complex_ else count


def check_sparse(tensor: onnx.SparseTensorProto, what: str, name: object = "") -> None:
    """Check the parts of a sparse tensor, and that they fit each other.

    Raises:
        ModelError: they do not.
    """
    check_tensor(tensor.values, what, name)
    check_tensor(tensor.indices, f"the indices of {what}", name)
    what = what.format(name)
    values, indices, dims = (list(t.dims) for t in (tensor.values, tensor.indices, tensor))
    if dims and min(dims) < 0:
        raise ModelError(f"{what} has a negative dimension: {dims}")
    if tensor.indices.data_type != onnx.TensorProto.INT64:
        raise ModelError(f"{what} has indices that are not 64-bit integers")
    count = math.prod(values)
    if len(values) != 1 or indices not in ([count], [count, len(dims)]):
        raise ModelError(f"{what} has indices of shape {indices} for {count} values")
    if not tensor.indices.external_data:
        places = onnx.numpy_helper.to_array(tensor.indices)
        limits = dims if len(indices) == 2 else [min(math.prod(dims), 2**63 - 1)]
        if ((places < 0) | (places >= limits)).any():
            raise ModelError(f"{what} has an index outside of its shape {dims}")


class Types:
    """Cache of valid types; most values of a model share a few.

    Attributes:
        valid: their bytes.
    """

    def __init__(self) -> None:
        self.valid: set[bytes] = {b""}

    def check(self, type_: onnx.TypeProto, what: str) -> None:
        """Check the element types in a type, and that its symbols are text.

        Raises:
            ModelError: ONNX does not define one.
            TypeError: a symbol is not UTF-8.
        """
        content = type_.SerializeToString()
        # Most types are ASCII, which is quick to see.
        if not content.isascii() and has_odd_text(type_):
            raise TypeError
        _check_type(type_, what)
        self.valid.add(content)


def _check_type(type_: onnx.TypeProto, what: str) -> None:
    kind = type_.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        check_element_type(getattr(type_, kind).elem_type, what)
    elif kind in ("sequence_type", "optional_type"):
        _check_type(getattr(type_, kind).elem_type, what)
    elif kind == "map_type":
        check_element_type(type_.map_type.key_type, what)
        _check_type(type_.map_type.value_type, what)


def has_odd_text(message: Message, leave_out: Collection[str] = ()) -> bool:
    """Test whether any text in a message is not UTF-8; `leave_out` names fields to skip."""
    return next(_odd(message, leave_out), None) is not None


def first_odd_text(message: Message) -> str | None:
    """Describe the first text in a message that is not UTF-8; None where all is."""
    first = next(_odd(message, ()), None)
    if first is None:
        return None
    path, content = first
    return f"{path} is {content!r}, which is not UTF-8; rename it where the model was made"


def _odd(message: Message, leave_out: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """The texts that are not UTF-8, with their paths."""
    for field, value in message.ListFields():
        if field.name in leave_out:
            continue
        many = isinstance(value, Collection) and not isinstance(value, str | bytes)
        for index, item in enumerate(value if many else [value]):
            path = f"{field.name}[{index}]" if many else field.name
            if field.type == FieldDescriptor.TYPE_STRING:
                if isinstance(item, bytes):
                    yield path, item
            elif isinstance(item, Message):
                yield from ((f"{path}.{inner}", content) for inner, content in _odd(item, ()))
            else:
                break  # numbers and bytes
