"""How the text of an option is read; typer names the option where it cannot be."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import typer

Kind = TypeVar("Kind", bound=enum.Enum)

STREAM = Path("-")
"""Stands for a standard stream where a model is named."""


@dataclasses.dataclass(frozen=True)
class Given:
    """One use of an option that is repeated, NAME=...; its text is what was written.

    Attributes:
        name: before the equals sign.
        content: what the rest is read as.
        text: all of it.
    """

    name: str
    content: Any
    text: str

    def __str__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True)
class ArrayFile:
    """A file that holds the value of an input."""

    path: Path

    def read(self) -> Any:
        """The array.

        Raises:
            FeedError: it cannot be read, or holds no single array.
        """
        from ..runtimes.feeds import read_array

        return read_array(self.path)


def model_path(text: str) -> Path:
    """The place of a model: `-` is a standard stream, and `./-` a file of that name."""
    path = Path(text)
    return Path.cwd() / path if path == STREAM and text != "-" else path


def assignment(text: str) -> Given:
    """What --set gives: JSON, `@` and a file, or text where it is neither."""
    name, value = _parts(text, "n=3 or x=@file.npy")
    if value.startswith("@") and len(value) > 1:
        return Given(name, ArrayFile(Path(value[1:])), text)
    try:
        return Given(name, json.loads(value), text)
    except json.JSONDecodeError:
        return Given(name, value, text)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"{name}: too many digits or brackets; use @file.npy") from error


def shape(text: str) -> Given:
    """What --shape or --sample-shape gives; None for a dimension that stays open."""
    name, value = _parts(text, "x=1,512")
    try:
        dims = [part.strip() for part in value.split(",")] if value.strip() else []
        return Given(name, [None if dim == "?" else int(dim) for dim in dims], text)
    except ValueError as error:
        raise typer.BadParameter(f"{text}: write numbers and '?'") from error


def dimension(text: str) -> Given:
    """What --dim gives: the size of a named dimension."""
    return _number(text, "T=6", "a size")


def maximum(text: str) -> Given:
    """What --assume-max gives: the most trips of a Loop."""
    return _number(text, "loop=64", "a number of trips")


_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size(text: str) -> int:
    """What --max-input-size gives: bytes, with K, M or G."""
    written = re.fullmatch(r"(\d{1,18})([KMG]?)B?", text.strip().upper(), re.ASCII)
    if written is None:
        raise typer.BadParameter(f"{text}: write bytes, or 500M, or 2G")
    return int(written[1]) * _UNITS[written[2]]


_MOST_DIGITS = 18


def whole(least: int = 0) -> Callable[[Any], int]:
    """A reader of whole numbers that are not less than one."""

    def read(given: Any) -> int:
        text = str(given).strip()
        found = int(text) if re.fullmatch(rf"\d{{1,{_MOST_DIGITS}}}", text, re.ASCII) else -1
        if found < least:
            digits = f" of at most {_MOST_DIGITS} digits" if len(text) > _MOST_DIGITS else ""
            raise typer.BadParameter(f"{given}: write a whole number{digits}, {least} or more")
        return found

    return read


def number(*, above: bool = False) -> Callable[[Any], float]:
    """A reader of numbers from 0 on, or `above` it."""

    def read(given: Any) -> float:
        try:
            found = float(given)
        except ValueError:
            found = math.nan
        if not (found > 0 or (found == 0 and not above)):
            raise typer.BadParameter(
                f"{given}: write a number, {'more than 0' if above else '0 or more'}"
            )
        return found

    return read


def choice(kind: type[Kind]) -> Callable[[Any], Kind]:
    """A reader of one of a few words."""

    def read(given: Any) -> Kind:
        try:
            return kind(given)
        except ValueError as error:
            from ..ir import instead

            offered = instead(str(given), [one.value for one in kind])
            raise typer.BadParameter(f"{given}: {offered}") from error

    return read


def target_name(text: str) -> str:
    """What --target gives: the name of a target that is shipped."""
    from ..ir.option_names import shell_messages
    from ..targets import TargetError, find

    try:
        with shell_messages():
            return find(text).name
    except TargetError as error:
        raise typer.BadParameter(f"{text}: {error}") from error


def once(given: Sequence[Given] | None) -> Sequence[Given] | None:
    """What was given, no name twice."""
    names = set[str]()
    for one in given or ():
        if one.name in names:
            raise typer.BadParameter(f"'{one.name}' is given twice")
        names.add(one.name)
    return given


def contents(given: Iterable[Given] | None) -> dict[str, Any]:
    """By name what was given; files are read.

    Raises:
        FeedError: a file cannot be read.
    """
    found = {}
    for one in given or ():
        found[one.name] = one.content.read() if isinstance(one.content, ArrayFile) else one.content
    return found


def files_in(given: Sequence[Given] | None) -> list[Path]:
    """The files that values are read from."""
    return [one.content.path for one in given or () if isinstance(one.content, ArrayFile)]


def _number(text: str, example: str, what: str) -> Given:
    name, value = _parts(text, example)
    if not re.fullmatch(r"\d{1,18}", value.strip(), re.ASCII):
        raise typer.BadParameter(f"{text}: write {what}, as in {example}")
    return Given(name, int(value), text)


def _parts(text: str, example: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise typer.BadParameter(f"{text}: write it as in {example}")
    return name, value
