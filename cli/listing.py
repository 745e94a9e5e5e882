"""Commands `passes` and `targets`."""

from __future__ import annotations

from pathlib import Path

from . import interrupts, report
from .exit_codes import finish
from .options import JSON, LOAD


def list_targets(as_json: bool = JSON) -> int:
    """Show the compilers and runtimes of --target, each with the source of its list."""
    from ..targets import find, names

    interrupts.raise_from_now_on()
    targets = [find(name).to_dict() for name in names()]
    return finish(0, lambda: report.show_targets(targets, as_json), product=True)


def list_passes(load: list[Path] | None = LOAD, as_json: bool = JSON) -> int:
    """Show every pass with its options and their defaults."""
    from ..driver.inspect import describe_passes
    from ..passes import load_file

    interrupts.raise_from_now_on()
    for file in load or ():
        load_file(file)
    passes = describe_passes()
    return finish(0, lambda: report.show_passes(passes, as_json), product=True)
