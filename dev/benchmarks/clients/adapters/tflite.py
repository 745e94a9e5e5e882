"""TensorFlow Lite: the direct converter of onnx2tf, and the interpreter of LiteRT.

onnx2tf keeps the axes of all inputs in their order here; of images that it returns, the channels
come last, as TensorFlow has them. It holds int64 as int32.
"""

import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnx2tf
from ai_edge_litert.interpreter import Interpreter

from ..client import Arrays, Run


def load(model: bytes) -> Run:
    graph = onnx.shape_inference.infer_shapes(onnx.load_model_from_string(model)).graph
    names = [value.name for value in graph.input]
    with tempfile.TemporaryDirectory() as name:
        source, folder = Path(name) / "model.onnx", Path(name) / "converted"
        source.write_bytes(model)
        onnx2tf.convert(
            input_onnx_file_path=str(source),
            output_folder_path=str(folder),
            keep_shape_absolutely_input_names=list(map(_plain, names)),
            non_verbose=True,
        )
        content = (folder / "model_float32.tflite").read_bytes()
    interpreter = Interpreter(model_content=content, num_threads=1)

    def run(feeds: Arrays) -> list[np.ndarray]:
        named = {_plain(name): np.asarray(feeds[name]) for name in names}
        inputs = interpreter.get_input_details()  # an input that nothing reads is none
        for detail in inputs:
            if tuple(detail["shape"]) != named[detail["name"]].shape:
                interpreter.resize_tensor_input(detail["index"], named[detail["name"]].shape)
        interpreter.allocate_tensors()
        for detail in inputs:
            interpreter.set_tensor(detail["index"], named[detail["name"]])
        interpreter.invoke()
        details = interpreter.get_output_details()
        results = [interpreter.get_tensor(detail["index"]) for detail in details]
        return [_as_declared(*pair) for pair in zip(results, graph.output, strict=True)]

    return run


def _as_declared(array: np.ndarray, value: onnx.ValueInfoProto) -> np.ndarray:
    """The array with the channels first, and with 64 bits, where the output has them so."""
    sizes = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
    wide = value.type.tensor_type.elem_type == onnx.TensorProto.INT64
    array = array.astype(np.int64) if wide and array.dtype == np.int32 else array
    first = np.moveaxis(array, -1, 1) if array.ndim > 2 else array
    return first if list(first.shape) == sizes != list(array.shape) else array


def _plain(name: str) -> str:
    return name.replace(":", "__")
