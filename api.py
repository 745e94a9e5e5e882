"""The public functions: what scripts call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .ir import ModelSource
from .passes import Pass, Pipeline, parse_pipeline, straighten


def pipeline_of(passes: str | Pass | Iterable[Pass] | None, **options: Any) -> Pipeline:
    """The pipeline that a caller describes: None for the default one, text, or passes.

    Raises:
        PassOptionError: the text does not parse, or names no pass or option.
    """
    if passes is None:
        return straighten(**options)
    if isinstance(passes, str):
        return parse_pipeline(passes, **options)
    return Pipeline([passes] if isinstance(passes, Pass) else list(passes))


def rewrite(
    model: ModelSource,
    passes: str | Pass | Iterable[Pass] | None = None,
    *,
    strict: bool = False,
    **options: Any,
) -> ModelSource:
    """The model without the control flow that constants decide.

    Args:
        model: a path, bytes, `onnx.ModelProto`, `onnx_ir.Model` or `straightline.ir.Model`; it is
            never changed.
        passes: None for the default pipeline "straighten", text such as "unroll-loops,inline-ifs",
            or pass objects.
        strict: raise when a construct is left alone.
        options: options of the passes, such as `max_trips` and `max_nodes`.

    Returns:
        the rewritten model, of the same kind; an `onnx.ModelProto` for a path or bytes.

    Raises:
        straightline.Error: the model cannot be read, is not well formed, or (strict) keeps a
            construct.
    """
    return pipeline_of(passes, **options).run(model, strict=strict).model
