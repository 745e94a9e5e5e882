"""What a rewrite may cost, asked before anything is made.

Nodes are counted over the whole rewrite, trips construct by construct, and what is made only to see
what would become of it over one run of a pass. Bytes are asked of the `Folder`, tensor by tensor.
"""

from __future__ import annotations

from ...analysis.constants.folding import MAX_BYTES
from ...analysis.trips.trip_bound import NO_MAXIMUM
from ...facts.reason import Message
from ...ir.option_names import by
from ...limits import limit
from ..context import Meter

DEFAULT_MAX_NODES = limit("max_nodes")

DEFAULT_MAX_BYTES = MAX_BYTES

_MOST_COMPUTED = limit("condition_trips")
"""A while loop's condition is computed for so many trips at most, when no budget is smaller."""

_TOO_MANY_NODES = Message(
    "too-many-nodes",
    "{what} would add {nodes} nodes to the {added} added so far, over max_nodes={max_nodes}; raise"
    " it with {option}",
)
_TOO_MANY_TO_WRITE = Message("too-many-copies", "{trips} trips are more than can be written out")
_TOO_MANY_TRIPS = Message("too-many-trips", "{what} more than max_trips={max_trips} allows")


class Budget:
    """What is left of the limits that one pass was given.

    Args:
        meter: counts the nodes that all passes have added.
        max_nodes: how many nodes the whole rewrite may add.
        max_trips: how many trips a construct may make; None for no limit.

    Attributes:
        tried: how many nodes were made on trial.
    """

    def __init__(self, meter: Meter, max_nodes: int, max_trips: int | None = None) -> None:
        self.meter = meter
        self.max_nodes = max_nodes
        self.max_trips = max_trips
        self.tried = 0

    def refuses(self, cost: int, what: str, weight: int = 0) -> str | None:
        """Why something would be too much; None if it is not.

        Args:
            cost: how many nodes it adds.
            what: what adds them; the reason begins with it.
            weight: what it counts as, where that is more.
        """
        used = self.meter.added_nodes
        if max(cost, weight) + used <= self.max_nodes:
            return None
        return _TOO_MANY_NODES(
            what=what, nodes=cost, added=used, max_nodes=self.max_nodes, option=by("--max-nodes")
        )

    def refuses_trips(self, trips: int, cost: int, maximum: bool = False) -> str | None:
        """Why so many copies of a body would be too much; None if they are not.

        Args:
            trips: how many.
            cost: how many nodes they add.
            maximum: whether run time may end them earlier.
        """
        if trips >= NO_MAXIMUM:
            return _TOO_MANY_TO_WRITE(trips=trips)
        what, are = (f"its maximum of {trips}", "is") if maximum else (f"its {trips}", "are")
        if self.max_trips is not None and trips > self.max_trips:
            return _TOO_MANY_TRIPS(
                what=f"{what} trips {are}", trips=trips, max_trips=self.max_trips
            )
        return self.refuses(cost, f"{what} trips", weight=trips)

    def most_trips(self, each: int = 1) -> int:
        """How many trips of so many nodes each are not forbidden; more need not be counted."""
        most = _MOST_COMPUTED if self.max_trips is None else self.max_trips
        return min(most, self.max_nodes // max(each, 1))

    def told(self, trips: int) -> str:
        """Which option allows no more than so many trips, and how to raise it."""
        if self.max_trips == trips:
            return f"max_trips={self.max_trips} allows; raise it with {by('--max-trips')}"
        return f"max_nodes={self.max_nodes} allows; raise it with {by('--max-nodes')}"

    def spend(self, nodes: int) -> None:
        """Count nodes that were added."""
        self.meter.added_nodes += nodes

    def may_try(self, cost: int) -> bool:
        """Whether so many nodes may be made on trial, on top of the earlier ones; counts them."""
        self.tried += cost
        return self.tried <= self.max_nodes
