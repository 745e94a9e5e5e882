"""Plugins: passes of installed packages, and of single files.

A package declares its passes as entry points of the group `straightline.passes`, imported when a
pipeline names them. Passes of a file are available after it is loaded.
"""

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

from ...definitions.define import define
from ...ir import Error
from ...ir.kinds import PATH, takes
from ...ir.onnx_errors import one_line
from ..base import Pass
from . import registry

GROUP = "straightline.passes"
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_PIPELINES = ("straighten", "selects", "simplify", "accelerate")
_PLAIN = (str, int, float, type(None))
"""The types that JSON has."""
_loaded: dict[str, tuple[type[Pass], Path]] = {}
_defining: dict[Path, None] = {}


class PluginError(Error):
    """An unusable plugin: a failed import, a name conflict, or no pass."""


@takes(path=PATH)
def load_file(path: str | Path) -> tuple[type[Pass], ...]:
    """Run a Python file, and register its passes for pipelines.

    A changed file may be loaded again. A file may also define operators and adapters, without any
    pass. A file of another suffix holds definitions of operators (`straightline.define`).

    Args:
        path: the file; one of Python is executed, so it must be trusted.

    Returns:
        the passes, in the order of their definitions.

    Raises:
        PluginError: an error in the file, a name conflict, or an invalid pass; none of its passes
            is registered then.

    Examples:
        >>> from straightline import passes
        >>> passes.load_file("missing.py")
        Traceback (most recent call last):
        straightline.passes.manager.plugins.PluginError: 'missing.py' is not an existing Python file
    """
    if "\0" in str(path):
        raise PluginError(f"{str(path)!r} is not an existing Python file")
    file = Path(os.path.realpath(path))
    if file.suffix != ".py" and file.is_file():
        define(file)
        _defining[file] = None
        return ()
    module = _run(file, str(path))
    kinds = tuple(_definitions(module))
    for kind in kinds:
        _check(kind, f"'{path}'")
        _, other = _loaded.get(kind.name, (None, file))
        if other != file:
            raise PluginError(f"'{path}': the pass '{kind.name}' is also one of '{other}'")
    names = [kind.name for kind in kinds]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise PluginError(f"'{path}' has two passes of the name '{twice}'")
    # A file that is loaded again may have lost passes.
    for name in [name for name, (_, other) in _loaded.items() if other == file]:
        del _loaded[name]
    _loaded.update((kind.name, (kind, file)) for kind in kinds)
    return kinds


def find(name: str) -> type[Pass] | None:
    """Find a pass of a loaded file, or else of an installed package; None without one.

    Raises:
        PluginError: two passes of the name, or an unusable one.
    """
    if name in _loaded:
        return _loaded[name][0]
    entries = list(entry_points(group=GROUP, name=name))
    if not entries:
        return None
    if len(entries) > 1:
        raise PluginError(
            f"the pass '{name}' is registered by {' and by '.join(map(_source, entries))}"
        )
    return _of(entries[0])


def loaded_files() -> list[Path]:
    """The files whose passes or definitions were loaded."""
    return list(dict.fromkeys([*(file for _, file in _loaded.values()), *_defining]))


def names() -> list[str]:
    """The names of all plugins, without an import."""
    return sorted({*_loaded, *(entry.name for entry in entry_points(group=GROUP))})


def listed() -> Iterator[tuple[str, type[Pass] | PluginError]]:
    """Yield all plugins by name, each as a pass or an error."""
    for name in names():
        try:
            kind = find(name)
            if kind is not None:
                yield name, kind
        except PluginError as error:
            yield name, error


def describe_passes() -> list[dict[str, Any]]:
    """Describe every pass in types that JSON has.

    The passes of installed packages and of loaded files come last; the summary of one that cannot
    be used names the error.
    """
    kinds = [(kind.name, kind) for kind in registry.PASSES]
    return [_described(*one) for one in (*kinds, *listed())]


def _described(name: str, kind: type[Pass] | Error) -> dict[str, Any]:
    if isinstance(kind, Error):
        return {"name": name, "summary": f"not usable: {kind}", "default": False, "options": []}
    options = [
        {"name": option, "default": value if isinstance(value, _PLAIN) else str(value)}
        for option, value in kind().options()
    ]
    default = kind.by_default and kind in registry.PASSES
    return {"name": kind.name, "summary": kind().summary, "default": default, "options": options}


class _Loader(SourceFileLoader):
    """A loader that compiles a file each time.

    Python's cached bytecode is valid for any text of the same length and second.
    """

    def get_code(self, fullname: str) -> CodeType:
        """Compile the source."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _run(file: Path, label: str) -> ModuleType:
    """Run a file as a module with a unique name."""
    name = f"straightline_file_{abs(hash(str(file))):x}_{file.stem}"
    loader = _Loader(name, str(file))
    spec = importlib.util.spec_from_file_location(name, file, loader=loader)
    if spec is None or file.suffix != ".py" or not file.is_file():
        raise PluginError(f"'{label}' is not an existing Python file")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module  # get_type_hints looks types of options up there
    try:
        # A file may call sys.exit, whose SystemExit is no Exception.
        loader.exec_module(module)
    except (Exception, SystemExit) as error:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before
        raise PluginError(f"'{label}' cannot be loaded: {_describe(error, file)}") from error
    return module


def _describe(error: BaseException, file: Path) -> str:
    """Describe an error, with its line in the file."""
    kind = type(error).__name__
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {kind}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    return f"{f'line {lines[-1]}: ' if lines else ''}{kind}: {one_line(error)}"


def _definitions(module: ModuleType) -> Iterator[type[Pass]]:
    """Yield the concrete passes that a module defines."""
    for name, item in vars(module).items():
        own = isinstance(item, type) and item.__module__ == module.__name__
        if own and issubclass(item, Pass) and name[0] != "_" and not inspect.isabstract(item):
            yield item


def _of(entry: EntryPoint) -> type[Pass]:
    where = _source(entry)
    try:
        kind = entry.load()
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {one_line(error)}"
        raise PluginError(
            f"the pass '{entry.name}' of {where} cannot be loaded: {reason}"
        ) from error
    _check(kind, where)
    if kind.name != entry.name:
        raise PluginError(
            f"{where} registers the pass '{kind.name}' as '{entry.name}'; use one name"
        )
    pass_kind: type[Pass] = kind
    return pass_kind


def _source(entry: EntryPoint) -> str:
    package = "" if entry.dist is None else f"{entry.dist.name}, "
    return f"{package}'{entry.value}'"


def _check(kind: Any, where: str) -> None:
    """Check that an object is usable as a pass.

    Raises:
        PluginError: an unusable object.
    """
    if not isinstance(kind, type) or not issubclass(kind, Pass):
        reason = "it does not derive from straightline.passes.Pass"
        raise PluginError(f"{where} is not a pass: {reason}")
    name = getattr(kind, "name", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise PluginError(
            f"{where}: {kind.__name__} needs a name such as 'cancel-negations', not {name!r}"
        )
    if name in (*_PIPELINES, *(own.name for own in registry.PASSES)):
        raise PluginError(f"{where}: '{name}' is a pass of straightline; rename yours")
    try:
        kind()
    except Exception as error:
        raise PluginError(
            f"{where}: the pass '{name}' cannot be made: {one_line(error)}; each option needs a"
            " default"
        ) from error
