"""Public calls, with all options by name."""

# dev/tools/options.py writes the options of each call, in its parameters and its docstring, from
# options/table.py.

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, overload

from ..display import OnProgress, silent
from ..facts.named_dimensions import Dims, Shapes
from ..ir import BaseDir, Model, ModelSource
from ..ir.gc_pause import collector_pause
from ..ir.io.deserialize import PlainNodes
from ..ir.io.model_source import read_open
from ..limits import governed
from ..passes.base import current_watcher
from ..passes.manager.pipeline import require_all_rewritten
from ..passes.vetoes import warn_of
from ..verification.mismatch import require_compared
from ..verification.runs.options import Unproved, Verify, VerifyOptions
from .assumptions import Branches, Maxima
from .job import Request
from .line import run
from .option_fields import Passes, TargetLike
from .options import RewriteOptions
from .result import Outcome
from .specialize import Values
from .suggestions import Advice, advise, left_over

if TYPE_CHECKING:
    import onnx
    import onnx_ir
    from typing_extensions import Unpack

    from ..ir.io.model_source import Exported, MessageSource
    from .inspect import Inspection
    from .option_fields import ConvertKeywords, RewriteKeywords, TransformKeywords


@overload
def transform(
    model: MessageSource, passes: Passes = None, **keywords: Unpack[TransformKeywords]
) -> Outcome[onnx.ModelProto]: ...
@overload
def transform(
    model: onnx_ir.Model | Exported, passes: Passes = None, **keywords: Unpack[TransformKeywords]
) -> Outcome[onnx_ir.Model]: ...
@overload
def transform(
    model: Model, passes: Passes = None, **keywords: Unpack[TransformKeywords]
) -> Outcome[Model]: ...
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
    assume: Branches | None = None,
    freeze_initializers: bool = False,
    selects: bool = False,
    verify: Verify = "proof",
    unproved: Unproved = "samples",
    strict: bool = False,
    hints: bool = True,
    base_dir: BaseDir = None,
    on_progress: OnProgress = silent,
    max_work: int | None = None,
    max_memory: int | None = None,
    timeout: float | None = None,
    **options: Any,
) -> Outcome[Any]:
    """Rewrite a model, convert it to an opset, and prove or compare the outputs.

    `rewrite` and `convert_version` are its short forms.

    Args:
        model: a path, a file object, bytes, `onnx.ModelProto`, `onnx_ir.Model` or
            `straightline.ir.Model`; it is never changed.
        passes: None for the default pipeline "straighten", text such as "unroll-loops,inline-ifs",
            or pass objects; `()` for a conversion alone.
        target: a client that must support the result: a name such as "onnx2torch", the path of a
            file, or a `straightline.targets.Target`. The model is converted to an opset that the
            target reads, unsupported operators are decomposed, and remarks name the rest.
        opset: convert to this version of ONNX's operator set after the passes.
        ir_version: with `opset`, the version of the file format; by default the one that ONNX
            released with it, where the model's features allow it.
        rewrite: straighten control flow, sequences and optionals that the opset cannot hold.
        values: values of inputs, which leave the signature: `{"sr": 16000}`.
        shapes: shapes of inputs, None for a dimension that stays open: `{"x": (1, None, 512)}`.
        dims: sizes of named dimensions, wherever they occur: `{"T": 6}`. `{"N": ">=1"}` assumes a
            least size: the model accepts others as before, and its results hold for these.
        assume_max: maximum trip counts of Loops, by path: `{"decoder/loop": 64}`. The caller
            vouches for them. Inputs with more iterations give other results; the comparison
            searches for such inputs.
        assume: branches of Ifs, by path: `{"boxes/If_807": "else"}`; as `assume_max`.
        freeze_initializers: turn inputs with a default into constants.
        selects: also replace run-time Ifs and bounded Loops by selects: the pipeline "selects".
        verify: "proof" proves equal outputs; True proves, and runs samples where the proof stays
            open whatever `unproved` says; False verifies nothing. A mapping holds options of
            `straightline.verify`, such as `{"samples": 5, "timeout": 300}`.
        unproved: the treatment of an open proof. "samples" runs both models, and keeps a construct
            whose rewrite they refute; "keep" keeps each construct whose rewrite is not proved;
            "allow" returns the result, and runs nothing. A conversion cannot be kept in part: if
            its outputs differ, nothing is returned.
        strict: raise when a construct is kept, when a pass fails or changes the outputs, or when
            nothing could be compared.
        hints: search for options that would decide residual control flow.
        base_dir: the folder of the external data of a model in memory; it is read only where the
            content of a tensor decides something.
        on_progress: progress callback: stage, text, number done, total (see
            `straightline.display.OnProgress`). An exception in it ends the work.
        max_work: limit of steps, of about a nanosecond, for computing constants before run time; a
            node beyond it stays, with a remark.
        max_memory: limit in bytes of computed constants at a time; a model that runs for a
            comparison may use four times as much.
        timeout: limit in seconds, all together, for constants whose steps cannot be counted; 5 by
            default.
        options: options of the passes, such as `max_trips` and `max_nodes`.

    Returns:
        the model with remarks, timings, hints and verdict; `outcome.model` has the type of `model`,
        or is an `onnx.ModelProto` for a path or bytes.

    Raises:
        straightline.Error: the model cannot be read or is not well formed; a value or shape does
            not fit; (`verify`) the outputs differ, and no construct can be kept for that;
            (`strict`) a construct stays; (`opset`) nodes cannot be converted.

    Warns:
        FaultWarning: a pass failed or changed the outputs at a construct, which stays.
        NotVerifiedWarning: (`verify`, not `strict`) nothing could be compared.

    Examples:
        >>> import straightline as sl
        >>> model = sl.ir.parse(
        ...     '<ir_version: 8, opset_import: ["" : 17]> g (int64 n, float[2] x) => (float[2] y) {'
        ...     "y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e)"
        ...     "{ d = Identity (c) e = Add (a, a) }> }"
        ... )
        >>> outcome = sl.transform(model, values={"n": 3}, opset=18)
        >>> [node.op_type for node in outcome.model.graph.nodes()]
        ['Add', 'Add', 'Add']
        >>> outcome.opset.after, outcome.left, outcome.proved
        (18, (), True)
    """
    request = RewriteOptions.of_call(locals())
    verification = VerifyOptions.of(verify, unproved)
    outcome = transform_model(model, request, verification, on_progress=on_progress)
    warn_of(outcome.remarks)
    return outcome


