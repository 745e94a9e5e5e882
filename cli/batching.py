"""Many models in one command: what is asked for, and the table or lines of JSON at the end."""

from __future__ import annotations

import enum
import functools
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import exit_codes, interrupts, parsing, report
from .comparing import comparison, demanded
from .completing import words
from .opening import require_opset, target_given
from .options import Sharing, pipeline_text
from .rerun_command import command_again

if TYPE_CHECKING:
    from ..batch import Record

MANY = "Many models"

_for_many = functools.partial(typer.Option, rich_help_panel=MANY)
"""An option for many models."""

_ONE_ONLY = ("certificate", "page", "print_after", "print_before", "verbose")
"""Parameters of options that speak of one model or one run."""
_CODES = {
    "": 0,
    "bad input": exit_codes.EXIT_BAD_INPUT,
    "worker died": exit_codes.EXIT_BAD_INPUT,
    "usage": exit_codes.EXIT_USAGE,
    "outputs differ": exit_codes.EXIT_DIFFERENT,
    "control flow left": exit_codes.EXIT_CONTROL_FLOW_LEFT,
    "not taken": exit_codes.EXIT_CONTROL_FLOW_LEFT,
    "not verified": exit_codes.EXIT_NOT_VERIFIED,
    "fault": exit_codes.EXIT_FAULT,
}
_WORST_FIRST = (
    exit_codes.EXIT_FAULT,
    exit_codes.EXIT_DIFFERENT,
    exit_codes.EXIT_USAGE,
    exit_codes.EXIT_BAD_INPUT,
    exit_codes.EXIT_NOT_VERIFIED,
    exit_codes.EXIT_CONTROL_FLOW_LEFT,
    0,
)


class Backend(str, enum.Enum):
    """Where many models are worked on."""

    loky = "loky"
    dask = "dask"
    ray = "ray"


Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="IN",
        default_factory=list,
        parser=parsing.model_path,
        help="The model; '-' is standard input. With -o as many as there are: files, folders with"
        " all models below them, and patterns such as 'models/**/*.onnx'.",
        show_default=False,
    ),
]
Out = Annotated[
    Path | None,
    _for_many(
        "-o",
        "--out",
        metavar="FOLDER",
        help="Where the results of many models are written; the structure of the folders that"
        " they are read from is kept.",
    ),
]
Jobs = Annotated[
    int | None,
    _for_many(
        metavar="N",
        parser=parsing.whole(1),
        help="How many models are worked on at once; as many as there are processors if not given.",
    ),
]
Resume = Annotated[
    bool,
    _for_many("--resume", help="Skip what is done already and unchanged."),
]
BackendOption = Annotated[
    Backend,
    _for_many(
        "--backend",
        metavar="NAME",
        parser=parsing.choice(Backend),
        autocompletion=words(Backend),
        help="Where the work is done: loky, on this machine; dask or ray, on a cluster that reaches"
        " the same files.",
    ),
]
Address = Annotated[
    str | None,
    _for_many(
        metavar="URL",
        help="Where the cluster is, such as tcp://10.0.0.1:8786 (dask) or 10.0.0.1:6379 (ray).",
    ),
]


_AS_THEY_ARE = {
    "opset": "opset",
    "ir_version": "ir_version",
    "rewriting": "rewrite",
    "strict": "strict",
    "require_straight_line": "require_straight_line",
    "require_target": "require_target",
    "freeze_initializers": "freeze_initializers",
    "keep_nan": "keep_nan",
    "max_trips": "max_trips",
    "max_nodes": "max_nodes",
    "max_input_size": "max_bytes",
    "max_work": "max_work",
    "max_memory": "max_memory",
    "force": "force",
    "load": "load",
    "jobs": "jobs",
    "resume": "resume",
    "address": "address",
}
_BY_NAME = {
    "assignments": "values",
    "dimensions": "shapes",
    "sizes": "dims",
    "assumed": "assume_max",
}
"""What parameters of commands are called by `straightline.batch.run`."""
_OF_MANY = {
    "out": (Out, None),
    "jobs": (Jobs, None),
    "resume": (Resume, False),
    "backend": (BackendOption, Backend.loky),
    "address": (Address, None),
}
"""The parameters that a command has for many models, each with its default."""


