"""The public functions: what scripts call."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .assumptions import Maxima
from .binding import Shapes, Values
from .ir import BaseDir, ModelSource, in_kind, instead
from .ir.collector import paused_collector
from .passes import (
    FreezeInitializers,
    Pass,
    PassOptionError,
    Pipeline,
    parse_pipeline,
    straighten,
)
from .passes.pipeline import require_all_rewritten
from .rewriting import NotVerifiedError, NotVerifiedWarning, Rewriting

if TYPE_CHECKING:
    from .reference.verdict import Verdict

_COMPARISON_OPTIONS = (
    *("feeds", "runtime", "rtol", "atol", "samples", "sample_shapes", "seed", "timeout", "prove"),
)
"""Those of `straightline.verify` that are the caller's to choose."""


def pipeline_of(
    passes: str | Pass | Iterable[Pass] | None, *, freeze_initializers: bool = False, **options: Any
) -> Pipeline:
    """The pipeline that a caller describes: None for the default one, text, or passes.

    Args:
        freeze_initializers: put that pass in front.
        options: options of the passes, where the pipeline is the default one or text.

    Raises:
        PassOptionError: the text does not parse, or names no pass or option; what is given is
            neither text nor passes; options are given beside pass objects.
    """
    if passes is None or isinstance(passes, str):
        pipeline = straighten(**options) if passes is None else parse_pipeline(passes, **options)
    elif options:
        name = min(options)
        raise PassOptionError(
            f"option '{name}' is given beside pass objects; give it to the pass itself"
        )
    else:
        pipeline = Pipeline(_pass_objects(passes))
    if freeze_initializers:
        return Pipeline([FreezeInitializers(), *pipeline.passes], pipeline.repeat)
    return pipeline


def selects_of(
    passes: str | Pass | Iterable[Pass] | None, *, freeze_initializers: bool = False, **options: Any
) -> Pipeline | None:
    """The pipeline `selects` with the same options, where the default one was asked for."""
    if passes is not None:
        return None
    return pipeline_of("selects", freeze_initializers=freeze_initializers, **options)


def _pass_objects(given: Pass | Iterable[Pass]) -> list[Pass]:
    found = list(given) if isinstance(given, Iterable) else [given]
    for item in found:
        if not isinstance(item, Pass):
            raise PassOptionError(
                "passes are text such as 'unroll-loops,inline-ifs', a pass object or an iterable of"
                f" them, not {item!r}"
            )
    return found


@paused_collector
def rewrite(
    model: ModelSource,
    passes: str | Pass | Iterable[Pass] | None = None,
    *,
    values: Values | None = None,
    shapes: Shapes | None = None,
    verify: bool | Mapping[str, Any] = False,
    strict: bool = False,
    freeze_initializers: bool = False,
    assume_max: Maxima | None = None,
    base_dir: BaseDir = None,
    **options: Any,
) -> ModelSource:
    """The model without the control flow that is decided before run time.

    Args:
        model: a path, bytes, `onnx.ModelProto`, `onnx_ir.Model` or `straightline.ir.Model`; it is
            never changed.
        passes: None for the default pipeline "straighten", text such as "unroll-loops,inline-ifs",
            or pass objects.
        values: values of inputs, which leave the signature: `{"sr": 16000}`.
        shapes: shapes of inputs, None for a dimension that stays open: `{"x": (1, None, 512)}`.
        verify: compare the outputs with the original's, on inputs that are drawn, or as the
            options of `straightline.verify` given here say: `{"samples": 5, "timeout": 300}`.
        strict: raise when a construct is left alone, or when nothing could be compared.
        freeze_initializers: take inputs that have a default as constants.
        assume_max: the most trips of Loops, by path, that you vouch for: `{"decoder/loop": 64}`. On
            inputs that make more the result is another one; `verify` looks for such.
        base_dir: the folder of the external data of a model in memory; it is read only where the
            content of a tensor decides something.
        options: options of the passes, such as `max_trips` and `max_nodes`.

    Returns:
        the rewritten model, of the same kind; an `onnx.ModelProto` for a path or bytes.

    Raises:
        straightline.Error: the model cannot be read or is not well formed; a value or shape does
            not fit; (`verify`) the outputs differ; (`strict`) a construct is kept.

    Warns:
        NotVerifiedWarning: (`verify`, not `strict`) nothing could be compared.
    """
    comparison = _comparison_options(verify)
    pipeline = pipeline_of(passes, freeze_initializers=freeze_initializers, **options)
    rewritten = Rewriting(
        model, pipeline, values or {}, shapes or {}, base_dir, assume_max or {}
    ).run()
    if strict:
        require_all_rewritten(rewritten.result.remarks)
    if comparison is not None:
        verdict = rewritten.verify(**comparison)
        if not verdict.equal and (strict or comparison.get("prove")):
            raise NotVerifiedError(f"the rewrite was not verified: {verdict.reason}")
        _warn_unless_equal(verdict, "the rewrite")
    return in_kind(rewritten.model, model)


