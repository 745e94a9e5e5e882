"""Autotuning: pipelines run on copies of a model, and the cheapest result wins.

The gain of a pass depends on the others: a list that becomes a tensor may load slower by itself,
and much faster once the loop around it is a GRU. So trials run whole pipelines, and a cost model
with measured numbers (`straightline calibrate`) compares them.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from typing import ClassVar

from ...analysis.shapes.inference import ShapeInference
from ...facts.notions import Equality, weakest
from ...facts.reason import Message
from ...ir import Model, Node
from ...ir.lazy import lazy_property
from ...ir.option_names import by
from ...records import field, record, replace
from ..base import Analyses, Pass, PassContext
from ..costs.cost_model import has_open_iterations, loading, run_units, running
from ..costs.goal import GOALS, Goal, GoalName
from ..costs.memory_limit import MOST_BYTES, FormMemory, MemoryLimit
from ..costs.table import Costs, CostTable, cost_table
from ..costs.trip_counts import MANY
from ..scans.parallel_prefix import joins_rows
from ..utils.budget import SearchBudget
from ..utils.fixpoint import OperatorKinds, Repeated, run_passes
from ..utils.trial import try_passes
from . import registry

Stages = tuple[Pass, ...]

_log = logging.getLogger(__name__)
_SHIPPED = "onnxruntime"
"""The costs that compare forms where passes heed none."""
_LARGE = Message(
    "form-takes-memory",
    "a form that would run faster on small inputs needs {memory}; allow it with {option}",
    rank=3,
)
_COSTLY = Message(
    "raised-form-slower", "an operator could compute it, but is predicted to take longer", rank=3
)
_CLEAR = 0.7
"""The largest ratio of run times by which running both branches of an If is clearly faster."""
_MOST_CHOICES = 4
"""The limit of choices, each after passes that made the model smaller."""


@record(frozen=True)
class Accelerate(Pass):
    """Try pipelines on copies of a model, and run the one that makes it fastest.

    Options:
        optimize_for: "run", the default, lets a form load twice as long or 5 ms longer, whichever
            is more; "balanced" a tenth longer; "load" no longer, and prefers what loads fastest.
        costs: the costs by which forms are compared: a shipped table, or the file of a calibration.
        max_run_memory: the limit of predicted memory of a run in bytes, where sizes are known; 0
            for no limit, also where sizes are open.
        blocked: pipelines with loops over blocks, for models of which other forms take much memory.
        alternatives: the pipelines; of equally good ones, the first one runs.
        last: passes that make the result smaller, run to a fixed point.
    """

    name: ClassVar[str] = "accelerate"
    keeps_sizes: ClassVar[bool] = True
    optimize_for: GoalName = "run"
    costs: Costs = "onnxruntime"
    max_run_memory: int = MOST_BYTES
    blocked: tuple[Stages, ...] = field(default=(), metadata={"code_only": True})
    alternatives: tuple[Stages, ...] = field(default=(), metadata={"code_only": True})
    last: Stages = field(default=(), metadata={"code_only": True})

    @property
    def exactness(self) -> Equality:
        """Weakest notion of the pipelines."""
        return weakest(
            each.exactness
            for stages in (*self.alternatives, *self.blocked, self.last)
            for each in stages
        )

    def run(self, model: Model, context: PassContext) -> bool:
        """Choose a pipeline and run it, then the last passes, until these change nothing."""
        changed, budget = False, SearchBudget(model, context.analyses.memory)
        for _ in range(_MOST_CHOICES):
            was_flat = _is_flat(model)
            is_other = self._accelerate(model, context, budget)
            is_smaller = self._shrink(model, context, budget)
            changed |= is_other or is_smaller
            # A flat model has one pipeline, which has just run.
            if was_flat or not (is_other or is_smaller):
                break
        if budget.left_out:
            context.remarks.add_on_model(self, model, "noted", budget.remark)
        self._explain(model, context, budget)
        return changed

    def _explain(self, model: Model, context: PassContext, budget: SearchBudget) -> None:
        """Remark what keeps each loop from another form, which only trials have seen."""
        stages = [stage for stages in self.alternatives for stage in stages]
        passes = [each for stage in stages if isinstance(stage, Repeated) for each in stage.passes]
        loops = [node for node in _loops(model) if not joins_rows(node)]
        for kind in (registry.RaiseRecurrences, registry.VectorizeLoops):
            own = next((each for each in passes if isinstance(each, kind)), None)
            if own is None or not loops:
                return
            # The reasons came up in trials on copies, whose remarks were dropped with them.
            trial = try_passes([own], budget.copy(model), context, repeat=False).context.remarks
            reasons = {each.path: each for each in trial if each.action == "kept"}
            entries = [(each, n) for each, n in context.remarks.entries if each.action == "kept"]
            remarked = {(each.pass_name, n) for each, n in entries}
            for node in loops:
                # A faster form takes too long to load, or too much memory.
                if (own.name, node) in remarked:
                    continue
                if node.path in reasons:
                    context.kept(own, node, reasons[node.path].reason)
                elif (self.name, node) not in remarked:
                    context.kept(own, node, _COSTLY())
            loops = [n for n in loops if n.path in reasons and reasons[n.path].code == "no-state"]

    def _shrink(self, model: Model, context: PassContext, budget: SearchBudget) -> bool:
        """Run the last passes until they change nothing with new facts of all values.

        A new value may have other symbols than older ones of its size.
        """
        for round_ in range(_MOST_CHOICES):
            if round_ and not budget.allows_more():
                break
            budget.spend(model)
            context.analyses.invalidate()
            if not run_passes(self.last, model, context, repeat=True):
                return round_ > 0
        return True

    def _accelerate(self, model: Model, context: PassContext, budget: SearchBudget) -> bool:
        if _is_flat(model):
            return run_passes(self.alternatives[0], model, context, repeat=False)
        stages, reason = self._choose(model, context, budget)
        changed = stages is not None and run_passes(stages, model, context, repeat=False)
        if reason is not None:
            for node in _loops(model):
                context.kept(self, node, reason)
        return changed

    def _choose(
        self, model: Model, context: PassContext, budget: SearchBudget
    ) -> tuple[Stages | None, str | None]:
        """Choose the pipeline with the best result within the limits of load time and memory.

        Returns:
            the pipeline, and the reason against one with a faster result.
        """
        table = cost_table(self.costs) or cost_table(_SHIPPED)
        assert table is not None
        inference = context.analyses.inference(model)
        choice = _Choice(inference, table, GOALS[self.optimize_for], self.max_run_memory)
        trials = _Trials(model, context, (*self.alternatives, *self.blocked), budget)
        for stages, form in _forms(trials, self.alternatives):
            budget.spend(form)  # the facts of all its values
            choice.consider(stages, trials.inference(form))
        if choice.needs_blocks:
            for stages, form in _forms(trials, self.blocked):
                choice.consider(stages, trials.inference(form))
        # No form was cheaper by the table; one that only removes control flow is chosen anyway.
        plain = trials.result(self.alternatives[0])
        if choice.stages is None and plain is not None and _is_part(plain, model):
            choice.stages = self.alternatives[0]
        _log.info("accelerate: chosen is %s", choice.title)
        return choice.stages, choice.obstacle


class _Choice:
    """The choice among the forms of a model.

    Args:
        goal: the limit of load time, and the order of the forms.
        most_bytes: the limit of memory where sizes are known.

    Attributes:
        stages: the pipeline of the best form so far; None for the model as it is.
        needs_blocks: true after a form with large values.
    """

    def __init__(
        self, inference: ShapeInference, table: CostTable, goal: Goal, most_bytes: int
    ) -> None:
        self._table, self._goal = table, goal
        self._before = self._best = _Cost(inference, table)
        self._most_bytes = most_bytes
        self._slow: _Cost | None = None
        self._large: _Cost | None = None
        self.stages: Stages | None = None
        self.needs_blocks = False
        _log.info("accelerate: the original, %s", self._before)

    def consider(self, stages: Stages, form: ShapeInference) -> None:
        """Choose the form of these facts if it is the best one so far."""
        before = self._before
        cost = _Cost(form, self._table, before.is_open)
        # A select computes both branches: it must win by more than the table's error to be worth
        # it.
        most = _CLEAR * self._best.running if _has_selects(stages) else before.running
        _log.info("accelerate: after %s, %s", _title(stages), cost)
        # Values that leave the cache were added, which blocks would keep in it.
        self.needs_blocks |= cost.far > before.far
        # Kept aside although it is refused, for the remark that names the option with which it
        # would be chosen.
        if cost.loading > self._goal.most_load(before.loading):
            self._slow = _faster(self._slow, cost)
        elif cost.key(self._goal) >= self._best.key(self._goal) or cost.running > most:
            return
        elif self._limit.allows(cost.memory):
            self._best, self.stages = cost, stages
        else:
            self.needs_blocks = True
            self._large = _faster(self._large, cost)

    @lazy_property
    def _limit(self) -> MemoryLimit:
        before, block = self._before, self._table.block
        return MemoryLimit.of(before.model, before.inference, self._most_bytes, block)

    @property
    def title(self) -> str:
        """The passes of the choice."""
        return _title(self.stages) if self.stages else "what it is"

    @property
    def obstacle(self) -> str | None:
        """The reason against a faster form; None without one."""
        slow, large = self._slow, self._large
        if slow is not None and slow.running < self._best.running:
            times = slow.loading / self._before.loading
            more = "vectorize-loops, raise-recurrences and loops-to-scans"
            run, before = GOALS["run"], self._before.loading
            if self._goal is not run and slow.loading <= run.most_load(before):
                more = "--optimize-for run (optimize_for='run' in Python)"
            return (
                f"a form that would run faster would take {times:.2f} times as long to load; choose"
                f" {more} to have it"
            )
        if large is not None and large.running < self._best.running:
            return _LARGE(memory=str(large.memory), option=by("--max-run-memory 0"))
        return None


def _faster(one: _Cost | None, other: _Cost) -> _Cost:
    return other if one is None or other.running < one.running else one


def _forms(trials: _Trials, pipelines: Sequence[Stages]) -> Iterator[tuple[Stages, Model]]:
    """The different results of pipelines."""
    # A stage without work returns the model before it, so that pipelines may end alike.
    models = set[Model]()
    for stages in pipelines:
        form = trials.result(stages)
        if form is not None and form not in models:
            models.add(form)
            yield stages, form


class _Trials:
    """The results of pipelines on a model, with common prefixes run once.

    Args:
        model: the model, which stays unchanged.
        context: the rewrite around the trials.
        alternatives: the pipelines; the first one runs within any budget.
        budget: the work that they may take.
    """

    def __init__(
        self,
        model: Model,
        context: PassContext,
        alternatives: Sequence[Stages],
        budget: SearchBudget,
    ) -> None:
        self._context, self._budget, self._first = context, budget, alternatives[0]
        self._alternatives = set(alternatives)
        self._ends = {stages[:-1] for stages in alternatives}
        self._models: dict[Stages, Model | None] = {(): model}
        self._results: dict[tuple[Model, Stages], Model] = {}
        self._copies: dict[Model, tuple[Model, Analyses]] = {}

    def result(self, stages: Stages) -> Model | None:
        """The result of a pipeline; None for a stage without effect: a shorter one is equal."""
        for end in range(1, len(stages) + 1):
            start = self._models[stages[: end - 1]]
            if start is None:
                return None
            if stages[:end] not in self._models:
                if stages != self._first and not self._budget.allows_more():
                    return None
                self._models[stages[:end]] = self._after(start, stages[:end])
        return self._models[stages]

    def inference(self, form: Model) -> ShapeInference:
        """The facts of a form."""
        return ShapeInference(form, memory=self._context.analyses.memory)

    def _after(self, start: Model, stages: Stages) -> Model | None:
        working = start, _working(stages[-1], start)
        if working not in self._results:
            self._results[working] = self._form(start, stages[-1], bool(working[1]))
        form = self._results[working]
        is_whole = stages in self._alternatives or stages in self._ends
        return form if form is not start or is_whole or stages[:-1] not in self._ends else None

    def _form(self, start: Model, stage: Pass, has_work: bool) -> Model:
        """The form after a stage; the one before, which costs no copy, if nothing changes."""
        if not has_work:
            return start
        # A copy that no stage changed serves the next trial of the same model.
        copy, analyses = self._copies.pop(start, (None, None))
        if copy is None or analyses is None:
            copy, analyses = self._budget.copy(start), Analyses(self._context.analyses.memory)
        trial = try_passes((stage,), copy, self._context, repeat=False, analyses=analyses)
        if trial.changed:
            return trial.model
        self._copies[start] = copy, analyses  # as it was, for the next trial
        return start


def _working(stage: Pass, model: Model) -> Stages:
    """The passes of a stage that have work in a model.

    Stages that differ in other passes have equal results.
    """
    passes = stage.passes if isinstance(stage, Repeated) else (stage,)
    kinds = OperatorKinds(model)
    return tuple([pass_ for pass_ in passes if kinds.include_work_of(pass_)])


class _Cost:
    """Predicted cost of a model, in microseconds.

    Args:
        is_open: true if few and many iterations count; None if the loops of the model decide that.
    """

    def __init__(
        self, inference: ShapeInference, table: CostTable, is_open: bool | None = None
    ) -> None:
        self.model, self.inference, self._table = inference.model, inference, table
        model = self.model
        units = run_units(model, inference)
        self.is_open = has_open_iterations(model, inference) if is_open is None else is_open
        time = running(units, table)
        if self.is_open:
            # A loop may be faster for few iterations, steps of doubling distance for many.
            time = math.sqrt(time * running(run_units(model, inference, MANY), table))
        # Equal costs must not differ by the order of their sums.
        self.running = round(time, 6)
        self.loading = round(loading(model, table), 6)
        self.far = units.get("far", 0.0)

    @lazy_property
    def memory(self) -> FormMemory:
        """The memory of a run."""
        return FormMemory.of(self.model, self.inference, self._table.block)

    def key(self, goal: Goal) -> tuple[float, ...]:
        """A key that orders forms, the best one first."""
        times = self.running, self.loading
        return (*(reversed(times) if goal.load_first else times), len(self.model.graph))

    def __str__(self) -> str:
        times = f"a run takes {self.running:.1f} us, a load {self.loading:.0f} us"
        return f"{times}, {self.memory}"


def _loops(model: Model) -> list[Node]:
    return [n for g in model.graphs() for n in g.nodes_of("Loop", "Scan")]


def _is_flat(model: Model) -> bool:
    """Test for a model without control flow, which has one pipeline."""
    return not any(graph.holders() for graph in model.graphs())


def _is_part(form: Model, model: Model) -> bool:
    """Test for a form with less control flow and no more nodes than a model.

    Such a form runs no longer. Its predicted time may be longer, if only the form has known sizes.
    """
    nodes, holders = (
        [sum(count(graph) for graph in each.graphs()) for each in (form, model)]
        for count in (len, lambda graph: len(graph.holders()))
    )
    return nodes[0] <= nodes[1] and holders[0] < holders[1]


def _has_selects(stages: Stages) -> bool:
    """Test for a pipeline that runs both branches of Ifs, and must be clearly faster."""
    passes = [each for stage in stages if isinstance(stage, Repeated) for each in stage.passes]
    return any(isinstance(each, registry.IfsToSelects) for each in passes)


@record(frozen=True)
class StageKinds:
    """The kinds of passes of a repeated stage.

    Attributes:
        kinds: in their order.
        copies: the goal by which loops of few iterations are unrolled.
        blocks: true if large values are left to loops over blocks.
    """

    kinds: tuple[type[Pass], ...]
    copies: GoalName = "load"
    blocks: bool = False


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
    switched = StageKinds((registry.HoistInvariants, registry.UnswitchLoops))
    copied = replace(split, copies=optimize_for)
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
        [switched, lowered, raised, split],
        *([*before, copied] for before in longer),
    ]


def blocked_alternatives() -> list[list[StageKinds]]:
    """The stages of each pipeline with loops over blocks."""
    kinds = registry.LowerSequences, registry.VectorizeLoops, registry.BlockLoops
    blocked = replace(_standard(*kinds), blocks=True)
    raised, lowered = StageKinds((registry.RaiseRecurrences,)), _standard(registry.LowerSequences)
    scans = StageKinds((registry.LoopsToScans,))
    return [
        [blocked],
        [lowered, raised, blocked],
        [blocked, raised, blocked],
        [blocked, scans, blocked],
    ]


_OPTIONAL = (registry.LowerSequences, registry.VectorizeLoops, registry.RaiseRecurrences)
_NAMED = (
    *_OPTIONAL,
    registry.LoopsToScans,
    registry.IfsToSelects,
    registry.UnswitchLoops,
    registry.BlockLoops,
)


def _standard(*chosen: type[Pass]) -> StageKinds:
    """The default pipeline with the chosen optional passes, and cleanup."""
    kinds = [kind for kind in registry.PASSES if kind.by_default or kind in chosen]
    passes = (kind for kind in kinds if kind not in _OPTIONAL or kind in chosen)
    tidying = registry.CancelMovement, registry.EliminateDeadNodes
    stores = registry.StoreRows, registry.ForwardStores
    prefixes = (registry.MaskPrefixes,) if registry.VectorizeLoops in chosen else ()
    first = registry.SimplifyBodies, registry.MergeStates, *stores, *prefixes
    return StageKinds((*first, *passes, *tidying))


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
    return pass_.name if isinstance(pass_, _NAMED) else ""
