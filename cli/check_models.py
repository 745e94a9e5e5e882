"""Command `check`: policies for models in continuous integration, with an exit code."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import typer

from ..options.table import options_on
from ..records import record
from . import interrupts, report
from . import options as shared
from .arguments import ComparisonArguments, ModelArguments, TableArguments, of_table, parameter_of
from .batching import worst
from .config_options import Applied, Configured, dict_of
from .exit_codes import finish
from .loading import load_files
from .options import argument, flag, of_output, option, verifying, whole
from .parsing import STREAM, contents
from .piping import read_model
from .printing import logged

if TYPE_CHECKING:
    from ..display import Block
    from .policies import Policies, PolicyResult

_OF_OUTPUTS = {
    *(field.name for field in dataclasses.fields(ComparisonArguments)),
    *("prove", "option_values", "option_dims"),
}
"""Parameters that matter where outputs are compared."""
_OF_REWRITES = {
    parameter_of(row)
    for row in options_on("check")
    if row.name not in ("values", "dims", "target", "target_file", "max_memory")
}
"""Parameters that matter where a model is rewritten."""


@record(frozen=True)
class Check:
    """Check of a model as the options of the command describe it."""

    table: TableArguments
    about: ModelArguments
    comparison: ComparisonArguments
    opset: int | None
    max_opset: int | None
    straight_line: bool
    rewritten: bool
    reference: Path | None
    prove: bool | None

    def require_policy(self, model: Path) -> None:
        """Check that there is something to check.

        Raises:
            BadParameter: there is no policy.
        """
        forms = self.opset, self.max_opset, self.table.target(), self.reference
        if not (self.straight_line or self.rewritten or any(one is not None for one in forms)):
            raise typer.BadParameter(
                f"there is no policy for '{model}'; name one, such as --require-straight-line,"
                " --max-opset N, --target NAME, --reference PATH or --rewritten"
            )

    def policies(self) -> Policies:
        """Return the conditions on the form of the model.

        Raises:
            TargetError: there is no such target.
        """
        from ..targets import target_of
        from .policies import Policies

        name = self.table.target()
        target = None if name is None else target_of(name)
        return Policies(self.straight_line, self.opset, self.max_opset, target)

    def judge(self, model: Path, place: str) -> Iterator[PolicyResult]:
        """Yield the result of each policy for a model.

        Args:
            place: its place below the folder that the command line names.

        Raises:
            Error: a model cannot be read, or an option does not fit it.
        """
        from .policies import judge_model, judge_rewrite

        load_files(self.about)
        most, policies = self.about.max_input_size, self.policies()
        source = read_model(model, most)
        if self.rewritten:
            keywords = {"opset": self.opset, "hints": False, "timeout": self.comparison.timeout}
            rewriting = self.table.options(**keywords)
            verification = self.comparison.options(self.prove)
            yield from judge_rewrite(source, rewriting, verification, policies)
            return
        original = self.reference
        if original is not None and original.is_dir():
            original /= place
        options = self.comparison.options(
            self.prove, dims=contents(self.table["dims"]), max_memory=self.table["max_memory"]
        )
        values = contents(self.table["values"])
        reference = None if original is None else read_model(original, most)
        yield from judge_model(source, policies, reference, values, options)


@record(frozen=True)
class Checked:
    """Result of a model.

    Attributes:
        model: the model as the command line names it.
        results: of the policies that could be judged.
        problems: kinds of failures.
        messages: errors that kept policies from being judged.
    """

    model: str
    applied: Applied | None
    results: Sequence[PolicyResult]
    problems: Sequence[str]
    messages: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result in types that JSON has."""
        return {
            "model": self.model,
            "config": dict_of(self.applied),
            "passed": not self.problems,
            "policies": [result.to_dict() for result in self.results],
            "messages": list(self.messages),
            "exit": worst(self.problems),
        }

    @property
    def failures(self) -> list[str]:
        """Errors and violated policies, a line for each."""
        failed = [f"{one.policy}: {one.reason}" for one in self.results if not one.holds]
        return [*self.messages, *failed]

    def row(self, verbose: bool) -> list[str | list[str]]:
        """Return the row of a table: violated policies, or the satisfied ones."""
        satisfied = [f"{one.policy}: {one.reason or 'yes'}" for one in self.results if one.holds]
        lines = [*self.failures, *(satisfied if verbose else [])]
        names = ", ".join(one.policy for one in self.results)
        return [self.model, "failed" if self.problems else "passed", lines or names]


def plan(
    context: typer.Context,
    models: list[Path] = argument(
        "MODEL",
        "The models: files, folders (all models below them) and patterns such as"
        " 'models/**/*.onnx'; '-' is standard input.",
    ),
    *,
    require_straight_line: bool = flag(
        "The model has no Loop, Scan, If or other operator that holds a graph.",
        "--require-straight-line",
    ),
    opset: int | None = option("The model has exactly this opset.", "--opset", **whole(1)),
    max_opset: int | None = option("The model has at most this opset.", **whole(1)),
    reference: Path | None = verifying(
        "The outputs are equal to those of this model, or of the model of the same name in this"
        " folder.",
        metavar="PATH",
    ),
    rewritten: bool = flag(
        "Check the result of 'rewrite' with the same options, and that its outputs are equal.",
        "--rewritten",
    ),
    prove: bool | None = shared.PROVE,
    table: TableArguments = of_table("check"),
    about: ModelArguments,
    comparison: ComparisonArguments,
    out: Path | None = of_output(
        "Also write the result as JSON to a file.", "--out", "-o", metavar="FILE.json"
    ),
    force: bool = of_output(
        "Also overwrite a file that is not such a result.", "--force", default=False
    ),
    config: Path | None = shared.CONFIG,
    no_config: bool = shared.NO_CONFIG,
    as_json: bool = shared.JSON,
    quiet: bool = shared.QUIET,
    verbose: int = shared.VERBOSE,
) -> Check:
    """Check models by policies, for continuous integration; write nothing.

    The exit code is 0 if every model satisfies every policy.
    """
    _require_use(context, rewritten, reference)
    form = opset, max_opset, require_straight_line, rewritten, reference, prove
    return Check(table, about, comparison, *form)


