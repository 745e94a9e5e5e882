"""The command line: reads options, calls the public functions, shows what they found.

Only typer and rich are imported here; onnx and the rest are when a command needs them.
"""

from __future__ import annotations

import functools
from typing import Annotated

import typer

from . import batching, interrupts, report
from .arguments import (
    ComparisonArguments,
    ModelArguments,
    OutputArguments,
    PipelineArguments,
    ProofArguments,
    demanded,
    grouped,
)
from .diffing import diff
from .exit_codes import EXIT_DIFFERENT, EXIT_NOT_VERIFIED, Commands, finish
from .listing import list_passes, list_targets
from .options import (
    After,
    Before,
    Dim,
    Force,
    Json,
    KeptCertificate,
    MaxInputSize,
    MaxMemory,
    Patience,
    Prove,
    Quiet,
    RequireTarget,
    Rewrite,
    Set,
    Source,
    Target,
    ThenOpset,
)
from .pages import Picture, write_picture
from .parsing import contents, whole
from .piping import Command, read_model
from .printing import Verbose, logged
from .rerun_command import command_again
from .rewrite_session import Session

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
@grouped
def rewrite(
    context: typer.Context,
    sources: batching.Sources,
    target: Target,
    *,
    pipeline: PipelineArguments,
    about: ModelArguments,
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
    output: OutputArguments,
    proof: ProofArguments,
    comparison: ComparisonArguments,
    many: batching.ManyArguments,
) -> int:
    """Remove the control flow of a model that is decided before run time.

    That the outputs are the original's is proved, or else checked, before anything is written.
    """
    keywords = {**pipeline.keywords(), "opset": opset, "strict": strict}
    groups = about, proof, comparison, output
    demands = require_straight_line, require_target
    session = Session(context, "rewriting", *groups, keywords, *demands)
    return batching.run(session, sources, target, many)


@app.command(cls=Command)
@grouped
def verify(
    before: Before,
    after: After,
    *,
    prove: Prove = None,
    certificate: KeptCertificate = None,
    comparison: ComparisonArguments,
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
    from ..driver.specialize import typed_values
    from ..verification import compare

    interrupts.raise_from_now_on()
    with report.progress("verifying", quiet=as_json or quiet) as progress:
        original = read_model(before, max_input_size)
        rewritten = read_model(after, max_input_size)
        bound, record = typed_values(original, contents(assignments)), None
        if certificate is not None:
            from ..verification.certificate import Certificate

            if bound:
                raise typer.BadParameter(
                    "the certificate holds the values that were set; leave out --set"
                )
            record = Certificate.read(certificate)
            record.require_models(original, rewritten)
            bound = dict(record.bound)
        options = comparison.options(prove, dims=contents(sizes), max_memory=max_memory)
        verdict = compare(original, rewritten, options, bound=bound, on_progress=progress)
    if record is not None and not verdict.differs:
        record.require_proof(verdict.proof)
    code = EXIT_DIFFERENT if verdict.differs else 0 if verdict.equal else EXIT_NOT_VERIFIED
    return finish(code, lambda: report.show_verdict(verdict, as_json, code), product=True)


@app.command(cls=Command)
@grouped
def convert(
    context: typer.Context,
    sources: batching.Sources,
    target: Target,
    *,
    opset: Annotated[
        int | None,
        typer.Option(
            metavar="N", parser=whole(1), help="The opset version to convert to, 7 or later."
        ),
    ] = None,
    ir_version: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=whole(3),
            help="The file format version; by default as ONNX released them.",
        ),
    ] = None,
    rewriting: Rewrite = True,
    about: ModelArguments,
    output: OutputArguments,
    proof: ProofArguments,
    comparison: ComparisonArguments,
    many: batching.ManyArguments,
) -> int:
    """Carry a whole model to another opset version, all of it or nothing.

    That the outputs are the original's is proved, or else checked, before anything is written.
    """
    keywords = {"passes": (), "opset": opset, "ir_version": ir_version, "rewrite": rewriting}
    session = Session(context, "converting", about, proof, comparison, output, keywords)
    return batching.run(session, sources, target, many)


@app.command(cls=Command)
@grouped
def inspect(
    context: typer.Context,
    source: Source,
    *,
    pipeline: PipelineArguments,
    about: ModelArguments,
    timeout: Patience = None,
    picture: Picture = None,
    force: Force = False,
    as_json: Json = False,
    verbose: Verbose = 0,
) -> int:
    """Show every Loop, Scan and If, what decides it, and what a rewrite would do."""
    keywords = pipeline.keywords()
    about.target()
    from ..driver.inspect import inspect_model
    from ..limits import governed
    from ..passes import load_file

    interrupts.raise_from_now_on()
    options = about.options(timeout=timeout, **keywords)
    context.with_resource(governed(options.limits))
    context.with_resource(logged(verbose))
    for file in about.load or ():
        load_file(file)
    model = read_model(source, about.max_input_size)
    write_picture(picture, model, source, force)
    inspection = inspect_model(model, options)
    again = functools.partial(command_again, context)

    def show() -> None:
        report.show_inspection(inspection, source, as_json, again, brief=not verbose)

    return finish(0, show, product=True)


app.command(cls=Command)(diff)
app.command("targets", cls=Command)(list_targets)
app.command("passes", cls=Command)(list_passes)
