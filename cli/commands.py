"""The command line: reads options, calls the public functions, shows what they found.

Only typer and rich are imported here; onnx and the rest are when a command needs them.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Annotated

import typer

from . import interrupts, report
from .again import command_again
from .batching import many_too
from .boundary import EXIT_CONTROL_FLOW_LEFT, EXIT_DIFFERENT, EXIT_NOT_VERIFIED, Commands, finish
from .comparing import comparison, demanded, keep, kept_for, verified
from .diffing import diff
from .opening import load_passes, opened, shapes_given
from .options import (
    AcceleratedFor,
    After,
    AssumeMax,
    Atol,
    Before,
    Certificate,
    Dim,
    Force,
    Freeze,
    Inputs,
    Json,
    KeptCertificate,
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
    ThenOpset,
    Timeout,
    Verify,
    chosen,
    limited,
    pipeline_text,
)
from .pages import Page, Picture, require_page, tell_page, write_page, write_picture
from .parsing import contents, files_in
from .piping import Command, read_model, write_model
from .printing import PrintAfter, PrintBefore, Verbose, watched

if TYPE_CHECKING:
    pass

app = typer.Typer(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
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


@app.command(cls=Command)
@many_too("rewriting")
def rewrite(
    context: typer.Context,
    source: Source,
    target: Target,
    *,
    passes: Passes = None,
    load: Load = None,
    runs_in: AcceleratedFor = None,
    selects: Selected = False,
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
    force: Force = False,
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
    text, prove = pipeline_text(passes, runs_in, selects), demanded(prove, certificate, verify)
    wanted = comparison(prove, inputs, runtime, rtol, atol, samples, seed, timeout, sample_shape)
    from ..api import transform

    interrupts.raise_from_now_on()
    limited(context, max_work, max_memory, timeout)
    load_passes(load)
    watch, silent = watched(print_after, print_before, verbose), as_json or quiet or verbose > 0
    with watch, report.progress("rewriting", quiet=silent) as told:
        given = [inputs, *files_in(assignments)]
        original, read = opened(source, max_input_size, target, given, certificate, force)
        require_page(page, [*read, *original.data_files, source, target], force)
        outcome = transform(
            original,
            text,
            opset=opset,
            values=contents(assignments),
            shapes=shapes_given(original, dimensions, sizes),
            assume_max=contents(assumed),
            freeze_initializers=freeze_initializers,
            verify=False,
            strict=strict,
            on_progress=told,
            **chosen(max_trips=max_trips, max_nodes=max_nodes),
        )
    mismatch, code = None, EXIT_CONTROL_FLOW_LEFT if require_straight_line and outcome.left else 0
    if verify and not code:
        with report.progress("verifying", quiet=as_json or quiet) as told:
            outcome, mismatch, code = verified(outcome, wanted, told, strict)
    if not code:
        write_model(outcome.ir, target, force=force, keep=read)
        keep(certificate, outcome, original, force)
    written, again = None if code else target, functools.partial(command_again, context)
    write_page(page, outcome, source, written, again)

    def tell() -> None:
        report.show_outcome(outcome, mismatch, written, as_json, again)
        tell_page(page, as_json)

    code = finish(code, tell, product=False)
    report.tell_verification(outcome.verdict, mismatch, written)
    if code == EXIT_CONTROL_FLOW_LEFT:
        left = len(outcome.left)
        report.show_error(f"control flow is left in {left} places; nothing was written")
    return code


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
    max_input_size: MaxInputSize = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Prove that two models give equal outputs, or else compare them on the same inputs.

    --set gives the values of inputs that B no longer has.
    """
    prove = demanded(prove, certificate)
    wanted = comparison(prove, inputs, runtime, rtol, atol, samples, seed, timeout, sample_shape)
    from ..binding import typed_values
    from ..verification import verify as compare

    interrupts.raise_from_now_on()
    with report.progress("verifying", quiet=as_json or quiet) as told:
        original = read_model(before, max_input_size)
        rewritten = read_model(after, max_input_size)
        bound, kept = typed_values(original, contents(assignments)), None
        if certificate is not None:
            kept = kept_for(certificate, original, rewritten, bound)
            bound = dict(kept.bound)
        verdict = compare(original, rewritten, bound=bound, on_progress=told, **wanted)
    if kept is not None and verdict.status != "different":
        kept.require_proof(verdict.proof)
    codes = {"equal": 0, "different": EXIT_DIFFERENT, "not verified": EXIT_NOT_VERIFIED}
    return finish(
        codes[verdict.status], lambda: report.show_verdict(verdict, as_json), product=True
    )


