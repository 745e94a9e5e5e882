"""Sessions of onnxruntime, as benchmarks have them, and what they give."""

from collections.abc import Mapping
from typing import Any

import onnx
from straightline.dev.benchmarks.session import open_session


def outputs(
    model: onnx.ModelProto, feeds: Mapping[str, Any], *, optimized: bool = True
) -> list[Any]:
    """Run a model; a feed that is None is left out."""
    kept = {name: array for name, array in feeds.items() if array is not None}
    return list(open_session(model, optimized=optimized).run(None, kept))
