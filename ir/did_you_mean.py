"""Suggestions for unknown names: the nearest name, and the list of all."""

from collections.abc import Iterable, Sequence

from .kinds import takes

_MOST_LISTED = 30
_MOST_BESIDE = 24
"""The limit of names that are listed beside suggestions."""
_MOST_SUGGESTED = 3
_ALIKE = 0.7
"""The least similarity ratio of a suggestion (`difflib.get_close_matches`)."""
_PREFIX = 4
"""The least length of a name whose longer forms are suggested."""
_LONGEST = 200
"""The limit of the length of compared names: a comparison takes quadratic time."""


@takes(name=str, known=Iterable)
def nearest(name: str, known: Iterable[str]) -> str | None:
    """The most similar name, case ignored; None where none is similar."""
    return next(iter(_alike(name, known, 1)), None)


def _alike(name: str, known: Iterable[str], count: int) -> list[str]:
    """The most similar names, the nearest one first."""
    from difflib import get_close_matches

    lower = {other.lower(): other for other in known if len(other) <= _LONGEST}
    typed = name[:_LONGEST].lower()
    matches = get_close_matches(typed, lower, n=count, cutoff=_ALIKE)
    longer = [other for other in lower if len(typed) >= _PREFIX and other.startswith(typed)]
    return [lower[match] for match in dict.fromkeys([*matches, *longer])][:count]


@takes(name=str, known=Iterable)
def instead(name: str, known: Iterable[str], *, are: str = "there are", listing: str = "") -> str:
    """The end of a sentence about an unknown name: suggestions, and all names unless many.

    Args:
        name: the unknown name.
        known: all names.
        are: the words before the list.
        listing: the place of a list of many names.
    """
    offered = list(known)
    if len(offered) <= _MOST_BESIDE:
        match = nearest(name, offered)
        question = "" if match is None else f"did you mean '{match}'? "
        return f"{question}{are} {list_names(offered)}"
    *others, last = [f"'{match}'" for match in _alike(name, offered, _MOST_SUGGESTED)] or [""]
    if not last:
        return f"{listing} lists them" if listing else f"{are} {list_names(offered)}"
    return f"did you mean {' or '.join(filter(None, (', '.join(others), last)))}?"


def list_names(names: Sequence[str]) -> str:
    """Names in quotes, no more than fit into a line; "none" for an empty list."""
    more = len(names) - _MOST_LISTED
    text = ", ".join(f"'{name}'" for name in names[:_MOST_LISTED]) or "none"
    return text + (f" and {more} more" if more > 0 else "")


@takes(name=str, inputs=Iterable)
def no_input(name: str, inputs: Iterable[str]) -> str:
    """The message for a name that is no input of the model."""
    return f"the model has no input '{name}'; {instead(name, inputs, are='it has')}"
