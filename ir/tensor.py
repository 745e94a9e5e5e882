"""Constant tensors in their original form until another form is needed."""

import math
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.external_data_helper
from onnx import numpy_helper

from .errors import LoadError, reason
from .file_reader import open_regular
from .message_contents import element_bits

Array = npt.NDArray[Any]
Place = tuple[tuple[int, int], int]
"""A file by its device and inode, and an offset in it."""

_LARGEST_DENSE = 1 << 31
BLOCK = 1 << 22
_RAW: dict[int, np.dtype[Any]] = {
    elem_type: onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    for elem_type in (
        *(onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16),
        *(onnx.TensorProto.INT64, onnx.TensorProto.INT32, onnx.TensorProto.BOOL),
    )
    if sys.byteorder == "little"
}
"""The element types whose raw data is that of an array, by far the most common."""

TensorMessage = onnx.TensorProto | onnx.SparseTensorProto
Extent = tuple[Path, int, int]
"""The location of elements: file, offset and length in bytes."""


class Tensor:
    """A constant: an ONNX message, a numpy array, or both.

    A tensor is immutable; clones of a node and several graphs share it. External data stays on disk
    until `numpy()` reads it.

    Examples:
        >>> import numpy as np
        >>> import straightline as sl
        >>> sl.ir.Tensor(array=np.ones((2, 3), np.float32)).dims
        (2, 3)
    """

    __slots__ = ("__weakref__", "_array", "_dims", "_elem_type", "_message", "base_dir")

    def __init__(
        self,
        message: TensorMessage | None = None,
        array: Array | None = None,
        base_dir: Path | None = None,
    ) -> None:
        self._message = message
        self._array = array
        self._dims: tuple[int, ...] | None = None
        self._elem_type: int | None = None
        self.base_dir = base_dir

    @property
    def is_sparse(self) -> bool:
        """Test whether the message is an `onnx.SparseTensorProto`."""
        return isinstance(self._message, onnx.SparseTensorProto)

    @property
    def is_external(self) -> bool:
        """Test whether the elements lie in a file beside the model."""
        message = self._message
        if message is None or isinstance(message, onnx.SparseTensorProto):
            return False
        return message.data_location == onnx.TensorProto.EXTERNAL

    @property
    def is_readable(self) -> bool:
        """Test whether the elements can be read: the folder of external data must be known."""
        if self.base_dir is not None:
            return True
        if isinstance(self._message, onnx.SparseTensorProto):
            parts = (self._message.values, self._message.indices)
            return not any(map(onnx.external_data_helper.uses_external_data, parts))
        return not self.is_external

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape, without reading the elements."""
        if self._dims is None:
            if self._message is not None:
                self._dims = tuple(self._message.dims)
            else:
                assert self._array is not None
                self._dims = self._array.shape
        return self._dims

    @property
    def elem_type(self) -> int:
        """The element type as `onnx.TensorProto.DataType`, without reading the elements."""
        elem_type = self._elem_type
        if elem_type is None:
            elem_type = self._elem_type = self._read_type()
        return elem_type

    def _read_type(self) -> int:
        if isinstance(self._message, onnx.SparseTensorProto):
            return self._message.values.data_type
        if self._message is not None:
            return self._message.data_type
        assert self._array is not None
        return onnx.helper.np_dtype_to_tensor_dtype(self._array.dtype)

    @property
    def size(self) -> int:
        """The number of elements, without reading them."""
        count = 1
        for dim in self.dims:
            count *= dim
        return count

    def message(self) -> TensorMessage:
        """The tensor as an ONNX message, made once from the array if there is none."""
        if self._message is None:
            assert self._array is not None
            self._message = numpy_helper.from_array(np.asarray(self._array))
        return self._message

    @property
    def is_computed(self) -> bool:
        """Test whether it has an array and no message yet."""
        return self._message is None and self._array is not None

    def raw_data(self) -> bytes:
        """The raw data of a message; for a tensor with raw data, or a computed one of numbers."""
        message = self._message
        if message is None:
            assert self._array is not None
            message = numpy_helper.from_array(self._array)
        assert isinstance(message, onnx.TensorProto)
        return bytes(message.raw_data)

    def numpy(self) -> Array:
        """The elements as a read-only array; strings come as an object array of `str`.

        Raises:
            LoadError: external data is missing, too short, or outside the model's folder, or the
                tensor's content does not fit its type and shape.
        """
        if self._array is None:
            array = self._read()
            # Clones and several graphs share the tensor.
            array.flags.writeable = False
            self._array = array
        return self._array

    def content(self, block: int = BLOCK) -> Iterator[memoryview]:
        """The bytes of the elements in little-endian order, block by block; nothing is cached. Not
        for strings.

        Args:
            block: the most bytes that are read from a file at once.

        Raises:
            LoadError: as `numpy`.
        """
        message = self._message
        if self._array is None and isinstance(message, onnx.TensorProto) and _is_flat(message):
            if self.is_external:
                yield from _external_blocks(message, self.base_dir, block)
                return
            raw = message.raw_data
            # Otherwise the elements are in a typed field, or too few, which `_read` reports.
            if len(raw) == byte_size(message):
                yield memoryview(raw)
                return
        array = self._read() if self._array is None else self._array
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        yield little.reshape(-1).view(np.uint8).data

    @property
    def place(self) -> Place | None:
        """The place of external elements, independent of file names; None for others.

        Raises:
            LoadError: they are not there.
        """
        message = self._message
        if not isinstance(message, onnx.TensorProto) or not self.is_external:
            return None
        path, offset, _ = external_extent(message, self.base_dir)
        status = path.stat()
        return (status.st_dev, status.st_ino), offset

    def _read(self) -> Array:
        message = self._message
        if isinstance(message, onnx.SparseTensorProto):
            return _densify(message, self.base_dir)
        assert message is not None
        try:
            if self.is_external:
                return _read_external(message, self.base_dir)
            if message.data_type == onnx.TensorProto.STRING:
                return _texts(message)
            raw, dtype = message.raw_data, _RAW.get(message.data_type)
            if raw and dtype is not None:  # onnx's own function takes three times as long
                return np.frombuffer(raw, dtype).reshape(message.dims[:])
            # A copy, because the elements may lie inside the message itself.
            return np.array(numpy_helper.to_array(message))
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise LoadError(f"tensor '{message.name}' cannot be read: {error}") from error


def _texts(message: onnx.TensorProto) -> Array:
    """An object array of strings: numpy's own string arrays pad all to the longest."""
    array = np.empty(len(message.string_data), object)
    array[:] = [text.decode() for text in message.string_data]
    return array.reshape(tuple(message.dims))


