"""Inline a call of a model's own function, where that resolves control flow.

    local.clip_to <limited> (x) => (y) {
       y = If (limited) <
          then_branch = t () => (a) { a = Relu (x) },
          else_branch = e () => (b) { b = Identity (x) }
       >
    }
    yes = Constant <value = bool {1}> ()
    z = local.clip_to (x, yes)
->
    z = If (yes) <then_branch = ..., else_branch = ...>     (for inline-ifs)

A trial inlines the call first, in a scratch model with the constants and types of its arguments,
and runs the other passes there. If they rewrite no Loop, If or Scan, the call stays. Control flow
that depends on the function alone is rewritten inside it, without inlining. Operators on sequences
count as control flow if they read an attribute of the caller.

All trials of a run together add at most `max_nodes` nodes; further calls are kept, with a remark.
"""

from typing import ClassVar

from ...analysis.constants.folding import Folder
from ...facts.reason import Message
from ...ir import Function, Model, Node
from ...ops.builder import RewriteError
from ...records import field, record
from ..base import Part, Pass, PassContext
from ..utils.budget import DEFAULT_MAX_NODES, Budget
from .binding import bind, inline_call, obstacle
from .calls import CallGraph, count_control_flow, function_size, live_functions
from .eliminate_dead_functions import EliminateDeadFunctions
from .trial import InliningTrials

_INLINED = Message("function-inlined", "inlined {function}")
_INLINED_WITH = Message("inlined-with-function", "inlined with the function around it")


@record(frozen=True)
class InlineFunctions(Pass):
    """Inline calls of functions that hold control flow, where that resolves it.

    Options:
        always: inline every such call, without a trial.
        max_nodes: the limit of nodes that the whole rewrite may add.
        trial: the passes that a trial runs; those of the default pipeline where it is None.
    """

    name: ClassVar[str] = "inline-functions"
    keeps_sizes: ClassVar[bool] = True
    by_default: ClassVar[bool] = True
    needs_graphs: ClassVar[bool] = True
    changes: ClassVar[tuple[Part, ...]] = ("opsets", "functions")
    always: bool = False
    max_nodes: int = DEFAULT_MAX_NODES
    trial: tuple[Pass, ...] | None = field(default=None, metadata={"code_only": True})

    def run(self, model: Model, context: PassContext) -> bool:
        """Inline in functions, callees before callers, then in the main graph."""
        if not any(count_control_flow(function.graph) for function in model.functions.values()):
            return False
        inliner = _Inliner(self, model, context)
        live = live_functions(model)
        changed = False
        functions = [f for f in inliner.calls.callees_first() if f.key in live]
        roots: list[Model | Function] = [*functions, model]
        for root in roots:
            changed |= inliner.visit(root)
        if changed:
            for key in live - live_functions(model):
                del model.functions[key]
        inliner.report()
        return changed

    def passes_of_trial(self, context: PassContext) -> tuple[Pass, ...]:
        """The passes that a trial runs after inlining."""
        if self.trial is not None:
            return self.trial
        if not context.default_passes:
            raise RewriteError(
                f"{self.name} tries what the default pipeline would do; run it in a Pipeline, or"
                " pass the passes to try as trial="
            )
        left_out = InlineFunctions | EliminateDeadFunctions
        return tuple(p for p in context.default_passes if not isinstance(p, left_out))


class _Inliner:
    def __init__(self, options: InlineFunctions, model: Model, context: PassContext) -> None:
        self.options = options
        self.model = model
        self.context = context
        self.budget = Budget(context.meter, options.max_nodes)
        self.folder = Folder(model)
        self.calls = CallGraph(model.functions)
        self.kept: dict[Node, str] = {}
        self._trials: InliningTrials | None = None

    def visit(self, root: Model | Function) -> bool:
        """Inline in one root, then in the copied bodies."""
        changed = False
        while calls := self._undecided_calls(root):
            for call, function in calls:
                reason = self._reason_to_keep(call, function)
                if reason is not None:
                    self.kept[call] = reason
                else:
                    self._inline(call, function)
                    changed = True
        if changed and isinstance(root, Function):
            # The trials of its callers must see this function as it is now.
            self.calls = CallGraph(self.model.functions)
            self._trials = None
        return changed

    def _undecided_calls(self, root: Model | Function) -> list[tuple[Node, Function]]:
        calls = self.calls.leading_to_control_flow(root.graph)
        return [(node, function) for node, function in calls if node not in self.kept]

    def _reason_to_keep(self, call: Node, function: Function) -> str | None:
        reason = obstacle(function, call, self.calls)
        reason = reason or self.budget.refuses(function_size(function), "inlining it")
        if reason is not None:
            return reason
        if not self.options.always:
            if self._trials is None:
                passes = self.options.passes_of_trial(self.context)
                self._trials = InliningTrials(
                    self.model, passes, self.budget, self.context.analyses.memory
                )
            reason = self._trials.reason_to_keep(call, function)
        if reason is None and self.calls.repeats_itself(function):
            # The calls inside would follow, copy by copy, until the budget is spent.
            size = self.calls.expanded_size(function)
            return self.budget.refuses(size, "inlining it and what it calls")
        return reason

    def _inline(self, call: Node, function: Function) -> None:
        path = call.path
        resolved = inline_call(call, bind(function, call), self.folder.fold)
        self.budget.spend(function_size(function))
        self.context.rewritten(self.options, call, path, _INLINED(function=str(function)))
        for node, where in resolved.items():
            self.context.rewritten(self.options, node, where, _INLINED_WITH())

    def report(self) -> None:
        """Add a remark for each call that stays, except in functions that are gone."""
        for call, reason in self.kept.items():
            root = call.graph.root if call.graph is not None else None
            if root is self.model or root in self.model.functions.values():
                self.context.kept(self.options, call, reason)