@app.command(cls=Command)
@many_too("converting")
def convert(
    context: typer.Context,
    source: Source,
    target: Target,
    *,
    opset: Annotated[
        int, typer.Option(metavar="N", help="The opset version to convert to, 7 or later.")
    ],
    ir_version: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=3, help="The file format version; by default as ONNX released them."
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
) -> int:
    """Carry a whole model to another opset version, all of it or nothing.

    That the outputs are the original's is proved, or else checked, before anything is written.
    """
    prove = demanded(prove, certificate, verify)
    wanted = comparison(prove, inputs, runtime, rtol, atol, samples, seed, timeout, sample_shape)
    from ..api import transform

    interrupts.raise_from_now_on()
    limited(context, max_work, max_memory, timeout)
    load_passes(load)
    with report.progress("converting", quiet=as_json or quiet) as told:
        given = [inputs, *files_in(assignments)]
        original, read = opened(source, max_input_size, target, given, certificate, force)
        require_page(page, [*read, *original.data_files, source, target], force)
        outcome = transform(
            original,
            (),
            opset=opset,
            ir_version=ir_version,
            rewrite=rewriting,
            values=contents(assignments),
            shapes=shapes_given(original, dimensions, sizes),
            freeze_initializers=freeze_initializers,
            verify=False,
            on_progress=told,
        )
    mismatch, code = None, 0
    if verify:
        with report.progress("verifying", quiet=as_json or quiet) as told:
            outcome, mismatch, code = verified(outcome, wanted, told)
    if not code:
        write_model(outcome.ir, target, force=force, keep=read)
        keep(certificate, outcome, original, force)
    written = None if code else target
    again = functools.partial(command_again, context)
    write_page(page, outcome, source, written, again)

    def tell() -> None:
        report.show_outcome(outcome, mismatch, written, as_json)
        tell_page(page, as_json)

    code = finish(code, tell, product=False)
    report.tell_verification(outcome.verdict, mismatch, written)
    return code


@app.command(cls=Command)
def inspect(
    context: typer.Context,
    source: Source,
    *,
    passes: Passes = None,
    load: Load = None,
    runs_in: AcceleratedFor = None,
    selects: Selected = False,
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
    text = pipeline_text(passes, runs_in, selects)
    from ..inspection import inspect as look

    interrupts.raise_from_now_on()
    limited(context, max_work, max_memory, timeout)
    load_passes(load)
    model = read_model(source, max_input_size)
    write_picture(picture, model, source, force)
    found = look(
        model,
        text,
        values=contents(assignments),
        shapes=shapes_given(model, dimensions, sizes),
        assume_max=contents(assumed),
        freeze_initializers=freeze_initializers,
        **chosen(max_trips=max_trips, max_nodes=max_nodes),
    )
    again = functools.partial(command_again, context)
    return finish(0, lambda: report.show_inspection(found, source, as_json, again), product=True)


app.command(cls=Command)(diff)


@app.command("passes", cls=Command)
def list_passes(load: Load = None, as_json: Json = False) -> int:
    """Show every pass with its options."""
    from ..inspection import describe_passes

    interrupts.raise_from_now_on()
    load_passes(load)
    found = describe_passes()
    return finish(0, lambda: report.show_passes(found, as_json), product=True)