def real_path(path: Path) -> Path:
    """Resolve the links of a path; a link to itself stays, where `Path.resolve` raises before
    Python 3.13."""
    return Path(os.path.realpath(path))


def _is_flat(message: onnx.TensorProto) -> bool:
    """Test whether each element has bytes of its own."""
    if message.data_type == onnx.TensorProto.STRING:
        return False
    dtype = onnx.helper.tensor_dtype_to_np_dtype(message.data_type)
    return element_bits(message.data_type) == 8 * dtype.itemsize


def _external_blocks(
    message: onnx.TensorProto, base_dir: Path | None, most: int
) -> Iterator[memoryview]:
    path, offset, _ = external_extent(message, base_dir)
    rest = byte_size(message)
    try:
        with open_regular(path) as stream:
            stream.seek(offset)
            while rest:
                block = stream.read(min(rest, most))
                if not block:
                    raise LoadError(f"'{path}' became shorter while it was read")
                rest -= len(block)
                yield memoryview(block)
    except OSError as error:
        raise LoadError(
            f"external data of tensor '{message.name}' cannot be read from {path}: {reason(error)}"
        ) from error


def external_path(name: str, location: str, base_dir: Path | None) -> Path:
    """Resolve the path of the external data of tensor `name`.

    Raises:
        LoadError: the model's folder is not known, or the location leaves it.
    """
    if base_dir is None:
        raise LoadError(
            f"tensor '{name}' has external data in '{location}', but the model's folder is not"
            " known; load the model from its path, or pass the folder as base_dir="
        )
    # Functions of `os` raise ValueError for a null character, where callers expect OSError.
    if "\0" in location:
        raise LoadError(f"tensor '{name}' names external data in {location!r}, which is not a path")
    folder = real_path(base_dir)
    # Links are resolved on both sides, because one inside the folder may lead out of it.
    path = real_path(folder / location)
    if not location or not path.is_relative_to(folder) or path == folder:
        raise LoadError(
            f"tensor '{name}' names external data outside the model's folder: '{location}'"
        )
    return path


