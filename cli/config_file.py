"""Configuration files: options of commands in TOML, for all models or for those of a pattern.

The keys are the options of the command line without their dashes; the commands are the only list of
them.
"""

import json
import os
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NoReturn

import typer

from ..ir import Error, instead, nearest
from ..ir.io.toml_text import parse_toml, read_text
from ..ir.option_names import KEYWORDS
from ..options.table import OPTIONS
from ..passes import PassOptionError
from ..passes.manager.pipeline_parser import parse_pipeline
from ..records import record
from .options import MANY, OUTPUT, WATCHING

_MODELS = "models"
_CODE = "load"
"""The option that runs Python files. Only a file that the user names may hold it."""
_WEAKENING: Mapping[str, Collection[Any] | None] = {
    **{option.key: None for option in OPTIONS if option.weakens},
    "atol": None,
    "equality": ("values", "reals"),
    "inputs": None,
    "prove": (False,),
    "rtol": None,
    "unproved": ("allow",),
    "verify": (False,),
}
"""Options that weaken the guarantee of equal outputs: with these values; None for any value."""
_OF_A_RUN = (MANY, OUTPUT, WATCHING)
"""Panels of options that belong to one run: what it writes, shows and shares out."""
_VOID = {
    ("passes", None): "selects",
    ("selects", True): "passes",
    ("target", None): "target-file",
    ("target-file", None): "target",
    ("verify", False): "prove",
    ("prove", True): "verify",
}
"""Options that contradict others: where one stands, the other of a more general table is void."""

Options = Mapping[str, Any]
"""Values by key, as TOML has them."""


class ConfigError(Error):
    """A configuration file is missing or invalid."""


@record(frozen=True)
class Config:
    """A configuration file.

    Attributes:
        table: its content, checked.
        commands: the commands that it may configure.
    """

    path: Path
    table: Mapping[str, Any]
    commands: Collection[str]

    @classmethod
    def read(cls, path: Path, context: typer.Context, commands: Mapping[str, Any]) -> "Config":
        """Read and check a file.

        Args:
            path: the file.
            context: the context of the running command.
            commands: the commands that it may configure, by name.

        Raises:
            ConfigError: the file cannot be read, a key is unknown, or a value is invalid.
        """
        try:
            table = parse_toml(read_text(path))
        except ValueError as error:
            raise ConfigError(f"cannot read the configuration '{path}': {error}") from error
        _Checker(path, context, commands).check(table)
        return cls(path, table, commands)

    def options(self, command: str, model: Path | None) -> dict[str, Any]:
        """Return the options of a command for a model; None is a model without a file.

        The options of all models come first, then those of the command, then those of the patterns
        in their order; later ones win.
        """
        layers = [self._shared(self.table), self.table.get(command, {})]
        # Patterns are about paths as seen from the folder of the configuration.
        parts = () if model is None else Path(os.path.relpath(model, self.path.parent)).parts
        for pattern, table in self.table.get(_MODELS, {}).items():
            if parts and matches(parts, pattern):
                layers += [self._shared(table), table.get(command, {})]
        merged: dict[str, Any] = {}
        for layer in layers:
            merge(merged, layer)
        return merged

    def _shared(self, table: Mapping[str, Any]) -> Options:
        """Return the options of a table that are those of no single command."""
        others = {_MODELS, *self.commands}
        return {key: value for key, value in table.items() if key not in others}


def merge(options: dict[str, Any], stronger: Options) -> None:
    """Add options that win over those that are there; tables of names are joined."""
    for key, value in stronger.items():
        options.pop(void_option(key, value), None)
        earlier = options.get(key)
        joined = isinstance(value, dict) and isinstance(earlier, dict)
        options[key] = {**earlier, **value} if joined and earlier else value


def void_option(key: str, value: Any) -> str:
    """Return the option that a value of another one makes void; "" for none."""
    return _VOID.get((key, value if isinstance(value, bool) else None), "")


