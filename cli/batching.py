"""Many models in one command: its arguments, and the table or lines of JSON at the end."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from . import exit_codes, interrupts, parsing, report
from .options import choice, for_many, whole
from .pages import tell_page
from .rerun_command import command_again
from .summaries import require_summaries, write_summaries

if TYPE_CHECKING:
    from ..batch import Record
    from .rewrite_session import Session

_LOCAL = "loky"
_CODES = {
    "fault": exit_codes.EXIT_FAULT,
    "outputs differ": exit_codes.EXIT_DIFFERENT,
    "usage": exit_codes.EXIT_USAGE,
    "bad input": exit_codes.EXIT_BAD_INPUT,
    "worker died": exit_codes.EXIT_BAD_INPUT,
    "not verified": exit_codes.EXIT_NOT_VERIFIED,
    "control flow left": exit_codes.EXIT_CONTROL_FLOW_LEFT,
    "not taken": exit_codes.EXIT_CONTROL_FLOW_LEFT,
    "": 0,
}
"""The exit codes of problems, the worst first."""


@dataclasses.dataclass(frozen=True)
class ManyArguments:
    """Arguments about many models."""

    out: Path | None = for_many(
        "The folder of the results of many models; it keeps the structure of the source folders.",
        "-o",
        "--out",
        metavar="FOLDER",
        parser=parsing.place,
    )
    jobs: int | None = for_many(
        "Number of models in progress at once; by default the number of processors.",
        **whole(1),
    )
    resume: bool = for_many("Skip models that are done and unchanged.", "--resume", default=False)
    backend: str = for_many(
        "The processes: loky, on this machine; dask or ray, on a cluster that reaches the same"
        " files.",
        "--backend",
        default=_LOCAL,
        **choice("NAME", _LOCAL, "dask", "ray"),
    )
    summary: list[Path] | None = for_many(
        "Also write a line for each model and totals: an HTML page, or CSV where FILE ends in .csv."
        " Repeatable.",
        "--summary",
        metavar="FILE",
        parser=parsing.sheet_path,
    )
    address: str | None = for_many(
        "Address of the cluster, such as tcp://10.0.0.1:8786 (dask) or 10.0.0.1:6379 (ray).",
        metavar="URL",
    )


def run(session: Session, sources: Sequence[Path], target: Path, many: ManyArguments) -> int:
    """Do one model, or all models of a batch; return the exit code, of a batch the worst one.

    Raises:
        BadParameter: the arguments are about neither one model nor many.
        LoadError: the one model is a folder.
    """
    session.check()
    if many.out is not None:
        return _run_many(session, [*sources, target], many)
    for field in dataclasses.fields(many):
        if getattr(many, field.name) != field.default:
            raise typer.BadParameter(
                f"--{field.name} is for many models; say where to with -o FOLDER"
            )
    places: list[Any] = [*sources, target]
    for place in places:
        if isinstance(place, parsing.Address):
            raise typer.BadParameter(f"{place}: {parsing.FOR_MANY}")
    if len(sources) != 1:
        count = len(sources) + 1
        counted = "one name is given" if count == 1 else f"{count} names are given"
        raise typer.BadParameter(
            f"{counted}: write IN OUT for one model, or -o FOLDER and any number of models"
        )
    if sources[0].is_dir():
        from ..ir import LoadError

        raise LoadError(
            f"cannot read '{sources[0]}': it is a folder; for all models in it write -o {target}"
        )
    return session.run(sources[0], target)


def _run_many(session: Session, sources: Sequence[Path], many: ManyArguments) -> int:
    _require_for_many(session, sources, many)
    from ..batch.job_config import JobConfig
    from ..batch.scheduler import run_all
    from ..ir import TWO_GB

    read = [source for source in sources if isinstance(source, Path)]
    require_summaries(many.summary, many.out, read, force=session.output.force)
    interrupts.raise_from_now_on()
    about, output = session.about, session.output
    how = JobConfig(
        dataclasses.replace(session.rewriting, hints=False),
        session.verification,
        straight_line=session.straight_line,
        whole_target=session.whole_target,
        force=output.force,
        max_bytes=TWO_GB if about.max_input_size is None else about.max_input_size,
        load=tuple(about.load or ()),
        link_data=output.link_data is not None,
    )
    count = 0, 0
    try:
        with report.progress(session.stage, quiet=output.as_json or output.quiet) as progress:

            def show_count(_: str, name: str, finished: int, total: int) -> None:
                nonlocal count
                count = finished, total
                progress(session.stage, f"{finished} of {total} models", finished, total)

            where = many.jobs, many.resume, many.backend, many.address
            records = run_all(sources, many.out or Path(), how, *where, on_progress=show_count)
    except KeyboardInterrupt:
        again = command_again(session.context, ["--resume"])
        report.show_warning(
            f"{count[0]} of {count[1]} models are done, and what is written is whole; go on with:"
            f" {again}"
        )
        raise
    lost = write_summaries(many.summary, records, str(many.out), read)

    def tell() -> None:
        show(records, output.as_json)
        for path in () if lost else many.summary or ():
            tell_page(path, output.as_json, "summary")

    code = exit_codes.finish(worst(records), tell, product=False)
    if lost is not None:
        raise lost
    return code


def _require_for_many(session: Session, sources: Sequence[Path], many: ManyArguments) -> None:
    output = session.output
    for name, value in (
        ("certificate", session.proof.certificate),
        ("report", output.page),
        ("print-after", output.print_after),
        ("print-before", output.print_before),
        ("verbose", output.verbose),
    ):
        if value:
            raise typer.BadParameter(f"--{name} is about one model; leave it out, or -o")
    if parsing.STREAM in sources:
        raise typer.BadParameter("standard input holds one model; leave out -o, or name files")
    if output.link_data == "reference":
        raise typer.BadParameter(
            "--link-data reference is about one model: those in another folder cannot refer to"
            " their data; leave it out, or let the data be linked, with --link-data hard"
        )
    if many.address is not None and many.backend == _LOCAL:
        raise typer.BadParameter("--address is that of a cluster; say which, with --backend")


def worst(records: Sequence[Record]) -> int:
    """Return the exit code of the worst failure."""
    problems = {record.problem for record in records}
    return next((code for problem, code in _CODES.items() if problem in problems), 0)


def show(records: Sequence[Record], as_json: bool) -> None:
    """Show a table and a sum, or a line of JSON for each model."""
    if as_json:
        for record in records:
            row = {**record.to_dict(), "exit": _CODES[record.problem]}
            print(json.dumps(row, allow_nan=False).replace("\x7f", "\\u007f"))
        return
    from ..display.blocks import Table

    columns = ("Model", "Outcome", "Outputs", "Nodes", "What, or why")
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
