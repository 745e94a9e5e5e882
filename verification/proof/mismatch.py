"""What two terms are that could not be shown to be equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .budget import OpenError
from .terms import Term

Pair = tuple[Term, Term]


class Difference(OpenError):
    """Two terms that could not be shown to be equal.

    Attributes:
        before: that of the original.
        after: that of the rewrite.
        compared: the pairs that were compared so far, with what must be equal for each to be equal.
    """

    def __init__(
        self,
        reason: str,
        before: Term | None,
        after: Term | None,
        compared: Mapping[Pair, Sequence[Pair]] | None = None,
    ) -> None:
        super().__init__(reason)
        self.before = before
        self.after = after
        self.compared = compared or {}
