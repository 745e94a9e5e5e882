"""Goals of `accelerate`: what a form may cost to load, and what of the rest decides."""

from typing import Literal

from ...records import record

GoalName = Literal["run", "balanced", "load"]


@record(frozen=True)
class Goal:
    """A limit of load time, and the order of the forms within it.

    Attributes:
        load_ratio: the most times as long as before that a form may load.
        load_added: microseconds that it may add in any case.
        load_first: load time decides, then run time.
    """

    load_ratio: float
    load_added: float = 0.0
    load_first: bool = False

    def most_load(self, before: float) -> float:
        """The longest load time in microseconds that a form may have."""
        return max(self.load_ratio * before, before + self.load_added)


GOALS: dict[GoalName, Goal] = {
    "run": Goal(2.0, load_added=5000.0),
    "balanced": Goal(1.1),
    "load": Goal(1.0, load_first=True),
}
"""The goals by name."""
