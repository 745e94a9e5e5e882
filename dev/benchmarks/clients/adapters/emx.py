"""emx-onnx-cgen: C that the C compiler of the system makes a program of."""

from __future__ import annotations

import numpy as np
import onnx
from emx_onnx_cgen.onnx_backend.backend import EmxOnnxCgenBackend

from ..client import Arrays, Run


def load(model: bytes) -> Run:
    proto = onnx.load_model_from_string(model)
    names = [value.name for value in proto.graph.input]
    program = EmxOnnxCgenBackend.prepare(proto)

    def run(feeds: Arrays) -> list[np.ndarray]:
        return list(program.run([np.asarray(feeds[name]) for name in names]))

    return run
