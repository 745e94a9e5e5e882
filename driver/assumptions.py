"""Assumptions of a rewrite, which a caller vouches for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from ..ir import Model
from .branch_choices import Branches, assume_branches
from .trip_bounds import Maxima, assume_maxima


@dataclasses.dataclass(frozen=True)
class Claim:
    """One assumption.

    Attributes:
        path: the Loop or If.
        content: what is assumed, a noun.
        violation: what an input makes the construct do that violates it.
        remedy: what a message says then.
        most: the largest trip count that it allows; None for a branch.
    """

    path: str
    content: str
    violation: str
    remedy: str
    most: int | None = None


@dataclasses.dataclass(frozen=True)
class Assumptions:
    """The trip bounds of Loops and the branches of Ifs, each by path."""

    maxima: Maxima
    branches: Branches

    def __bool__(self) -> bool:
        return bool(self.maxima or self.branches)

    def assume(self, model: Model) -> None:
        """Change a model in place to one in which they hold.

        Raises:
            AssumptionError: there is no such construct, or an assumption does not fit it.
        """
        assume_maxima(model, self.maxima)
        assume_branches(model, self.branches)

    def claims(self) -> Iterator[Claim]:
        """Yield each assumption."""
        for path, most in self.maxima.items():
            trips = f"{most} trip{'' if most == 1 else 's'}"
            yield Claim(
                path,
                f"a maximum of {trips} of Loop '{path}'",
                f"Loop '{path}' run more than {trips}",
                "which was taken on trust; raise it",
                int(most),
            )
        for path, branch in self.branches.items():
            other = "else" if branch == "then" else "then"
            yield Claim(
                path,
                f"the {branch} branch of If '{path}'",
                f"If '{path}' take its {other} branch",
                "against what was taken on trust; leave that out",
            )
