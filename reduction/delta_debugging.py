"""Delta debugging: a subset of items that is needed for a property, found by halving.

Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2), 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Holds = Callable[[Sequence[int]], bool]


def removable(count: int, holds_without: Holds) -> list[int]:
    """Search for items that can be removed together while a property holds.

    Each item that stays was tried alone after the last removal, so the rest is 1-minimal. The
    number of trials is O(count log count) where few items stay, quadratic at worst.

    Args:
        count: the number of items, which are numbered from 0.
        holds_without: test of the property without some items, in ascending order.

    Returns:
        the items to remove, ascending.
    """
    removed: set[int] = set()
    size = count
    while size:
        progress = False
        rest = [item for item in range(count) if item not in removed]
        # Late items first: they depend on earlier ones.
        for start in range((len(rest) - 1) // size * size if rest else -1, -1, -size):
            trial = sorted(removed.union(rest[start : start + size]))
            if holds_without(trial):
                removed.update(trial)
                progress = True
        if size == 1 and not progress:
            break
        size = max(size // 2, 1)
    return sorted(removed)
