"""Names that nothing is known by: what was meant, or what there is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .kinds import takes

_MOST_LISTED = 30
_ALIKE = 0.7
"""A name is taken for another one if so much of both is the same, in order."""
_LONGEST = 200
"""Names longer than this are not compared: it takes their product in time."""


@takes(name=str, known=Iterable)
def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name that was probably meant, whatever its case; None where none is near."""
    from difflib import get_close_matches

    lower = {other.lower(): other for other in known if len(other) <= _LONGEST}
    found = get_close_matches(name[:_LONGEST].lower(), lower, n=1, cutoff=_ALIKE)
    return lower[found[0]] if found else None


@takes(name=str, known=Iterable)
def instead(name: str, known: Iterable[str], *, are: str = "there are") -> str:
    """The end of a sentence about a name that is unknown: the one that was meant, and all others.

    Args:
        name: what was given.
        known: what there is.
        are: the words before the list.
    """
    offered = list(known)
    meant = nearest(name, offered)
    asked = "" if meant is None else f"did you mean '{meant}'? "
    return f"{asked}{are} {listed(offered)}"


def listed(names: Sequence[str]) -> str:
    """Names in quotes, no more than fit into a line; "none" where there is none."""
    more = len(names) - _MOST_LISTED
    found = ", ".join(f"'{name}'" for name in names[:_MOST_LISTED]) or "none"
    return found + (f" and {more} more" if more > 0 else "")


@takes(name=str, inputs=Iterable)
def no_input(name: str, inputs: Iterable[str]) -> str:
    """That a model has no such input."""
    return f"the model has no input '{name}'; {instead(name, inputs, are='it has')}"
