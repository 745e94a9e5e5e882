"""Sessions of onnxruntime with one thread: threads of its own cost ten times what a model does."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
import onnxruntime


def open_session(
    model: onnx.ModelProto | bytes | Path, *, optimized: bool = True
) -> onnxruntime.InferenceSession:
    """Load a model.

    Args:
        model: the model, its bytes, or its file.
        optimized: whether onnxruntime rewrites the graph first, as it does by default.
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    source = model.SerializeToString() if isinstance(model, onnx.ModelProto) else model
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def outputs(
    model: onnx.ModelProto, feeds: Mapping[str, Any], *, optimized: bool = True
) -> list[Any]:
    """Run a model; a feed that is None is left out."""
    kept = {name: array for name, array in feeds.items() if array is not None}
    return list(open_session(model, optimized=optimized).run(None, kept))