@overload
def rewrite(
    model: MessageSource, passes: Passes = None, **keywords: Unpack[RewriteKeywords]
) -> onnx.ModelProto: ...
@overload
def rewrite(
    model: onnx_ir.Model | Exported, passes: Passes = None, **keywords: Unpack[RewriteKeywords]
) -> onnx_ir.Model: ...
@overload
def rewrite(model: Model, passes: Passes = None, **keywords: Unpack[RewriteKeywords]) -> Model: ...
def rewrite(
    model: ModelSource,
    passes: Passes = None,
    *,
    target: TargetLike = None,
    values: Values | None = None,
    shapes: Shapes | None = None,
    dims: Dims | None = None,
    assume_max: Maxima | None = None,
    assume: Branches | None = None,
    freeze_initializers: bool = False,
    verify: Verify = "proof",
    unproved: Unproved = "samples",
    strict: bool = False,
    base_dir: BaseDir = None,
    max_work: int | None = None,
    max_memory: int | None = None,
    timeout: float | None = None,
    **options: Any,
) -> onnx.ModelProto | onnx_ir.Model | Model:
    """Remove the control flow that is decided before run time.

    Args:
        model: a path, a file object, bytes, `onnx.ModelProto`, `onnx_ir.Model` or
            `straightline.ir.Model`; it is never changed.
        passes: None for the default pipeline "straighten", text such as "unroll-loops,inline-ifs",
            or pass objects.
        values: values of inputs, which leave the signature: `{"sr": 16000}`.
        verify: "proof", True, False or options of `straightline.verify`, as in `transform`.
        unproved: "samples", "keep" or "allow": the treatment of an open proof, as in `transform`.
        strict: raise when a construct is kept, a pass fails, or nothing could be compared.
        options: options of the passes, such as `max_trips` and `max_nodes`.

    As in `transform`: `target`, `shapes`, `dims`, `assume_max`, `assume`, `freeze_initializers`,
    `base_dir`, `max_work`, `max_memory`, `timeout`.

    Returns:
        the rewritten model, of the same kind; an `onnx.ModelProto` for a path or bytes.

    Raises:
        straightline.Error: the model cannot be read or is not well formed; a value or shape does
            not fit; (`verify`) the outputs differ, and no construct can be kept for that;
            (`strict`) a construct is kept.

    Warns:
        FaultWarning: a pass failed or changed the outputs at a construct, which stays.
        NotVerifiedWarning: (`verify`, not `strict`) nothing could be compared.

    Examples:
        >>> import straightline as sl
        >>> model = sl.ir.parse(
        ...     '<ir_version: 8, opset_import: ["" : 17]> g (int64 n, float[2] x) => (float[2] y) {'
        ...     "y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e)"
        ...     "{ d = Identity (c) e = Add (a, a) }> }"
        ... )
        >>> straight = sl.rewrite(model, values={"n": 3})
        >>> [node.op_type for node in straight.graph.nodes()]
        ['Add', 'Add', 'Add']
    """
    request = RewriteOptions.of_call(locals(), hints=False)
    settings = request, VerifyOptions.of(verify, unproved), "the rewrite"
    # A copy is equal for sure; with other options of the comparison the models run.
    whole = Request(model, request)
    plain = whole.plain_nodes() if verify in (False, "proof") else None
    if (copy := whole.unchanged(plain)) is not None:
        return copy
    return transform_model(model, *settings, is_short=True, plain=plain).model