def matches(parts: tuple[str, ...], pattern: str) -> bool:
    """Test whether a path matches a pattern.

    `**` stands for any number of folders. A pattern without a slash is about the name.
    """
    segments = pattern.split("/")
    if len(segments) == 1:
        segments = ["**", *segments]
    reached = _past_folders({0}, segments)
    for part in parts:
        # All positions at once: trying one after another takes exponential time with many `**`.
        advanced = {
            place if segments[place] == "**" else place + 1
            for place in reached
            if place < len(segments)
            and (segments[place] == "**" or fnmatchcase(part, segments[place]))
        }
        reached = _past_folders(advanced, segments)
    return len(segments) in reached


def _past_folders(places: set[int], segments: list[str]) -> set[int]:
    """Return positions in a pattern, with those behind each `**` that stands for no folder."""
    reached = set(places)
    # In this order `**` behind `**` is passed, too.
    for place, segment in enumerate(segments):
        if segment == "**" and place in reached:
            reached.add(place + 1)
    return reached


def weakening(options: Options) -> dict[str, Any]:
    """Return those of the options that weaken the guarantee of equal outputs."""
    return {key: value for key, value in options.items() if _is_weakening(key, value)}


def _is_weakening(key: str, value: Any) -> bool:
    """Test an option with its value; minimum sizes of dimensions are assumptions."""
    if key == "dim" and isinstance(value, dict):
        return any(str(size).startswith(">") for size in value.values())
    return key in _WEAKENING and ((weak := _WEAKENING[key]) is None or value in weak)


def keys_of(command: Any) -> dict[str, Any]:
    """Return the parameters of a command that a file may hold, by key."""
    return {
        parameter.opts[-1].removeprefix("--"): parameter
        for parameter in command.params
        if parameter.param_type_name == "option"
        and getattr(parameter, "rich_help_panel", None) not in _OF_A_RUN
    }


class _Checker:
    """Check of a file; each error names the file, the table and the key."""

    def __init__(self, path: Path, context: typer.Context, commands: Mapping[str, Any]) -> None:
        self.path = path
        self.context = context
        self.keys = {name: keys_of(command) for name, command in commands.items()}
        self.all = {key: one for keys in self.keys.values() for key, one in keys.items()}
        self.loads = False
        self.every = {
            option.removeprefix("--")
            for command in commands.values()
            for parameter in command.params
            for option in (*parameter.opts, *parameter.secondary_opts)
        }

    def check(self, table: Mapping[str, Any]) -> None:
        """Check the table of the whole file.

        Raises:
            ConfigError: a key is unknown, or a value is invalid.
        """
        models = table.get(_MODELS, {})
        self.loads = bool(self.context.params.get(_CODE)) or _holds_code(table)
        self._tables((), table, [_MODELS])
        if not isinstance(models, dict):
            self._fail((), _MODELS, 'write tables, each for a pattern: [models."*.onnx"]')
        for pattern, options in models.items():
            if not isinstance(options, dict):
                self._fail((_MODELS,), pattern, f'write a table: [models."{pattern}"]')
            self._tables((_MODELS, pattern), options, [])

    def _tables(self, place: tuple[str, ...], table: Mapping[str, Any], others: list[str]) -> None:
        """Check options of all commands, and the tables of single ones among them."""
        for key, value in table.items():
            if key in self.keys:
                if not isinstance(value, dict):
                    inner = ".".join((*place, key))
                    self._fail(place, key, f"write the options of this command: [{inner}]")
                for name, content in value.items():
                    self._option((*place, key), name, content, self.keys[key])
            elif key not in others:
                self._option(place, key, value, self.all, [*self.keys, *others])

    def _option(
        self,
        place: tuple[str, ...],
        key: str,
        value: Any,
        offered: Mapping[str, Any],
        tables: Collection[str] = (),
    ) -> None:
        parameter = offered.get(key)
        if parameter is None:
            self._fail(place, key, self._unknown(key, offered, tables))
        if key == _CODE and self.context.params["config"] is None:
            self._fail(place, key, "this runs Python files; allow it by naming the file: --config")
        try:
            parameter.process_value(self.context, words(parameter, value, self.path.parent))
            # A loaded file may define passes that are not known yet.
            if key == "passes" and not self.loads:
                parse_pipeline(value)
        except typer.BadParameter as error:
            self._fail(place, key, str(error.message))
        except (ValueError, PassOptionError) as error:
            self._fail(place, key, str(error))

    def _unknown(self, key: str, offered: Mapping[str, Any], tables: Collection[str]) -> str:
        if key in self.all:
            return f"this is not an option of the command; {instead(key, offered, are='it has')}"
        if key.startswith("no-") and key[3:] in offered:
            return f"write {key[3:]} = false"
        same = next((one for one, p in offered.items() if f"--{key}" in p.opts), None)
        if same is not None:
            return f"write it as '{same}'"
        if key in self.every:
            return "this option belongs to one run; write it on the command line"
        option = next((o for o, word in KEYWORDS.items() if word.partition("=")[0] == key), "--")
        if option[2:] in offered:
            return f"unknown; write the option of the command line, '{option[2:]}'"
        match = nearest(key, [*offered, *tables])
        if match is not None:
            return f"unknown; did you mean '{match}'?"
        return f"unknown; {instead(key, [*offered, *tables])}"

    def _fail(self, place: tuple[str, ...], key: str, what: str) -> NoReturn:
        quoted = (part if part.replace("-", "").isalnum() else f'"{part}"' for part in place)
        table = f" [{'.'.join(quoted)}]" if place else ""
        raise ConfigError(f"{self.path}:{table} {key}: {what}")


