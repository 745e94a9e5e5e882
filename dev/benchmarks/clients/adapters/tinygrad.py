"""tinygrad's own ONNX reader, on the processor; it compiles each kernel with clang."""

import numpy as np
from tinygrad import Tensor
from tinygrad.nn.onnx import OnnxRunner

from ..client import Arrays, Run

KEEPS_PROCESS = (
    True  # each new one compiles programs of its queue, and starts processes that compile
)


def load(model: bytes) -> Run:
    runner = OnnxRunner(Tensor(model, device="PYTHON"))

    def run(feeds: Arrays) -> list[np.ndarray]:
        results = runner(dict(feeds))
        return [results[name].numpy() for name in runner.graph_outputs]

    return run