def external_extent(tensor: onnx.TensorProto, base_dir: Path | None) -> Extent:
    """Locate the elements of an external tensor.

    Raises:
        LoadError: the file is missing, too short, or outside the model's folder.
    """
    try:
        info = onnx.external_data_helper.ExternalDataInfo(tensor)
    except ValueError as error:
        raise LoadError(f"external data of tensor '{tensor.name}': {error}") from error
    path = external_path(tensor.name, info.location, base_dir)
    if not _is_file(path):
        raise LoadError(f"external data of tensor '{tensor.name}' is missing: there is no {path}")
    offset, needed = info.offset or 0, byte_size(tensor)
    length = needed if info.length is None else info.length
    if min(offset, length) < 0:
        raise LoadError(
            f"external data of tensor '{tensor.name}' has a negative offset or length: {offset},"
            f" {length}"
        )
    size = path.stat().st_size
    if offset + length > size:
        raise LoadError(
            f"external data of tensor '{tensor.name}' ends at byte {offset + length} of {path},"
            f" which has {size}"
        )
    if length < needed:
        raise LoadError(
            f"external data of tensor '{tensor.name}' has {length} bytes; it needs {needed}"
        )
    return path, offset, length


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # the name is too long to be one
        return False


def byte_size(tensor: onnx.TensorProto) -> int:
    """The size of the elements in bytes; small ones are packed."""
    try:
        bits = element_bits(tensor.data_type)
    except (KeyError, ValueError) as error:
        raise LoadError(f"tensor '{tensor.name}' cannot be external: {error}") from error
    count: int = math.prod(tensor.dims)
    # Rounded up: the last byte of packed 4-bit elements may be half full.
    return -(-count * bits // 8)


def _read_external(message: onnx.TensorProto, base_dir: Path | None) -> Array:
    path, offset, _ = external_extent(message, base_dir)
    with open_regular(path) as stream:
        content = np.fromfile(stream, np.uint8, byte_size(message), offset=offset)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(message.data_type)
    if element_bits(message.data_type) == 8 * dtype.itemsize:
        # Files are little-endian on every machine (onnx.proto, TensorProto.raw_data).
        little = content.view(dtype.newbyteorder("<"))
        return little.astype(dtype, copy=False).reshape(message.dims)
    # Packed elements share bytes, which onnx's own function takes apart.
    packed = onnx.TensorProto(data_type=message.data_type, dims=message.dims)
    packed.raw_data = content.tobytes()
    return np.array(numpy_helper.to_array(packed))


def _densify(message: onnx.SparseTensorProto, base_dir: Path | None) -> Array:
    values = Tensor(message.values, base_dir=base_dir).numpy()
    indices = Tensor(message.indices, base_dir=base_dir).numpy()
    try:
        # numpy allocates memory that is not there until it is touched.
        size = math.prod(message.dims) * values.dtype.itemsize
        if size > _LARGEST_DENSE:
            raise ValueError(f"its {size} bytes are too many to write out")
        return dense(values, indices, message.dims)
    except (IndexError, ValueError) as error:
        name = message.values.name
        raise LoadError(f"sparse tensor '{name}' does not fit its shape: {error}") from error


def dense(values: Array, indices: Array, dims: Sequence[int]) -> Array:
    """The tensor of a sparse one; indices are linear ``[n]`` or ``[n, rank]``."""
    array = np.zeros(tuple(dims), values.dtype)
    if indices.ndim == 2:
        array[tuple(indices.T)] = values
    else:
        # The reshape is a view, because a new array is contiguous.
        array.reshape(-1)[indices] = values
    return array
