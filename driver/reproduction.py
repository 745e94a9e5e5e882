"""Commands that make a failure of a rewrite again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..facts.named_dimensions import dimension_text
from ..ir import ModelFile, ModelSource
from ..options.table import FLAGS, OPTIONS, Option
from ..passes.manager.plugins import loaded_files
from ..passes.manager.registry import PASSES
from ..passes.vetoes import Reproduction

if TYPE_CHECKING:
    from .options import RewriteOptions

_ADDED = ("strict",)
"""Options that a reproduction has anyway."""
_COMPARED = ("timeout",)
"""Options that commands have among those of the comparison."""
_MOST_ELEMENTS = 64
"""Limit of elements of a value on a command line."""


def reproduction_of(source: ModelSource, options: RewriteOptions) -> Reproduction:
    """Return the file and the options of a rewrite, as a shell takes them."""
    file = str(source.path or "") if isinstance(source, ModelFile) else ""
    is_conversion = options.passes == () and options.opset is not None
    command = "convert" if is_conversion else "rewrite"
    try:
        return Reproduction(file, tuple(_words(options, command)), command)
    except _Unwritable:
        return Reproduction(file)


class _Unwritable(Exception):
    """An option that only Python can hold."""


def _words(options: RewriteOptions, command: str) -> Iterator[str]:
    """Yield the options of a command.

    Raises:
        _Unwritable: the command line has no such value.
    """
    for path in loaded_files():
        yield from ("--rules", str(path))
    if not options.pass_options.keys() <= FLAGS.keys():
        raise _Unwritable
    if any(np.size(value) > _MOST_ELEMENTS for value in options.values.values()):
        raise _Unwritable
    for row in OPTIONS:
        if (command in row.commands.split() and row.name not in _ADDED) or row.name in _COMPARED:
            value: Any = getattr(options, row.name, None) if row.type else None
            value = options.pass_options.get(row.name, value)
            if row.name == "passes" and value not in (None, ()):
                value = _passes(options)
            yield from written(row, value)


def written(row: Option, value: Any) -> Iterator[str]:
    """Yield one option with its value, in words; nothing where that is the default."""
    # By identity, since the number 1 equals True.
    if value is None or value == () or value is (row.default == "True"):
        return
    if row.name == "target":
        name = str(getattr(value, "name", value))
        yield from ("--target-file" if Path(name).suffix else row.flag, name)
    elif row.repeats:
        for name, one in value.items():
            yield from (row.flag, _assigned(row, name, one))
    elif not row.metavar:
        yield row.flag if value else row.off
    else:
        yield from (row.flag, str(value))


def _assigned(row: Option, name: str, value: Any) -> str:
    if row.metavar == "NAME=VALUE":
        return f"{name}={_json(value)}"
    if row.metavar == "NAME=D":
        return dimension_text(name, value)
    if row.metavar == "NAME=D,D":
        return f"{name}={','.join('?' if dim is None else str(dim) for dim in value)}"
    return f"{name}={value}"


def _passes(options: RewriteOptions) -> str:
    if isinstance(options.passes, str):
        return options.passes
    own = {kind.name for kind in PASSES}
    if not {pass_.name for pass_ in options.pipeline.passes} <= own:
        raise _Unwritable
    return str(options.pipeline)


def _json(value: Any) -> str:
    array = np.asarray(value)
    if array.dtype.kind not in "biufU":
        raise _Unwritable
    return json.dumps(array.tolist())
