"""Many models in one command: its arguments, and the table or lines of JSON at the end."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from . import exit_codes, interrupts, parsing, report
from .arguments import LOCAL
from .config_options import Applied, Configured, dict_of
from .loading import load_files
from .pages import tell_page
from .rerun_command import command_again

if TYPE_CHECKING:
    from ..batch import Record
    from ..batch.job_config import JobConfig
    from ..batch.sources import Job
    from ..ir import SaveError
    from .rewrite_session import Session


CODES = {
    "fault": exit_codes.EXIT_FAULT,
    "outputs differ": exit_codes.EXIT_DIFFERENT,
    "usage": exit_codes.EXIT_USAGE,
    "bad input": exit_codes.EXIT_BAD_INPUT,
    "worker died": exit_codes.EXIT_BAD_INPUT,
    "not verified": exit_codes.EXIT_NOT_VERIFIED,
    "control flow left": exit_codes.EXIT_CONTROL_FLOW_LEFT,
    "not taken": exit_codes.EXIT_CONTROL_FLOW_LEFT,
    "other opset": exit_codes.EXIT_CONTROL_FLOW_LEFT,
    exit_codes.NOT_REPLAYED: exit_codes.EXIT_NOT_REPLAYED,
    "": 0,
}
"""The exit codes of problems, the worst first."""


def session_of_one(
    configured: Configured[Session], sources: Sequence[Path], target: Path
) -> Session | None:
    """Return the session of one model; None where the command is about many.

    Raises:
        BadParameter: the arguments are about neither one model nor many.
        LoadError: the one model is a folder.
    """
    many = configured.plain().many
    if many.out is not None:
        return None
    for field in dataclasses.fields(many):
        if getattr(many, field.name) != field.default:
            raise typer.BadParameter(
                f"--{field.name} is for many models; name the folder of the results with -o FOLDER"
            )
    places: list[Any] = [*sources, target]
    for place in places:
        if isinstance(place, parsing.Address):
            raise typer.BadParameter(f"{place}: {parsing.FOR_MANY}")
    if len(sources) != 1:
        count = len(sources) + 1
        counted = "one name" if count == 1 else f"{count} names"
        output = configured.plain().output
        spaced = output.print_after or output.print_before
        names_pass = "; write the pass behind '=', as in --print-after=PASS" if spaced else ""
        raise typer.BadParameter(
            f"{counted}: write IN OUT for one model, or -o FOLDER and any number of models"
            + names_pass
        )
    if sources[0] != parsing.STREAM and sources[0].is_dir():
        from ..ir import LoadError

        raise LoadError(
            f"cannot read '{sources[0]}': it is a folder; for all models in it write -o {target}"
        )
    session, _ = configured.of(sources[0])
    session.check()
    return session


def run_many(configured: Configured[Session], sources: Sequence[Path]) -> int:
    """Do all models of a batch; return the exit code of the worst one."""
    session = configured.plain()
    output, many = session.output, session.many
    _require_for_many(session, sources)
    from ..batch.scheduler import run_all

    read = [source for source in sources if isinstance(source, Path)]
    require_summaries(many.summary, many.out, read, force=session.output.force)
    interrupts.raise_from_now_on()
    applied: dict[str, Applied | None] = {}
    configs: dict[int, JobConfig] = {}

    def config_of(job: Job) -> JobConfig:
        one, applied[job.name] = configured.of(None if job.origin else Path(job.source))
        # Models without options of their own share a session, and so its configuration.
        if id(one) not in configs:
            configs[id(one)] = _config(one)
        return configs[id(one)]

    count = 0, 0
    try:
        with report.progress(session.stage, quiet=output.as_json or output.quiet) as progress:

            def show_count(_: str, name: str, finished: int, total: int) -> None:
                nonlocal count
                count = finished, total
                progress(session.stage, f"{finished} of {total} models", finished, total)

            where = many.jobs, many.resume, many.backend, many.address
            records = run_all(
                sources, many.out or Path(), config_of, *where, on_progress=show_count
            )
    except KeyboardInterrupt:
        command = command_again(session.context, ["--resume"])
        report.show_warning(
            f"{count[0]} of {count[1]} models are done, and every written file is complete;"
            f" continue with: {command}"
        )
        raise
    lost = write_summaries(many.summary, records, str(many.out), read)

    def tell() -> None:
        show(records, applied, output.as_json)
        for path in () if lost else many.summary or ():
            tell_page(path, output.as_json, "summary")

    code = worst({record.problem for record in records}) or max(map(_code_of, records), default=0)
    code = exit_codes.finish(code, tell, product=False)
    if lost is not None:
        raise lost
    return code


def _config(session: Session) -> JobConfig:
    """Return the work on one model of a batch."""
    from ..batch.job_config import JobConfig
    from ..ir import TWO_GB

    session.check()
    about = session.about
    if about.check:
        load_files(about)
    return JobConfig(
        dataclasses.replace(session.rewriting, hints=False),
        session.verification,
        straight_line=session.straight_line,
        whole_target=session.whole_target,
        force=session.output.force,
        max_bytes=TWO_GB if about.max_input_size is None else about.max_input_size,
        load=tuple(about.load or ()),
        link_data=session.output.link_data is not None,
        reports=session.output.page,
    )


def _require_for_many(session: Session, sources: Sequence[Path]) -> None:
    output, many = session.output, session.many
    for name, value in (
        ("certificate", session.proof.certificate),
        ("print-after", output.print_after),
        ("print-before", output.print_before),
        ("verbose", output.verbose),
    ):
        if value:
            raise typer.BadParameter(f"--{name} applies to one model; leave it out, or -o")
    if parsing.STREAM in sources:
        raise typer.BadParameter("standard input holds one model; leave out -o, or name files")
    if output.link_data == "reference":
        raise typer.BadParameter(
            "--link-data reference applies to one model: a model in another folder cannot refer to"
            " the data; leave it out, or link the data with --link-data hard"
        )
    out = many.out
    if isinstance(out, Path) and out.suffix == ".onnx" and not out.is_dir():
        raise typer.BadParameter(
            f"-o names the folder for many results, and '{out}' looks like a model; for one"
            " model write IN OUT without -o"
        )
    if output.page is not None and many.backend != LOCAL:
        raise typer.BadParameter(
            "--report needs --backend local, since it writes pages to this machine"
        )
    if many.address is not None and many.backend == LOCAL:
        raise typer.BadParameter("--address needs a cluster; choose one with --backend")


def worst(problems: Collection[str]) -> int:
    """Return the exit code of the worst problem."""
    return next((code for problem, code in CODES.items() if problem in problems), 0)


def _code_of(record: Record) -> int:
    """Return the exit code that a model alone would have."""
    is_unreplayed = record.outputs == exit_codes.NOT_REPLAYED
    return CODES[record.problem] or (exit_codes.EXIT_NOT_REPLAYED if is_unreplayed else 0)


def show(records: Sequence[Record], applied: Mapping[str, Applied | None], as_json: bool) -> None:
    """Show a table with a sum, or a line of JSON for each model."""
    if as_json:
        for record in records:
            config = dict_of(applied.get(record.name))
            row = {**record.to_dict(), "config": config, "exit": _code_of(record)}
            # json escapes all control characters but DEL.
            print(json.dumps(row, allow_nan=False).replace("\x7f", "\\u007f"))
        return
    from ..display.blocks import Table

    columns = ("Model", "Outcome", "Outputs", "Nodes", "Details")
    report.show([Table(columns, [_row(record) for record in records])])
    report.say(_sum(records))


def _row(record: Record) -> list[str | list[str]]:
    nodes = " to ".join(map(str, record.nodes or ()))
    notes: list[str] = [record.problem] if record.problem not in ("", "bad input") else []
    opset = record.opset or (0, 0)
    if record.ok and opset[0] != opset[1]:
        notes.append(f"opset {opset[0]} became {opset[1]}")
    return [record.name, record.status, record.outputs, nodes, [*notes, *record.messages]]


def _sum(records: Sequence[Record]) -> str:
    from ..batch.summary import counted_models

    counts = dict.fromkeys(("written", "skipped", "failed"), 0)
    for record in records:
        counts[record.status] += 1
    counted = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    return f"{counted_models(records)}: {counted}"


def require_summaries(
    paths: Sequence[Path] | None, out: Any, sources: Iterable[Path], *, force: bool
) -> None:
    """Check that summaries can be written, before the long work.

    Args:
        paths: their places.
        out: the folder of the results, which the work makes if need be.
        sources: files that must stay.
        force: overwrite also other files.

    Raises:
        SaveError: one cannot be written.
    """
    from ..batch.summary import KEYS
    from ..report.sheet import sheet_place

    for path in paths or ():
        if isinstance(out, Path) and path.absolute().parent == out.absolute() and not out.exists():
            continue
        sheet_place(path, KEYS, sources, force=force)


def write_summaries(
    paths: Sequence[Path] | None, records: Sequence[Record], out: str, sources: Iterable[Path]
) -> SaveError | None:
    """Write summaries; return the first error, so that the records are shown all the same."""
    from ..batch.summary import counted_models, summary
    from ..ir import SaveError

    lost = None
    for path in paths or ():
        try:
            title = f"{counted_models(records)} in {out}"
            summary(records, title, path.parent).write(path, sources, force=True)
        except SaveError as error:
            lost = lost or error
    return lost
