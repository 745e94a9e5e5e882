"""OpenCV's dnn module, with its own engine: it also has onnxruntime inside."""

import cv2
import numpy as np
import onnx

from ..client import Arrays, Run


def load(model: bytes) -> Run:
    proto = onnx.load_model_from_string(model)
    names = [value.name for value in proto.graph.input]
    outputs = [value.name for value in proto.graph.output]
    network = cv2.dnn.readNetFromONNX(np.frombuffer(model, np.uint8), cv2.dnn.ENGINE_NEW)

    def run(feeds: Arrays) -> list[np.ndarray]:
        for name in names:
            network.setInput(np.array(feeds[name], order="C"), name)
        return [np.asarray(one) for one in network.forward(outputs)]

    return run