@overload
def convert_version(
    model: MessageSource, target_opset: int, **keywords: Unpack[ConvertKeywords]
) -> onnx.ModelProto: ...
@overload
def convert_version(
    model: onnx_ir.Model | Exported, target_opset: int, **keywords: Unpack[ConvertKeywords]
) -> onnx_ir.Model: ...
@overload
def convert_version(
    model: Model, target_opset: int, **keywords: Unpack[ConvertKeywords]
) -> Model: ...
def convert_version(
    model: ModelSource,
    target_opset: int,
    *,
    ir_version: int | None = None,
    rewrite: bool = True,
    values: Values | None = None,
    shapes: Shapes | None = None,
    dims: Dims | None = None,
    freeze_initializers: bool = False,
    verify: Verify = "proof",
    unproved: Unproved = "samples",
    base_dir: BaseDir = None,
    max_work: int | None = None,
    max_memory: int | None = None,
    timeout: float | None = None,
) -> onnx.ModelProto | onnx_ir.Model | Model:
    """Convert a model to another version of ONNX's operator set.

    All nodes are converted, in every graph, body and function, or none.

    Args:
        model: a path, a file object, bytes, `onnx.ModelProto`, `onnx_ir.Model` or
            `straightline.ir.Model`; it is never changed.
        target_opset: from 7 to the newest version that the installed onnx knows.
        ir_version: the version of the file format; by default the one that ONNX released with the
            target opset, where the model's features allow it.
        rewrite: straighten control flow, sequences and optionals where the target cannot hold
            them; nothing else of the model is rewritten.

    As in `transform`: `values`, `shapes`, `dims`, `freeze_initializers`, `verify`, `unproved`,
    `base_dir`, `max_work`, `max_memory`, `timeout`.

    Returns:
        the converted model, of the same kind; an `onnx.ModelProto` for a path or bytes.

    Raises:
        straightline.Error: the model cannot be read or is not well formed; a value or shape does
            not fit; nodes cannot be carried over (a `straightline.versions.ConversionError` that
            lists them all and tells which opset the model reaches); (`verify`) the outputs differ.

    Warns:
        NotVerifiedWarning: (`verify`) nothing could be compared.

    Examples:
        >>> import straightline as sl
        >>> model = sl.ir.parse(
        ...     '<ir_version: 8, opset_import: ["" : 17]> g (float[2, 3] x) => (float[2] y)'
        ...     "{ y = ReduceMax <axes = [1], keepdims = 0> (x) }"
        ... )
        >>> newer = sl.convert_version(model, 18)
        >>> newer.opset(), len(newer.graph.nodes()[-1].inputs)
        (18, 2)
    """
    from ..version_converter.convert import check_whole_number

    check_whole_number("target_opset", target_opset)  # None would convert to no opset
    fixed: dict[str, Any] = {"passes": (), "opset": target_opset, "hints": False}
    request = RewriteOptions.of_call(locals(), **fixed)
    settings = request, VerifyOptions.of(verify, unproved), "the conversion"
    return transform_model(model, *settings, is_short=True).model


