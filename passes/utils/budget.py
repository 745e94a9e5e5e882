"""Limits of a rewrite, checked before any change.

Nodes count over the whole rewrite, iterations by construct, and trials over one run of a pass. The
`Folder` limits bytes, tensor by tensor.
"""

from ...analysis.constants.folding import MAX_BYTES
from ...analysis.iterations.trip_count_bound import NO_MAXIMUM
from ...analysis.shapes.onnx_inference_cache import Memory
from ...facts.obstacle import Obstacle, require_none
from ...facts.reason import Message
from ...ir import Model, copy_model, load
from ...ir.option_names import by
from ...limits import allowed, limit
from ..base import Meter

DEFAULT_MAX_NODES = limit("max_nodes")

DEFAULT_MAX_BYTES = MAX_BYTES

_MOST_COMPUTED = limit("condition_iterations")
"""The limit of iterations for which a while loop's condition is computed."""

_MOST_FORMS = limit("fit_forms")

_FORM = 15
"""Copies of a model that take as long as the trial of a form."""

_TOO_MANY_NODES = Message(
    "too-many-nodes",
    "{what} would add {nodes} nodes to the {added} added so far, over max_nodes={max_nodes}; raise"
    " it with {option}",
)
_TOO_MANY_TO_WRITE = Message("too-many-copies", "{trips} iterations are too many to unroll")
_OVER_MAXIMUM = Message("too-many-trips", "{what} more than max_trips={max_trips} allows")


class Budget:
    """The remaining limits of one pass.

    Args:
        meter: the counter of nodes that all passes have added.
        max_nodes: the limit of nodes that the whole rewrite may add.
        max_trips: the limit of a construct's trip count; None for no limit.

    Attributes:
        tried: the number of nodes in trials.
        search: the search whose time the trials of forms take, if any.
        is_spent: true if no more forms are tried for the operator at hand.
    """

    search: "SearchBudget | None" = None

    def __init__(self, meter: Meter, max_nodes: int, max_trips: int | None = None) -> None:
        self.meter = meter
        self.max_nodes = max_nodes
        self.max_trips = max_trips
        self.tried = self._forms = 0
        self.is_spent = False

    def allows_form(self, model: Model, is_outermost: bool) -> bool:
        """Test for another form of an operator that a target lacks, and count it.

        Args:
            model: the scratch model of the form.
            is_outermost: true if it is not a form of what another form needs.
        """
        # What a form needs has forms as well, and these need more: each level multiplies them.
        self._forms = 0 if is_outermost else self._forms + 1
        if self.search is not None:
            self.search.spend(model, _FORM)
        self.is_spent = self._forms > _MOST_FORMS
        return not self.is_spent

    def refuses(self, cost: int, what: str, weight: int = 0, replaced: int = 0) -> str | None:
        """The reason why an addition exceeds the limit; None if it fits.

        Args:
            cost: the number of added nodes.
            what: the start of the reason, which names the addition.
            weight: its weight, where it exceeds the cost.
            replaced: the number of nodes that it replaces.
        """
        meter, grown = self.meter, cost - replaced
        # Both are limited: what passes write, also in the place of other nodes, and how
        # much the model grows.
        needed, nodes, added = max(
            (max(cost, weight) + meter.added_nodes, cost, meter.added_nodes),
            (grown + meter.growth, grown, meter.growth),
        )
        if needed <= self.max_nodes:
            return None
        return _TOO_MANY_NODES(
            what=what,
            nodes=nodes,
            added=added,
            max_nodes=self.max_nodes,
            needed=needed,
            option=by(f"--max-nodes {needed}"),
        )

    def require_iterations(
        self, iterations: int, cost: int, maximum: bool = False, replaced: int = 0
    ) -> None:
        """Check that copies of a body fit the limits.

        Args:
            iterations: the number of copies.
            cost: the number of nodes that they add.
            maximum: true if the loop may end earlier at run time.
            replaced: the number of nodes of the loop.

        Raises:
            Obstacle: they exceed one.
        """
        if iterations >= NO_MAXIMUM:
            raise Obstacle(_TOO_MANY_TO_WRITE(trips=iterations))
        what, are = (
            (f"its maximum of {iterations}", "is") if maximum else (f"its {iterations}", "are")
        )
        if self.max_trips is not None and iterations > self.max_trips:
            most, what = self.max_trips, f"{what} iterations {are}"
            raise Obstacle(
                _OVER_MAXIMUM(what=what, trips=iterations, max_trips=most, needed=iterations)
            )
        require_none(self.refuses(cost, f"{what} iterations", iterations, replaced))

    def most_iterations(self, each: int = 1) -> int:
        """The maximum allowed trip count for `each` nodes per iteration."""
        most = _MOST_COMPUTED if self.max_trips is None else self.max_trips
        return min(most, self.max_nodes // max(each, 1))

    def exceeded_limit(self, iterations: int) -> str:
        """Describe the option that limits the trip count, and how to raise it."""
        if self.max_trips == iterations:
            return f"max_trips={self.max_trips} allows; raise it with {by('--max-trips')}"
        return f"max_nodes={self.max_nodes} allows; raise it with {by('--max-nodes')}"

    def spend(self, nodes: int, growth: int | None = None) -> None:
        """Count nodes that were added, and the growth of the model, where it differs."""
        self.meter.added_nodes += nodes
        self.meter.growth += nodes if growth is None else growth

    def may_try(self, cost: int) -> bool:
        """Count nodes of a trial, and test whether all trials stay below the limit."""
        self.tried += cost
        return self.tried <= self.max_nodes


LEFT_OUT = Message(
    "search-ended",
    "{forms} more of its forms were not tried: the search needs more nodes than {allowed}",
)


class SearchBudget:
    """Budget of all trials of one search; counted, so that its result is the same everywhere.

    Args:
        memory: the memory that the inferences of all trials share.

    Attributes:
        left_out: the number of trials that were not made.
    """

    def __init__(self, model: Model, memory: Memory) -> None:
        self._tally, self._begin, self._copied = memory.tally, memory.tally.nodes, 0
        self._most = limit("search_nodes") + limit("search_nodes_per_node") * _size(model)
        self.left_out = 0

    def allows_more(self) -> bool:
        """Test for another trial; counts one that is left out."""
        if self._tally.nodes - self._begin + self._copied <= self._most:
            return True
        self.left_out += 1
        return False

    def copy(self, model: Model) -> Model:
        """Copy a model for a trial."""
        self.spend(model)
        return load(model) if model.training_info else copy_model(model)

    def spend(self, model: Model, times: int = 1) -> None:
        """Count work that takes as long as copies of a model."""
        self._copied += times * _size(model)

    @property
    def remark(self) -> str:
        """The remark on what was not tried."""
        return LEFT_OUT(forms=self.left_out, allowed=allowed("search_nodes", self._most))


def _size(model: Model) -> int:
    return sum(map(len, model.graphs()))