def _require_use(context: typer.Context, rewritten: bool, reference: Path | None) -> None:
    """Check that options of the command line have an effect.

    Raises:
        BadParameter: one has none.
    """
    if rewritten and reference is not None:
        raise typer.BadParameter(
            "--rewritten compares the rewrite with the model itself; leave out --reference"
        )
    idle = set() if rewritten else set(_OF_REWRITES)
    idle |= set() if rewritten or reference is not None else _OF_OUTPUTS
    # A configuration file serves several commands, so its options may be idle.
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in idle and source is not None and source.name == "COMMANDLINE":
            remedy = "add --rewritten"
            if parameter.name in _OF_OUTPUTS:
                remedy = "add --rewritten, or name another model with --reference"
            raise typer.BadParameter(f"{parameter.opts[-1]} has no effect here; {remedy}")


def check(make: Any, values: dict[str, Any]) -> int:
    """Check all models; return the exit code of the worst one.

    Args:
        make: returns the check of the parameters.
        values: the parameters of the command line.

    Raises:
        BatchError: there is no model.
        BadParameter: there is no policy.
    """
    context, as_json, verbose = values["context"], values["as_json"], values["verbose"]
    configured: Configured[Check] = Configured(context, make, values, values["models"])
    interrupts.raise_from_now_on()
    # Two sources may name the same model.
    models = dict.fromkeys(pair for source in values["models"] for pair in _models(source))
    checks = [(model, place, *configured.of(model)) for model, place in models]
    # All are checked before the first is judged, which may take long.
    for model, _, one, _ in checks:
        one.require_policy(model)
    out = _place(values["out"], [model for model, _ in models], values["force"])
    context.with_resource(logged(verbose))
    rows, silent = [], as_json or values["quiet"] or verbose > 0
    with report.progress("checking", quiet=silent) as progress:
        for number, (model, place, one, applied) in enumerate(checks):
            progress("checking", str(model), number, len(checks))
            rows.append(_checked(one, model, place, applied))
    code = worst([problem for row in rows for problem in row.problems])
    if out is not None:
        _write(out, _fields(rows, code))
    code = finish(code, lambda: _show(rows, code, as_json, verbose > 0), product=True)
    if _failures(rows):
        items = [f"{row.model}: {line}" for row in rows for line in row.failures]
        report.show_error(_failures(rows), *(items if values["quiet"] else ()))
    return code


def _place(out: Path | None, models: Sequence[Path], force: bool) -> Path | None:
    """Return the file for the result as JSON; None for none.

    Raises:
        SaveError: the file cannot be written, or has other content.
    """
    if out is None:
        return None
    from ..ir.io.write_target import place_beside

    def is_result(file: Path) -> bool:
        try:
            # The first key of such a file; only files of this kind are overwritten without --force.
            return '"models"' in file.read_text("utf-8")[:20]
        except ValueError:
            return False

    return place_beside(out, models, "result of a check", is_result, force)


def _write(place: Path, fields: dict[str, Any]) -> None:
    from ..ir.io.files import replacing

    with replacing(place) as (temporary,):
        temporary.write_text(json.dumps(fields, indent=2) + "\n", encoding="utf-8")


def _fields(rows: Sequence[Checked], code: int) -> dict[str, Any]:
    """Return the result in types that JSON has."""
    models = [row.to_dict() for row in rows]
    return {"models": models, "exit": code, "error": _failures(rows) or None}


def _models(source: Path) -> Iterator[tuple[Path, str]]:
    from ..batch.sources import models_here

    if source == STREAM:
        yield source, source.name
    else:
        yield from ((file, PurePath(place).as_posix()) for file, place in models_here(source))


def _checked(check: Check, model: Path, place: str, applied: Applied | None) -> Checked:
    """Check one model; an error is its result."""
    from ..ir import Error
    from ..passes import PassOptionError

    results: list[PolicyResult] = []
    problems, messages = [], list[str]()
    try:
        results += check.judge(model, place)
    # A bad model does not end the check of others.
    except (Error, OSError, MemoryError) as error:
        problems = ["usage" if isinstance(error, PassOptionError) else "bad input"]
        messages += error.lines() if isinstance(error, Error) else [str(error) or "out of memory"]
    problems += [one.problem for one in results if one.problem]
    return Checked(str(model), applied, results, problems, messages)


def _failures(rows: Sequence[Checked]) -> str:
    """Return the error of a check; "" for none."""
    failed = sum(bool(row.problems) for row in rows)
    return f"{failed} of {len(rows)} models failed the check" if failed else ""


def _show(rows: Sequence[Checked], code: int, as_json: bool, verbose: bool) -> None:
    from ..display import Line, Table

    passed = sum(not row.problems for row in rows)
    models = f"{len(rows)} model{'' if len(rows) == 1 else 's'}"
    blocks: list[Block] = [
        Table(("Model", "Outcome", "Details"), [row.row(verbose) for row in rows]),
        Line(f"{models}: {passed} passed"),
    ]
    report.show_json(_fields(rows, code)) if as_json else report.show(blocks)
