"""What property tests that draw ONNX text share."""

import onnx
from harness import as_model


def is_valid(text):
    """Whether the checker, which knows all constants, lets a drawn model pass."""
    try:
        onnx.checker.check_model(as_model(text), full_check=True)
    except onnx.shape_inference.InferenceError:
        return False
    return True
