"""Models on standard streams, and the redirection of other output."""

from __future__ import annotations

import contextlib
import contextvars
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer
import typer.core

from . import terminal
from .parsing import STREAM
from .plain_values import convert_plainly

if TYPE_CHECKING:
    from ..ir import LinkData, Model, ModelFile

_product: contextvars.ContextVar[TextIO | None] = contextvars.ContextVar("product", default=None)
"""Standard output, while a model is to be written there."""


OWN_PROCESS = "own process"
"""The context object of a command that has its process for itself."""


class Command(typer.core.TyperCommand):
    """A command that keeps standard output clean for a model, or quiet."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return its parameters, which convert plain values by themselves."""
        return convert_plainly(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show its help."""
        from .helping import show_help

        show_help(self, ctx)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, its output directed as its options say."""
        from ..ir.gc_pause import take_over_process
        from ..ir.option_names import shell_messages

        if ctx.obj == OWN_PROCESS:
            take_over_process()
        with shell_messages(), directed(ctx.params):
            return super().invoke(ctx)


@contextlib.contextmanager
def directed(options: Mapping[str, Any]) -> Iterator[None]:
    """Direct output to standard error where OUT is standard output, and to nowhere with --quiet.

    Raises:
        SaveError: OUT would be a terminal.
        BadParameter: two things would go to standard output, or come from standard input.
    """
    _require_apart(options)
    with contextlib.ExitStack() as stack:
        if options.get("target") == STREAM:
            if sys.stdout.isatty():
                from ..ir import SaveError

                raise SaveError(
                    "cannot write to standard output: it is a terminal; send it to a pipe or a"
                    " file, or name one"
                )
            token = _product.set(sys.stdout)
            stack.callback(_product.reset, token)
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        if options.get("quiet") and not options.get("as_json"):
            nowhere = stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stdout(nowhere))
        yield


def _require_apart(options: Mapping[str, Any]) -> None:
    if options.get("target") == STREAM and options.get("as_json"):
        raise typer.BadParameter(
            "the model and --json cannot both go to standard output; name a file for the model"
        )
    if options.get("target") == STREAM and options.get("link_data") is not None:
        raise typer.BadParameter(
            "--link-data needs a file; on standard output a model contains its data"
        )
    if options.get("before") == STREAM == options.get("after"):
        raise typer.BadParameter("A and B cannot both come from standard input; name a file")


def read_model(source: Path, most: int | None = None) -> ModelFile:
    """Read the model in a file, or on standard input.

    Raises:
        LoadError: there is none, or it is larger than `most`.
    """
    from ..ir import TWO_GB, LoadError, read_file, read_stream

    most = TWO_GB if most is None else most
    if source != STREAM:
        return read_file(source, most)
    if sys.stdin.isatty():
        raise LoadError("standard input is a terminal; pipe a model into it, or name a file")
    return read_stream(sys.stdin.buffer, "standard input", most)


def require_place(
    target: Path,
    read: Iterable[Path],
    original: ModelFile,
    *,
    force: bool = False,
    link_data: str | None = None,
) -> None:
    """Check that a model may be written to a place, before the long work.

    Raises:
        SaveError: something would be lost there, or data cannot be shared from there.
    """
    from ..ir import Target
    from ..ir.io.data_links import require_linkable

    if target != STREAM:
        place = Target.of(target, read, original.path, force=force)
        if link_data is not None:
            require_linkable(original.data_files, place, link_data)


def write_model(
    model: Model,
    target: Path,
    *,
    force: bool,
    keep: Iterable[Path],
    link_data: LinkData | None = None,
) -> None:
    """Write a model to a file, or to standard output with its external data inside.

    Raises:
        SaveError: it cannot be written, or something would be lost.
        LoadError: external data cannot be read.
    """
    from ..ir import SaveError, save, to_bytes

    stream = _product.get()
    if target != STREAM or stream is None:
        save(model, target, force=force, keep=keep, link_data=link_data)
        return
    content = to_bytes(model)
    try:
        # Text waits in a buffer of its own, and came first.
        stream.flush()
        stream.buffer.write(content)
        stream.buffer.flush()
    except OSError as error:
        terminal.silence(stream)
        raise SaveError(
            f"cannot write to standard output: {error.strerror or error}; the model was not written"
        ) from error
