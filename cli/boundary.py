"""How a command ends: one line for every error, and an exit code that tells what was done."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import typer
import typer.core

from . import interrupts, report, terminal
from .interrupts import EXIT_INTERRUPTED

EXIT_BAD_INPUT = 1
EXIT_USAGE = 2
EXIT_DIFFERENT = 3
EXIT_CONTROL_FLOW_LEFT = 4
EXIT_NOT_VERIFIED = 5
EXIT_FAULT = 70

# click's, which newer versions of typer carry within themselves
_ClickException = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


class Commands(typer.core.TyperGroup):
    """The commands, with every error as one line on stderr and an exit code."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command and exit."""
        warnings.simplefilter("ignore")  # those of libraries; ours are results
        try:
            try:
                code = self._run(*args, **kwargs)
            finally:
                interrupts.over()
        except (KeyboardInterrupt, typer.Abort):
            code = EXIT_INTERRUPTED
        if code == EXIT_INTERRUPTED:
            report.show_error("interrupted")
        lost = terminal.delivered(lambda: None)  # what of the help, say, is not written yet
        sys.exit(_tell_lost(lost) if lost and not code else code)

    def _run(self, *args: Any, **kwargs: Any) -> int | None:
        try:
            code: int | None = super().main(*args, **{**kwargs, "standalone_mode": False})
            return code
        except SystemExit:
            return 0  # the reader of the help left before its end
        except typer.Abort:
            raise
        except Exception as error:  # noqa: BLE001 - the last stop before the user
            return _explain(error)


def _explain(error: Exception) -> int:
    """Show an error; the exit code that belongs to it."""
    if isinstance(error, _ClickException):
        message = error.format_message()  # type: ignore[attr-defined]
        if message:  # there is none where the help was shown for want of arguments
            report.show_error(f"{' '.join(message.split())} (see --help)")
        return EXIT_USAGE
    from ..ir import Error
    from ..passes import PassOptionError

    if isinstance(error, Error):
        report.show_error(*error.lines())
        return EXIT_USAGE if isinstance(error, PassOptionError) else EXIT_BAD_INPUT
    if isinstance(error, OSError | MemoryError):
        report.show_error(str(error) or "out of memory")
        return EXIT_BAD_INPUT
    if os.environ.get("STRAIGHTLINE_TRACEBACK"):
        raise error
    report.show_error(
        f"a fault of straightline itself, {type(error).__name__}:"
        f" {' '.join(str(error).split())};"
        " set STRAIGHTLINE_TRACEBACK=1 to see where"
    )
    return EXIT_FAULT


def finish(code: int, show: Callable[[], None], *, product: bool) -> int:
    """Show what was found, and give the exit code.

    Args:
        code: what the command has come to.
        show: writes to stdout.
        product: whether what is shown is what the command is for. Else it has done its work, and
            that it cannot be told changes nothing.
    """
    try:
        lost = terminal.delivered(show)
    except KeyboardInterrupt:
        if product:
            raise
        return code
    if lost and product:
        told = _tell_lost(lost)
        return code or told
    if lost:
        report.show_warning(f"the report could not be shown: {lost}")
    return code


def _tell_lost(reason: str) -> int:
    report.show_error(f"the result could not be shown: {reason}")
    return EXIT_BAD_INPUT
