"""tract: inference in Rust; it is told the sizes of the inputs that it gets."""

import tempfile
from pathlib import Path

import numpy as np
import onnx
import tract

from ..client import Arrays, Run


def load(model: bytes) -> Run:
    names = [value.name for value in onnx.load_model_from_string(model).graph.input]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.onnx"
        file.write_bytes(model)
        network = tract.onnx().load(str(file))

    def run(feeds: Arrays) -> list[np.ndarray]:
        arrays = [np.array(feeds[name], order="C") for name in names]
        for place, array in enumerate(arrays):
            elem_type = tract.Tensor.from_numpy(array).datum_type().name.lower()
            network.set_input_fact(place, ",".join([*map(str, array.shape), elem_type]))
        return [one.to_numpy() for one in network.into_model().into_runnable().run(arrays)]

    return run
