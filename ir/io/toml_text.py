"""Text files of TOML, with one error for every file that cannot be read."""

import sys
from pathlib import Path
from typing import Any

from ..errors import LoadError, reason
from ..file_reader import open_regular, similar_file

_MOST_BYTES = 1 << 20
"""Limit of a file in bytes."""
_TOO_DEEP = "its tables or lists are nested too deep"
_MOST_DEPTH = 50
"""Limit of nested tables and lists: whoever reads them afterwards may recurse."""


def read_text(path: Path) -> str:
    """Read a text file.

    Raises:
        ValueError: the file cannot be read; the message is a clause for the end of a sentence.
    """
    try:
        with open_regular(path) as stream:
            content = stream.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValueError("it is larger than 1 MB")
        return content.decode("utf-8")
    except LoadError as error:
        cause = error.__cause__
        why = reason(cause) if isinstance(cause, OSError) else "it is not a regular file"
        hint = similar_file(path) if isinstance(cause, FileNotFoundError) else ""
        raise ValueError(f"{why}{hint}") from error
    except UnicodeError as error:
        raise ValueError("it is not text") from error
    except OSError as error:
        raise ValueError(reason(error)) from error


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML.

    Raises:
        ValueError: the text is malformed; the message is a clause for the end of a sentence.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"this is not TOML: {error}") from error
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    except ValueError as error:  # of Python's limit of digits, among others
        raise ValueError(f"a value cannot be read: {error}") from error
    _require_depth(table)
    return table


def _require_depth(table: dict[str, Any]) -> None:
    layer: list[Any] = [table]
    for _ in range(_MOST_DEPTH):
        inner = [one.values() if isinstance(one, dict) else one for one in layer]
        layer = [one for values in inner for one in values if isinstance(one, dict | list)]
        if not layer:
            return
    raise ValueError(_TOO_DEEP)
