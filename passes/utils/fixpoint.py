"""Passes in order on one model, to a fixed point."""

import logging
from collections.abc import Collection, Sequence
from typing import ClassVar

from ...analysis.constants.equal import ContentKeys
from ...analysis.iterations.constructs_in_doubt import constructs_in_doubt
from ...facts.notions import Equality, weakest
from ...ir import Model, Node
from ...ir.io.deserialize import FlatModel, PlainNodes
from ...ir.lazy import lazy_property
from ...limits.stage_clock import StageClock
from ...records import field, record
from ..base import Pass, PassContext, current_watcher
from ..faults import observing
from ..remarks import Remark
from ..vetoes import current_vetoes, heeding_vetoes
from .branch_outputs import end_branches_in_nodes
from .declarations import CorrectDeclarations, declare_slices, note_false_sizes
from .fingerprint import States

_log = logging.getLogger(__name__)

_MOST_ROUNDS = 1000

_UNWATCHED = 2
"""The number of rounds before repeated states are detected; most models need no more."""


def rewrite_model(passes: Sequence[Pass], model: Model, context: PassContext, repeat: bool) -> bool:
    """Run passes and correct declarations, and return whether the model changed.

    Args:
        passes: the passes, in order.
        model: the model, changed in place.
        context: the context; remarks on removed constructs are dropped.
        repeat: run to a fixed point.
    """
    note_false_sizes(model, context)
    changed = run_passes(passes, model, context, repeat)
    finish(model, context, changed)
    return changed


def finish(model: Model, context: PassContext, changed: bool) -> None:
    """Correct declarations after passes that changed a model; drop remarks on what is gone."""
    context.remarks.forget_gone(model)
    if changed:
        with heeding_vetoes(correct := CorrectDeclarations(), model, context) as may_run:
            if may_run:
                correct.run(model, context)
        declare_slices(model, lambda: context.inference(model).fact)
        end_branches_in_nodes(model, ContentKeys(context.analyses.keys).of)


def run_passes(passes: Sequence[Pass], model: Model, context: PassContext, repeat: bool) -> bool:
    """Run passes in order, once or to a fixed point.

    A pass runs again only after a change that might give it new work. Passes that undo or repeat
    each other's work end, with a remark, at a repeated state of the model.
    """
    changed = False
    kinds = OperatorKinds(model)
    stale = [True] * len(passes)
    for pass_ in passes:
        context.meter.seconds.setdefault(pass_.name, 0.0)
    states: States | None = None
    last = None
    for round_ in range(_MOST_ROUNDS if repeat else 1):
        for number, pass_ in enumerate(passes):
            if stale[number]:
                # Before the run, as a change of its own may give the pass work again.
                stale[number] = False
                if context.instrumentation.progress is not None:
                    with observing():
                        context.instrumentation.progress(str(pass_), number, len(passes))
                if _run_timed(pass_, model, context, kinds):
                    changed, last = True, pass_
                    kinds = OperatorKinds(model)
                    if not pass_.cleans_up:
                        stale = [True] * len(passes)
        if not any(stale):
            break
        if last is None or round_ < _UNWATCHED:
            continue
        states = states or States()
        if states.visit(model):
            again = "the model is as it was some rounds before, so the passes end here"
            context.remarks.add_on_model(last, model, "noted", again)
            break
    return changed


def are_idle(passes: Sequence[Pass], plain: PlainNodes) -> bool:
    """Test that no pass changes a model of plain nodes or is observed."""
    is_observed = current_watcher() is not None or _log.isEnabledFor(logging.INFO)
    flat = None if is_observed else plain.flat()
    return flat is not None and all(pass_.is_idle(flat) for pass_ in passes)


def lack_work(passes: Sequence[Pass], model: Model) -> bool:
    """Test that no pass changes a flat model; false for another one."""
    flat = FlatModel.of(model)
    return flat is not None and all(pass_.is_idle(flat) for pass_ in passes)


class OperatorKinds:
    """The operators of a model, cached until it changes."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @lazy_property
    def all(self) -> set[str]:
        """The operators, by `Operator.qualname`."""
        return set().union(*[graph.kinds() for graph in self._model.graphs()])

    def include_work_of(self, pass_: Pass) -> bool:
        """Test for an operator that a pass works on."""
        return pass_.works_on is None or not self.all.isdisjoint(pass_.works_on)


def _run_timed(pass_: Pass, model: Model, context: PassContext, kinds: OperatorKinds) -> bool:
    observers = context.instrumentation
    context.remarks.forget_kept(pass_)
    if current_vetoes().covers(pass_.name):  # no watcher sees it
        return False
    has_work = kinds.include_work_of(pass_)
    if not has_work and observers.watcher is None and not _log.isEnabledFor(observers.log_level):
        return False
    started = StageClock.now()
    _log.debug("%s begins", pass_)
    if observers.watcher is not None:
        with observing():
            observers.watcher.before(pass_, model)
    try:
        changed = False
        if has_work:
            staying = _in_doubt(pass_, model, context)
            with heeding_vetoes(pass_, model, context, staying) as may_run:
                changed = may_run and pass_.run(model, context)
        if changed:
            context.analyses.invalidate(pass_.keeps_facts)
            if observers.new_nodes is not None and not isinstance(pass_, Repeated):
                observers.new_nodes.note(pass_.name)
        what = "changed the model" if changed else "changed nothing"
        _log.log(observers.log_level, "%s %s in %.3f s", pass_, what, StageClock.now() - started)
        if observers.watcher is not None:
            with observing():
                observers.watcher.after(pass_, model, changed)
        return changed
    finally:
        if not isinstance(pass_, Repeated):
            context.meter.seconds[pass_.name] += StageClock.now() - started


def _in_doubt(pass_: Pass, model: Model, context: PassContext) -> Collection[Node]:
    """Find the constructs that a pass must leave alone, with a remark on each."""
    if pass_.keeps_facts or pass_.keeps_sizes or not _holds_constructs_in_loops(model):
        return ()
    doubts = constructs_in_doubt(model, context.inference(model))
    for node, why in doubts.items():
        context.remarks.add_once(Remark(pass_.name, node.op_type, node.path, "kept", why), node)
    return doubts


def _holds_constructs_in_loops(model: Model) -> bool:
    """Test for constructs in the body of a Loop, also those of functions."""
    loops = (node for graph in model.graphs() for node in graph.holders() if node.is_op("Loop"))
    return any(bool(loop.body("body").holders()) or bool(model.functions) for loop in loops)


@record(frozen=True)
class Repeated(Pass):
    """Run passes to a fixed point; `straighten` in the text of a pipeline.

    Options:
        passes: the passes.
    """

    name: ClassVar[str] = "straighten"
    keeps_facts: ClassVar[bool] = True
    passes: tuple[Pass, ...] = field(default=(), metadata={"code_only": True})

    @property
    def exactness(self) -> Equality:
        """Weakest notion of the passes."""
        return weakest(each.exactness for each in self.passes)

    def is_idle(self, flat: FlatModel) -> bool:
        """Test that no pass changes a flat model."""
        return all(each.is_idle(flat) for each in self.passes)

    def run(self, model: Model, context: PassContext) -> bool:
        """Run them to a fixed point."""
        return run_passes(self.passes, model, context, repeat=True)


class Selects(Repeated):
    """Straighten, then convert run-time control flow to selects, to a fixed point.

    Options:
        passes: `straighten` around ifs-to-selects and predicate-loops.
    """

    name: ClassVar[str] = "selects"
