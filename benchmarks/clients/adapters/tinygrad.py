"""tinygrad's own ONNX reader; where there is no clang, on its interpreter."""

from __future__ import annotations

import os
import shutil

import numpy as np

from ..client import Arrays, Run

if not shutil.which(os.environ.get("CC", "clang")):
    os.environ.setdefault("DEV", "PYTHON")

from tinygrad import Tensor  # noqa: E402 - it reads the device when it is imported
from tinygrad.nn.onnx import OnnxRunner  # noqa: E402


def load(model: bytes) -> Run:
    runner = OnnxRunner(Tensor(model, device="PYTHON"))

    def run(feeds: Arrays) -> list[np.ndarray]:
        results = runner(dict(feeds))
        return [results[name].numpy() for name in runner.graph_outputs]

    return run
