"""TensorFlow Lite: the direct converter of onnx2tf, and the interpreter of LiteRT.

onnx2tf is told to keep the axes of all inputs in their order, as ONNX has them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnx2tf
from ai_edge_litert.interpreter import Interpreter

from ..client import Arrays, Run


def load(model: bytes) -> Run:
    names = [value.name for value in onnx.load_model_from_string(model).graph.input]
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
        return [interpreter.get_tensor(one["index"]) for one in interpreter.get_output_details()]

    return run


def _plain(name: str) -> str:
    return name.replace(":", "__")
