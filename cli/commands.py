"""The command line: reads options, calls the public functions, shows what they found.

Only typer and rich are imported here; onnx and the rest are when a command needs them.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Annotated

import typer

from . import interrupts, report
from .batching import many_too
from .comparing import comparison, demanded, kept_for
from .diffing import diff
from .exit_codes import EXIT_DIFFERENT, EXIT_NOT_VERIFIED, Commands, finish
from .listing import list_passes, list_targets
from .opening import load_passes, require_opset, target_given
from .options import (
    After,
    AssumeMax,
    Atol,
    Before,
    Certificate,
    Dim,
    FitsTarget,
    Force,
    Freeze,
    Inputs,
    Json,
    KeepNan,
    KeptCertificate,
    LinkData,
    Load,
    MaxInputSize,
    MaxMemory,
    MaxNodes,
    MaxTrips,
    MaxWork,
    Passes,
    Patience,
    Prove,
    Quiet,
    RequireTarget,
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
    TargetFile,
    ThenOpset,
    Timeout,
    Verify,
    chosen,
    limited,
    pipeline_text,
)
from .pages import Page, Picture, write_picture
from .parsing import contents, files_in, whole
from .piping import Command, read_model
from .printing import PrintAfter, PrintBefore, Verbose, printed, told
from .rerun_command import command_again
from .rewrite_session import Making

app = typer.Typer(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Rewrite ONNX models so that control flow disappears, and prove, or else check, that the"
    " outputs stay the same.",
    epilog="Exit codes: 0 done, 1 bad input, 2 usage, 3 outputs differ, 4 control flow left or"
    " not taken, 5 not proved or nothing compared, 70 a fault of straightline, 130 interrupted.",
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


@app.command(cls=Command)
@many_too("rewriting")
def rewrite(
    context: typer.Context,
    source: Source,
    target: Target,
    *,
    passes: Passes = None,
    load: Load = None,
    fits: FitsTarget = None,
    fits_file: TargetFile = None,
    selects: Selected = False,
    keep_nan: KeepNan = None,
    max_trips: MaxTrips = None,
    max_nodes: MaxNodes = None,
    max_work: MaxWork = None,
    max_memory: MaxMemory = None,
    assignments: Set = None,
    dimensions: Shape = None,
    sizes: Dim = None,
    assumed: AssumeMax = None,
    freeze_initializers: Freeze = False,
    opset: ThenOpset = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail when a pass leaves a construct alone.")
    ] = False,
    require_straight_line: Annotated[
        bool,
        typer.Option(
            "--require-straight-line", help="Write nothing and exit with 4 if control flow is left."
        ),
    ] = False,
    require_target: RequireTarget = False,
    force: Force = False,
    link_data: LinkData = None,
    max_input_size: MaxInputSize = None,
    as_json: Json = False,
    quiet: Quiet = False,
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
    page: Page = None,
    print_after: PrintAfter = None,
    print_before: PrintBefore = None,
    verbose: Verbose = 0,
) -> int:
    """Remove the control flow of a model that is decided before run time.

    That the outputs are the original's is proved, or else checked, before anything is written.
    """
    text, prove = pipeline_text(passes, selects), demanded(prove, certificate, verify)
    fitted = target_given(fits, fits_file, require_target)
    compared = inputs, runtime, rtol, atol, samples, seed, timeout, sample_shape
    how = comparison(prove, *compared) if verify else None
    silent = as_json or quiet or verbose > 0
    kept = certificate, page, force, as_json, silent, link_data
    made = Making(context, source, target, how, *kept)
    from ..driver.transform import transform

    interrupts.raise_from_now_on()
    limited(context, max_work, max_memory, timeout)
    load_passes(load)
    context.with_resource(told(verbose))
    values, given = contents(assignments), [inputs, *files_in(assignments)]
    with printed(print_after, print_before), report.progress("rewriting", quiet=silent) as progress:
        original = made.opened(max_input_size, given, values)
        outcome = transform(
            original.model,
            text,
            target=fitted,
            opset=opset,
            values=values,
            shapes=contents(dimensions),
            dims=contents(sizes),
            assume_max=contents(assumed),
            freeze_initializers=freeze_initializers,
            verify=False,
            strict=strict,
            on_progress=progress,
            **chosen(max_trips=max_trips, max_nodes=max_nodes, keep_nan=keep_nan),
        )
    lacking = require_target and bool(outcome.untaken)
    straight = require_straight_line
    return made.end(outcome, original, strict=strict, straight=straight, lacking=lacking)


@app.command(cls=Command)
def verify(
    before: Before,
    after: After,
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
    sizes: Dim = None,
    max_input_size: MaxInputSize = None,
    max_memory: MaxMemory = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Prove that two models give equal outputs, or else compare them on the same inputs.

    --set gives the values of inputs that B no longer has, --dim sizes for the inputs that are
    drawn.
    """
    prove = demanded(prove, certificate)
    compared = inputs, runtime, rtol, atol, samples, seed, timeout, sample_shape
    from ..driver.specialize import typed_values
    from ..verification import compare

    interrupts.raise_from_now_on()
    with report.progress("verifying", quiet=as_json or quiet) as progress:
        original = read_model(before, max_input_size)
        rewritten = read_model(after, max_input_size)
        bound, kept = typed_values(original, contents(assignments)), None
        if certificate is not None:
            kept = kept_for(certificate, original, rewritten, bound)
            bound = dict(kept.bound)
        wanted = comparison(prove, *compared)
        wanted = dataclasses.replace(wanted, dims=contents(sizes), max_memory=max_memory)
        verdict = compare(original, rewritten, wanted, bound=bound, on_progress=progress)
    if kept is not None and not verdict.differs:
        kept.require_proof(verdict.proof)
    code = EXIT_DIFFERENT if verdict.differs else 0 if verdict.equal else EXIT_NOT_VERIFIED
    return finish(code, lambda: report.show_verdict(verdict, as_json, code), product=True)


