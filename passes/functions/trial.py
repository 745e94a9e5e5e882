"""Inlining trials in a scratch model: tests for control flow that a call resolves."""

from collections.abc import Hashable, Sequence

import onnx

from ...analysis.constants.equal import content_key
from ...analysis.constants.folding import Folder
from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.onnx_inference_cache import Memory
from ...facts.reason import Message, Reason
from ...ir import Function, FunctionKey, Graph, Model, Node, Tensor, Value
from ...ir.copying import copy_function
from ...ir.lazy import lazy_property
from ...ir.option_names import by
from ...records import record
from ..base import Analyses, Pass, PassContext
from ..remarks import Remark, RemarkLog
from ..utils.budget import Budget
from ..utils.trial import Trial, try_passes
from .binding import bind, inline_call, obstacle
from .calls import CONTROL_FLOW, SEQUENCES, CallGraph, count_control_flow, function_size

_NOTHING = Message("no-control-flow-resolved", "inlining it would resolve no control flow in it")()
_NOT_RESOLVED = Message(
    "inlining-resolves-nothing", "inlining it would not resolve {construct} in it: {cause}"
)


class _Candidate:
    """A call to inline on trial.

    Args:
        function: its callee, simplified.
        settable: true if a user could set its undecided arguments.
    """

    def __init__(
        self, call: Node, function: Function, inference: ShapeInference, settable: bool
    ) -> None:
        self.call = call
        self.function = function
        self.settable = settable
        self.opset_imports = call.root.opset_imports
        self._types = [
            None if v is None or v.constant else v.type or inference.fact(v).type_proto(False)
            for v in call.inputs
        ]

    @lazy_property
    def key(self) -> Hashable:
        """The key that decides the result of a trial."""
        call = self.call
        arguments = [
            None if v is None else _argument(v.constant, type_)
            for v, type_ in zip(call.inputs, self._types, strict=True)
        ]
        attributes = tuple([m.SerializeToString() for m in call.op.attributes.values()])
        outputs = tuple([value is None for value in call.outputs])
        opsets = frozenset(self.opset_imports.items())
        return (self.function.key, opsets, attributes, outputs, self.settable, *arguments)

    def place(self, graph: Graph) -> None:
        """Add a copy of the call to an empty graph: constants stay, other arguments become
        inputs."""
        call = self.call
        arguments: list[Value | None] = []
        for value, type_ in zip(call.inputs, self._types, strict=True):
            if value is None:
                arguments.append(None)
            elif value.constant is not None:
                arguments.append(graph.add_initializer(value.name, value.constant))
            else:
                arguments.append(graph.add_input(value.name))
                if type_ is not None:
                    arguments[-1].type = type_  # type: ignore[union-attr]
        labels = ["" if value is None else value.name for value in call.outputs]
        node = graph.add_node(call.op, arguments, labels, call.name)
        outputs = [value for value in node.outputs if value is not None]
        graph.set_outputs(outputs, [onnx.ValueInfoProto(name=value.name) for value in outputs])


@record
class _Outcome:
    """The result of a trial.

    Attributes:
        reason: the obstacle to every resolution; None if control flow resolved.
        inside: the calls in the inlined body.
    """

    reason: str | None
    inside: Sequence[_Candidate] = ()

    def verdict(self, inside: Sequence[str | None]) -> str | None:
        """The reason, in view of the reasons of the calls inside."""
        if None in inside:
            return None
        return inside[0] if inside and self.reason == _NOTHING else self.reason


