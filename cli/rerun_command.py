"""Commands to paste: the one of the user with other options."""

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

import typer

from .options import WATCHING


def command_again(context: typer.Context, options: Sequence[str]) -> str:
    """Return the running command as a shell takes it, with options added.

    An option that names an input takes the place of the one that was given for the same input.
    """
    new = list(_pairs(options))
    subjects = set(map(_subject, new))
    words = [pair for pair in _given(context) if _subject(pair) not in subjects]
    names = [context.find_root().info_name or "straightline", context.info_name or ""]
    return shlex.join(part for pair in ((*names,), *words, *new) for part in pair)


def _pairs(options: Sequence[str]) -> Iterator[tuple[str, ...]]:
    rest = list(options)
    while rest:
        valued = len(rest) > 1 and not rest[1].startswith("--")
        yield tuple(rest[: 1 + valued])
        del rest[: 1 + valued]


def _subject(pair: Sequence[str]) -> tuple[str, str]:
    """Return an option without its value, but with the name that begins it."""
    return pair[0], pair[1].partition("=")[0] if len(pair) > 1 else ""


def _given(context: typer.Context) -> Iterator[tuple[str, ...]]:
    """Yield the words of the user that decide the result, arguments first."""
    for kind in ("argument", "option"):
        for parameter in context.command.params:
            source = context.get_parameter_source(parameter.name or "")
            is_written = source is not None and source.name == "COMMANDLINE"
            is_watching = getattr(parameter, "rich_help_panel", None) == WATCHING
            if parameter.param_type_name == kind and is_written and not is_watching:
                yield from _as_written(parameter, context.params[parameter.name or ""])


def _as_written(parameter: Any, value: Any) -> Iterator[tuple[str, ...]]:
    if parameter.param_type_name == "argument":
        for one in value if parameter.nargs == -1 else [value]:
            yield (str(one),)
    elif parameter.is_flag:
        yield ((parameter.opts if value else parameter.secondary_opts)[0],)
    else:
        for one in value if parameter.multiple else [value]:
            yield (parameter.opts[-1], str(one))
