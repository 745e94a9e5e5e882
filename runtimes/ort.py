"""Run a model in onnxruntime, with the element types that numpy alone does not have."""

import contextlib
import ctypes
import itertools
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # onnxruntime 1.32 reads it at its import
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper
from onnxruntime.capi import onnxruntime_pybind11_state as state

from .session import Feeds, ModelData, Session, Unsupported

Array = NDArray[Any]

# Types that onnxruntime computes with but neither takes from nor gives to numpy.
_RAW = {
    TensorProto.BFLOAT16,
    TensorProto.FLOAT8E4M3FN,
    TensorProto.FLOAT8E4M3FNUZ,
    TensorProto.FLOAT8E5M2,
    TensorProto.FLOAT8E5M2FNUZ,
    TensorProto.INT4,
    TensorProto.UINT4,
}
_RAW_NAMES = {f"tensor({TensorProto.DataType.Name(t).lower()})" for t in _RAW}
_NIBBLES = {TensorProto.INT4, TensorProto.UINT4}
_FATAL = 4
_seeds = itertools.count(1)


def load(model: ModelData) -> Session:
    """A session without graph optimisation, on one thread, quiet."""
    onnxruntime.set_default_logger_severity(_FATAL)
    # Without a seed of their own, random operators of all sessions would draw alike, and so look
    # deterministic.
    onnxruntime.set_seed(next(_seeds))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _FATAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # it would keep what a run has taken, and round it up
    if model.base_dir is not None:
        entry = "session.model_external_initializers_file_folder_path"
        options.add_session_config_entry(entry, model.base_dir)
    source = model.data if model.path is None else model.path
    with _memory_told():
        session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    return _OrtSession(session)


_OUT_OF_MEMORY = re.compile(r"Failed to allocate memory|bad allocation|std::bad_alloc")


@contextlib.contextmanager
def _memory_told() -> Iterator[None]:
    """Tell want of memory, which onnxruntime has many words for, from all other faults."""
    try:
        yield
    except Exception as error:
        if _OUT_OF_MEMORY.search(str(error)):
            raise MemoryError(str(error)) from error
        raise


class _OrtSession:
    def __init__(self, session: Any) -> None:
        self._session = session
        self._names = [output.name for output in session.get_outputs()]
        self._raw = [o.name for o in session.get_outputs() if o.type in _RAW_NAMES]

    def __call__(self, feeds: Feeds) -> list[Any]:
        values = {name: _to_runtime(name, value) for name, value in feeds.items()}
        try:
            with _memory_told():
                return self._run(values)
        except state.NotImplemented as error:
            raise Unsupported(str(error)) from error

    def _run(self, values: Mapping[str, Any]) -> list[Any]:
        if not self._raw:
            return list(self._session.run(None, values))
        plain = [name for name in self._names if name not in self._raw]
        outputs = dict(zip(plain, self._session.run(plain, values), strict=True)) if plain else {}
        outputs.update(self._run_raw(values))
        return [outputs[name] for name in self._names]

    def _run_raw(self, values: Mapping[str, Any]) -> dict[str, Array]:
        """The outputs that numpy has no type for, read from onnxruntime's own memory."""
        tensors = {}
        for name, value in values.items():
            if not isinstance(value, (np.ndarray, onnxruntime.OrtValue)):
                raise Unsupported(f"input '{name}' is not a tensor, output '{self._raw[0]}' is raw")
            is_array = isinstance(value, np.ndarray)
            tensors[name] = onnxruntime.OrtValue.ortvalue_from_numpy(value) if is_array else value
        results = self._session.run_with_ort_values(self._raw, tensors)
        return {name: _raw_array(value) for name, value in zip(self._raw, results, strict=True)}


def _to_runtime(name: str, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        elements = [_to_runtime(name, element) for element in value]
        if any(isinstance(element, onnxruntime.OrtValue) for element in elements):
            raise Unsupported(f"input '{name}' is a sequence of {value[0].dtype}")
        return elements
    if not isinstance(value, np.ndarray) or value.dtype.kind in "OSU":
        return value
    data_type = helper.np_dtype_to_tensor_dtype(value.dtype)
    if value.dtype.kind in "biuf" and data_type not in _RAW:
        return np.ascontiguousarray(value).reshape(value.shape)
    if data_type not in _RAW:
        raise Unsupported(f"input '{name}' is of type {value.dtype}")
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(
        _to_raw(value, data_type), data_type
    )


def _to_raw(value: Array, data_type: int) -> Array:
    """The bits of an array; 4-bit elements packed two to a byte at the front of its buffer."""
    raw = np.ascontiguousarray(value).reshape(value.shape).view(f"u{value.dtype.itemsize}")
    if data_type not in _NIBBLES:
        return raw
    nibbles = np.append(raw.reshape(-1) & 0xF, np.zeros(raw.size % 2, np.uint8))
    packed = np.zeros(raw.size, np.uint8)
    packed[: nibbles.size // 2] = nibbles[0::2] | (nibbles[1::2] << 4)
    return packed.reshape(raw.shape)


def _raw_array(value: Any) -> Array:
    shape, data_type = tuple(value.shape()), value.element_type()
    dtype = helper.tensor_dtype_to_np_dtype(data_type)
    buffer = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    if data_type not in _NIBBLES:
        return np.frombuffer(buffer, dtype=dtype).reshape(shape)
    packed = np.frombuffer(buffer, dtype=np.uint8)
    nibbles = np.stack([packed & 0xF, packed >> 4], axis=-1).reshape(-1)[: int(np.prod(shape))]
    signed = data_type == TensorProto.INT4
    numbers = nibbles.astype(np.int8) - (16 * (nibbles > 7) if signed else 0)
    return np.asarray(numbers).astype(dtype).reshape(shape)
