"""onnxruntime, which has control flow of its own: what it takes shows that the models are sound."""

from __future__ import annotations

import onnxruntime

from ..client import Arrays, Run


def load(model: bytes) -> Run:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def run(feeds: Arrays) -> list[object]:
        return list(session.run(None, feeds))

    return run