def inspect(
    model: ModelSource,
    passes: Passes = None,
    *,
    target: TargetLike = None,
    values: Values | None = None,
    shapes: Shapes | None = None,
    dims: Dims | None = None,
    assume_max: Maxima | None = None,
    assume: Branches | None = None,
    freeze_initializers: bool = False,
    base_dir: BaseDir = None,
    max_work: int | None = None,
    max_memory: int | None = None,
    timeout: float | None = None,
    **options: Any,
) -> Inspection:
    """Inspect control flow: what decides it, and what `rewrite` with the same arguments does.

    A copy of the model is rewritten in memory. Suggestions are tried in the same way.

    Args:
        model: a path, a file object, bytes, `onnx.ModelProto`, `onnx_ir.Model` or
            `straightline.ir.Model`; it is never changed.
        passes: None for the default pipeline "straighten", text such as "unroll-loops,inline-ifs",
            or pass objects.
        options: options of the passes, such as `max_trips` and `max_nodes`.

    As in `transform`: `target`, `values`, `shapes`, `dims`, `assume_max`, `assume`,
    `freeze_initializers`, `base_dir`, `max_work`, `max_memory`, `timeout`.

    Returns:
        the constructs with their deciders, hints, and the size of the result.

    Raises:
        straightline.Error: as `rewrite`.

    Examples:
        >>> import straightline as sl
        >>> model = sl.ir.parse(
        ...     '<ir_version: 8, opset_import: ["" : 17]> g (int64 n, float[2] x) => (float[2] y) {'
        ...     "y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e)"
        ...     "{ d = Identity (c) e = Add (a, a) }> }"
        ... )
        >>> print(sl.inspect(model, values={"n": 3}))
        Loop 'y': rewritten, unrolled, 3 iterations
        >>> sl.inspect(model).constructs[0].decided_by
        "input 'n'"
    """
    from .inspect import inspect_model

    return inspect_model(model, RewriteOptions.of_call(locals()))


def _release(outcome: Outcome[Any]) -> None:
    """Free the IR of an outcome whose caller returns the model alone, in another kind."""
    # A watcher, or a pass of another package, may have kept nodes.
    owners = {type(each).__module__.partition(".")[0] for each in outcome.request.pipeline.passes}
    is_own = current_watcher() is None and owners <= {__name__.partition(".")[0]}
    if is_own and outcome.model is not outcome.ir:
        outcome.ir.release()  # a collection takes three times as long


def transform_model(
    model: ModelSource,
    options: RewriteOptions,
    verification: VerifyOptions | None = None,
    what: str = "the result",
    *,
    is_short: bool = False,
    on_progress: OnProgress = silent,
    plain: PlainNodes | None = None,
) -> Outcome[Any]:
    """Rewrite a model, convert it and compare, as the options say.

    Args:
        what: the name of the result in messages.
        is_short: the caller returns the model alone, at once: what went wrong is a warning.
        plain: the plain nodes of the model, if they have been read.

    Raises:
        Error: as `transform`.
    """
    request = Request(read_open(model), options)
    with collector_pause(), governed(options.limits):
        if verification is not None and (verification.sample_shapes or verification.dims):
            from ..verification import with_sample_shapes

            with_sample_shapes(request.original, verification, options.values)
        job = run(request, on_progress=on_progress, plain=plain)
        # Before the comparison, which may take long.
        if options.strict:
            require_all_rewritten(job.remarks)
        residual, advice = [], Advice()
        if request.has_passes:
            residual = left_over(job.model, job.remarks)
        if residual and options.hints:
            advice = advise(request, job.model, residual, on_progress)
            residual = [
                dataclasses.replace(r, reason=advice.reason((r.op_type, r.path), r.reason))
                for r in residual
            ]
        outcome: Outcome[Any] = Outcome.of(job, residual, advice.hints)
        if is_short and not isinstance(model, Model):  # comparison and caller use the message
            outcome = dataclasses.replace(outcome, message=job.message())
        if verification is not None:
            outcome = outcome.compared(verification, on_progress=on_progress, loaded=True)
            assert outcome.verdict is not None
            require_compared(outcome.verdict, what, options.strict or verification.prove is True)
        if is_short:
            warn_of(outcome.remarks)
            _release(outcome)
        return outcome
