"""OpenVINO on the processor, at full precision."""

import numpy as np
import openvino

from ..client import Arrays, Run


def load(model: bytes) -> Run:
    core = openvino.Core()
    config = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
    compiled = core.compile_model(core.read_model(model), "CPU", config)
    names = [given.get_node().friendly_name for given in compiled.inputs]

    def run(feeds: Arrays) -> list[np.ndarray]:
        # What is not used is no input there, and one that is given out is called as the output is.
        others = (feed for name, feed in feeds.items() if name not in names)
        results = compiled([feeds[n] if n in feeds else next(others) for n in names])
        return [np.array(results[output]) for output in compiled.outputs]

    return run
