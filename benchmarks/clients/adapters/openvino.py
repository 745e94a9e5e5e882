"""OpenVINO on the processor, at full precision."""

from __future__ import annotations

import numpy as np
import openvino

from ..client import Arrays, Run


def load(model: bytes) -> Run:
    core = openvino.Core()
    config = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
    compiled = core.compile_model(core.read_model(model), "CPU", config)

    def run(feeds: Arrays) -> list[np.ndarray]:
        results = compiled(dict(feeds))
        return [np.array(results[output]) for output in compiled.outputs]

    return run
