"""Constant tensors, kept in the form they came in until another form is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.external_data_helper
import onnx_ir
from onnx import numpy_helper

from .errors import LoadError

Array = npt.NDArray[Any]
TensorMessage = onnx.TensorProto | onnx.SparseTensorProto


class Tensor:
    """A constant: an ONNX message, a numpy array, or both once the other was asked for.

    A tensor is immutable and shared freely: by the clones of a node, by several graphs. External
    data stays on disk until `numpy()` reads it.
    """

    __slots__ = ("_array", "_message", "base_dir")

    def __init__(
        self,
        message: TensorMessage | None = None,
        array: Array | None = None,
        base_dir: Path | None = None,
    ) -> None:
        self._message = message
        self._array = array
        self.base_dir = base_dir

    @property
    def is_sparse(self) -> bool:
        """Whether the tensor is stored as an `onnx.SparseTensorProto`."""
        return isinstance(self._message, onnx.SparseTensorProto)

    @property
    def is_external(self) -> bool:
        """Whether the elements lie in a file beside the model."""
        return isinstance(
            self._message, onnx.TensorProto
        ) and onnx.external_data_helper.uses_external_data(self._message)

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape, without reading the elements."""
        if self._message is not None:
            return tuple(self._message.dims)
        assert self._array is not None
        return self._array.shape

    @property
    def elem_type(self) -> int:
        """The element type as `onnx.TensorProto.DataType`, without reading the elements."""
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
        """The tensor as an ONNX message; made once from the array if it came as one."""
        if self._message is None:
            assert self._array is not None
            self._message = numpy_helper.from_array(np.asarray(self._array))
        return self._message

    def numpy(self) -> Array:
        """The elements as a read-only array; strings come as an object array of `str`.

        Raises:
            LoadError: external data is missing, too short, or outside the model's folder.
        """
        if self._array is None:
            array = self._read()
            array.flags.writeable = False
            self._array = array
        return self._array

    def _read(self) -> Array:
        message = self._message
        if isinstance(message, onnx.SparseTensorProto):
            return _densify(message)
        assert message is not None
        if not self.is_external:
            # A copy, because the elements may lie inside the message itself.
            return np.array(numpy_helper.to_array(message))
        info = onnx.external_data_helper.ExternalDataInfo(message)
        path = external_path(message.name, info.location, self.base_dir)
        try:
            tensor = onnx_ir.ExternalTensor(
                path.name,
                info.offset,
                info.length,
                onnx_ir.DataType(message.data_type),
                shape=onnx_ir.Shape(message.dims),
                name=message.name,
                base_dir=path.parent,
            )
            return np.array(tensor.numpy())
        except (OSError, ValueError) as error:
            raise LoadError(
                f"external data of tensor '{message.name}' cannot be read from {path}: {error}"
            ) from error


def external_path(name: str, location: str, base_dir: Path | None) -> Path:
    """Where the external data of tensor `name` lies.

    Raises:
        LoadError: the model's folder is not known, or the location leaves it.
    """
    if base_dir is None:
        raise LoadError(
            f"tensor '{name}' has external data in '{location}', but the model's folder is not"
            " known; load the model from its path"
        )
    folder = base_dir.resolve()
    path = (folder / location).resolve()
    if not location or not path.is_relative_to(folder) or path == folder:
        raise LoadError(
            f"tensor '{name}' names external data outside the model's folder: '{location}'"
        )
    return path


def _densify(message: onnx.SparseTensorProto) -> Array:
    values = numpy_helper.to_array(message.values)
    indices = numpy_helper.to_array(message.indices)
    dense = np.zeros(tuple(message.dims), values.dtype)
    if indices.ndim == 2:
        dense[tuple(indices.T)] = values
    else:
        dense.reshape(-1)[indices] = values
    return dense
