"""Autotuning: pipelines run on copies of a model, and the cheapest result wins.

The gain of a pass depends on the others: a list that becomes a tensor may load slower by itself,
and much faster once the loop around it is a GRU. So trials run whole pipelines, and a cost model
with measured numbers (`dev/tools/costs.py`) compares them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from ...facts.notions import Equality, weakest
from ...ir import Model, Node, load
from ..base import Pass
from ..context import PassContext
from ..utils.cost_model import Running, loading
from ..utils.costs import LEAST_LOAD, MUCH
from ..utils.fixpoint import OperatorKinds, Repeated, run_passes
from ..utils.trial import try_passes
from . import registry

Stages = tuple[Pass, ...]


@dataclasses.dataclass(frozen=True)
class Accelerate(Pass):
    """Try pipelines on copies of a model, and run the one that makes it fastest.

    Options:
        alternatives: the pipelines; of equally good ones, the first one runs.
        last: passes that make the result smaller, run to a fixed point.
    """

    name: ClassVar[str] = "accelerate"
    alternatives: tuple[Stages, ...] = dataclasses.field(default=(), metadata={"code_only": True})
    last: Stages = dataclasses.field(default=(), metadata={"code_only": True})

    @property
    def exactness(self) -> Equality:
        """Weakest notion of the pipelines."""
        return weakest(
            each.exactness for stages in (*self.alternatives, self.last) for each in stages
        )

    def run(self, model: Model, context: PassContext) -> bool:
        """Choose a pipeline and run it, then the last passes."""
        changed = self._accelerate(model, context)
        return run_passes(self.last, model, context, repeat=True) or changed

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
        """Choose the pipeline with the fastest result that does not load slower.

        Returns:
            the pipeline, and the reason against one with a faster result.
        """
        before = _Cost.of(model)
        best, chosen, refused = before, None, None
        trials = _Trials(model, context, self.alternatives)
        models: set[Model] = set()
        for stages in self.alternatives:
            form = trials.result(stages)
            if form is None or form in models:
                continue
            models.add(form)
            cost = _Cost.of(form)
            if not cost.may_follow(before):
                refused = cost if refused is None or cost.running < refused.running else refused
            elif cost < best:
                best, chosen = cost, stages
        if refused is None or refused.running >= best.running:
            return chosen, None
        times = refused.loading / before.loading
        return chosen, (
            f"a form that would run faster would take {times:.2f} times as long to load; choose"
            " vectorize-loops, raise-recurrences and loops-to-scans to have it"
        )


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


@dataclasses.dataclass(frozen=True, order=True)
class _Cost:
    """The cost of a model, in nodes."""

    running: float
    loading: float
    outside: int
    scans: int

    @classmethod
    def of(cls, model: Model) -> _Cost:
        scans = sum(node.is_op("Scan") for node in _loops(model))
        return cls(Running(model).total(), loading(model), len(model.graph), scans)

    def may_follow(self, before: _Cost) -> bool:
        """Test whether a form of this cost loads no slower than the original."""
        gain = "much" if self.running * MUCH <= before.running else "some"
        kind = "Scan" if before.scans and self.outside > before.outside else "Loop"
        return self.loading * LEAST_LOAD[gain, kind] <= before.loading


def _loops(model: Model) -> list[Node]:
    return [n for g in model.graphs() for n in g.nodes_of("Loop", "Scan")]


Kinds = list[type[Pass]]


def alternatives() -> list[list[Kinds]]:
    """The kinds of passes of each pipeline, in repeated stages, most promising first."""
    raised: Kinds = [registry.RaiseRecurrences]
    scans: Kinds = [registry.LoopsToScans]
    plain, lowered = _standard(), _standard(registry.LowerSequences)
    split = _standard(registry.LowerSequences, registry.VectorizeLoops)
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
    ]


def _standard(*chosen: type[Pass]) -> Kinds:
    """The default pipeline with the chosen optional passes, and cleanup."""
    optional: set[type[Pass]] = {
        registry.LowerSequences,
        registry.VectorizeLoops,
        registry.RaiseRecurrences,
    }
    kinds = [kind for kind in registry.PASSES if kind.by_default]
    return [
        *(kind for kind in kinds if kind not in optional or kind in chosen),
        registry.CancelMovement,
        registry.EliminateDeadNodes,
    ]
