"""Commands that make a failure of a rewrite again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..facts.named_dimensions import dimension_text
from ..ir import ModelFile, ModelSource
from ..passes.manager.isolation import Reproduction
from ..passes.manager.plugins import loaded_files
from ..passes.manager.registry import PASSES

if TYPE_CHECKING:
    from .options import RewriteOptions

_FLAGS = ("exactness", "optimize_for", "costs", "max_run_memory", "max_trips", "max_nodes")
"""Options of passes that are options of the command line."""
_MOST_ELEMENTS = 64
"""Limit of elements of a value on a command line."""


def reproduction_of(source: ModelSource, options: RewriteOptions) -> Reproduction:
    """Return the file and the options of a rewrite, as a shell takes them."""
    file = str(source.path or "") if isinstance(source, ModelFile) else ""
    is_conversion = options.passes == () and options.opset is not None
    try:
        words = tuple(_words(options))
    except _Unwritable:
        return Reproduction(file)
    return Reproduction(file, words, "convert" if is_conversion else "rewrite")


class _Unwritable(Exception):
    """An option that only Python can hold."""


def _words(options: RewriteOptions) -> Iterator[str]:
    """Yield the options of the command `rewrite`.

    Raises:
        _Unwritable: the command line has no such value.
    """
    for path in loaded_files():
        yield from ("--rules", str(path))
    yield from _pipeline(options)
    if options.target is not None:
        name = str(getattr(options.target, "name", options.target))
        yield from ("--target-file" if Path(name).suffix else "--target", name)
    for name, value in options.values.items():
        yield from ("--set", f"{name}={_json(value)}")
    for name, dims in options.shapes.items():
        sizes = ",".join("?" if dim is None else str(dim) for dim in dims)
        yield from ("--shape", f"{name}={sizes}")
    for name, size in options.dims.items():
        yield from ("--dim", dimension_text(name, size))
    for option, values in {"--assume-max": options.assume_max, "--assume": options.assume}.items():
        for name, value in values.items():
            yield from (option, f"{name}={value}")
    if options.freeze_initializers:
        yield "--freeze-initializers"
    for name in ("opset", "max_work", "max_memory", "timeout"):
        if getattr(options, name) is not None:
            yield from (f"--{name.replace('_', '-')}", str(getattr(options, name)))


def _pipeline(options: RewriteOptions) -> Iterator[str]:
    if options.selects:
        yield "--selects"
    elif options.passes is not None and options.passes != ():
        if not isinstance(options.passes, str):
            own = {kind.name for kind in PASSES}
            if not {pass_.name for pass_ in options.pipeline.passes} <= own:
                raise _Unwritable
        is_text = isinstance(options.passes, str)
        yield from ("--passes", str(options.passes if is_text else options.pipeline))
    for name, value in options.pass_options.items():
        if name == "keep_nan":
            yield "--keep-nan" if value else "--no-keep-nan"
        elif name in _FLAGS:
            yield from (f"--{name.replace('_', '-')}", str(value))
        else:
            raise _Unwritable


def _json(value: Any) -> str:
    array = np.asarray(value)
    if array.dtype.kind not in "biufU" or array.size > _MOST_ELEMENTS:
        raise _Unwritable
    return json.dumps(array.tolist())