@paused_collector
def convert_version(
    model: ModelSource,
    target_opset: int,
    *,
    ir_version: int | None = None,
    values: Values | None = None,
    shapes: Shapes | None = None,
    freeze_initializers: bool = False,
    rewrite: bool = True,
    verify: bool | Mapping[str, Any] = False,
    base_dir: BaseDir = None,
) -> ModelSource:
    """The model with its operators carried to another version of ONNX's operator set.

    All nodes are converted, in every graph, body and function, or none.

    Args:
        model: a path, bytes, `onnx.ModelProto`, `onnx_ir.Model` or `straightline.ir.Model`; it is
            never changed.
        target_opset: from 7 to the newest version that the installed onnx knows.
        ir_version: the version of the file format; by default the one that ONNX released with the
            target opset, where the model's features allow it.
        values: values of inputs, as in `rewrite`.
        shapes: shapes of inputs, as in `rewrite`.
        freeze_initializers: take inputs that have a default as constants.
        rewrite: straighten control flow, sequences and optionals where the target cannot hold
            them; nothing else of the model is rewritten.
        verify: compare the outputs with the original's, as in `rewrite`.
        base_dir: the folder of the external data of a model in memory.

    Returns:
        the converted model, of the same kind; an `onnx.ModelProto` for a path or bytes.

    Raises:
        straightline.Error: the model cannot be read or is not well formed; a value or shape does
            not fit; nodes cannot be carried over (a `straightline.versions.ConversionError` that
            lists them all and tells which opset the model reaches); (`verify`) the outputs differ.

    Warns:
        NotVerifiedWarning: (`verify`) nothing could be compared.
    """
    from .conversion import Conversion

    comparison = _comparison_options(verify)
    converted = Conversion(
        model,
        target_opset,
        ir_version,
        values=values or {},
        shapes=shapes or {},
        freeze_initializers=freeze_initializers,
        rewrite=rewrite,
        base_dir=base_dir,
    ).run()
    if comparison is not None:
        verdict = converted.verify(**comparison)
        if not verdict.equal and comparison.get("prove"):
            raise NotVerifiedError(f"the conversion was not verified: {verdict.reason}")
        _warn_unless_equal(verdict, "the conversion")
    return in_kind(converted.model, model)


def _comparison_options(verify: bool | Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The options of a verification; None where there shall be none."""
    if isinstance(verify, bool):
        return {} if verify else None
    from .reference.choices import VerifyError

    if not isinstance(verify, Mapping):
        raise VerifyError(
            f"verify is True, False or a mapping of options of straightline.verify, not {verify!r}"
        )
    for name in verify:
        if name not in _COMPARISON_OPTIONS:
            offered = instead(name, _COMPARISON_OPTIONS, are="its options:")
            raise VerifyError(f"verify has no option '{name}'; {offered}")
    return verify


def _warn_unless_equal(verdict: Verdict, what: str) -> None:
    if not verdict.equal:
        message = f"{what} was not verified: {verdict.reason}"
        warnings.warn(message, NotVerifiedWarning, stacklevel=3)
