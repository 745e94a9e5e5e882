"""Models that a test runs in onnxruntime or the reference, loaded once for all its feeds."""

import functools
import os
from collections.abc import Mapping
from typing import Any

import onnx
from straightline import reference
from straightline.dev.benchmarks.session import open_session

_DRAWS = (b"Random", b"Bernoulli", b"Multinomial", b"Dropout")
"""Operators whose next run has other numbers."""


def outputs(
    model: onnx.ModelProto, feeds: Mapping[str, Any], *, optimized: bool = True
) -> list[Any]:
    """Run a model in onnxruntime; a feed that is None is left out."""
    kept = {name: array for name, array in feeds.items() if array is not None}
    return list(loaded(model, open_session, optimized=optimized).run(None, kept))


def by_reference(model: onnx.ModelProto, feeds: Mapping[str, Any]) -> list[Any]:
    """Run a model in the reference."""
    return list(loaded(model, reference.Evaluator).run(feeds))


def loaded(model: onnx.ModelProto, load: Any, **options: Any) -> Any:
    """Load a model, or its bytes, unless this test has done so."""
    content = model.SerializeToString() if isinstance(model, onnx.ModelProto) else b"Random"
    if any(name in content for name in _DRAWS):
        return load(model, **options)
    # Another test may have patched what loads a model.
    test = os.environ.get("PYTEST_CURRENT_TEST")
    return _kept(test, content, load, *options.items())


@functools.lru_cache(maxsize=8)
def _kept(_: str | None, content: bytes, load: Any, *options: tuple[str, Any]) -> Any:
    return load(content, **dict(options))
