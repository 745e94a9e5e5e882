"""Finding out whether a call resolves control flow by inlining it in a scratch model."""

from __future__ import annotations

import dataclasses
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
from ..base import Pass, Remark
from ..context import Analyses, PassContext, RemarkLog
from ..utils.budget import Budget
from ..utils.trial import Trial, try_passes
from .binding import bind, inline_call, obstacle
from .calls import CONTROL_FLOW, SEQUENCES, CallGraph, count_control_flow, function_size

_NOTHING = "inlining it would resolve no control flow in it"
_NOT_RESOLVED = Message(
    "inlining-resolves-nothing", "inlining it would not resolve {construct} in it: {cause}"
)


class _Question:
    """Whether inlining a call would resolve something.

    Args:
        call: the call.
        function: what it calls, as it is tried.
        inference: what is known of its arguments.
        settable: whether a user could set what is open of them.
    """

    def __init__(
        self,
        call: Node,
        function: Function,
        inference: ShapeInference,
        settable: bool,
    ) -> None:
        assert call.graph is not None
        self.call = call
        self.function = function
        self.settable = settable
        self.opset_imports = call.graph.root.opset_imports
        self._types = [
            None if v is None or v.constant else v.type or inference.fact(v).type_proto(False)
            for v in call.inputs
        ]

    @lazy_property
    def key(self) -> Hashable:
        """What a trial depends on."""
        call = self.call
        given = [
            None if v is None else _argument(v.constant, type_)
            for v, type_ in zip(call.inputs, self._types, strict=True)
        ]
        attributes = tuple([m.SerializeToString() for m in call.op.attributes.values()])
        outputs = tuple([value is None for value in call.outputs])
        opsets = frozenset(self.opset_imports.items())
        return (self.function.key, opsets, attributes, outputs, self.settable, *given)

    def place(self, graph: Graph) -> None:
        """Put a copy of the call alone into an empty graph: constants stay, the rest are inputs."""
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
        given = [value for value in node.outputs if value is not None]
        graph.set_outputs(given, [onnx.ValueInfoProto(name=value.name) for value in given])


@dataclasses.dataclass
class _Tried:
    """What came of a trial.

    Attributes:
        reason: why nothing was resolved; None if something was.
        inside: the same about the calls that are left where it was inlined.
    """

    reason: str | None
    inside: Sequence[_Question] = ()

    def verdict(self, inside: Sequence[str | None]) -> str | None:
        """The reason, given those of the calls inside."""
        if self.reason != _NOTHING or not inside:
            return None if None in inside else self.reason
        return None if None in inside else inside[0]


