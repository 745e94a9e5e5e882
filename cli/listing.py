"""Commands `passes` and `targets`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import interrupts, report
from .exit_codes import finish
from .options import JSON, LOAD

if TYPE_CHECKING:
    from ..display import Block


def list_targets(as_json: bool = JSON) -> int:
    """Show the targets that models can fit, each with the source of its list."""
    from ..display import Table
    from ..targets import find, names

    interrupts.raise_from_now_on()
    targets = [find(name).to_dict() for name in names()]
    rows = []
    for target in targets:
        source, (first, last) = target["source"], target["opsets"]
        operators = ", ".join(target["control_flow"]) or "none"
        about = [target["about"], f"{source['list']}, {source['version']}, {source['date']}"]
        rows.append((target["name"], f"{first} to {last}", operators, about))
    columns = ("Target", "Opsets", "Control flow", "What it is; its list")
    return _list(targets, [Table(columns, rows)], as_json)


def list_passes(load: list[Path] | None = LOAD, as_json: bool = JSON) -> int:
    """Show every pass with its options."""
    from ..display import Line, Table
    from ..driver.inspect import describe_passes
    from ..passes import load_file

    interrupts.raise_from_now_on()
    for file in load or ():
        load_file(file)
    passes = describe_passes()
    rows = [
        (item["name"], [f"{o['name']}={o['default']}" for o in item["options"]], item["summary"])
        for item in passes
    ]
    default = ", ".join(item["name"] for item in passes if item["default"])
    line = Line(f"the default pipeline, straighten, repeats: {default}")
    return _list(passes, [Table(("Pass", "Options", "What it does"), rows), line], as_json)


def _list(items: Sequence[Any], blocks: Sequence[Block], as_json: bool) -> int:
    def show() -> None:
        report.show_json(items) if as_json else report.show(blocks)

    return finish(0, show, product=True)
