"""Help of commands: every word, at any width."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .tables import NARROW, console

_NAMES = 30
"""Columns for the names of options, where there is room beside them."""


def show_help(command: Any, context: Any) -> None:
    """Print the help of a command, or of the group of all."""
    out = console()
    usage = re.sub(r"[{}]|Usage:", "", command.get_usage(context)).strip()
    out.print(Text.assemble(("Usage: ", "bold"), usage), end="\n\n")
    for paragraph in (command.help or "").split("\n\n"):
        out.print(Text(" ".join(paragraph.split())), end="\n\n")
    for title, params in _panels(command.get_params(context)).items():
        _section(out, title, {_names(param): param.help or "" for param in params})
    commands = getattr(command, "commands", {})
    if commands:
        texts = {name: (each.help or "").split("\n\n")[0] for name, each in commands.items()}
        _section(out, "Commands", texts)
    if command.epilog:
        out.print(Text(command.epilog))


def _panels(params: Iterable[Any]) -> dict[str, list[Any]]:
    """Return the parameters by their panel, in order: arguments first."""
    panels: dict[str, list[Any]] = {"Arguments": [], "Options": []}
    for param in params:
        if getattr(param, "hidden", False):
            continue
        is_argument = param.param_type_name == "argument"
        title = getattr(param, "rich_help_panel", None)
        panels.setdefault(title or ("Arguments" if is_argument else "Options"), []).append(param)
    return {title: members for title, members in panels.items() if members}


def _section(out: Console, title: str, texts: Mapping[str, str]) -> None:
    out.print(Text(title, "bold"))
    grid = Table.grid(padding=(0, 2))
    grid.add_column(width=_NAMES, overflow="fold", style="cyan")
    grid.add_column(overflow="fold", ratio=1)
    stacked: list[RenderableType] = []
    for names, paragraph in texts.items():
        text = " ".join(paragraph.split())
        grid.add_row(Text(names), Text(text))
        stacked.append(Text(names, "cyan", overflow="fold"))
        stacked.append(Padding(Text(text, overflow="fold"), (0, 0, 0, 4)))
    out.print(Padding(Group(*stacked) if out.width < NARROW else grid, (0, 0, 1, 2)))


def _names(param: Any) -> str:
    """Return all spellings of a parameter, and its metavariable."""
    if param.param_type_name == "argument":
        return str(param.metavar or param.name)
    spelled = sorted([*param.opts, *param.secondary_opts], key=lambda name: name.startswith("--"))
    return ", ".join(spelled) + (f" {param.metavar}" if param.metavar else "")
