"""The form of a model that loads and runs fastest: several are made, and the best one is kept.

What each pass makes of a loop is weighed together with what the others make of that: a list that
becomes a tensor may load slower by itself, and faster by far once the loop around it is a GRU. So
whole pipelines are tried on copies of the model, and what they cost is reckoned by numbers that a
benchmark has measured (`dev/tools/costs.py`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from ...ir import Model, Node, load
from ..base import Pass
from ..context import PassContext
from ..utils.cost_model import Running, loading
from ..utils.costs import LEAST_LOAD, MUCH
from ..utils.fixpoint import Held, Repeated, run_passes
from ..utils.trial import try_passes
from . import registry

Stages = tuple[Pass, ...]


@dataclasses.dataclass(frozen=True)
class Accelerate(Pass):
    """Try pipelines on copies of a model, and run the one that makes it fastest.

    Options:
        alternatives: the pipelines; of several that are as good the first one is run.
    """

    name: ClassVar[str] = "accelerate"
    alternatives: tuple[Stages, ...] = dataclasses.field(default=(), metadata={"code_only": True})

    def run(self, model: Model, context: PassContext) -> bool:
        """Choose a pipeline and run it."""
        if not any(graph.holders() for graph in model.graphs()):
            return run_passes(self.alternatives[0], model, context, repeat=False)
        chosen, refused = self._chosen(model, context)
        changed = chosen is not None and run_passes(chosen, model, context, repeat=False)
        if refused is not None:
            for node in _loops(model):
                context.kept(self, node, refused)
        return changed

    def _chosen(self, model: Model, context: PassContext) -> tuple[Stages | None, str | None]:
        """The pipeline of which the model runs fastest among those that do not let it load slower;
        and why one that runs faster still was not taken."""
        before = _Cost.of(model)
        best, chosen, refused = before, None, None
        trials = _Trials(model, context, self.alternatives)
        seen: set[Model] = set()
        for stages in self.alternatives:
            made = trials.made(stages)
            if made is None or made in seen:
                continue
            seen.add(made)
            cost = _Cost.of(made)
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

    def __str__(self) -> str:
        return self.name


class _Trials:
    """What pipelines make of a model; what several of them begin with is done once.

    Args:
        model: the model; it is not changed.
        context: the rewrite that tries them.
        alternatives: the pipelines.
    """

    def __init__(self, model: Model, context: PassContext, alternatives: Sequence[Stages]) -> None:
        self._context = context
        self._alternatives = set(alternatives)
        self._ends = {stages[:-1] for stages in alternatives}
        self._made: dict[Stages, Model | None] = {(): model}
        self._results: dict[tuple[Model, Stages], tuple[Model, bool]] = {}

    def made(self, stages: Stages) -> Model | None:
        """What a pipeline makes; None where one of its stages changes nothing, so that a shorter
        pipeline makes the same."""
        for end in range(1, len(stages) + 1):
            begun = self._made[stages[: end - 1]]
            if begun is None:
                return None
            if stages[:end] not in self._made:
                self._made[stages[:end]] = self._after(begun, stages[:end])
        return self._made[stages]

    def _after(self, begun: Model, stages: Stages) -> Model | None:
        working = begun, _working(stages[-1], begun)
        if working not in self._results:
            trial = try_passes(stages[-1:], load(begun), self._context, repeat=False)
            self._results[working] = trial.model, trial.changed
        copy, changed = self._results[working]
        is_whole = stages in self._alternatives or stages in self._ends
        return copy if changed or is_whole or stages[:-1] not in self._ends else None


def _working(stage: Pass, model: Model) -> Stages:
    """The passes of a stage, but those that find nothing to work on in a model: stages that differ
    by these alone make the same of it."""
    passes = stage.passes if isinstance(stage, Repeated) else (stage,)
    held = Held(model)
    return tuple([pass_ for pass_ in passes if held.give_work(pass_)])


@dataclasses.dataclass(frozen=True, order=True)
class _Cost:
    """What a model takes, in nodes."""

    running: float
    loading: float
    outside: int
    scans: int

    @classmethod
    def of(cls, model: Model) -> _Cost:
        scans = sum(node.is_op("Scan") for node in _loops(model))
        return cls(Running(model).total(), loading(model), len(model.graph), scans)

    def may_follow(self, before: _Cost) -> bool:
        """Whether a model that takes this does not load slower than one that takes that."""
        gain = "much" if self.running * MUCH <= before.running else "some"
        kind = "Scan" if before.scans and self.outside > before.outside else "Loop"
        return self.loading * LEAST_LOAD[gain, kind] <= before.loading


def _loops(model: Model) -> list[Node]:
    return [n for g in model.graphs() for n in g.nodes_of("Loop", "Scan")]


Kinds = list[type[Pass]]


def alternatives() -> list[list[Kinds]]:
    """The kinds of passes of each pipeline, in stages that are repeated; best bets come first."""
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
    """The default pipeline, of what only some pipelines have what is chosen, tidied up."""
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
