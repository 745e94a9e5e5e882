"""The command line: reads options, calls the public functions, shows what they found.

Only typer and rich are imported here; onnx and the rest are when a command needs them.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import interrupts, report
from .again import command_again
from .boundary import EXIT_CONTROL_FLOW_LEFT, EXIT_DIFFERENT, EXIT_NOT_VERIFIED, Commands, finish
from .comparing import comparison, demanded, keep, kept_for, verified
from .options import (
    AcceleratedFor,
    AssumeMax,
    Atol,
    Certificate,
    Force,
    Freeze,
    Inputs,
    Json,
    KeptCertificate,
    MaxInputSize,
    MaxNodes,
    MaxTrips,
    Passes,
    Prove,
    Rewrite,
    Rtol,
    Runtime,
    RuntimeOption,
    Samples,
    SampleShape,
    Seed,
    Selected,
    Set,
    Shape,
    Source,
    Target,
    Timeout,
    Verify,
    bytes_of,
    maxima_of,
    pipeline_text,
    shapes_of,
    values_of,
)

if TYPE_CHECKING:
    from ..ir import ModelFile
    from ..reference.verdict import Verdict
    from ..rewriting import MismatchError

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Rewrite ONNX models so that control flow disappears, and prove, or else check, that the"
    " outputs stay the same.",
    epilog="Exit codes: 0 done, 1 bad input, 2 usage, 3 outputs differ, 4 control flow left,"
    " 5 not proved or nothing compared, 70 a fault of straightline, 130 interrupted.",
)


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Print the version where it is asked for."""
    if show:
        from importlib.metadata import version

        print(version("straightline"))
        raise typer.Exit


@app.command()
def rewrite(
    context: typer.Context,
    source: Source,
    target: Target,
    *,
    passes: Passes = None,
    runs_in: AcceleratedFor = None,
    selects: Selected = False,
    max_trips: MaxTrips = None,
    max_nodes: MaxNodes = None,
    assignments: Set = None,
    dimensions: Shape = None,
    assumed: AssumeMax = None,
    freeze_initializers: Freeze = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail when a pass leaves a construct alone.")
    ] = False,
    require_straight_line: Annotated[
        bool,
        typer.Option(
            "--require-straight-line", help="Write nothing and exit with 4 if control flow is left."
        ),
    ] = False,
    force: Force = False,
    max_input_size: MaxInputSize = None,
    as_json: Json = False,
    verify: Verify = True,
    prove: Prove = None,
    certificate: Certificate = None,
    inputs: Inputs = None,
    sample_shape: SampleShape = None,
    runtime: RuntimeOption = Runtime.auto,
    rtol: Rtol = None,
    atol: Atol = None,
    samples: Samples = None,
    seed: Seed = 0,
    timeout: Timeout = None,
) -> int:
    """Remove the control flow of a model that is decided before run time.

    That the outputs are the original's is proved, or else checked, before anything is written.
    """
    text, maxima = pipeline_text(passes, runs_in, selects), maxima_of(assumed)
    values, shapes = values_of(assignments), shapes_of(dimensions)
    most, prove = bytes_of(max_input_size), demanded(prove, certificate, verify)
    wanted = comparison(prove, inputs, runtime, rtol, atol, samples, seed, timeout, sample_shape)
    from ..api import pipeline_of, selects_of
    from ..hints import Advice, advise, corrected
    from ..inspection import left_over
    from ..ir import save
    from ..passes.pipeline import require_all_rewritten
    from ..rewriting import Rewriting

    interrupts.raise_from_now_on()
    options = _chosen(max_trips=max_trips, max_nodes=max_nodes)
    pipeline = pipeline_of(text, freeze_initializers=freeze_initializers, **options)
    with report.progress("rewriting", quiet=as_json) as told:
        original, read = _opened(source, most, target, inputs, certificate, force)
        rewritten = Rewriting(original, pipeline, values, shapes, maxima=maxima).run(told)
    if strict:
        require_all_rewritten(rewritten.result.remarks)
    left, advice = left_over(rewritten.result), Advice()
    if left:
        other = selects_of(text, freeze_initializers=freeze_initializers, **options)
        advice = advise(rewritten.rewriting, rewritten.model, other)
        left = corrected(left, advice)
    found: Verdict | MismatchError | None = None
    code = EXIT_CONTROL_FLOW_LEFT if require_straight_line and left else 0
    if verify and not code:
        with report.progress("verifying", quiet=as_json):
            found, code = verified(rewritten.verify, wanted, strict)
    if not code:
        save(rewritten.model, target, force=force, keep=read)
        keep(certificate, rewritten, original, found, force)
    written, again = None if code else target, functools.partial(command_again, context)
    code = finish(
        code,
        lambda: report.show_rewrite(rewritten, left, found, written, as_json, advice.hints, again),
        product=False,
    )
    report.tell_verification(found, written)
    if code == EXIT_CONTROL_FLOW_LEFT:
        report.show_error(f"control flow is left in {len(left)} places; nothing was written")
    return code


def _opened(
    source: Path,
    most: int | None,
    target: Path,
    inputs: Path | None,
    certificate: Path | None,
    force: bool,
) -> tuple[ModelFile, list[Path]]:
    """The model, and the files that are read beside it; none of them is to be overwritten, which
    is found out before the long work."""
    from ..ir import Target
    from ..reference.feeds import files_of

    read = [] if inputs is None else files_of(inputs)
    original = _read(source, most)
    Target.of(target, [*read, *original.data_files], original.path, force=force)
    if certificate is not None:
        from ..certificates import place_of

        place_of(certificate, [*read, *original.data_files, source, target], force=force)
        read.append(certificate)
    return original, read


