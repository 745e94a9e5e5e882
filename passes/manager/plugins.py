"""Passes that are not part of straightline: of installed packages, and of single files.

A package names its passes as entry points of the group `straightline.passes`; none is imported
before a pipeline names it. What a file holds is known as soon as it is loaded.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from ...ir import Error
from ...ir.kinds import PATH, takes
from ...ir.onnx_errors import one_line
from ..base import Pass
from . import registry

GROUP = "straightline.passes"
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_PIPELINES = ("straighten", "selects", "accelerate")
_loaded: dict[str, tuple[type[Pass], Path]] = {}


class PluginError(Error):
    """A pass from outside cannot be used: it does not import, its name clashes, it is no pass."""


@takes(path=PATH)
def load_file(path: str | Path) -> tuple[type[Pass], ...]:
    """Run a Python file, and let pipelines call the passes that it defines by their names.

    A file that was changed may be loaded again. It may also hold what is known of operators and
    how they are converted, without any pass.

    Args:
        path: the file; it is run, so it must be one that you trust.

    Returns:
        the passes, in the order in which they stand there.

    Raises:
        PluginError: the file cannot be run, or a pass in it has no name of its own or does not fit;
            none of its passes is known then.
    """
    if "\0" in str(path):
        raise PluginError(f"{str(path)!r} is no Python file that is there")
    file = Path(os.path.realpath(path))
    module = _run(file, str(path))
    kinds = tuple(_defined(module))
    for kind in kinds:
        _check(kind, f"'{path}'")
        _, other = _loaded.get(kind.name, (None, file))
        if other != file:
            raise PluginError(f"'{path}': the pass '{kind.name}' is also one of '{other}'")
    names = [kind.name for kind in kinds]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise PluginError(f"'{path}' has two passes of the name '{twice}'")
    for name in [name for name, (_, other) in _loaded.items() if other == file]:
        del _loaded[name]
    _loaded.update((kind.name, (kind, file)) for kind in kinds)
    return kinds


def find(name: str) -> type[Pass] | None:
    """The pass of that name from a file that was loaded, or else of an installed package; None
    where there is none.

    Raises:
        PluginError: there are two, or it cannot be used.
    """
    if name in _loaded:
        return _loaded[name][0]
    found = list(entry_points(group=GROUP, name=name))
    if not found:
        return None
    if len(found) > 1:
        raise PluginError(f"the pass '{name}' is given by {' and by '.join(map(_source, found))}")
    return _of(found[0])


def names() -> list[str]:
    """The names of all passes from outside; nothing is imported for it."""
    return sorted({*_loaded, *(entry.name for entry in entry_points(group=GROUP))})


def listed() -> Iterator[tuple[str, type[Pass] | PluginError]]:
    """All passes from outside by name, or why one cannot be used."""
    for name in names():
        try:
            kind = find(name)
            if kind is not None:
                yield name, kind
        except PluginError as error:
            yield name, error


class _Loader(SourceFileLoader):
    """Compile a file each time it is loaded.

    The bytecode that Python keeps of a file stands for any text of the same length and second.
    """

    def get_code(self, fullname: str) -> CodeType:
        """Compile the source."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _run(file: Path, shown: str) -> ModuleType:
    """The module that a file is; its name is its own, whatever else is called so."""
    name = f"straightline_file_{abs(hash(str(file))):x}_{file.stem}"
    loader = _Loader(name, str(file))
    spec = importlib.util.spec_from_file_location(name, file, loader=loader)
    if spec is None or file.suffix != ".py" or not file.is_file():
        raise PluginError(f"'{shown}' is no Python file that is there")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module  # types of options are looked up there
    try:
        loader.exec_module(module)
    except (Exception, SystemExit) as error:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before
        raise PluginError(f"'{shown}' cannot be loaded: {_told(error, file)}") from error
    return module


def _told(error: BaseException, file: Path) -> str:
    """What went wrong, and in which line of the file."""
    kind = type(error).__name__
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {kind}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    return f"{f'line {lines[-1]}: ' if lines else ''}{kind}: {one_line(error)}"


def _defined(module: ModuleType) -> Iterator[type[Pass]]:
    """The passes that a module itself defines; those that others derive from may be abstract."""
    for name, found in vars(module).items():
        own = isinstance(found, type) and found.__module__ == module.__name__
        if own and issubclass(found, Pass) and name[0] != "_" and not inspect.isabstract(found):
            yield found


def _of(entry: EntryPoint) -> type[Pass]:
    where = _source(entry)
    try:
        kind = entry.load()
    except (Exception, SystemExit) as error:
        told = f"{type(error).__name__}: {one_line(error)}"
        raise PluginError(f"the pass '{entry.name}' of {where} cannot be loaded: {told}") from error
    _check(kind, where)
    if kind.name != entry.name:
        raise PluginError(
            f"{where} gives the pass '{kind.name}' as '{entry.name}'; both must be one name"
        )
    found: type[Pass] = kind
    return found


def _source(entry: EntryPoint) -> str:
    package = "" if entry.dist is None else f"{entry.dist.name}, "
    return f"{package}'{entry.value}'"


def _check(kind: Any, where: str) -> None:
    """Whether something can be used as a pass.

    Raises:
        PluginError: it cannot.
    """
    if not isinstance(kind, type) or not issubclass(kind, Pass):
        raise PluginError(f"{where} is no pass: it does not derive from straightline.passes.Pass")
    name = getattr(kind, "name", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise PluginError(
            f"{where}: {kind.__name__} needs a name such as 'cancel-negations', not {name!r}"
        )
    if name in (*_PIPELINES, *(own.name for own in registry.PASSES)):
        raise PluginError(f"{where}: '{name}' is a pass of straightline; call yours otherwise")
    try:
        kind()
    except Exception as error:
        raise PluginError(
            f"{where}: the pass '{name}' cannot be made: {one_line(error)}; each option needs a"
            " default"
        ) from error
