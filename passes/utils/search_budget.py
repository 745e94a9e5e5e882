"""Work of a search among forms of a model: the nodes that it copies and infers."""

from __future__ import annotations

from ...analysis.shapes.onnx_inference_cache import Memory
from ...facts.reason import Message
from ...ir import Model, copy_model, load
from ...limits import allowed, limit

LEFT_OUT = Message(
    "search-ended",
    "{forms} more of its forms were not tried: the search needs more nodes than {allowed}",
)


class SearchBudget:
    """Budget of all trials of one search; counted, so that its result is the same everywhere.

    Args:
        model: the model.
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
