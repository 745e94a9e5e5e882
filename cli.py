"""The command line: reads options, calls the public functions, shows what they found.

Only typer and rich are imported here; onnx and the rest are when a command needs them.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from . import report
from .options import (
    Atol,
    Freeze,
    Inputs,
    Json,
    MaxNodes,
    MaxTrips,
    Passes,
    Rtol,
    Runtime,
    RuntimeOption,
    Samples,
    Seed,
    Set,
    Shape,
    Source,
    Target,
    Timeout,
    Verify,
    shapes_of,
    values_of,
)

if TYPE_CHECKING:
    from .reference.verdict import Verdict
    from .rewriting import MismatchError, Rewritten

EXIT_BAD_INPUT = 1
EXIT_USAGE = 2
EXIT_DIFFERENT = 3
EXIT_CONTROL_FLOW_LEFT = 4
EXIT_NOT_VERIFIED = 5
EXIT_FAULT = 70
EXIT_INTERRUPTED = 130

# click's, which newer versions of typer carry within themselves
_ClickException = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


class Commands(typer.core.TyperGroup):
    """The commands, with every error as one line on stderr and an exit code."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command and exit."""
        warnings.simplefilter("ignore")  # those of libraries; ours are results
        try:
            code = super().main(*args, **{**kwargs, "standalone_mode": False})
        except (KeyboardInterrupt, typer.Abort):
            code = EXIT_INTERRUPTED
        except Exception as error:  # noqa: BLE001 - the last stop before the user
            code = _explain(error)
        if code == EXIT_INTERRUPTED:
            report.show_error("interrupted")
        sys.exit(code)


def _explain(error: Exception) -> int:
    """Show an error; the exit code that belongs to it."""
    if isinstance(error, _ClickException):
        message = error.format_message()  # type: ignore[attr-defined]
        if message:  # there is none where the help was shown for want of arguments
            report.show_error(f"{message} (see --help)")
        return EXIT_USAGE
    from .ir import Error
    from .passes import PassOptionError

    if isinstance(error, PassOptionError):
        report.show_error(str(error))
        return EXIT_USAGE
    if isinstance(error, Error | OSError | MemoryError):
        report.show_error(str(error) or "out of memory")
        return EXIT_BAD_INPUT
    if os.environ.get("STRAIGHTLINE_TRACEBACK"):
        raise error
    report.show_error(
        f"a fault of straightline itself, {type(error).__name__}: {error};"
        " set STRAIGHTLINE_TRACEBACK=1 to see where"
    )
    return EXIT_FAULT


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Rewrite ONNX models so that control flow disappears, and check that the outputs stay"
    " the same.",
    epilog="Exit codes: 0 done, 1 bad input, 2 usage, 3 outputs differ, 4 control flow left,"
    " 5 nothing could be compared, 70 a fault of straightline, 130 interrupted.",
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
    source: Source,
    target: Target,
    *,
    passes: Passes = None,
    max_trips: MaxTrips = None,
    max_nodes: MaxNodes = None,
    assignments: Set = None,
    dimensions: Shape = None,
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
    as_json: Json = False,
    verify: Verify = True,
    inputs: Inputs = None,
    runtime: RuntimeOption = Runtime.auto,
    rtol: Rtol = None,
    atol: Atol = None,
    samples: Samples = 3,
    seed: Seed = 0,
    timeout: Timeout = None,
) -> int:
    """Remove the control flow of a model that is decided before run time.

    The outputs are compared with the original's before anything is written.
    """
    values, shapes = values_of(assignments), shapes_of(dimensions)
    from .api import pipeline_of
    from .inspection import left_over
    from .ir import save
    from .passes.pipeline import require_all_rewritten
    from .rewriting import MismatchError, Rewriting

    options = _given(max_trips=max_trips, max_nodes=max_nodes)
    pipeline = pipeline_of(passes, freeze_initializers=freeze_initializers, **options)
    _require_folder(target)
    with report.progress("rewriting", quiet=as_json) as told:
        rewritten = Rewriting(source, pipeline, values, shapes).run(told)
    if strict:
        require_all_rewritten(rewritten.result.remarks)
    left = left_over(rewritten.result)
    found: Verdict | MismatchError | None = None
    code = EXIT_CONTROL_FLOW_LEFT if require_straight_line and left else 0
    if verify and not code:
        comparison = _comparison(inputs, runtime, rtol, atol, samples, seed, timeout)
        with report.progress("verifying", quiet=as_json):
            found = _verified(rewritten, comparison, strict)
        code = EXIT_DIFFERENT if isinstance(found, MismatchError) else 0
    if not code:
        save(rewritten.model, target)
    _show_rewrite(rewritten, found, left, None if code else target, as_json)
    return code


def _comparison(
    inputs: Path | None,
    runtime: Runtime,
    rtol: float | None,
    atol: float | None,
    samples: int,
    seed: int,
    timeout: float | None,
) -> dict[str, Any]:
    """The options of a verification as `straightline.verify` takes them."""
    found = {"runtime": runtime.value, "rtol": rtol, "atol": atol, "samples": samples, "seed": seed}
    return {"feeds": inputs, "timeout": timeout, **found}


def _verified(
    rewritten: Rewritten, options: dict[str, Any], strict: bool
) -> Verdict | MismatchError:
    """Compare with the original; what was found, whatever it is."""
    from .rewriting import MismatchError, NotVerifiedError

    try:
        verdict = rewritten.verify(**options)
    except MismatchError as error:
        return error
    if strict and not verdict.equal:
        raise NotVerifiedError(f"the rewrite was not verified: {verdict.reason}")
    return verdict


