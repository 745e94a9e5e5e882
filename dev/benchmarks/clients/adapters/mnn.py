"""MNN: its converter, and its interpreter of converted models.

The converter is called as an extension module, since `MNN.tools` runs pip on import.
"""

import tempfile
from pathlib import Path

import _tools as converter
import MNN
import numpy as np
import onnx

from ..client import Arrays, Run

_KINDS = {"float32": MNN.expr.float, "int32": MNN.expr.int, "uint8": MNN.expr.uint8}
_NARROWED = ("int64", "bool")
"""Types that it has as int32."""


def load(model: bytes) -> Run:
    proto = onnx.load_model_from_string(model)
    names = [value.name for value in proto.graph.input]
    outputs = [value.name for value in proto.graph.output]
    types = [
        onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        for value in proto.graph.output
    ]
    with tempfile.TemporaryDirectory() as folder:
        source, file = Path(folder) / "model.onnx", Path(folder) / "model.mnn"
        source.write_bytes(model)
        options = ("-f", "ONNX", "--modelFile", source, "--MNNModel", file, "--bizCode", "trial")
        converter.mnnconvert(["mnnconvert", *map(str, options)])
        if not file.exists():
            raise RuntimeError("no model came out")
        network = MNN.nn.load_module_from_file(str(file), names, outputs)

    def run(feeds: Arrays) -> list[np.ndarray]:
        results = network.forward([_given(np.asarray(feeds[name])) for name in names])
        read = [np.array(one.read()).reshape(one.shape) for one in results]
        return [
            one.astype(type_) if type_.name in _NARROWED else one
            for one, type_ in zip(read, types, strict=True)
        ]

    return run


def _given(array: np.ndarray) -> object:
    if array.dtype.name in _NARROWED:
        array = array.astype(np.int32)
    if array.dtype.name not in _KINDS:
        raise TypeError(f"MNN has no tensors of {array.dtype.name}")
    shape, kind = list(array.shape), _KINDS[array.dtype.name]
    return MNN.expr.const(np.ascontiguousarray(array), shape, MNN.expr.NCHW, kind)