@app.command(cls=Command)
@many_too("converting")
def convert(
    context: typer.Context,
    source: Source,
    target: Target,
    *,
    opset: Annotated[
        int | None,
        typer.Option(
            metavar="N", parser=whole(1), help="The opset version to convert to, 7 or later."
        ),
    ] = None,
    fits: FitsTarget = None,
    fits_file: TargetFile = None,
    ir_version: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=whole(3),
            help="The file format version; by default as ONNX released them.",
        ),
    ] = None,
    assignments: Set = None,
    dimensions: Shape = None,
    sizes: Dim = None,
    freeze_initializers: Freeze = False,
    rewriting: Rewrite = True,
    max_work: MaxWork = None,
    max_memory: MaxMemory = None,
    load: Load = None,
    force: Force = False,
    link_data: LinkData = None,
    max_input_size: MaxInputSize = None,
    as_json: Json = False,
    quiet: Quiet = False,
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
    page: Page = None,
    print_after: PrintAfter = None,
    print_before: PrintBefore = None,
    verbose: Verbose = 0,
) -> int:
    """Carry a whole model to another opset version, all of it or nothing.

    That the outputs are the original's is proved, or else checked, before anything is written.
    """
    fitted, prove = target_given(fits, fits_file), demanded(prove, certificate, verify)
    require_opset(opset, fitted)
    compared = inputs, runtime, rtol, atol, samples, seed, timeout, sample_shape
    how = comparison(prove, *compared) if verify else None
    silent = as_json or quiet or verbose > 0
    kept = certificate, page, force, as_json, silent, link_data
    made = Making(context, source, target, how, *kept)
    from ..driver.transform import transform

    interrupts.raise_from_now_on()
    limited(context, max_work, max_memory, timeout)
    load_passes(load)
    context.with_resource(told(verbose))
    values, given = contents(assignments), [inputs, *files_in(assignments)]
    with (
        printed(print_after, print_before),
        report.progress("converting", quiet=silent) as progress,
    ):
        original = made.opened(max_input_size, given, values)
        outcome = transform(
            original.model,
            (),
            target=fitted,
            opset=opset,
            ir_version=ir_version,
            rewrite=rewriting,
            values=values,
            shapes=contents(dimensions),
            dims=contents(sizes),
            freeze_initializers=freeze_initializers,
            verify=False,
            on_progress=progress,
        )
    return made.end(outcome, original)


@app.command(cls=Command)
def inspect(
    context: typer.Context,
    source: Source,
    *,
    passes: Passes = None,
    load: Load = None,
    fits: FitsTarget = None,
    fits_file: TargetFile = None,
    selects: Selected = False,
    keep_nan: KeepNan = None,
    max_trips: MaxTrips = None,
    max_nodes: MaxNodes = None,
    max_work: MaxWork = None,
    max_memory: MaxMemory = None,
    assignments: Set = None,
    dimensions: Shape = None,
    sizes: Dim = None,
    assumed: AssumeMax = None,
    freeze_initializers: Freeze = False,
    max_input_size: MaxInputSize = None,
    timeout: Patience = None,
    picture: Picture = None,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Show every Loop, Scan and If, what decides it, and what a rewrite would do."""
    text, fitted = pipeline_text(passes, selects), target_given(fits, fits_file)
    from ..driver.inspect import inspect as look

    interrupts.raise_from_now_on()
    limited(context, max_work, max_memory, timeout)
    load_passes(load)
    model = read_model(source, max_input_size)
    write_picture(picture, model, source, force)
    found = look(
        model,
        text,
        target=fitted,
        values=contents(assignments),
        shapes=contents(dimensions),
        dims=contents(sizes),
        assume_max=contents(assumed),
        freeze_initializers=freeze_initializers,
        **chosen(max_trips=max_trips, max_nodes=max_nodes, keep_nan=keep_nan),
    )
    again = functools.partial(command_again, context)
    return finish(0, lambda: report.show_inspection(found, source, as_json, again), product=True)


app.command(cls=Command)(diff)
app.command("targets", cls=Command)(list_targets)
app.command("passes", cls=Command)(list_passes)
