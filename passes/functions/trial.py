"""Finding out whether a call resolves control flow by inlining it in a scratch model."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from ...analysis.constants.folding import Folder
from ...analysis.shapes.inference import ShapeInference
from ...ir import Function, Graph, Model, Node, Tensor, Value
from ...ir.copying import copy_function
from ...ir.ways import by
from ..base import Pass, Remark, Run
from ..running import rewrite_model
from ..tools.budget import Budget
from .binding import bind, inline_call, obstacle
from .calls import CONTROL_FLOW, SEQUENCES, CallGraph, count_control_flow, function_size

_Key = tuple[object, ...]


class InliningTrials:
    """Tries calls of one model's functions.

    The functions are taken as the passes leave them by themselves, so that a call counts only for
    what its own arguments and attributes decide.

    Args:
        model: the model; it is not changed.
        passes: what would resolve control flow after a call is inlined.
        budget: how much may be inlined on trial, all trials together.
    """

    def __init__(self, model: Model, passes: Sequence[Pass], budget: Budget) -> None:
        self.model = model
        self.passes = passes
        self.budget = budget
        self.inference = ShapeInference(model)
        self.functions = self._simplified()
        self.calls = CallGraph(self.functions)
        self._verdicts: dict[_Key, str | None] = {}

    def _simplified(self) -> dict[tuple[str, str, str], Function]:
        library = self._scratch(self.model.opset_imports)
        for key, function in self.model.functions.items():
            library.functions[key] = copy_function(function)
        rewrite_model(self.passes, library, Run(), repeat=True)
        return library.functions

    def _scratch(self, opset_imports: dict[str, int]) -> Model:
        scratch = Model(self.model.header, self.model.base_dir)
        scratch.opset_imports = dict(opset_imports)
        return scratch

    def reason_to_keep(self, call: Node, function: Function) -> str | None:
        """Why inlining a call would resolve nothing; None if it would resolve something."""
        types = [None if v is None or v.constant else self._type(v) for v in call.inputs]
        key = self._key(call, function, types)
        if key not in self._verdicts:
            self._verdicts[key] = self._try(call, types)
        return self._verdicts[key]

    def _type(self, value: Value) -> onnx.TypeProto | None:
        return value.type or self.inference.fact(value).type_proto()

    def _key(self, call: Node, function: Function, types: Sequence[onnx.TypeProto | None]) -> _Key:
        """What a trial depends on: tensors count by identity."""
        assert call.graph is not None
        arguments: list[Tensor | bytes | bool | None] = []
        for value, type_ in zip(call.inputs, types, strict=True):
            if value is None:
                arguments.append(None)
            elif value.constant is not None:
                arguments.append(value.constant)
            else:
                arguments.append(type_.SerializeToString() if type_ is not None else True)
        attributes = tuple([m.SerializeToString() for m in call.op.attributes.values()])
        outputs = tuple([value is None for value in call.outputs])
        return (function.key, call.graph.root, attributes, outputs, *arguments)

    def _try(self, call: Node, types: Sequence[onnx.TypeProto | None]) -> str | None:
        assert call.graph is not None
        scratch = self._scratch(call.graph.root.opset_imports)
        _place(scratch.graph, call, types)
        written = self._expand(scratch)
        if written is None:
            return (
                f"inlining calls on trial takes more nodes than max_nodes={self.budget.max_nodes}"
                f" allows; raise it with {by('--max-nodes')}, or choose with"
                f" {by('--passes straighten{always=true}')}"
            )
        reached = self.calls.reached_from(scratch.graph)
        scratch.functions = {key: self.functions[key] for key in reached}
        if count_control_flow(scratch.graph) < written:
            return None
        run = Run()
        rewrite_model(self.passes, scratch, run, repeat=True)
        remarks = [r for r in run.remarks if r.op_type in (*CONTROL_FLOW, *SEQUENCES)]
        if any(remark.action == "rewritten" for remark in remarks):
            return None
        return _reason(call, remarks)

    def _expand(self, scratch: Model) -> int | None:
        """Inline every call that leads to control flow; how much control flow was written there.
        None where that is more than may be tried."""
        written = 0
        fold = Folder(scratch).fold
        while calls := self._calls_to_expand(scratch.graph):
            for call, function in calls:
                if not self.budget.may_try(function_size(function)):
                    return None
                bound = bind(function, call)
                written += count_control_flow(bound.graph)
                inline_call(call, bound, fold)
        return written

    def _calls_to_expand(self, graph: Graph) -> list[tuple[Node, Function]]:
        calls = self.calls.leading_to_control_flow(graph)
        return [(node, f) for node, f in calls if obstacle(f, node, self.calls) is None]


def _place(graph: Graph, call: Node, types: Sequence[onnx.TypeProto | None]) -> None:
    """Put a copy of a call alone into an empty graph: constants stay, the rest are inputs."""
    arguments: list[Value | None] = []
    for value, type_ in zip(call.inputs, types, strict=True):
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


def _reason(call: Node, remarks: Sequence[Remark]) -> str:
    all_kept = [remark for remark in remarks if remark.action == "kept"]
    if not all_kept:
        return "inlining it would resolve no control flow in it"
    first = all_kept[0]
    # The last pass that looked at it is the one that says what would let it go.
    kept = [r for r in all_kept if (r.op_type, r.path) == (first.op_type, first.path)][-1]
    why = kept.reason
    open_ = [v for v in call.inputs if v is not None and v.constant is None]
    if any(v.owner is None or v.owner.holder or isinstance(v.owner.root, Function) for v in open_):
        # Only an input of the model can be set by the user.
        why = why.partition("; decide it with")[0]
    return f"inlining it would not resolve {kept.op_type} '{kept.path}' in it: {why}"