def _show_rewrite(
    rewritten: Rewritten,
    found: Verdict | MismatchError | None,
    left: list[Any],
    written: Path | None,
    as_json: bool,
) -> None:
    """Show what was done, what is left, and how the comparison went."""
    from .rewriting import MismatchError

    mismatch = found if isinstance(found, MismatchError) else None
    verdict = found.verdict if isinstance(found, MismatchError) else found
    if as_json:
        report.show_json(
            {
                **rewritten.to_dict(),
                "written": None if written is None else str(written),
                "left": [remark.to_dict() for remark in left],
                "verification": None if verdict is None else verdict.to_dict(),
                "culprit": mismatch.culprit if mismatch else None,
            }
        )
    else:
        report.show_rewrite(rewritten, left, verdict, written)
    if mismatch is not None:
        report.show_error(str(mismatch))
    elif verdict is not None and not verdict.equal:
        report.show_warning(f"not verified: {verdict.reason}")
    elif written is None:
        report.show_error(f"control flow is left in {len(left)} places; nothing was written")


@app.command()
def verify(
    before: Annotated[Path, typer.Argument(metavar="A", help="The original.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="Its rewrite.")],
    *,
    inputs: Inputs = None,
    runtime: RuntimeOption = Runtime.auto,
    rtol: Rtol = None,
    atol: Atol = None,
    samples: Samples = 3,
    seed: Seed = 0,
    timeout: Timeout = None,
    assignments: Set = None,
    as_json: Json = False,
) -> int:
    """Run two models on the same inputs and compare every output.

    --set gives the values of inputs that B no longer has.
    """
    values = values_of(assignments)
    from .binding import typed_values
    from .reference.verify import verify as compare

    with report.progress("verifying", quiet=as_json):
        verdict = compare(
            before,
            after,
            bound=typed_values(before, values),
            **_comparison(inputs, runtime, rtol, atol, samples, seed, timeout),
        )
    if as_json:
        report.show_json(verdict.to_dict())
    else:
        report.show_verdict(verdict)
    codes = {"equal": 0, "different": EXIT_DIFFERENT, "not verified": EXIT_NOT_VERIFIED}
    return codes[verdict.status]


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
    as_json: Json = False,
    verify: Verify = True,
    inputs: Inputs = None,
    runtime: RuntimeOption = Runtime.auto,
    rtol: Rtol = None,
    atol: Atol = None,
    samples: Samples = 3,
    seed: Seed = 0,
    timeout: Timeout = None,
) -> int:
    """Carry a whole model to another opset version, all of it or nothing.

    The outputs are compared with the original's before anything is written.
    """
    from .api import verify_conversion
    from .ir import load, save
    from .rewriting import MismatchError
    from .versions import convert as carry

    _require_folder(target)
    with report.progress("converting", quiet=as_json):
        model = load(source)
        before = model.opset()
        carry(model, opset, ir_version)
    verdict: Verdict | None = None
    mismatch: MismatchError | None = None
    if verify:
        options = _comparison(inputs, runtime, rtol, atol, samples, seed, timeout)
        with report.progress("verifying", quiet=as_json):
            try:
                verdict = verify_conversion(source, model, **options)
            except MismatchError as error:
                verdict, mismatch = error.verdict, error
    if mismatch is None:
        save(model, target)
    _show_conversion((before, opset), verdict, mismatch, target, as_json)
    return EXIT_DIFFERENT if mismatch is not None else 0


def _show_conversion(
    opsets: tuple[int, int],
    verdict: Verdict | None,
    mismatch: MismatchError | None,
    target: Path,
    as_json: bool,
) -> None:
    written = None if mismatch is not None else str(target)
    if as_json:
        report.show_json(
            {
                "opset": {"before": opsets[0], "after": opsets[1]},
                "written": written,
                "verification": None if verdict is None else verdict.to_dict(),
            }
        )
    else:
        report.show_conversion(opsets, verdict, written)
    if mismatch is not None:
        report.show_error(str(mismatch))
    elif verdict is not None and not verdict.equal:
        report.show_warning(f"not verified: {verdict.reason}")


@app.command()
def inspect(
    source: Source,
    *,
    passes: Passes = None,
    max_trips: MaxTrips = None,
    max_nodes: MaxNodes = None,
    assignments: Set = None,
    dimensions: Shape = None,
    freeze_initializers: Freeze = False,
    as_json: Json = False,
) -> None:
    """Show every Loop, Scan and If, what decides it, and what a rewrite would do."""
    values, shapes = values_of(assignments), shapes_of(dimensions)
    from .inspection import inspect as look

    found = look(
        source,
        passes,
        values=values,
        shapes=shapes,
        freeze_initializers=freeze_initializers,
        **_given(max_trips=max_trips, max_nodes=max_nodes),
    )
    if as_json:
        report.show_json({"model": str(source), **found.to_dict()})
    else:
        report.show_inspection(found)


@app.command("passes")
def list_passes(as_json: Json = False) -> None:
    """Show every pass with its options."""
    from .inspection import describe_passes

    found = describe_passes()
    if as_json:
        report.show_json(found)
    else:
        report.show_passes(found)


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _require_folder(target: Path) -> None:
    """Fail before long work rather than after it."""
    from .ir import SaveError

    if not target.parent.is_dir():
        raise SaveError(f"cannot write '{target}': the folder '{target.parent}' does not exist")
    if target.is_dir():
        raise SaveError(f"cannot write '{target}': it is a folder")


def main() -> None:
    """Run the command line."""
    app(prog_name="straightline")