def _holds_code(table: Mapping[str, Any]) -> bool:
    return _CODE in table or any(_holds_code(v) for v in table.values() if isinstance(v, dict))


def words(parameter: Any, value: Any, folder: Path) -> Any:
    """Return a value in the form in which the command line has it.

    Args:
        parameter: the option.
        value: the value in TOML.
        folder: the folder of the file, from which paths start.

    Raises:
        ValueError: the value has the wrong type.
    """
    metavar = parameter.metavar or ""
    if getattr(parameter, "is_flag", False):
        return _require(value, bool, "true or false")
    if parameter.multiple and "=" in metavar:
        table = _require(value, dict, f"a table, such as {{ {metavar.split('=')[0]} = ... }}")
        return [f"{name}={_assigned(metavar, one, folder)}" for name, one in table.items()]
    if parameter.multiple:
        texts = [_require(one, str, "a list of texts") for one in _require(value, list, "a list")]
        return [_path(metavar, text, folder) for text in texts]
    if metavar == "N":
        return str(_require(value, int, "a whole number"))
    if metavar in ("X", "SECONDS"):
        return str(_require(value, (int, float), "a number"))
    if metavar == "SIZE":
        return str(_require(value, (int, str), 'a number of bytes, or a text such as "500M"'))
    return _path(metavar, _require(value, str, "a text"), folder)


def _assigned(metavar: str, value: Any, folder: Path) -> str:
    """Return the text behind the equals sign of an option such as --set or --shape."""
    if metavar.endswith("=D,D"):
        dims = _require(value, list, 'a list such as [1, "?", 512]')
        return ",".join(map(str, dims))
    if isinstance(value, str) and metavar.endswith("=VALUE"):
        is_file = value.startswith("@") and len(value) > 1
        # As JSON, a text such as "true" stays a text.
        return f"@{folder / value[1:]}" if is_file else json.dumps(value)
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value)
    except TypeError as error:
        raise ValueError(f"{value} is a date or a time; write a text") from error


def _path(metavar: str, text: str, folder: Path) -> str:
    """Return a path as seen from the current folder; other texts stay."""
    is_path = metavar == "PATH" or (metavar.startswith("FILE") and text.endswith(metavar[4:]))
    return str(folder / text) if is_path else text


def _require(value: Any, kind: Any, what: str) -> Any:
    # True is an int for Python.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"write {what}, not {json.dumps(value, default=str)}")
    return value
