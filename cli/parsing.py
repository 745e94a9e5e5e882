"""Parsers of the texts of options; typer names the option of an error."""

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import typer

from ..records import record

STREAM = Path("-")
"""Stands for a standard stream where a model is named."""


@record(frozen=True)
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


FOR_MANY = "an address is for many models: rewrite, simplify or convert with -o FOLDER"
"""The remedy where a command takes no address."""


class Address(str):
    """The address of models on shared storage, such as s3://bucket/models."""


def place(text: str) -> Path | Address:
    """Return the place of models, here or at an address.

    Raises:
        BatchError: an address of this machine names no absolute path.
    """
    if text.startswith("file://"):
        from ..batch.addresses import place_of

        return Path(str(place_of(text)))
    return Address(text) if "://" in text else model_path(text)


def model_path(text: str) -> Path:
    """Return the place of a model: `-` is a standard stream, and `./-` a file of that name."""
    if "://" in text:
        raise typer.BadParameter(f"{text}: {FOR_MANY}")
    path = Path(text)
    return Path.cwd() / path if path == STREAM and text != "-" else path


def sheet_path(text: str) -> Path:
    """Return the place of a summary, whose name says in which form it is."""
    path = Path(text)
    if "://" in text or path.suffix.lower() not in (".html", ".htm", ".csv"):
        raise typer.BadParameter(f"{text}: name a page, FILE.html, or a table, FILE.csv, here")
    return path


def assignment(text: str) -> Given:
    """Parse --set: JSON, `@` and the file of an array, or text where it is neither."""
    name, value = _parts(text, "n=3 or x=@file.npy")
    if value.startswith("@") and len(value) > 1:
        return Given(name, Path(value[1:]), text)
    try:
        return Given(name, json.loads(value), text)
    except json.JSONDecodeError:
        return Given(name, value, text)
    # json raises them for more digits than Python reads, and for deep brackets.
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"{name}: too many digits or brackets; use @file.npy") from error


def shape(text: str) -> Given:
    """Parse --shape or --sample-shape; None for a dimension that stays open."""
    name, value = _parts(text, "x=1,512")
    try:
        dims = [part.strip() for part in value.split(",")] if value.strip() else []
        return Given(name, [None if dim == "?" else int(dim) for dim in dims], text)
    except ValueError as error:
        raise typer.BadParameter(f"{text}: write numbers and '?'") from error


def _named_number(what: str, example: str) -> Callable[[str], Given]:
    """Return a parser of names with a whole number, such as --assume-max."""

    def read(text: str) -> Given:
        name, value = _parts(text, example)
        # Without ASCII, \d takes digits of all scripts.
        if not re.fullmatch(r"\d{1,18}", value.strip(), re.ASCII):
            raise typer.BadParameter(f"{text}: write {what}, as in {example}")
        return Given(name, int(value), text)

    return read


def dimension(text: str) -> Given:
    """Parse --dim: a size, or a minimum."""
    name, value = _parts(text, "T=6 or 'T>=1'")
    # The text is parted at its first =, so that T>=1 leaves the > with the name.
    is_least = name.endswith(">") or value.startswith(">=")
    name, value = name.removesuffix(">").strip(), value.removeprefix(">=").strip()
    if not name or not re.fullmatch(r"\d{1,18}", value, re.ASCII):
        raise typer.BadParameter(f"{text}: write a size, as in T=6 or 'T>=1'")
    return Given(name, f">={value}" if is_least else int(value), text)


maximum = _named_number("a number of iterations", "loop=64")


def branch(text: str) -> Given:
    """Parse --assume."""
    name, value = _parts(text, "If_807=else")
    if value.strip() not in ("then", "else"):
        raise typer.BadParameter(f"{text}: write then or else, as in If_807=else")
    return Given(name, value.strip(), text)


_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size(text: str) -> int:
    """Parse a size: bytes, with K, M or G."""
    match = re.fullmatch(r"(\d{1,18})([KMG]?)B?", text.strip().upper(), re.ASCII)
    if match is None:
        raise typer.BadParameter(f"{text}: write bytes, or 500M, or 2G")
    return int(match[1]) * _UNITS[match[2]]


_MOST_DIGITS = 18


def whole(least: int = 0) -> Callable[[Any], int]:
    """Return a parser of whole numbers from `least` on."""

    def read(word: Any) -> int:
        text = str(word).strip()
        number = int(text) if re.fullmatch(rf"\d{{1,{_MOST_DIGITS}}}", text, re.ASCII) else -1
        if number < least:
            digits = f" of at most {_MOST_DIGITS} digits" if len(text) > _MOST_DIGITS else ""
            raise typer.BadParameter(f"{word}: write a whole number{digits}, {least} or more")
        return number

    return read


def number(*, above: bool = False) -> Callable[[Any], float]:
    """Return a parser of numbers from 0 on, or `above` it."""

    def read(text: Any) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        # NaN fails both tests.
        if not (value > 0 or (value == 0 and not above)):
            raise typer.BadParameter(
                f"{text}: write a number, {'more than 0' if above else '0 or more'}"
            )
        return value

    return read


def choice(*choices: str) -> Callable[[Any], str]:
    """Return a parser of one of a few words."""

    def read(text: str) -> str:
        if text not in choices:
            from ..ir import instead

            raise typer.BadParameter(f"{text}: {instead(text, choices)}")
        return text

    return read


def target_name(text: str) -> str:
    """Parse --target: the name of a target that is shipped."""
    from ..ir.option_names import shell_messages
    from ..targets import TargetError, find

    try:
        with shell_messages():
            return find(text).name
    except TargetError as error:
        raise typer.BadParameter(f"{text}: {error}") from error


def once(uses: Sequence[Given] | None) -> Sequence[Given] | None:
    """Check that no name occurs twice."""
    names = set[str]()
    for one in uses or ():
        if one.name in names:
            raise typer.BadParameter(f"'{one.name}' occurs twice")
        names.add(one.name)
    return uses


def contents(uses: Iterable[Given] | None) -> dict[str, Any]:
    """Return the values by name; files are read.

    Raises:
        FeedError: a file cannot be read.
    """
    values = {one.name: one.content for one in uses or ()}
    for name, content in values.items():
        if isinstance(content, Path):
            from ..runtimes.feeds import read_array

            values[name] = read_array(content)
    return values


def files_in(uses: Sequence[Given] | None) -> list[Path]:
    """Return the files of values."""
    return [one.content for one in uses or () if isinstance(one.content, Path)]


def _parts(text: str, example: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise typer.BadParameter(f"{text}: write it as in {example}")
    return name, value
