"""onnx2torch: the model as a torch module, which many compilers start from."""

import importlib
import sys
import types
from typing import Any

import numpy as np
import onnx
import torch

from ..client import Arrays, Run


def _without_torchvision() -> None:
    """Let onnx2torch load where torchvision is not installed, which it wants for two operators."""

    def lacking(*_: Any, **__: Any) -> None:
        raise NotImplementedError("torchvision is not installed")

    vision, ops = types.ModuleType("torchvision"), types.ModuleType("torchvision.ops")
    for name in ("box_convert", "nms", "roi_align"):
        setattr(ops, name, lacking)
    vision.ops = ops  # type: ignore[attr-defined]
    sys.modules.update({"torchvision": vision, "torchvision.ops": ops})


try:
    importlib.import_module("torchvision")
except (ImportError, RuntimeError):  # onnx2pytorch brings one for another torch, which fails here
    _without_torchvision()

import onnx2torch  # noqa: E402 - after what it wants to import


def load(model: bytes) -> Run:
    proto = onnx.load_model_from_string(model)
    names = [value.name for value in proto.graph.input]
    module = onnx2torch.convert(proto).eval()

    def run(feeds: Arrays) -> list[np.ndarray]:
        with torch.no_grad():
            given = [torch.from_numpy(np.array(feeds[name])) for name in names if name in feeds]
            results = module(*given)
        listed = results if isinstance(results, list | tuple) else [results]
        return [torch.as_tensor(one).numpy() for one in listed]

    return run