def _read(source: Path, most: int | None) -> ModelFile:
    from ..ir import TWO_GB, read_file

    return read_file(source, TWO_GB if most is None else most)


@app.command()
def verify(
    before: Annotated[Path, typer.Argument(metavar="A", help="The original.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="Its rewrite.")],
    *,
    prove: Prove = None,
    certificate: KeptCertificate = None,
    inputs: Inputs = None,
    sample_shape: SampleShape = None,
    runtime: RuntimeOption = Runtime.auto,
    rtol: Rtol = None,
    atol: Atol = None,
    samples: Samples = None,
    seed: Seed = 0,
    timeout: Timeout = None,
    assignments: Set = None,
    max_input_size: MaxInputSize = None,
    as_json: Json = False,
) -> int:
    """Prove that two models give equal outputs, or else compare them on the same inputs.

    --set gives the values of inputs that B no longer has.
    """
    values, most = values_of(assignments), bytes_of(max_input_size)
    prove = demanded(prove, certificate)
    wanted = comparison(prove, inputs, runtime, rtol, atol, samples, seed, timeout, sample_shape)
    from ..binding import typed_values
    from ..verification import verify as compare

    interrupts.raise_from_now_on()
    with report.progress("verifying", quiet=as_json):
        original, rewritten = _read(before, most), _read(after, most)
        bound, kept = typed_values(original, values), None
        if certificate is not None:
            kept = kept_for(certificate, original, rewritten, bound)
            bound = dict(kept.bound)
        verdict = compare(original, rewritten, bound=bound, **wanted)
    if kept is not None and verdict.status != "different":
        kept.require_proof(verdict.proof)
    codes = {"equal": 0, "different": EXIT_DIFFERENT, "not verified": EXIT_NOT_VERIFIED}
    return finish(
        codes[verdict.status], lambda: report.show_verdict(verdict, as_json), product=True
    )


@app.command()
def convert(
    source: Source,
    target: Target,
    *,
    opset: Annotated[int, typer.Option(help="The opset version to convert to, 7 or later.")],
    ir_version: Annotated[
        int | None,
        typer.Option(min=3, help="The file format version; by default as ONNX released them."),
    ] = None,
    assignments: Set = None,
    dimensions: Shape = None,
    freeze_initializers: Freeze = False,
    rewriting: Rewrite = True,
    force: Force = False,
    max_input_size: MaxInputSize = None,
    as_json: Json = False,
    verify: Verify = True,
    prove: Prove = None,
    certificate: Certificate = None,
    inputs: Inputs = None,
    sample_shape: SampleShape = None,
    runtime: RuntimeOption = Runtime.auto,
    rtol: Rtol = None,
    atol: Atol = None,
    samples: Samples = None,
    seed: Seed = 0,
    timeout: Timeout = None,
) -> int:
    """Carry a whole model to another opset version, all of it or nothing.

    That the outputs are the original's is proved, or else checked, before anything is written.
    """
    values, shapes = values_of(assignments), shapes_of(dimensions)
    most, prove = bytes_of(max_input_size), demanded(prove, certificate, verify)
    wanted = comparison(prove, inputs, runtime, rtol, atol, samples, seed, timeout, sample_shape)
    from ..conversion import Conversion
    from ..ir import save

    interrupts.raise_from_now_on()
    with report.progress("converting", quiet=as_json):
        original, read = _opened(source, most, target, inputs, certificate, force)
        converted = Conversion(
            original, opset, ir_version, values, shapes, freeze_initializers, rewriting
        ).run()
    found, code = None, 0
    if verify:
        with report.progress("verifying", quiet=as_json):
            found, code = verified(converted.verify, wanted)
    if not code:
        save(converted.model, target, force=force, keep=read)
        keep(certificate, converted, original, found, force)
    written = None if code else target
    code = finish(
        code, lambda: report.show_conversion(converted, found, written, as_json), product=False
    )
    report.tell_verification(found, written)
    return code


@app.command()
def inspect(
    context: typer.Context,
    source: Source,
    *,
    passes: Passes = None,
    runs_in: AcceleratedFor = None,
    selects: Selected = False,
    max_trips: MaxTrips = None,
    max_nodes: MaxNodes = None,
    assignments: Set = None,
    dimensions: Shape = None,
    assumed: AssumeMax = None,
    freeze_initializers: Freeze = False,
    max_input_size: MaxInputSize = None,
    as_json: Json = False,
) -> int:
    """Show every Loop, Scan and If, what decides it, and what a rewrite would do."""
    text, maxima = pipeline_text(passes, runs_in, selects), maxima_of(assumed)
    values, shapes = values_of(assignments), shapes_of(dimensions)
    most = bytes_of(max_input_size)
    from ..inspection import inspect as look

    interrupts.raise_from_now_on()
    found = look(
        _read(source, most),
        text,
        values=values,
        shapes=shapes,
        assume_max=maxima,
        freeze_initializers=freeze_initializers,
        **_chosen(max_trips=max_trips, max_nodes=max_nodes),
    )
    again = functools.partial(command_again, context)
    return finish(0, lambda: report.show_inspection(found, source, as_json, again), product=True)


@app.command("passes")
def list_passes(as_json: Json = False) -> int:
    """Show every pass with its options."""
    from ..inspection import describe_passes

    interrupts.raise_from_now_on()
    found = describe_passes()
    return finish(0, lambda: report.show_passes(found, as_json), product=True)


def _chosen(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
