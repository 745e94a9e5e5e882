"""Measures of a model that the table of a batch shows."""

from ...analysis.iterations.constructs import control_flow
from ...ir import Model
from ...limits import limit
from ...records import record
from .cost_model import run_units, running
from .table import cost_table

_MOST_NODES = limit("memory_nodes")


@record(frozen=True)
class Measures:
    """Measures of one model.

    Attributes:
        control_flow: the number of nodes that hold graphs.
        run_time: the predicted time of a run in onnxruntime [microseconds]; None if large.
            Sizes and trip counts that the model leaves open are assumed as usual ones.
    """

    control_flow: int
    run_time: float | None

    @classmethod
    def of(cls, model: Model) -> "Measures":
        """Measure a model."""
        table = cost_table("onnxruntime")
        assert table is not None
        is_small = sum(map(len, model.graphs())) <= _MOST_NODES
        run_time = running(run_units(model), table) if is_small else None
        return cls(len(list(control_flow(model))), run_time)
