"""What the shell offers while a command is written."""

from __future__ import annotations

import enum
from collections.abc import Callable


def pass_names(incomplete: str) -> list[str]:
    """Pipelines that go on as one that is begun: each pass whose name may come next."""
    from ..passes.manager.pipeline_parser import names

    begun, comma, start = incomplete.rpartition(",")
    if begun.count("{") > begun.count("}"):
        return []  # between two options of a pass
    return [f"{begun}{comma}{name}" for name in names() if name.startswith(start)]


def words(kind: type[enum.Enum]) -> Callable[[str], list[str]]:
    """What tells the words of which one is to be written."""
    return lambda incomplete: [one.value for one in kind if one.value.startswith(incomplete)]


def target_names(incomplete: str) -> list[str]:
    """The targets whose names begin so."""
    from ..targets import names

    return [name for name in names() if name.startswith(incomplete)]
