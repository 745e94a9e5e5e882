"""onnx2pytorch: the model as a module of PyTorch."""

from __future__ import annotations

import numpy as np
import onnx
import torch
from onnx2pytorch import ConvertModel

from ..client import Arrays, Run


def load(model: bytes) -> Run:
    proto = onnx.load_model_from_string(model)
    names = [value.name for value in proto.graph.input]
    module = ConvertModel(proto, experimental=True).eval()  # batches of more than one

    def run(feeds: Arrays) -> list[np.ndarray]:
        with torch.no_grad():
            results = module(*(torch.from_numpy(np.array(feeds[name])) for name in names))
        listed = results if isinstance(results, list | tuple) else [results]
        return [torch.as_tensor(one).numpy() for one in listed]

    return run
