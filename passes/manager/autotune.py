"""Autotuning: pipelines run on copies of a model, and the cheapest result wins.

The gain of a pass depends on the others: a list that becomes a tensor may load slower by itself,
and much faster once the loop around it is a GRU. So trials run whole pipelines, and a cost model
with measured numbers (`straightline calibrate`) compares them.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterator, Sequence
from typing import ClassVar

from ...facts.notions import Equality, weakest
from ...ir import Model, Node, load
from ..base import Pass
from ..context import PassContext
from ..costs.cost_model import loading, running
from ..costs.goal import GOALS, Goal, GoalName
from ..costs.table import Costs, CostTable, cost_table
from ..utils.fixpoint import OperatorKinds, Repeated, run_passes
from ..utils.trial import try_passes
from . import registry

Stages = tuple[Pass, ...]

_log = logging.getLogger(__name__)
_SHIPPED = "onnxruntime"
"""The costs that compare forms where passes heed none."""
_MOST_CHOICES = 4
"""The limit of choices, each after passes that made the model smaller."""


@dataclasses.dataclass(frozen=True)
class Accelerate(Pass):
    """Try pipelines on copies of a model, and run the one that makes it fastest.

    Options:
        optimize_for: "run", the default, lets a form load twice as long or 5 ms longer, whichever
            is more; "balanced" a tenth longer; "load" no longer, and prefers what loads fastest.
        costs: the costs by which forms are compared: a shipped table, or the file of a calibration.
        alternatives: the pipelines; of equally good ones, the first one runs.
        last: passes that make the result smaller, run to a fixed point.
    """

    name: ClassVar[str] = "accelerate"
    optimize_for: GoalName = "run"
    costs: Costs = "onnxruntime"
    alternatives: tuple[Stages, ...] = dataclasses.field(default=(), metadata={"code_only": True})
    last: Stages = dataclasses.field(default=(), metadata={"code_only": True})

    @property
    def exactness(self) -> Equality:
        """Weakest notion of the pipelines."""
        return weakest(
            each.exactness for stages in (*self.alternatives, self.last) for each in stages
        )

    def run(self, model: Model, context: PassContext) -> bool:
        """Choose a pipeline and run it, then the last passes, until these change nothing."""
        changed = False
        for _ in range(_MOST_CHOICES):
            is_other = self._accelerate(model, context)
            is_smaller = run_passes(self.last, model, context, repeat=True)
            changed |= is_other or is_smaller
            if not (is_smaller and _loops(model)) and not (is_other and _has_choices(model)):
                break
        return changed

    def _accelerate(self, model: Model, context: PassContext) -> bool:
        if not any(graph.holders() for graph in model.graphs()):
            return run_passes(self.alternatives[0], model, context, repeat=False)
        stages, reason = self._choose(model, context)
        changed = stages is not None and run_passes(stages, model, context, repeat=False)
        if reason is not None:
            for node in _loops(model):
                context.kept(self, node, reason)
        return changed

    def _choose(self, model: Model, context: PassContext) -> tuple[Stages | None, str | None]:
        """Choose the pipeline with the best result within the limit of load time.

        Returns:
            the pipeline, and the reason against one with a faster result.
        """
        goal = GOALS[self.optimize_for]
        table = cost_table(self.costs) or cost_table(_SHIPPED)
        assert table is not None
        before = _Cost.of(model, table)
        most = goal.most_load(before.loading)
        best, chosen, refused = before, None, None
        _log.info("accelerate: as it is, %s", before)
        for stages, form in self._forms(model, context):
            cost = _Cost.of(form, table)
            _log.info("accelerate: after %s, %s", _title(stages), cost)
            if cost.loading > most:
                refused = cost if refused is None or cost.running < refused.running else refused
            elif cost.key(goal) < best.key(goal) and cost.running <= before.running:
                best, chosen = cost, stages
        _log.info("accelerate: chosen is %s", _title(chosen) if chosen else "what it is")
        if refused is None or refused.running >= best.running:
            return chosen, None
        times = refused.loading / before.loading
        more = "vectorize-loops, raise-recurrences and loops-to-scans"
        if goal is not GOALS["run"] and refused.loading <= GOALS["run"].most_load(before.loading):
            more = "--optimize-for run (optimize_for='run' in Python)"
        return chosen, (
            f"a form that would run faster would take {times:.2f} times as long to load; choose"
            f" {more} to have it"
        )

    def _forms(self, model: Model, context: PassContext) -> Iterator[tuple[Stages, Model]]:
        """The different results of the pipelines."""
        trials, models = _Trials(model, context, self.alternatives), set[Model]()
        for stages in self.alternatives:
            form = trials.result(stages)
            if form is not None and form not in models:
                models.add(form)
                yield stages, form


class _Trials:
    """The results of pipelines on a model, with common prefixes run once.

    Args:
        model: the model, which stays unchanged.
        context: the rewrite around the trials.
        alternatives: the pipelines.
    """

    def __init__(self, model: Model, context: PassContext, alternatives: Sequence[Stages]) -> None:
        self._context = context
        self._alternatives = set(alternatives)
        self._ends = {stages[:-1] for stages in alternatives}
        self._models: dict[Stages, Model | None] = {(): model}
        self._results: dict[tuple[Model, Stages], tuple[Model, bool]] = {}

    def result(self, stages: Stages) -> Model | None:
        """The result of a pipeline; None for a stage without effect: a shorter one is equal."""
        for end in range(1, len(stages) + 1):
            start = self._models[stages[: end - 1]]
            if start is None:
                return None
            if stages[:end] not in self._models:
                self._models[stages[:end]] = self._after(start, stages[:end])
        return self._models[stages]

    def _after(self, start: Model, stages: Stages) -> Model | None:
        working = start, _working(stages[-1], start)
        if working not in self._results:
            trial = try_passes(stages[-1:], load(start), self._context, repeat=False)
            self._results[working] = trial.model, trial.changed
        copy, changed = self._results[working]
        is_whole = stages in self._alternatives or stages in self._ends
        return copy if changed or is_whole or stages[:-1] not in self._ends else None


def _working(stage: Pass, model: Model) -> Stages:
    """The passes of a stage that have work in a model.

    Stages that differ in other passes have equal results.
    """
    passes = stage.passes if isinstance(stage, Repeated) else (stage,)
    kinds = OperatorKinds(model)
    return tuple([pass_ for pass_ in passes if kinds.include_work_of(pass_)])


@dataclasses.dataclass(frozen=True)
class _Cost:
    """Predicted cost of a model, in microseconds."""

    running: float
    loading: float
    nodes: int

    @classmethod
    def of(cls, model: Model, table: CostTable) -> _Cost:
        # Equal costs must not differ by the order of their sums.
        run_time, load_time = (round(cost(model, table), 6) for cost in (running, loading))
        return cls(run_time, load_time, len(model.graph))

    def key(self, goal: Goal) -> tuple[float, ...]:
        """A key that orders forms, the best one first."""
        times = self.running, self.loading
        return (*(reversed(times) if goal.load_first else times), self.nodes)

    def __str__(self) -> str:
        return f"a run takes {self.running:.1f} us, a load {self.loading:.0f} us"


def _loops(model: Model) -> list[Node]:
    return [n for g in model.graphs() for n in g.nodes_of("Loop", "Scan")]


def _has_choices(model: Model) -> bool:
    """Test for an If in the body of a loop."""
    bodies = [node.body("body") for node in _loops(model)]
    return any(graph.nodes_of("If") for body in bodies for graph in body.walk())


@dataclasses.dataclass(frozen=True)
class StageKinds:
    """The kinds of passes of a repeated stage.

    Attributes:
        kinds: in their order.
        copies: the goal by which loops of few iterations are unrolled.
    """

    kinds: tuple[type[Pass], ...]
    copies: GoalName = "load"


def alternatives(optimize_for: GoalName) -> list[list[StageKinds]]:
    """The stages of each pipeline, most promising first.

    Args:
        optimize_for: the goal; copies of bodies that load longer end pipelines only where the goal
            allows it.
    """
    raised, scans = (
        StageKinds((kind,)) for kind in (registry.RaiseRecurrences, registry.LoopsToScans)
    )
    plain, lowered = _standard(), _standard(registry.LowerSequences)
    split = _standard(registry.LowerSequences, registry.VectorizeLoops)
    chosen = StageKinds((registry.IfsToSelects, *split.kinds))
    copied = dataclasses.replace(split, copies=optimize_for)
    longer = [] if optimize_for == "load" else [[], [split], [lowered, raised, lowered]]
    return [
        [plain],
        [lowered],
        [split],
        [split, raised, split],
        [lowered, raised, lowered],
        [lowered, raised, split],
        [lowered, raised, split, raised, split],
        [lowered, scans, lowered],
        [split, scans, lowered],
        [split, raised, split, scans, lowered],
        [lowered, raised, lowered, scans, lowered],
        [chosen, raised, split],
        [chosen, scans, lowered],
        *([*before, copied] for before in longer),
    ]


_OPTIONAL = (registry.LowerSequences, registry.VectorizeLoops, registry.RaiseRecurrences)


def _standard(*chosen: type[Pass]) -> StageKinds:
    """The default pipeline with the chosen optional passes, and cleanup."""
    kinds = [kind for kind in registry.PASSES if kind.by_default]
    passes = (kind for kind in kinds if kind not in _OPTIONAL or kind in chosen)
    tidying = registry.CancelMovement, registry.EliminateDeadNodes
    return StageKinds((registry.SimplifyBodies, *passes, *tidying))


def _title(stages: Stages) -> str:
    """The passes by which a pipeline differs from others, stage by stage."""
    return "; ".join(
        " ".join(name for each in stage.passes if (name := _name(each))) or "cleanup"
        for stage in stages
        if isinstance(stage, Repeated)
    )


def _name(pass_: Pass) -> str:
    if isinstance(pass_, registry.UnrollLoops | registry.UnrollScans):
        return "" if pass_.copies == "load" else pass_.name
    kinds = *_OPTIONAL, registry.LoopsToScans, registry.IfsToSelects
    return pass_.name if isinstance(pass_, kinds) else ""
