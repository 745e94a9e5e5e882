"""jaxonnxruntime: the model as operations of JAX, on the processor."""

import jax
import numpy as np
import onnx
from jaxonnxruntime.backend import Backend

from ..client import Arrays, Run

jax.config.update("jax_enable_x64", True)  # else its int64 are int32


def load(model: bytes) -> Run:
    program = Backend.prepare(onnx.load_model_from_string(model))

    def run(feeds: Arrays) -> list[np.ndarray]:
        return [np.asarray(one) for one in program.run(dict(feeds))]

    return run
