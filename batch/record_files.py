"""Records read back: from the folder of a batch, or from the lines that `--json` prints."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..ir import read_bytes
from .addresses import Address, Place
from .errors import BatchError
from .result import Record
from .state import FOLDER, STATE, entries
from .stored_state import lines_in

_MOST_BYTES = 1 << 30
_OF_LINES = ("config", "exit")
"""The keys that a line has beside those of its record."""


def records_in(path: Place) -> list[Record]:
    """Return the last record of each model of a batch, sorted by name.

    Args:
        path: the folder of the results, here or on shared storage, or a file of the lines that
            `--json` prints.

    Raises:
        BatchError: there are no records.
        LoadError: the file cannot be read.
    """
    if isinstance(path, Address):
        return _last(_records(entry for entry, _ in lines_in(path / FOLDER)), path)
    file = path / FOLDER / STATE if path.is_dir() else path
    if path.is_dir() and not file.is_file():
        raise BatchError(
            f"the folder '{path}' holds no batch: there is no '{FOLDER}/{STATE}', which"
            f" 'straightline rewrite MODELS -o {path}' writes"
        )
    content = bytes(read_bytes(file, _MOST_BYTES))
    records = _of_state(content, file) if path.is_dir() else _of_lines(content, file)
    return _last(records, path)


def _last(records: list[Record], path: Place) -> list[Record]:
    if not records:
        raise BatchError(f"'{path}' holds no record of a model")
    last = {record.name: record for record in records}
    return [last[name] for name in sorted(last)]


def _of_state(content: bytes, file: Path) -> list[Record]:
    remedy = "rewrite the models again"
    return _records(entry for entry, _ in entries(content, f"'{file}'", remedy))


def _records(lines: Iterable[dict[str, Any]]) -> list[Record]:
    return [Record.from_dict(entry["record"]) for entry in lines if "record" in entry]


def _of_lines(content: bytes, file: Path) -> list[Record]:
    records = []
    for number, line in enumerate(content.splitlines(), 1):
        try:
            entry = json.loads(line)
            for key in _OF_LINES:
                entry.pop(key, None)
            records.append(Record.from_dict(entry))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise BatchError(
                f"'{file}', line {number}, is not a record of a model as --json prints it"
            ) from error
    return records
