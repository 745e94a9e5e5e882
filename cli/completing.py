"""Completion of words while a command is written."""

from collections.abc import Callable


def pass_names(incomplete: str) -> list[str]:
    """Complete a pipeline with each pass whose name may come next."""
    from ..passes.manager.pipeline_parser import names

    begun, comma, start = incomplete.rpartition(",")
    if begun.count("{") > begun.count("}"):
        return []  # between two options of a pass
    return [f"{begun}{comma}{name}" for name in names() if name.startswith(start)]


def words(*choices: str) -> Callable[[str], list[str]]:
    """Return a function that completes one of a few words."""
    return lambda incomplete: [word for word in choices if word.startswith(incomplete)]


def target_names(incomplete: str) -> list[str]:
    """Complete the name of a target."""
    from ..targets import names

    return [name for name in names() if name.startswith(incomplete)]
