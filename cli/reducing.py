"""Command `reduce`: the smallest model on which a command still fails."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from . import interrupts
from .exit_codes import finish
from .options import FORCE, JSON, MAX_INPUT_SIZE, QUIET, SOURCE, argument, option, whole
from .parsing import STREAM, number
from .piping import read_model
from .report import progress, show_result

if TYPE_CHECKING:
    import onnx


def reduce(
    source: Path = SOURCE,
    target: Path = argument("OUT", "The file of the smallest model."),
    *,
    command: str = option(
        "Shell command that fails on the model. The path of a model replaces {}, or follows at the"
        " end.",
        "--while",
        default="",
        metavar="COMMAND",
    ),
    match: str | None = option(
        "Regular expression that the output of the command must contain.", metavar="REGEX"
    ),
    timeout: float = option(
        "Time limit of the command; a run that exceeds it fails.",
        default=60.0,
        metavar="SECONDS",
        parser=number(above=True),
    ),
    max_tests: int = option("Limit of runs of the command.", default=2000, **whole(1)),
    force: bool = FORCE,
    max_input_size: int | None = MAX_INPUT_SIZE,
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> int:
    """Search for the smallest model on which a command still fails, for a bug report.

    Every model that is tried is well formed. OUT always holds the smallest one so far, also after
    Ctrl-C. A failure is the same if it has the exit code (or signal) of the failure on IN.
    """
    from ..display import Line, Table
    from ..ir import Target, save
    from ..reduction import FailingCommand, reduce_model, size_of

    if not command:
        raise typer.BadParameter("name the command that fails: --while 'python run.py {}'")
    if target == STREAM:
        raise typer.BadParameter("OUT must be a file: it is written again and again")
    interrupts.raise_from_now_on()
    model = read_model(source, max_input_size)
    read = [source, *model.data_files]
    # Refused before the long search, if it cannot be written.
    Target.of(target, read, force=force)
    test = FailingCommand(command, pattern=match, timeout=timeout)

    def keep(smaller: onnx.ModelProto) -> None:
        save(smaller, target, force=force, keep=read)

    with progress("reducing", quiet or as_json) as on_progress:
        result = reduce_model(
            model, test, max_tests=max_tests, on_smaller=keep, on_progress=on_progress
        )

    def show() -> None:
        sizes = [size_of(each) for each in (model.proto, result.model)]
        rows = [
            (what.replace("_", " "), f"{before:,}", f"{after:,}")
            for what, before, after in zip(sizes[0]._fields, *sizes, strict=True)
        ]
        end = "" if result.complete else f"; stopped at {max_tests} (--max-tests)"
        line = Line(f"{target}: after {result.tests} runs of the command{end}")
        fields = {
            "before": sizes[0]._asdict(),
            "after": sizes[1]._asdict(),
            "tests": result.tests,
            "complete": result.complete,
            "failure": str(test.expected),
            "out": str(target),
        }
        show_result(lambda: fields, [Table(("", "IN", "OUT"), rows), line], as_json)

    return finish(0, show, product=not quiet)
