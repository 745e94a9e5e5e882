"""Passes that fit a model to a target: its opset, and no operator that it does not take.

Passes straighten the model first. Then it is converted to an opset that the target reads, and each
operator that the target lacks is replaced by others, as far as possible. Where others remain that
different passes might have avoided, these run on a copy; the result with the fewest is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

from ..facts.fact import Fact
from ..facts.notions import Equality, weakest
from ..facts.reason import Message
from ..ir import Model, Node, Value, load
from ..ir.option_names import by
from ..passes import (
    LoopsToScans,
    Pass,
    PassContext,
    Pipeline,
    RaiseRecurrences,
    Remark,
    ScansToLoops,
    VectorizeLoops,
    parse_pipeline,
    straighten,
)
from ..passes.base import MAY_BE_CONTROL_FLOW, Meter, Part
from ..passes.cleanup.infer_shapes import InferShapes
from ..passes.manager.pipeline_parser import of_straighten
from ..passes.new_nodes import has_onnx_nodes
from ..passes.utils.budget import DEFAULT_MAX_NODES, Budget, SearchBudget
from ..passes.utils.fingerprint import States
from ..passes.utils.fixpoint import Repeated, lack_work, run_passes
from ..passes.utils.trial import take_over, try_passes
from ..passes.vetoes import is_hidden
from ..records import field, record, replace
from ..version_converter import ConversionError
from ..version_converter.conversion import Conversion
from ..version_converter.ir_version import WITHOUT_LISTS, keep_constants, set_ir_version
from ..version_converter.kept_signs import FORMS, keep_signs, selects_of
from .declarations import drop_unused_imports, size_options
from .legality import Legality
from .legalize import legalize
from .outputs import forwarded_inputs, shared_outputs, trim_absent_inputs
from .raising import raise_loops, raise_operators
from .repairs import repair
from .target import ANY_SHAPE, Target, TargetError
from .write_out import NodeReplacement

Stages = tuple[Pass, ...]
_MOST_ROUNDS = 3
"""Runs of the passes after a first fit."""

_SIZES = Message(
    "known-sizes",
    "{target} compiles some operators with known sizes only; where it refuses the result, fix them"
    " with {fix}",
)
_IR_VERSION = Message(
    "ir-version", "IR version {before} became {after}, where constants are not inputs"
)
_OPSET = Message("opset", "opset {before} became {after}, which {target} reads{changes}")
_OUTPUT_IS_INPUT = Message(
    "output-is-input",
    "{target} supports only node outputs; this output is also an input, and must keep its name",
)
_UNREAD_OPSET = Message("opset-not-read", "{target} reads opsets {opsets}: {cause}")
_CONVERSION = 4
"""Copies of a model that take as long as its conversion and legalization."""
_UNTAKEN = Message("not-taken", "{cause}")


@record(frozen=True, eq=False)
class FitTarget(Pass):
    """Rewrite a model for a target: its opset, and operators in the place of those that it lacks.

    Options:
        target: what the model is made for.
        ways: passes to begin with; others that may leave less.
        opset: the opset to end in, where it is not the target's choice.
        ir_version: the IR version to end in; by default that of the opset.
        rewrites: rewrite constructs that the opset cannot hold.
        max_nodes: how many nodes the whole rewrite may add.
    """

    name: ClassVar[str] = "fit-target"
    keeps_sizes: ClassVar[bool] = True
    adds: ClassVar[tuple[str, ...]] = MAY_BE_CONTROL_FLOW
    changes: ClassVar[tuple[Part, ...]] = ("inputs", "opsets", "functions")
    target: Target = field(metadata={"code_only": True})
    ways: tuple[Stages, ...] = field(metadata={"code_only": True})
    opset: int | None = field(default=None, metadata={"code_only": True})
    ir_version: int | None = field(default=None, metadata={"code_only": True})
    rewrites: bool = field(default=True, metadata={"code_only": True})
    max_nodes: int = field(default=DEFAULT_MAX_NODES, metadata={"code_only": True})

    @property
    def exactness(self) -> Equality:
        """Weakest notion of the passes of all ways."""
        return weakest(each.exactness for stages in self.ways for each in stages)

    def run(self, model: Model, context: PassContext) -> bool:
        """Fit the model in the first way, or in another one that leaves less."""
        # Passes ask this before they emit an operator: a form that the target lacks would be
        # replaced again.
        context.supports = self._lists
        # Passes take loops apart, here and there into forms that no operator has.
        raised = self.target.raises and raise_loops(model, self.name, context, self.target.name)
        # The passes change the model, so other ways need a copy from before.
        original = load(model) if len(self.ways) > 1 else None
        before = list(context.remarks.entries)
        had = {node.op_type for graph in model.graphs() for node in graph.unordered_nodes()}
        changed = run_passes(self.ways[0], model, context, repeat=False) or raised
        search = SearchBudget(original or model, context.analyses.memory)
        best = _Fit(self._fit(model, context.meter.added_nodes, search), context, self.ways[0])
        untaken = best.result.untaken
        # Other passes can only avoid constructs, or operators that the first passes
        # brought in; for an operator of the original they would end alike.
        if original is not None and any(n.bodies or n.op_type not in had for n in untaken):
            best = self._search(original, best, search)
            best = self._unless_in_vain(original, best, search)
        # The remarks of the first way are about a model that is given up.
        if best.context is not context:
            take_over(context, best.context, before)
            changed = True
        if best.result.model is not model:
            model.become(best.result.model)
            context.remarks.follow(model)
            changed = True
        changed |= bool(best.result.replaced or best.result.untaken)
        result = self._straightened(best, model, context, search)
        self._keep_constants(model, context)
        changed |= self._finish(model, context)
        self._note_sizes(model, context)
        result.tell(self, model, context)
        context.analyses.facts |= result.facts
        if search.left_out:
            context.remarks.add_on_model(self, model, "noted", search.remark)
        return changed

    def _search(self, original: Model, best: _Fit, search: SearchBudget) -> _Fit:
        """Return the result that leaves least."""
        first = best.context
        for way in self.ways[1:]:
            if not best.result.untaken:
                break
            if search.allows_more():
                trial = try_passes(way, search.copy(original), first, repeat=False)
                fitted = self._fit(trial.model, trial.context.meter.added_nodes, search)
                # Fewer, not as few: of equal results the earlier way changed less.
                if len(fitted.untaken) < len(best.result.untaken):
                    best = _Fit(fitted, trial.context, way)
        return best

    def _unless_in_vain(self, original: Model, best: _Fit, search: SearchBudget) -> _Fit:
        """Return the original where no pass removed any control flow that the target lacks."""
        # What a client half supports may run in the form that its exporter chose: OpenCV (5.0.0)
        # does not pack constants that a rewrite moves into a Loop.
        nodes = [node for graph in original.graphs() for node in graph.unordered_nodes()]
        count = sum(bool(n.bodies) and not self._lists(n.op_type, original.opset()) for n in nodes)
        if sum(bool(node.bodies) for node in best.result.untaken) < max(count, 1):
            return best
        trial = try_passes((), search.copy(original), best.context, repeat=False)
        fitted = self._fit(trial.model, 0, search)
        if len(fitted.untaken) > len(best.result.untaken):
            return best
        reasons = [(r, None) for r, _ in best.context.remarks.entries if r.action == "kept"]
        trial.context.remarks.restore(reasons)
        return _Fit(fitted, trial.context, ())

    def _straightened(
        self, fit: _Fit, model: Model, context: PassContext, search: SearchBudget
    ) -> FitResult:
        """Run the passes again on what the fit brought in, and fit again."""
        result = fit.result
        for _ in range(_MOST_ROUNDS):
            if result.is_as_before or lack_work(fit.way, model) or not search.allows_more():
                break
            trial = try_passes(fit.way, search.copy(model), context, repeat=False)
            if not trial.changed:
                break
            refit = self._fit(trial.model, context.meter.added_nodes, search)
            states = States()
            states.visit(model)  # passes and fit may undo each other
            # A pass may prefer the form that legalization replaces; then the two
            # would alternate forever.
            if len(refit.untaken) > len(result.untaken) or states.visit(refit.model):
                break
            earlier = [entry for entry in context.remarks.entries if entry[0].action != "kept"]
            take_over(context, trial.context, earlier)
            model.become(refit.model)
            context.remarks.follow(model)
            result = refit.after(result, model)
        return result

    def _lists(self, op_type: str, opset: int) -> bool:
        """Test whether the target has an operator, in its opset that is nearest to one."""
        return self.target.lists(op_type, self.target.opsets.nearest(opset))

    def _fit(self, model: Model, added: int, search: SearchBudget) -> FitResult:
        """Fit a model in the opset that leaves least, the first of equals."""
        before, best, least, stuck = model.opset(), None, 0, None
        if model.training_info:
            return self._as_it_is(model)
        opsets = list(self._opsets(model))
        for opset in opsets:
            if best is not None and not search.allows_more():
                break
            search.spend(model, _CONVERSION)
            try:
                fitted = self._fit_in(opset, model, added, search, in_place=len(opsets) == 1)
            # Another opset of the target may hold the operator. The caller's own
            # opset has no substitute.
            except ConversionError as error:
                if self.opset is not None:
                    raise
                stuck = stuck or error
                continue
            shared = self._shared(fitted.model)
            # An output that is an input counts as unsupported where the target needs
            # separate outputs.
            lacking = len(fitted.untaken) + len(list(shared))
            if best is None or lacking < least:
                best, least = fitted, lacking
            # Nothing is unsupported here: a later opset cannot be better.
            if not least:
                break
        if best is None:
            return FitResult(model, before, Legality(self.target, model).unsupported(), stuck=stuck)
        return best

    def _shared(self, model: Model) -> Iterable[Value]:
        """The outputs that need a node of their own."""
        return shared_outputs(model, inner=self.target.inner) if self.target.own_outputs else ()

    def _as_it_is(self, model: Model) -> FitResult:
        """Return a model with training information, which names its values, as it is."""
        untaken, opset = Legality(self.target, model).unsupported(), model.opset()
        stays = "the model has training information, so it is not changed"
        stuck = None if opset in self.target.opsets else ConversionError(stays)
        return FitResult(
            model, opset, {n: f"{why}; {stays}" for n, why in untaken.items()}, stuck=stuck
        )

    def _opsets(self, model: Model) -> Iterator[int]:
        """Yield opsets to end in, the most promising first."""
        if self.opset is not None:
            yield self.opset
            return
        own = model.opset()  # 0 where it has none of ONNX's operators
        nearest = self.target.opsets.nearest(own) if own else own
        yield nearest
        preferred = self.target.preferred_opset
        if own and preferred is not None and preferred != nearest:
            yield preferred

    def _fit_in(
        self, opset: int, model: Model, added: int, search: SearchBudget, in_place: bool
    ) -> FitResult:
        """Convert a model to an opset, and replace operators that the target lacks.

        A model that has the opset may be changed in place, where no other opset is tried.
        """
        before = model.opset()
        is_taken = not any(self._shared(model))
        # Most models of a batch are legal as they are, and need no copy.
        if opset == before and is_taken and not Legality(self.target, model).unsupported():
            return FitResult(model, before, {})
        copy, straightened, changes = model, tuple[Remark, ...](), ""
        selects = selects_of(model)
        if opset == before:
            copy = model if in_place else load(model)
        else:
            start = partial(load, model)
            converted = Conversion(start, self.ir_version, self.rewrites).to(opset)
            copy, straightened = converted.model, converted.remarks
            counts = converted.differences.to_dict()["changed"]
            changes = "".join(f", {op} {count}" for op, count in counts.items())
            changes = f"; changed: {changes[2:]}" if changes else ""
        # Passes and legalization share one limit of nodes, or a fit could double what the
        # user allowed.
        budget = Budget(Meter(added), self.max_nodes)
        budget.search = search
        replaced, untaken, facts = legalize(copy, self.target, budget)
        if all(self._lists(op_type, opset) for op_type in FORMS):
            keep_signs(copy, selects)
        return FitResult(
            copy, before, untaken, replaced, straightened, changes=changes, facts=facts
        )

    def _finish(self, model: Model, context: PassContext) -> bool:
        """Write conditions and names as the target wants them."""
        raised = self.target.raises and raise_operators(model, self.name, context, self.target.name)
        changed = bool(raised) | repair(model, self.target, self, context)
        # Some clients count operands, and take a trailing empty name for one.
        changed |= trim_absent_inputs(model)
        changed |= self.target.standard and drop_unused_imports(model)
        is_declared = ANY_SHAPE in self.target.anywhere.static
        return (is_declared and InferShapes().run(model, context)) or changed

    def _note_sizes(self, model: Model, context: PassContext) -> None:
        """Name the options that fix open sizes of inputs, where the target wants known ones."""
        options = list(size_options(model)) if self.target.known_sizes else []
        if options:
            what = _SIZES(target=self.target.name, fix=by(*options))
            context.remarks.add_on_model(self, model, "noted", what)

    def _keep_constants(self, model: Model, context: PassContext) -> None:
        """Keep new constants from becoming inputs or nodes, as they are below IR version 4.

        The target was not asked about such nodes, and clients take such inputs for their own.
        """
        if model.allows_overrides or model.has_loaded_form:
            return
        if self.ir_version is not None:
            keep_constants(model)
            return
        what = _IR_VERSION(before=model.ir_version, after=WITHOUT_LISTS)
        set_ir_version(model, model.opset(), model.opset(), WITHOUT_LISTS)
        context.remarks.add_on_model(self, model, "rewritten", what)

    def __str__(self) -> str:
        return f"{self.name} {self.target.name}"


class _Fit(NamedTuple):
    """One fit: its result, the context of the passes before it, and these passes."""

    result: FitResult
    context: PassContext
    way: Stages


@record
class FitResult:
    """Result of a fit: a model that fits as far as it can.

    Attributes:
        opset: the opset before.
        untaken: the nodes that the target does not take, and why.
        replaced: the nodes that other operators replace.
        straightened: remarks on constructs that had to be rewritten for the opset.
        stuck: the error that keeps the model from an opset that the target reads.
        changes: the operators that the conversion has changed, for people.
        facts: outputs of the model whose facts inference would find again.
    """

    model: Model
    opset: int
    untaken: Mapping[Node, str]
    replaced: Sequence[NodeReplacement] = ()
    straightened: Sequence[Remark] = ()
    stuck: ConversionError | None = None
    changes: str = ""
    facts: Mapping[Value, Fact] = field(default_factory=dict)

    @property
    def is_as_before(self) -> bool:
        """Test whether the fit changed nothing."""
        return not self.replaced and self.model.opset() == self.opset

    def after(self, first: FitResult, model: Model) -> FitResult:
        """Return this as the end of two fits, with the work of the first."""
        return replace(
            self,
            model=model,
            opset=first.opset,
            replaced=tuple(dict.fromkeys((*first.replaced, *self.replaced))),
            straightened=tuple(dict.fromkeys((*first.straightened, *self.straightened))),
            changes=first.changes or self.changes,
        )

    def tell(self, pass_: FitTarget, model: Model, context: PassContext) -> None:
        """Add remarks on what was done and what the target does not take."""
        target, opset = pass_.target, model.opset()
        for remark in self.straightened:
            context.remarks.add(remark)
        if opset != self.opset and has_onnx_nodes(model):
            what = _OPSET(before=self.opset, after=opset, target=target.name, changes=self.changes)
            context.remarks.add_on_model(pass_, model, "rewritten", what)
        for replaced in self.replaced:
            context.remarks.add(
                Remark(pass_.name, replaced.op_type, replaced.path, "rewritten", replaced.what)
            )
        for node, why in self.untaken.items():
            if not is_hidden(node):
                context.kept(pass_, node, _UNTAKEN(why))
        for value in forwarded_inputs(model) if target.own_outputs else ():
            reason = _OUTPUT_IS_INPUT(target=target.name)
            context.remarks.add(Remark(pass_.name, "Output", value.name, "kept", reason))
        if self.stuck is None:
            return
        whole = [("Model", self.model.graph.name, str(self.stuck))]
        places = [(f.op_type, f.path, f.reason) for f in self.stuck.failures] or whole
        for op_type, path, why in places:
            reason = _UNREAD_OPSET(why, target=target.name, opsets=str(target.opsets))
            context.remarks.add(Remark(pass_.name, op_type, path, "kept", reason))


def fitting(
    passes: str | Pipeline | None,
    target: Target,
    options: Mapping[str, Any],
    *,
    opset: int | None = None,
    ir_version: int | None = None,
    rewrites: bool = True,
) -> Pipeline:
    """Return the pipeline that makes a model fit a target.

    Args:
        passes: the passes to begin with: None for those that suit the target, text, or a pipeline.
        opset: the opset to end in; by default the target's choice.
        ir_version: the IR version to end in; by default that of the opset.
        rewrites: rewrite constructs that the opset cannot hold.

    Raises:
        TargetError: the target does not read the opset.
        PassOptionError: there is no such pass or option.
    """
    if opset is not None and opset not in target.opsets:
        raise TargetError(f"{target.name} reads opsets {target.opsets}, not {opset}")
    if passes is None:
        ways = tuple(_ways(target, options))
    else:
        pipeline = parse_pipeline(passes, **options) if isinstance(passes, str) else passes
        ways = (_stages(pipeline),)
    max_nodes = options.get("max_nodes", DEFAULT_MAX_NODES)
    return Pipeline((FitTarget(target, ways, opset, ir_version, rewrites, max_nodes),))


def _ways(target: Target, options: Mapping[str, Any]) -> Iterator[Stages]:
    """Yield passes that may straighten a model for a target.

    The first ones make the best form, but of young operators; the last ones leave no control flow,
    but compute more.
    """
    if target.passes is not None:
        yield _stages(parse_pipeline(target.passes, **options))
        options = of_straighten(options)  # those of other passes are for the target's own
    operators = target.control_flow
    # A loop over doubling distances runs fewer nodes than its steps in a row.
    standard = straighten(**{**({"straight": False} if "Loop" in operators else {}), **options})
    yield _stages(standard)
    young = VectorizeLoops | RaiseRecurrences
    yield _stages(Pipeline([p for p in standard.passes if not isinstance(p, young)], repeat=True))
    if "Scan" in operators and "Loop" not in operators:
        yield (*_stages(standard), LoopsToScans())
    if "Loop" in operators and "Scan" not in operators:
        yield (*_stages(standard), ScansToLoops())
    yield _stages(parse_pipeline("selects", **options))


def _stages(pipeline: Pipeline) -> Stages:
    passes = tuple(pipeline.passes)
    return (Repeated(passes),) if pipeline.repeat else passes
