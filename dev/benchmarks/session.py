"""Sessions of onnxruntime with one thread: threads of its own cost ten times what a model does."""

from pathlib import Path

import onnx
import onnxruntime


def open_session(
    model: onnx.ModelProto | bytes | Path, *, optimized: bool = True, threads: int = 1
) -> onnxruntime.InferenceSession:
    """Load a model.

    Args:
        model: the model, its bytes, or its file.
        optimized: whether onnxruntime rewrites the graph first, as it does by default.
        threads: the threads of one operator.
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    source = model.SerializeToString() if isinstance(model, onnx.ModelProto) else model
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
