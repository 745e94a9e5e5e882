"""Nothing holds because of itself: what is needed for a pair of terms is settled before it."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from .mismatch import Pair


def groundless(
    needed: Mapping[Pair, Sequence[Pair]], earlier: Container[tuple[Pair, Pair]]
) -> Pair | None:
    """A pair that is equal only if it is; None where there is none.

    Args:
        needed: what must be equal for a pair to be equal; of what is not here all is settled.
        earlier: what is needed for a pair on the trip before, which may be the pair itself.
    """
    waiting: dict[Pair, int] = {}
    above: dict[Pair, list[Pair]] = {}
    for pair, pairs in needed.items():
        below = [p for p in pairs if p in needed and (pair, p) not in earlier]
        waiting[pair] = len(below)
        for each in below:
            above.setdefault(each, []).append(pair)
    ready = [pair for pair, count in waiting.items() if not count]
    while ready:
        pair = ready.pop()
        del waiting[pair]
        for user in above.get(pair, ()):
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    return next(iter(waiting), None)
