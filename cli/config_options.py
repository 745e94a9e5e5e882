"""Options of a command for each model: the command line's, and those of a configuration file."""

from __future__ import annotations

import functools
import json
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import typer

from ..records import record
from . import report
from .parsing import STREAM
from .terminal import complain, shown

if TYPE_CHECKING:
    from .config_file import Config

NAME = "straightline.toml"
"""The name of a configuration file that is read without being named."""
T = TypeVar("T")
_FIELDS = ("config", "no_config")
_APPLIED = "straightline.applied"


@record(frozen=True)
class Applied:
    """Options that a configuration file adds to those of the command line.

    Attributes:
        options: the values by key, as the file has them.
    """

    file: Path
    options: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the options in types that JSON has."""
        return {"file": str(self.file), "options": dict(self.options)}

    def __str__(self) -> str:
        return f"configuration {self.file}: {_listed(self.options)}"


def _listed(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {json.dumps(value)}" for key, value in options.items())


def dict_of(applied: Applied | None) -> dict[str, Any] | None:
    """Return the options of a configuration file in types that JSON has; None for no file."""
    return None if applied is None else applied.to_dict()


def applied_to(context: typer.Context) -> Applied | None:
    """Return the options of a configuration file that the running command has."""
    applied: Applied | None = context.meta.get(_APPLIED)
    return applied


def wrapped(make: Callable[..., T], run: Callable[..., int]) -> Callable[..., int]:
    """Return a command with the parameters of `make`, which `run` gets with their values."""

    @functools.wraps(make)
    def command(**values: Any) -> int:
        return run(make, values)

    return command


class Configured(Generic[T]):
    """A command whose options a configuration file may add to, model by model.

    Args:
        make: takes its parameters by name.
        values: the parameters of the command line.
        folders: folders that the command line names; files in them hold for all models below.
    """

    def __init__(
        self,
        context: typer.Context,
        make: Callable[..., T],
        values: Mapping[str, Any],
        folders: Iterable[Path] = (),
    ) -> None:
        self.context = context
        self.make = make
        self.values = values
        self._roots = [Path(os.path.abspath(path)) for path in (Path(), *folders)]
        group: Any = context.find_root().command
        self._commands = {
            name: command
            for name, command in group.commands.items()
            if {*_FIELDS} <= {parameter.name for parameter in command.params}
        }
        self._read = functools.cache(self._config)
        self._nearest = functools.cache(self._search)
        self._made: dict[str, T] = {}
        self._told: set[str] = set()
        if values["config"] is not None and values["no_config"]:
            raise typer.BadParameter("--config and --no-config contradict each other")

    def of(self, model: Path | None = None) -> tuple[T, Applied | None]:
        """Return the result of `make` for a model, and the options of a file.

        Equal options make it once. Meanwhile and later `applied_to` returns those of the file.

        Args:
            model: the model; None for one that has no file.

        Raises:
            ConfigError: the file cannot be read, or is invalid.
        """
        file = self._file(None if model == STREAM else model)
        changed, applied = ({}, None) if file is None else self._read_for(model, file)
        self.context.meta[_APPLIED] = applied
        # Options may be lists and tables, which have no hash.
        key = repr(applied)
        if key not in self._made:
            self._announce(applied)
            self._made[key] = self.make(**{**self.values, **changed})
        return self._made[key], applied

    def plain(self) -> T:
        """Return the result of `make` for the command line alone."""
        return self.make(**self.values)

    def _read_for(self, model: Path | None, file: Path) -> tuple[dict[str, Any], Applied]:
        """Return the parameters that a file decides, and the options that it has for them."""
        from .config_file import keys_of, void_option, weakening, words

        options = self._read(file).options(str(self.context.info_name), model)
        keys = keys_of(self.context.command)
        # What the command line says makes void what contradicts it in the file.
        void = {
            void_option(key, self.values[p.name]) for key, p in keys.items() if self._is_written(p)
        }
        added, changed = {}, {}
        for key, value in options.items():
            parameter = keys.get(key)
            if parameter is None or key in void:
                continue
            value = self._unwritten(parameter, value)
            if value is None:
                continue
            read = parameter.process_value(self.context, words(parameter, value, file.parent))
            beside = self.values[parameter.name] if self._is_written(parameter) else ()
            added[key], changed[parameter.name] = value, [*read, *beside] if beside else read
        if not self._is_own(file):
            for key in (weak := weakening(added)):
                del added[key], changed[keys[key].name]
            self._warn_of_ignored(file, weak)
        return changed, Applied(file, added)

    def _is_own(self, file: Path) -> bool:
        """Test for a file that the user names, or that governs the working folder.

        Any other file may have come with the model.
        """
        folder, here = Path(os.path.abspath(file)).parent, Path.cwd()
        return self.values["config"] is not None or folder in (here, *here.parents)

    def _warn_of_ignored(self, file: Path, weak: Mapping[str, Any]) -> None:
        line = (
            f"configuration {file}: {_listed(weak)}: ignored, since this weakens the guarantee of"
            f" equal outputs and the file lies outside the working folder; use it with"
            f" --config '{file}'"
        )
        if weak and line not in self._told:
            report.show_warning(line)
            self._told.add(line)

    def _announce(self, applied: Applied | None) -> None:
        """Name a file whose options apply; a weaker guarantee is a warning."""
        from .config_file import weakening

        if applied is None or not applied.options:
            return
        if weak := weakening(applied.options):
            report.show_warning(
                f"configuration {applied.file} weakens the guarantee: {_listed(weak)}"
            )
        line = str(applied) if self.values["verbose"] else f"configuration {applied.file}"
        if line not in self._told and not (self.values.get("quiet") or self.values["as_json"]):
            complain(shown(line))
            self._told.add(line)

    def _unwritten(self, parameter: Any, value: Any) -> Any:
        """Return the part of a value that the command line leaves open; None for none of it."""
        if not self._is_written(parameter):
            return value
        if not (parameter.multiple and isinstance(value, dict)):
            return None
        names = {one.name for one in self.values[parameter.name]}
        return {name: one for name, one in value.items() if name not in names} or None

    def _is_written(self, parameter: Any) -> bool:
        source = self.context.get_parameter_source(parameter.name)
        return source is not None and source.name == "COMMANDLINE"

    def _file(self, model: Path | None) -> Path | None:
        """Return the configuration file of a model, if there is one."""
        path: Path | None = self.values["config"]
        if path is not None or self.values["no_config"] or model is None:
            return path
        return self._nearest(Path(os.path.abspath(model)).parent)

    def _search(self, folder: Path) -> Path | None:
        """Return the nearest file in a folder or above it."""
        above = [root for root in self._roots if root == folder or root in folder.parents]
        last = min(above, key=lambda root: len(root.parts), default=folder)
        for place in (folder, *folder.parents):
            file = place / NAME
            file = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
            if _is_config(file):
                return file
            if place == last:
                break
        return None

    def _config(self, file: Path) -> Config:
        from .config_file import Config

        return Config.read(file, self.context, self._commands)


def _is_config(file: Path) -> bool:
    """Test for a configuration file.

    Raises:
        ConfigError: the name belongs to a link, a folder, a pipe or the like.
    """
    try:
        mode = file.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    if stat.S_ISREG(mode):
        return True
    from .config_file import ConfigError

    kind = (
        "a link"
        if stat.S_ISLNK(mode)
        else "a folder"
        if stat.S_ISDIR(mode)
        else "not a regular file"
    )
    raise ConfigError(
        f"'{file}' is {kind}, where a configuration file is expected; remove it, name another file"
        " with --config, or read none with --no-config"
    )