def many_too(stage: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Let a command from one model to another also be one from many to a folder.

    Args:
        stage: what it does, for people.
    """

    def extended(command: Callable[..., int]) -> Callable[..., int]:
        own = inspect.signature(command, eval_str=True).parameters

        @functools.wraps(command)
        def either(context: typer.Context, **given: Any) -> int:
            if _is_many(given):
                return _run_many(context, stage, given)
            one = {name: value for name, value in given.items() if name in own}
            if "context" in own:
                one["context"] = context
            return command(source=given["sources"][0], **one)

        _declare(either, own)
        return either

    return extended


def _declare(either: Any, own: Mapping[str, inspect.Parameter]) -> None:
    """Let a function have the parameters of a command, and those for many models."""
    kind = inspect.Parameter.KEYWORD_ONLY
    first = [
        inspect.Parameter("context", kind, annotation=typer.Context),
        inspect.Parameter("sources", kind, annotation=Sources),
    ]
    kept = [held for name, held in own.items() if name not in ("context", "source")]
    more = [
        inspect.Parameter(name, kind, annotation=annotation, default=default)
        for name, (annotation, default) in _OF_MANY.items()
    ]
    all_of_them = [*first, *(held.replace(kind=kind) for held in kept), *more]
    del either.__wrapped__
    either.__signature__ = inspect.Signature(all_of_them)
    either.__annotations__ = {held.name: held.annotation for held in all_of_them}


def _is_many(given: Mapping[str, Any]) -> bool:
    """Whether a command is about many models.

    Raises:
        BadParameter: it is about neither one model nor many.
        LoadError: it is about one, which is a folder.
    """
    if given["out"] is not None:
        return True
    for name, (_, default) in _OF_MANY.items():
        if given[name] != default:
            raise typer.BadParameter(f"--{name} is for many models; say where to with -o FOLDER")
    named = [*given["sources"], given["target"]]
    if len(named) != 2:
        told = "one name is given" if len(named) == 1 else f"{len(named)} names are given"
        raise typer.BadParameter(
            f"{told}: write IN OUT for one model, or -o FOLDER and any number of models"
        )
    if named[0].is_dir():
        from ..ir import LoadError

        raise LoadError(
            f"cannot read '{named[0]}': it is a folder; for all models in it write -o {named[1]}"
        )
    return False


def _run_many(context: typer.Context, stage: str, given: Mapping[str, Any]) -> int:
    """Do with many models what is asked for; the worst exit code of all."""
    _require_for_many(given)
    passes: str | tuple[()] | None = ()
    if "passes" in given:
        passes = pipeline_text(given["passes"], given["selects"])
    required = bool(given.get("require_target"))
    fitted = target_given(given["fits"], given["fits_file"], required)
    if "passes" not in given:
        require_opset(given["opset"], fitted)
    compared = ("inputs", "runtime", "rtol", "atol", "samples", "seed", "timeout", "sample_shape")
    prove = demanded(given["prove"], None, given["verify"])
    wanted = comparison(prove, *(given[name] for name in compared))
    from ..batch import run

    interrupts.raise_from_now_on()
    count = 0, 0
    try:
        with report.progress(stage, quiet=given["as_json"] or given["quiet"]) as told:

            def tell(_: str, name: str, done: int, total: int) -> None:
                nonlocal count
                count = done, total
                told(stage, f"{done} of {total} models", done, total)

            records = run(
                [*given["sources"], given["target"]],
                given["out"],
                passes,
                verify=vars(wanted) if given["verify"] else False,
                link_data=given["link_data"] is not None,
                backend=given["backend"].value,
                target=fitted,
                on_progress=tell,
                **_options(given),
            )
    except KeyboardInterrupt:
        _tell_how_to_go_on(context, *count)
        raise
    code = worst(records)
    return exit_codes.finish(code, lambda: show(records, given["as_json"]), product=False)


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    """What a command was given, as `straightline.batch.run` calls it."""
    found = {
        name: given[ours] for ours, name in _AS_THEY_ARE.items() if given.get(ours) is not None
    }
    for ours, name in _BY_NAME.items():
        if given.get(ours):
            found[name] = parsing.contents(given[ours])
    return found


def _require_for_many(given: Mapping[str, Any]) -> None:
    for name in _ONE_ONLY:
        if given.get(name):
            option = "--report" if name == "page" else f"--{name.replace('_', '-')}"
            raise typer.BadParameter(f"{option} is about one model; leave it out, or -o")
    if parsing.STREAM in [*given["sources"], given["target"]]:
        raise typer.BadParameter("standard input holds one model; leave out -o, or name files")
    if given.get("link_data") is Sharing.reference:
        raise typer.BadParameter(
            "--link-data reference is about one model: those in another folder cannot refer to"
            " their data; leave it out, or let the data be linked, with --link-data hard"
        )
    if given["address"] is not None and given["backend"] is Backend.loky:
        raise typer.BadParameter("--address is that of a cluster; say which, with --backend")


def _tell_how_to_go_on(context: typer.Context, done: int, total: int) -> None:
    again = command_again(context, ["--resume"])
    report.show_warning(
        f"{done} of {total} models are done, and what is written is whole; go on with: {again}"
    )


def worst(records: Sequence[Record]) -> int:
    """The exit code that says most."""
    codes = {_CODES[record.problem] for record in records}
    return next((code for code in _WORST_FIRST if code in codes), 0)


def show(records: Sequence[Record], as_json: bool) -> None:
    """What became of each model: a table and a sum, or a line of JSON for each."""
    if as_json:
        for record in records:
            told = {**record.to_dict(), "exit": _CODES[record.problem]}
            print(json.dumps(told, allow_nan=False).replace("\x7f", "\\u007f"))
        return
    from ..display.blocks import Table

    columns = ("Model", "Outcome", "Outputs", "Nodes", "What, or why")
    report.show([Table(columns, [_row(record) for record in records])])
    report.say(_sum(records))


def _row(record: Record) -> list[str | list[str]]:
    nodes = " to ".join(map(str, record.nodes or ()))
    told: list[str] = [record.problem] if record.problem not in ("", "bad input") else []
    opset = record.opset or (0, 0)
    if record.ok and opset[0] != opset[1]:
        told.append(f"opset {opset[0]} became {opset[1]}")
    return [record.name, record.status, record.outputs, nodes, [*told, *record.messages]]


def _sum(records: Sequence[Record]) -> str:
    counts = dict.fromkeys(("written", "skipped", "failed"), 0)
    for record in records:
        counts[record.status] += 1
    told = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    models = f"{len(records)} model{'' if len(records) == 1 else 's'}"
    return f"{models}: {told}"
