"""The command line: reads options, calls the public functions, shows what they found.

Only typer is imported here; rich, onnx and the rest are when a command needs them.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import batching, check_models, interrupts, parsing, report
from . import options as shared
from .arguments import (
    ComparisonArguments,
    ManyArguments,
    ModelArguments,
    OutputArguments,
    ProofArguments,
    TableArguments,
    demanded,
    field_of,
    grouped,
    of_table,
)
from .calibrating import calibrate
from .checking import check_certificate
from .config_options import Configured, applied_to, dict_of, wrapped
from .counterexamples import folder_blocks, require_folder, with_folder, write_counterexample
from .diffing import diff
from .exit_codes import EXIT_DIFFERENT, EXIT_NOT_REPLAYED, EXIT_NOT_VERIFIED, Commands, finish
from .listing import list_passes, list_rules, list_targets
from .loading import load_files
from .options import argument, flag, verifying
from .parsing import Given, contents
from .piping import Command, read_model
from .printing import logged
from .proving import prove
from .reducing import reduce
from .rerun_command import command_again
from .rewrite_session import Session
from .schema import show_schema
from .version import print_version

if TYPE_CHECKING:
    from ..ir import ModelFile
    from ..verification.certificate import Certificate

app = typer.Typer(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Rewrite ONNX models so that control flow disappears, and prove or else check that the"
    " outputs stay the same.",
    epilog="Exit codes: 0 done, 1 bad input, 2 usage, 3 outputs differ, 4 control flow or"
    " unsupported operators left, 5 not proved or nothing compared, 6 proved and not replayed under"
    " --prove, 70 a fault of straightline, 129 the terminal is gone, 130 interrupted, 143 ended by"
    " SIGTERM.",
)


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Print the version on --version."""
    if show:
        print_version()
        raise typer.Exit


SOURCES = argument(
    "IN",
    "The model; '-' is standard input. With -o any number of files, folders (all models below"
    " them), patterns such as 'models/**/*.onnx', and addresses such as s3://bucket/models.",
    parser=parsing.place,
    default_factory=list,
    show_default=False,
)


def _command(run: Callable[..., int], name: str | None = None) -> Callable[..., int]:
    """Add a command; its parameters may be fields of options and groups of them."""
    return app.command(name, cls=Command)(grouped(run))


def _for_models(plan: Callable[..., Session]) -> Callable[..., int]:
    """Add a command for one model or many; `plan` returns the session of one."""

    make = grouped(plan)

    @functools.wraps(make)
    def command(**values: Any) -> int:
        context, sources, target = (values[name] for name in ("context", "sources", "target"))
        folders = [source for source in sources if isinstance(source, Path)]
        configured = Configured(context, make, values, folders)
        session = batching.session_of_one(configured, sources, target)
        if session is None:
            return batching.run_many(configured, [*sources, target])
        return session.run(sources[0], target)

    return app.command(cls=Command)(command)


def _for_a_model(run: Callable[..., int]) -> Callable[..., int]:
    """Add a command about one model, with the options of a configuration file."""

    def with_file(make: Callable[..., int], values: dict[str, Any]) -> int:
        return Configured(values["context"], make, values).of(values["source"])[0]

    return app.command(cls=Command)(wrapped(grouped(run), with_file))


@_for_models
def rewrite(
    context: typer.Context,
    sources: list[Path] = SOURCES,
    target: Path = shared.TARGET,
    *,
    table: TableArguments = of_table("rewrite"),
    about: ModelArguments,
    require_straight_line: bool = flag(
        "Write nothing and exit with 4 if control flow is left.", "--require-straight-line"
    ),
    require_target: bool = flag(
        "Write nothing and exit with 4 if the target does not support all of the model.",
        "--require-target",
    ),
    output: OutputArguments,
    proof: ProofArguments,
    comparison: ComparisonArguments,
    many: ManyArguments,
) -> Session:
    """Remove control flow that is decided before run time.

    Before it writes, it proves that the outputs stay the same, or else compares them.
    """
    groups = table, about, proof, comparison, output, many
    demands = require_straight_line, require_target
    return Session(context, "rewriting", *groups, {}, *demands)


@_for_models
def simplify(
    context: typer.Context,
    sources: list[Path] = SOURCES,
    target: Path = shared.TARGET,
    *,
    table: TableArguments = of_table("simplify"),
    about: ModelArguments,
    output: OutputArguments,
    proof: ProofArguments,
    comparison: ComparisonArguments,
    many: ManyArguments,
) -> Session:
    """Remove control flow, then make the graph smaller: the same as 'rewrite --passes simplify'.

    Before it writes, it proves that the outputs stay the same, or else compares them.
    """
    groups = table, about, proof, comparison, output, many
    return Session(context, "simplifying", *groups, {"passes": "simplify"})


