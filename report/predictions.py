"""Predictions of load time, run time and memory, by measured costs."""

from typing import Any

from ..analysis.peak_memory import PeakMemory, peak_memory
from ..analysis.shapes.inference import ShapeInference
from ..ir import Model
from ..limits import limit
from ..passes.costs.cost_model import loading, run_units, running
from ..passes.costs.table import cost_table
from ..passes.costs.trip_counts import USUAL
from ..records import asdict, record
from .differences import Change

_TABLE = "onnxruntime"


@record(frozen=True)
class Predictions:
    """Predictions for two models; without rows for models with too many nodes.

    Attributes:
        rows: load time, run time and memory of both.
        basis: a sentence about the table and the assumed sizes.
        memory: the peak memory of both, if known.
    """

    rows: tuple[Change, ...]
    basis: str
    memory: tuple[PeakMemory | None, PeakMemory | None] = (None, None)

    def to_dict(self) -> dict[str, Any]:
        """The predictions as JSON."""
        return {"rows": [asdict(row) for row in self.rows], "basis": self.basis}


@record(frozen=True)
class _Predicted:
    """The predictions for one model: microseconds, and the peak of computed values."""

    load: float
    run: float
    memory: PeakMemory | None

    @classmethod
    def of(cls, model: Model) -> "_Predicted | None":
        """Predict for a model; None for one with too many nodes."""
        table = cost_table(_TABLE)
        if table is None or sum(map(len, model.graphs())) > limit("memory_nodes"):
            return None
        inference = ShapeInference(model)
        run = running(run_units(model, inference), table)
        return cls(loading(model, table), run, peak_memory(model, inference))


def predictions(before: Model, after: Model) -> Predictions:
    """Predict load time, run time and memory of two models, without running them."""
    one, other = _Predicted.of(before), _Predicted.of(after)
    if one is None or other is None:
        most = f"{limit('memory_nodes'):,}"
        return Predictions((), f"Models of more than {most} nodes have no predictions.")
    rows = [
        Change("load time", _time_text(one.load), _time_text(other.load)),
        Change("run time", _time_text(one.run), _time_text(other.run)),
    ]
    if one.memory is not None and other.memory is not None:
        rows.append(Change("peak memory of values", one.memory.brief, other.memory.brief))
    return Predictions(tuple(rows), _basis(), (one.memory, other.memory))


def _basis() -> str:
    table = cost_table(_TABLE)
    about = {} if table is None else table.about
    measured = f"{about.get('runtime', _TABLE)} on {about.get('machine', 'one machine')}"
    return (
        f"Predicted, not measured: costs of {measured}, {about.get('date', 'undated')}; sizes and"
        f" trip counts that only run time decides count as {USUAL}. The memory is an upper bound."
    )


def _time_text(microseconds: float) -> str:
    """Format a time to two digits, since more would not hold.

    >>> _time_text(1234), _time_text(56)
    ('1.2 ms', '56 µs')
    """
    for unit, scale in (("s", 1e6), ("ms", 1e3), ("µs", 1.0)):
        if microseconds >= scale:
            number = microseconds / scale
            return f"{number:.1f} {unit}" if number < 10 else f"{number:.0f} {unit}"
    return f"{microseconds:.1f} µs"
