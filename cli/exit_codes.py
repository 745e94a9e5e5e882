"""How a command ends: one line for every error, and an exit code that tells what was done."""

import os
import shlex
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typer
import typer.core

from ..records import field, record
from . import interrupts, report, terminal
from .interrupts import EXIT_CODES
from .plain_values import convert_plainly
from .printing import with_values

EXIT_BAD_INPUT = 1
EXIT_USAGE = 2
EXIT_DIFFERENT = 3
EXIT_CONTROL_FLOW_LEFT = 4
EXIT_NOT_VERIFIED = 5
EXIT_NOT_REPLAYED = 6
NOT_REPLAYED = "proved, not replayed"
"""The word for proofs that end with `EXIT_NOT_REPLAYED`."""
EXIT_FAULT = 70

# click's, which newer versions of typer carry within themselves
_ClickException = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


class Commands(typer.core.TyperGroup):
    """The commands, with every error as one line on stderr and an exit code."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the help of all."""
        from .helping import show_help

        show_help(self, ctx)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return its parameters, which convert plain values by themselves."""
        return convert_plainly(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the first word names.

        Raises:
            BadParameter: a file stands where a command is expected.
        """
        word = args[0]
        if self.get_command(ctx, word) is None and os.path.isfile(word):
            path = shlex.quote(word)
            raise typer.BadParameter(
                f"a command comes first: straightline inspect {path},"
                f" or straightline rewrite {path} OUT.onnx"
            )
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command and exit."""
        warnings.simplefilter("ignore")  # those of libraries; ours are results
        warnings.filterwarnings("once", r"straightline \S+ removes", DeprecationWarning)
        warnings.formatwarning = lambda message, *_, **__: f"warning: {message}\n"
        as_json = is_asked_for_json(args[0] if args else kwargs.get("args"))
        words = args[0] if args else kwargs.pop("args", None)
        options = {**kwargs, "standalone_mode": False}
        interrupted, code = False, None
        try:
            try:
                words = with_values(sys.argv[1:] if words is None else words)
                code = super().main(words, *args[1:], **options)
            except SystemExit:
                code = 0  # the reader of the help left before its end
            except typer.Abort:
                raise
            except Exception as error:  # noqa: BLE001 - the last stop before the user
                complaint = explained(error)
                complaint.tell(as_json)
                code = complaint.code
            finally:
                interrupts.over()
        except (KeyboardInterrupt, typer.Abort):
            interrupted = True
        if interrupted or code in EXIT_CODES:
            code, line = interrupts.ending()
            Complaint("KeyboardInterrupt", (line,), code).tell(as_json)
        lost = terminal.delivered(lambda: None)  # what of the help, say, is not written yet
        sys.exit(_tell_lost(lost) if lost and not code else code)


def is_asked_for_json(arguments: Sequence[str] | None) -> bool:
    """Return whether a command line asks for JSON, whether or not it is right otherwise."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    return "--json" in words[: words.index("--")] if "--" in words else "--json" in words


@record(frozen=True)
class Complaint:
    """An error in the words for users.

    Attributes:
        kind: the name of its class.
        lines: the message; the items of a list, if it ends with one, apart.
        more: further fields in JSON.
    """

    kind: str
    lines: Sequence[str]
    code: int
    more: Mapping[str, Any] = field(default_factory=dict)

    def tell(self, as_json: bool) -> None:
        """Show it on stderr, and as JSON where that is what the command answers with."""
        if not any(self.lines):  # the help was shown for want of arguments
            return
        message, *items = map(report.bounded, self.lines)
        report.show_error(message, *items)
        if as_json:
            document = {"error": message, "items": items, "exit": self.code, "kind": self.kind}
            terminal.delivered(lambda: report.show_json({**document, **self.more}))


def explained(error: Exception) -> Complaint:
    """Return an error in the words for users.

    Raises:
        Exception: the error itself, a fault of straightline whose trace is asked for.
    """
    kind = type(error).__name__
    if isinstance(error, _ClickException):
        message = " ".join(_usage(error).split())
        return Complaint(kind, [f"{message} (see --help)" if message else ""], EXIT_USAGE)
    from ..ir import Error
    from ..passes import PassOptionError

    if isinstance(error, Error):
        code = EXIT_USAGE if isinstance(error, PassOptionError) else EXIT_BAD_INPUT
        more: Any = getattr(error, "to_dict", dict)
        return Complaint(kind, error.lines(), code, more())
    if isinstance(error, FileNotFoundError) and error.filename is None:  # of os.getcwd
        return Complaint(kind, ["the working folder was deleted"], EXIT_BAD_INPUT)
    if isinstance(error, OSError | MemoryError):
        return Complaint(kind, [str(error) or "out of memory"], EXIT_BAD_INPUT)
    if os.environ.get("STRAIGHTLINE_TRACEBACK"):
        raise error
    message = (
        f"a fault of straightline itself, {kind}: {' '.join(str(error).split())};"
        " set STRAIGHTLINE_TRACEBACK=1 to see where"
    )
    return Complaint(kind, [message], EXIT_FAULT)


def _usage(error: Any) -> str:
    """Describe wrong usage; a message of ours begins with its option."""
    if type(error) is not typer.BadParameter:
        message: str = error.format_message()
        return message.removesuffix(".")
    spelled = "" if error.param is None else error.param.opts[-1]
    return f"{spelled if spelled.startswith('--') else ''} {error.message}"


def finish(code: int, show: Callable[[], None], *, product: bool) -> int:
    """Show the result, and return the exit code.

    Args:
        code: the result of the command.
        show: writes to stdout.
        product: whether the output is the purpose of the command. Else the work is done, and a
            failure to show it changes nothing.
    """
    try:
        lost = terminal.delivered(show)
    except KeyboardInterrupt:
        if product:
            raise
        return code
    if lost and product:
        code_of_loss = _tell_lost(lost)
        return code or code_of_loss
    if lost:
        report.show_warning(f"the report could not be shown: {lost}")
    return code


def _tell_lost(reason: str) -> int:
    if not terminal.has_reader():
        return 0
    report.show_error(f"the result could not be shown: {reason}")
    return EXIT_BAD_INPUT