class InliningTrials:
    """Tries calls of one model's functions.

    The functions are taken as the passes leave them by themselves, so that a call counts only for
    what its own arguments and attributes decide.

    Args:
        model: the model; it is not changed.
        passes: what would resolve control flow after a call is inlined.
        budget: how much may be inlined on trial, all trials together.
        memory: what inference has found about nodes.
    """

    def __init__(
        self, model: Model, passes: Sequence[Pass], budget: Budget, memory: Memory
    ) -> None:
        self.model = model
        self.passes = passes
        self.budget = budget
        # What calls give out is shared by the trials, which find the same functions.
        self.context = PassContext(Analyses(memory.without_calls()))
        self.inference = self.context.inference(model)
        simplified = self._simplified()
        self.functions = simplified.model.functions
        self.calls = CallGraph(self.functions)
        self._said = _SaidInside(self.calls, simplified.context.remarks)
        self._verdicts: dict[Hashable, str | None] = {}

    def _simplified(self) -> Trial:
        library = self._scratch(self.model.opset_imports)
        for key, function in self.model.functions.items():
            library.functions[key] = copy_function(function)
        return try_passes(self.passes, library, self.context)

    def _scratch(self, opset_imports: dict[str, int]) -> Model:
        scratch = Model(self.model.header, self.model.base_dir)
        scratch.opset_imports = dict(opset_imports)
        return scratch

    def reason_to_keep(self, call: Node, function: Function) -> str | None:
        """Why inlining a call would resolve nothing; None if it would resolve something."""
        tried = self.functions[function.key]
        return self._reason(_Question(call, tried, self.inference, _is_settable(call)))

    def _reason(self, asked: _Question) -> str | None:
        """The verdict on calls that are given the same, whoever makes them."""
        tried: dict[Hashable, _Tried] = {}
        stack = [asked]
        while stack:
            top = stack[-1]
            if top.key not in self._verdicts:
                if top.key not in tried:
                    tried[top.key] = self._try(top)
                found = tried[top.key]
                unknown = [q for q in found.inside if q.key not in self._verdicts]
                if unknown:
                    stack += unknown
                    continue
                self._verdicts[top.key] = found.verdict(
                    [self._verdicts[q.key] for q in found.inside]
                )
            stack.pop()
        return self._verdicts[asked.key]

    def _try(self, asked: _Question) -> _Tried:
        scratch = self._scratch(asked.opset_imports)
        asked.place(scratch.graph)
        shared = self.calls.repeats_itself(asked.function)
        written = self._expand(scratch, asked, shared)
        if written is None:
            return _Tried(
                f"inlining calls on trial takes more nodes than max_nodes={self.budget.max_nodes}"
                f" allows; raise it with {by('--max-nodes')}, or choose with"
                f" {by('--passes straighten{always=true}')}"
            )
        scratch.functions = self.functions  # settled, so that a trial costs what it inlines alone
        scratch.settled = True
        if count_control_flow(scratch.graph) < written:
            return _Tried(None)
        tried = try_passes(self.passes, scratch, self.context)
        remarks = [r for r in tried.context.remarks if _is_of_control_flow(r)]
        if any(remark.action == "rewritten" for remark in remarks):
            return _Tried(None)
        remarks += self._said.of_calls_in(scratch.graph)
        return _Tried(_reason(asked, remarks), self._inside(scratch, asked) if shared else [])

    def _expand(self, scratch: Model, asked: _Question, shared: bool) -> int | None:
        """Inline every call that leads to control flow, or only the one that is asked about where
        the others are `shared`; how much control flow was written there. None where that is more
        than may be tried."""
        size = function_size if shared else self.calls.expanded_size
        if not self.budget.may_try(size(asked.function)):
            return None
        written = 0
        fold = Folder(scratch).fold
        while calls := self._calls_to_expand(scratch.graph):
            for call, function in calls:
                bound = bind(function, call)
                written += count_control_flow(bound.graph)
                inline_call(call, bound, fold)
            if shared:
                break
        return written

    def _inside(self, scratch: Model, asked: _Question) -> list[_Question]:
        """The same about the calls that are left where one was inlined."""
        inference = self.context.analyses.new_inference(scratch)
        return [
            _Question(call, function, inference, asked.settable)
            for call, function in self._calls_to_expand(scratch.graph)
        ]

    def _calls_to_expand(self, graph: Graph) -> list[tuple[Node, Function]]:
        calls = self.calls.leading_to_control_flow(graph)
        return [(node, f) for node, f in calls if obstacle(f, node, self.calls) is None]


class _SaidInside:
    """What was said of control flow in functions, when they were simplified.

    Args:
        calls: the functions.
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
        """What was said inside of the first call of which something was."""
        said = (self._remarks.get(key) for key in self._calls.callees(graph))
        return next(filter(None, said), [])


def _is_of_control_flow(remark: Remark) -> bool:
    return remark.op_type in (*CONTROL_FLOW, *SEQUENCES)


def _argument(constant: Tensor | None, type_: onnx.TypeProto | None) -> Hashable:
    """What is known of an argument; a large constant is no other one's equal."""
    if constant is not None:
        return content_key(constant) or constant
    return True if type_ is None else type_.SerializeToString(deterministic=True)


def _is_settable(call: Node) -> bool:
    """Whether what is open of a call's arguments may be an input of the model, which a user can
    set."""
    open_ = [v for v in call.inputs if v is not None and v.constant is None]
    return not any(
        v.owner is None or v.owner.holder or isinstance(v.owner.root, Function) for v in open_
    )


def _reason(asked: _Question, remarks: Sequence[Remark]) -> str:
    all_kept = [remark for remark in remarks if remark.action == "kept"]
    if not all_kept:
        return _NOTHING
    first = all_kept[0]
    # The last pass that looked at it is the one that says what would let it go.
    kept = [r for r in all_kept if (r.op_type, r.path) == (first.op_type, first.path)][-1]
    why = Reason.of(kept.reason)
    construct = f"{kept.op_type} '{kept.path}'"
    return _NOT_RESOLVED(why if asked.settable else why.plain, construct=construct)
