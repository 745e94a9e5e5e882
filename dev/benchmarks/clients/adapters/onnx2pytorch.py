"""onnx2pytorch: the model as a module of PyTorch."""

import importlib.util
import sys
from unittest.mock import MagicMock

import numpy as np
import onnx
import torch

from ..client import Arrays, Run

if importlib.util.find_spec("torchvision") is None:
    # It imports this for boxes and images alone; their operators fail when they run.
    for name in ("torchvision", "torchvision.io", "torchvision.ops"):
        sys.modules[name] = MagicMock()
from onnx2pytorch import ConvertModel


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