class InliningTrials:
    """Inlining trials for the calls of one model's functions.

    The functions are simplified first, so that a trial shows only the effect of the call's own
    arguments and attributes.

    Args:
        model: the model, which stays unchanged.
        passes: the passes that would resolve control flow after inlining.
        budget: the limit of nodes inlined on trial, all trials together.
    """

    def __init__(
        self, model: Model, passes: Sequence[Pass], budget: Budget, memory: Memory
    ) -> None:
        self.model = model
        self.passes = passes
        self.budget = budget
        # The trials share the results of calls: they see the same functions.
        self.context = PassContext(Analyses(memory.without_calls()))
        self.inference = self.context.inference(model)
        simplified = self._simplify()
        self.functions = simplified.model.functions
        self.calls = CallGraph(self.functions)
        self._inner_remarks = _InnerRemarks(self.calls, simplified.context.remarks)
        self._verdicts: dict[Hashable, str | None] = {}

    def _simplify(self) -> Trial:
        library = self._scratch(self.model.opset_imports)
        for key, function in self.model.functions.items():
            library.functions[key] = copy_function(function)
        return try_passes(self.passes, library, self.context)

    def _scratch(self, opset_imports: dict[str, int]) -> Model:
        scratch = Model(self.model.header, self.model.base_dir)
        scratch.opset_imports = dict(opset_imports)
        scratch.minima = self.model.minima
        return scratch

    def reason_to_keep(self, call: Node, function: Function) -> str | None:
        """The reason why inlining a call would resolve nothing; None if it resolves control
        flow."""
        body = self.functions[function.key]
        return self._reason(_Candidate(call, body, self.inference, _is_settable(call)))

    def _reason(self, candidate: _Candidate) -> str | None:
        """The verdict, shared by all calls with the same arguments."""
        trials: dict[Hashable, _Outcome] = {}
        stack = [candidate]
        while stack:
            top = stack[-1]
            if top.key not in self._verdicts:
                if top.key not in trials:
                    trials[top.key] = self._try(top)
                trial = trials[top.key]
                unknown = [q for q in trial.inside if q.key not in self._verdicts]
                if unknown:
                    stack += unknown
                    continue
                self._verdicts[top.key] = trial.verdict(
                    [self._verdicts[q.key] for q in trial.inside]
                )
            stack.pop()
        return self._verdicts[candidate.key]

    def _try(self, candidate: _Candidate) -> _Outcome:
        scratch = self._scratch(candidate.opset_imports)
        candidate.place(scratch.graph)
        shared = self.calls.repeats_itself(candidate.function)
        count = self._expand(scratch, candidate, shared)
        if count is None:
            return _Outcome(
                f"inlining calls on trial needs more nodes than max_nodes={self.budget.max_nodes}"
                f" allows; raise it with {by('--max-nodes')}, or choose with"
                f" {by('--passes straighten{always=true}')}"
            )
        scratch.functions = self.functions  # settled: a trial costs only what it inlines
        scratch.settled = True
        if count_control_flow(scratch.graph) < count:
            return _Outcome(None)
        trial = try_passes(self.passes, scratch, self.context)
        remarks = [r for r in trial.context.remarks if _is_of_control_flow(r)]
        if any(remark.action == "rewritten" for remark in remarks):
            return _Outcome(None)
        remarks += self._inner_remarks.of_calls_in(scratch.graph)
        return _Outcome(
            _reason(candidate, remarks), self._inside(scratch, candidate) if shared else []
        )

    def _expand(self, scratch: Model, candidate: _Candidate, shared: bool) -> int | None:
        """Inline every call that leads to control flow, or only the outer one if `shared`.

        Returns:
            the number of control-flow operators inlined; None above the limit of trials.
        """
        size = function_size if shared else self.calls.expanded_size
        if not self.budget.may_try(size(candidate.function)):
            return None
        count = 0
        fold = Folder(scratch).fold
        while calls := self._calls_to_expand(scratch.graph):
            for call, function in calls:
                bound = bind(function, call)
                count += count_control_flow(bound.graph)
                inline_call(call, bound, fold)
            if shared:
                break
        return count

    def _inside(self, scratch: Model, candidate: _Candidate) -> list[_Candidate]:
        """The candidates among the calls that inlining exposed."""
        inference = self.context.analyses.new_inference(scratch)
        return [
            _Candidate(call, function, inference, candidate.settable)
            for call, function in self._calls_to_expand(scratch.graph)
        ]

    def _calls_to_expand(self, graph: Graph) -> list[tuple[Node, Function]]:
        calls = self.calls.leading_to_control_flow(graph)
        return [(node, f) for node, f in calls if obstacle(f, node, self.calls) is None]


class _InnerRemarks:
    """The remarks on control flow in the simplified functions.

    Args:
        remarks: the remarks of the passes that simplified them.
    """

    def __init__(self, calls: CallGraph, remarks: RemarkLog) -> None:
        self._calls = calls
        self._remarks: dict[FunctionKey, list[Remark]] = {}
        for remark, node in remarks.entries:
            if node is None or node.graph is None or not node.stands:
                continue
            root = node.graph.root
            if isinstance(root, Function) and _is_of_control_flow(remark):
                self._remarks.setdefault(root.key, []).append(remark)
        for function in calls.callees_first():
            if function.key not in self._remarks:
                self._remarks[function.key] = self.of_calls_in(function.graph)

    def of_calls_in(self, graph: Graph) -> list[Remark]:
        """The remarks inside of the first call that has any."""
        remarks = (self._remarks.get(key) for key in self._calls.callees(graph))
        return next(filter(None, remarks), [])


def _is_of_control_flow(remark: Remark) -> bool:
    return remark.op_type in (*CONTROL_FLOW, *SEQUENCES)


def _argument(constant: Tensor | None, type_: onnx.TypeProto | None) -> Hashable:
    """The facts of an argument, as a key; a large constant equals only itself."""
    if constant is not None:
        return content_key(constant) or constant
    return True if type_ is None else type_.SerializeToString(deterministic=True)


def _is_settable(call: Node) -> bool:
    """Test whether the undecided arguments may be inputs of the model, which a user sets."""
    open_ = [v for v in call.inputs if v is not None and v.constant is None]
    return not any(
        v.owner is None or v.owner.holder or isinstance(v.owner.root, Function) for v in open_
    )


def _reason(candidate: _Candidate, remarks: Sequence[Remark]) -> str:
    obstacles = [remark for remark in remarks if remark.action == "kept"]
    if not obstacles:
        return _NOTHING
    first = obstacles[0]
    # The remark of the last pass that visited it names the remedy.
    last = [r for r in obstacles if (r.op_type, r.path) == (first.op_type, first.path)][-1]
    why = Reason.of(last.reason)
    construct = f"{last.op_type} '{last.path}'"
    return _NOT_RESOLVED(why if candidate.settable else why.plain, construct=construct)
