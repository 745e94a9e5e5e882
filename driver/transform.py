"""The public functions: what scripts call."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from ..display import OnProgress, silent
from ..facts.named_dimensions import Dims, Shapes
from ..ir import BaseDir, ModelSource
from ..ir.gc_pause import paused_collector
from ..limits import Limits, governed
from ..passes import FreezeInitializers, Pass, PassOptionError, Pipeline, parse_pipeline, straighten
from ..verification.runs.options import Verify
from .passes_of_text import Transformation
from .result import Outcome
from .rewrite import Rewriting
from .specialize import Values
from .trip_bounds import Maxima

if TYPE_CHECKING:
    from ..targets import Target

TargetLike: TypeAlias = "str | os.PathLike[str] | Target | None"
"""What callers give as a target: a name, the path of a file, or the target itself."""

Passes: TypeAlias = str | Pass | Iterable[Pass] | None
"""What callers give as passes: None for the default pipeline, text, a pass, or several."""


def pipeline_of(
    passes: Passes,
    *,
    freeze_initializers: bool = False,
    target: TargetLike = None,
    carry: Mapping[str, Any] | None = None,
    **options: Any,
) -> Pipeline:
    """The pipeline that a caller describes: None for the default one, text, or passes.

    Args:
        freeze_initializers: put that pass in front.
        target: what the model shall fit in the end.
        carry: with a target, how the model is carried to another opset: `opset`, `ir_version`,
            `rewrite`.
        options: options of the passes, where the pipeline is the default one or text.

    Raises:
        PassOptionError: the text does not parse, or names no pass or option; what is given is
            neither text nor passes; options are given beside pass objects.
        TargetError: there is no such target, or it does not read the opset.
    """
    if target is not None:
        from ..targets import target_of
        from .fit_target import fitting

        is_text = passes is None or isinstance(passes, str)
        begun: Any = passes if is_text else pipeline_of(passes, **options)
        pipeline = fitting(begun, target_of(target), **(carry or {}), **options)
    elif passes is None or isinstance(passes, str):
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


def selects_of(passes: Passes, **options: Any) -> Pipeline | None:
    """The pipeline `selects` with the same options, where the default one was asked for."""
    return None if passes is not None else pipeline_of("selects", **options)


def _pass_objects(given: Any) -> list[Pass]:
    # A sequence of onnx_ir's passes is iterable, and is a pass.
    single = isinstance(given, Pass) or _is_foreign(given) or not isinstance(given, Iterable)
    return [_pass_object(item) for item in ([given] if single else given)]


def _pass_object(item: Any) -> Pass:
    if isinstance(item, Pass):
        return item
    if _is_foreign(item):
        from ..passes.manager.adapt_passes import step

        return step(item)
    raise PassOptionError(
        "passes are text such as 'unroll-loops,inline-ifs', a pass object or an iterable of"
        f" them, not {item!r}"
    )


def _is_foreign(item: Any) -> bool:
    """Whether it is a pass of onnx_ir or a rule of onnxscript. Who holds one has imported these."""
    if "onnx_ir" not in sys.modules:
        return False
    from ..passes.manager.adapt_passes import is_foreign

    return is_foreign(item)


@paused_collector
def transform(
    model: ModelSource,
    passes: Passes = None,
    *,
    target: TargetLike = None,
    opset: int | None = None,
    ir_version: int | None = None,
    rewrite: bool = True,
    values: Values | None = None,
    shapes: Shapes | None = None,
    dims: Dims | None = None,
    assume_max: Maxima | None = None,
    freeze_initializers: bool = False,
    selects: bool = False,
    verify: Verify = "proof",
    strict: bool = False,
    hints: bool = True,
    base_dir: BaseDir = None,
    on_progress: OnProgress = silent,
    max_work: int | None = None,
    max_memory: int | None = None,
    timeout: float | None = None,
    **options: Any,
) -> Outcome:
    """Rewrite a model, convert it where an opset is given, compare, and tell all of it.

    `rewrite` and `convert_version` are its short forms.

    Args:
        model: a path, bytes, `onnx.ModelProto`, `onnx_ir.Model` or `straightline.ir.Model`; it is
            never changed.
        passes: None for the default pipeline "straighten", text such as "unroll-loops,inline-ifs",
            or pass objects; none of them, `()`, where the model shall only be converted.
        target: what the model shall fit, such as "onnx2torch", the path of a file, or a
            `straightline.targets.Target`: it is carried to an opset that the target reads, what the
            target lacks is said by other operators, and remarks tell what is left.
        opset: convert to this version of ONNX's operator set after the passes.
        ir_version: with `opset`, the version of the file format; by default the one that ONNX
            released with it, where the model's features allow it.
        rewrite: with `opset`, straighten what passes have left and the opset cannot hold.
        values: values of inputs, which leave the signature: `{"sr": 16000}`.
        shapes: shapes of inputs, None for a dimension that stays open: `{"x": (1, None, 512)}`.
        dims: sizes of named dimensions, wherever they stand: `{"T": 6}`.
        assume_max: the most trips of Loops, by path, that you vouch for: `{"decoder/loop": 64}`. On
            inputs that make more the result is another one; the comparison looks for such.
        freeze_initializers: take inputs that have a default as constants.
        selects: also let selects take the place of what only run time decides: the pipeline
            "selects".
        verify: "proof" proves that the outputs are the original's and runs nothing; a proof that
            stays open returns the model all the same. True also runs samples where it stays open;
            False verifies nothing; options of `straightline.verify` are given as a mapping, such as
            `{"samples": 5, "timeout": 300}`.
        strict: raise when a construct is left alone, or when nothing could be compared.
        hints: try what would decide the control flow that is left.
        base_dir: the folder of the external data of a model in memory; it is read only where the
            content of a tensor decides something.
        on_progress: told of long work: stage, what, done, total (see
            `straightline.display.OnProgress`). What it raises ends the work.
        max_work: how many steps, of about a nanosecond, may be taken to compute constants before
            run time; what would take more stays, with a remark.
        max_memory: how many bytes of computed constants may be held at a time; a model that is run
            to be compared may take four times as much.
        timeout: how many seconds those constants may take, all together, of which nobody can tell
            how many steps they take; 5 without.
        options: options of the passes, such as `max_trips` and `max_nodes`.

    Returns:
        the model with remarks, timings, hints and verdict; `outcome.model` is of the kind that was
        given, an `onnx.ModelProto` for a path or bytes.

    Raises:
        straightline.Error: the model cannot be read or is not well formed; a value or shape does
            not fit; (`verify`) the outputs differ; (`strict`) a construct is kept; (`opset`) nodes
            cannot be carried over.

    Warns:
        NotVerifiedWarning: (`verify`, not `strict`) nothing could be compared.
    """
    if selects and passes is not None:
        raise PassOptionError("selects=True stands for the pipeline 'selects'; give it alone")
    text = "selects" if selects else passes
    options = {"freeze_initializers": freeze_initializers, **options}
    if target is not None:  # which chooses the opset, and carries the model there
        carry = {"opset": opset, "ir_version": ir_version, "rewrite": rewrite}
        options |= {"target": target, "carry": carry}
        opset = ir_version = None
    with governed(Limits.of(max_work, max_memory, timeout)):
        return Transformation(
            _rewriting(model, text, (values, shapes, dims), base_dir, assume_max, options),
            opset=opset,
            ir_version=ir_version,
            rewrite=rewrite,
            verify=verify,
            strict=strict,
            hints=hints,
            selects=selects_of(text, **options),
            on_progress=on_progress,
        ).run("the result")


@paused_collector
def rewrite(
    model: ModelSource,
    passes: Passes = None,
    *,
    target: TargetLike = None,
    values: Values | None = None,
    shapes: Shapes | None = None,
    dims: Dims | None = None,
    verify: Verify = "proof",
    strict: bool = False,
    freeze_initializers: bool = False,
    assume_max: Maxima | None = None,
    base_dir: BaseDir = None,
    max_work: int | None = None,
    max_memory: int | None = None,
    timeout: float | None = None,
    **options: Any,
) -> ModelSource:
    """The model without the control flow that is decided before run time.

    Args:
        model: a path, bytes, `onnx.ModelProto`, `onnx_ir.Model` or `straightline.ir.Model`; it is
            never changed.
        passes: None for the default pipeline "straighten", text such as "unroll-loops,inline-ifs",
            or pass objects.
        target: what the model shall fit, as in `transform`.
        values: values of inputs, which leave the signature: `{"sr": 16000}`.
        shapes: shapes of inputs, None for a dimension that stays open: `{"x": (1, None, 512)}`.
        dims: sizes of named dimensions, wherever they stand: `{"T": 6}`.
        verify: "proof" proves that the outputs are the original's and runs nothing; a proof that
            stays open returns the model all the same. True also runs samples where it stays open;
            False verifies nothing; options of `straightline.verify` are given as a mapping, such as
            `{"samples": 5, "timeout": 300}`.
        strict: raise when a construct is left alone, or when nothing could be compared.
        freeze_initializers: take inputs that have a default as constants.
        assume_max: the most trips of Loops, by path, that you vouch for: `{"decoder/loop": 64}`. On
            inputs that make more the result is another one; `verify` looks for such.
        base_dir: the folder of the external data of a model in memory; it is read only where the
            content of a tensor decides something.
        max_work: how many steps, of about a nanosecond, may be taken to compute constants before
            run time; what would take more stays, with a remark.
        max_memory: how many bytes of computed constants may be held at a time.
        timeout: how many seconds those constants may take, all together, of which nobody can tell
            how many steps they take; 5 without.
        options: options of the passes, such as `max_trips` and `max_nodes`.

    Returns:
        the rewritten model, of the same kind; an `onnx.ModelProto` for a path or bytes.

    Raises:
        straightline.Error: the model cannot be read or is not well formed; a value or shape does
            not fit; (`verify`) the outputs differ; (`strict`) a construct is kept.

    Warns:
        NotVerifiedWarning: (`verify`, not `strict`) nothing could be compared.
    """
    options = {"freeze_initializers": freeze_initializers, "target": target, **options}
    rewriting = _rewriting(model, passes, (values, shapes, dims), base_dir, assume_max, options)
    with governed(Limits.of(max_work, max_memory, timeout)):
        made: ModelSource = (
            Transformation(rewriting, verify=verify, strict=strict).run("the rewrite").model
        )
    return made


@paused_collector
def convert_version(
    model: ModelSource,
    target_opset: int,
    *,
    ir_version: int | None = None,
    values: Values | None = None,
    shapes: Shapes | None = None,
    dims: Dims | None = None,
    freeze_initializers: bool = False,
    rewrite: bool = True,
    verify: Verify = "proof",
    base_dir: BaseDir = None,
    max_work: int | None = None,
    max_memory: int | None = None,
    timeout: float | None = None,
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
        dims: sizes of named dimensions, as in `rewrite`.
        freeze_initializers: take inputs that have a default as constants.
        rewrite: straighten control flow, sequences and optionals where the target cannot hold
            them; nothing else of the model is rewritten.
        verify: as in `rewrite`.
        base_dir: the folder of the external data of a model in memory.
        max_work: how many steps may be taken to compute constants, as in `rewrite`.
        max_memory: how many bytes of computed constants may be held at a time.
        timeout: how many seconds constants may take that nobody can count, as in `rewrite`.

    Returns:
        the converted model, of the same kind; an `onnx.ModelProto` for a path or bytes.

    Raises:
        straightline.Error: the model cannot be read or is not well formed; a value or shape does
            not fit; nodes cannot be carried over (a `straightline.versions.ConversionError` that
            lists them all and tells which opset the model reaches); (`verify`) the outputs differ.

    Warns:
        NotVerifiedWarning: (`verify`) nothing could be compared.
    """
    from ..version_converter.convert import check_whole_number

    check_whole_number("target_opset", target_opset)  # a transformation takes None, which is none
    frozen = {"freeze_initializers": freeze_initializers}
    rewriting = _rewriting(model, (), (values, shapes, dims), base_dir, None, frozen)
    with governed(Limits.of(max_work, max_memory, timeout)):
        made: ModelSource = (
            Transformation(rewriting, target_opset, ir_version, rewrite, verify)
            .run("the conversion")
            .model
        )
    return made


def _rewriting(
    model: ModelSource,
    passes: Passes,
    known: tuple[Values | None, Shapes | None, Dims | None],
    base_dir: BaseDir,
    maxima: Maxima | None,
    options: dict[str, Any],
) -> Rewriting:
    """What callers give, with nothing in the place of None."""
    values, shapes, dims = known
    given = values or {}, shapes or {}, base_dir, maxima or {}, dims or {}
    return Rewriting(model, pipeline_of(passes, **options), *given)