@_command
def verify(
    before: Path = argument("A", "The original; '-' is standard input."),
    after: Path = argument("B", "Its rewrite; '-' is standard input."),
    *,
    prove: bool | None = shared.PROVE,
    certificate: Path | None = verifying(
        "Check that FILE is a certificate for A and B, and make the proof again.",
        "--certificate",
        metavar="FILE",
    ),
    comparison: ComparisonArguments,
    assignments: list[Given] | None = field_of("values"),
    sizes: list[Given] | None = field_of("dims"),
    max_input_size: int | None = shared.MAX_INPUT_SIZE,
    max_memory: int | None = field_of("max_memory"),
    by_position: bool = shared.BY_POSITION,
    counterexample: Path | None = shared.COUNTEREXAMPLE,
    force: bool = shared.FORCE_FOLDER,
    as_json: bool = shared.JSON,
    quiet: bool = shared.QUIET,
) -> int:
    """Prove that two models give equal outputs, or else compare them on the same inputs.

    --set binds inputs that B no longer has, --dim sets named dimensions of drawn inputs.
    """
    prove = demanded(prove, certificate)
    from ..driver.specialize import typed_values
    from ..verification import compare
    from ..verification.correspondence import with_names_of

    interrupts.raise_from_now_on()
    require_folder(counterexample, force)
    with report.progress("verifying", quiet=as_json or quiet) as progress:
        original = read_model(before, max_input_size)
        file = read_model(after, max_input_size)
        bound, record = typed_values(original, contents(assignments)), None
        if certificate is not None:
            if bound or by_position:
                raise typer.BadParameter(
                    "the certificate stores the bound values and matches inputs by name; leave out"
                    " --set and --by-position"
                )
            record = _certificate(certificate, original, file)
            bound = dict(record.bound)
        rewritten = with_names_of(original, file) if by_position else file
        options = comparison.options(prove, dims=contents(sizes), max_memory=max_memory)
        if record is not None:
            # The proof that is made again must be one of the same claim.
            minima = {**options.minima, **record.proof.minima}
            notion = record.proof.equality or options.equality
            options = dataclasses.replace(options, equality=notion, minima=minima)
        # An input that the caller gives stays whole, unless it is to be written as files.
        is_drawn = counterexample is not None or options.feeds is None
        verdict = compare(
            original, rewritten, options, bound=bound, on_progress=progress, minimized=is_drawn
        )
    if record is not None and not verdict.differs:
        record.require_proof(verdict.proof)
    code = EXIT_DIFFERENT if verdict.differs else 0 if verdict.equal else EXIT_NOT_VERIFIED
    failure = [f"{verdict.status}: {verdict.reason}"] if code else []
    if verdict.proved and verdict.proof is not None and verdict.proof.unreplayed:
        code, failure = EXIT_NOT_REPLAYED, [f"{verdict.proof.word}: {verdict.proof.unreplayed}"]
    place = None
    if counterexample is not None and verdict.feeds is not None:
        more = [*comparison.tolerances(), *(["--by-position"] if by_position else [])]
        subject = (before, after), original, verdict.feeds, verdict.difference, bound, more
        place = write_counterexample(counterexample, *subject, force=force)

    def show() -> None:
        blocks = [*verdict.blocks(), *folder_blocks(counterexample, place, verdict.equal)]
        report.show_result(
            lambda: with_folder(verdict.to_dict(), place), blocks, as_json, code, failure
        )

    return finish(code, show, product=True)


def _certificate(path: Path, original: ModelFile, rewritten: ModelFile) -> Certificate:
    """Read the certificate of two models.

    Raises:
        CertificateError: it is none, or one of other models.
    """
    from ..verification.certificate import Certificate

    record = Certificate.read(path)
    record.require_models(original, rewritten)
    return record


@_for_models
def convert(
    context: typer.Context,
    sources: list[Path] = SOURCES,
    target: Path = shared.TARGET,
    *,
    table: TableArguments = of_table("convert"),
    about: ModelArguments,
    output: OutputArguments,
    proof: ProofArguments,
    comparison: ComparisonArguments,
    many: ManyArguments,
) -> Session:
    """Convert a whole model to another opset version, all of it or nothing.

    Before it writes, it proves that the outputs stay the same, or else compares them.
    """
    groups = table, about, proof, comparison, output, many
    return Session(context, "converting", *groups, {"passes": ()})


@_for_a_model
def inspect(
    context: typer.Context,
    source: Path = shared.SOURCE,
    *,
    table: TableArguments = of_table("inspect"),
    about: ModelArguments,
    picture: Path | None = shared.of_output(
        "Also draw the control flow as nested boxes.", "--svg", metavar="FILE"
    ),
    config: Path | None = shared.CONFIG,
    no_config: bool = shared.NO_CONFIG,
    force: bool = shared.FORCE,
    as_json: bool = shared.JSON,
    verbose: int = shared.VERBOSE,
) -> int:
    """Show every Loop, Scan and If, what decides it, and what a rewrite would do."""
    # Options that contradict each other fail before onnx is imported.
    table.target()
    from ..driver.inspect import inspect_model
    from ..limits import governed

    interrupts.raise_from_now_on()
    options = table.options()
    context.with_resource(governed(options.limits))
    context.with_resource(logged(verbose))
    load_files(about)
    model = read_model(source, about.max_input_size)
    if picture is not None:
        from ..report import write_svg

        write_svg(picture, model, [source, *model.data_files], force=force)
    inspection = inspect_model(model, options)

    def show() -> None:
        blocks = inspection.blocks(
            lambda hint: command_again(context, hint.options), brief=not verbose
        )
        names = {"model": str(source), "config": dict_of(applied_to(context))}
        report.show_result(lambda: names | inspection.to_dict(), blocks, as_json)

    return finish(0, show, product=True)


app.command("check", cls=Command)(wrapped(grouped(check_models.plan), check_models.check))
_command(prove)
_command(check_certificate, "check-certificate")
_command(diff)
_command(reduce)
_command(calibrate)
_command(list_targets, "targets")
_command(list_passes, "passes")
_command(list_rules, "rules")
_command(show_schema, "schema")
