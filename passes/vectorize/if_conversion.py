"""If-conversion of batched conditions, and inlining of calls, in the batch interpreter.

r = If (p) <                                    a = MatMul (x, w)
   then_branch = t () => (a) {...},       ->    b = Neg (x)
   else_branch = e () => (b) {...}>             r = Where (p, a, b)
"""

from collections.abc import Sequence

import numpy as np

from ...analysis.safety.select_legality import unselectable
from ...analysis.safety.speculation import Hazard
from ...facts.bounds import Known
from ...facts.bounds import known as known_from
from ...facts.fact import UNKNOWN, Fact
from ...ir import Graph, Node, Value
from ...ir.subgraph_arity import BRANCHES
from ...limits import allowed, current, limit
from ...ops.batching import Operand, Unbatchable
from ...ops.builder import Builder
from ...ops.cost_estimates import FREE
from ..functions.binding import bind, semantic_difference
from ..utils.select import select
from .batch_interpreter import NodeBatcher

_DEEPEST = limit("call_depth")
"""The limit of nested calls that are inlined."""

_INLINE_STEPS = 300_000
"""The work of a batched node of a function, in steps."""


class InlineBatcher(NodeBatcher):
    """A batch interpreter that inlines a branch or a function's body.

    Declarations do not count: a branch declares facts of the iterations that run it, and a function
    declares facts of all of its calls.

    Args:
        mask: the flags of iterations that run the nodes, a vector of booleans; None for all.
        emit: the builder of the nodes; that of the body around it if None.
    """

    def __init__(
        self, around: NodeBatcher, mask: Value | None, emit: Builder | None = None
    ) -> None:
        super().__init__(around.feeding, emit or around.emit, around.extent, around.speculation)
        self._around = around
        self.mask = mask
        self._known: dict[Value, Known] = {}
        self._clamped: Node | None = None

    def operand_around(self, value: Value) -> Operand:
        """The operand of a value from outside these nodes."""
        return self._around.operand(value)

    def known(self, value: Value) -> Known:
        """The bounds of a value in one iteration."""
        match = self._known.get(value)
        return self._around.known(value) if match is None else match

    def fact(self, value: Value) -> Fact:
        """The fact of a value, without declarations."""
        match = self._known.get(value)
        return self._around.fact(value) if match is None else match.fact

    def read_rows(self, node: Node) -> Value | None:
        """The batched rows that a node reads in order; None for other nodes."""
        return self._around.read_rows(node) if self._clamped is None else None

    def enter(self, value: Value, outside: Value) -> None:
        """Bind an input of a function to an argument of the call."""
        self.operands[value] = self._around.operand(outside)
        self._known[value] = self._around.known(outside)

    def assume(self, value: Value, fact: Known) -> None:
        """Record the facts of a value in all iterations."""
        self._known[value] = fact

    def run(self, graph: Graph) -> list[Operand]:
        """Compute all nodes, and return the operands of the outputs."""
        for node in graph.nodes():
            self.compute_node(node)
        return [self.operand(value) for value in graph.outputs]

    def compute_node(self, node: Node) -> None:
        """Compute a node that may run in all iterations."""
        if not node.bodies and self.inference.callee(node) is None:
            self._check_speculation(node)
        super().compute_node(node)
        self._clamped = None

    def compute_holder(self, node: Node) -> None:
        """Compute an If or a call."""
        facts: Sequence[Fact]
        if node.is_op("If"):
            facts = compute_choice(node, self)
        elif not node.bodies:
            facts = compute_call(node, self)
        else:
            raise Unbatchable(f"holds {node} in a branch or function; there it stays a loop")
        for value, fact in zip(node.outputs, facts, strict=False):
            if value is not None:
                self._known[value] = known_from(fact)

    def _check_speculation(self, node: Node) -> None:
        """Check that a node may run in all iterations, and record its bounds."""
        inputs = self._known_inputs(node)
        try:
            results = self.speculation.run_node(node, inputs, certain=self.mask is None)
        except Hazard as hazard:
            if not self._can_clamp(node):
                raise Unbatchable(
                    f"holds an If whose condition differs from iteration to iteration, and {hazard}"
                ) from hazard
            # With index 0 where the branch does not run, the node cannot fail.
            self._clamped = node
            results = self.speculation.run_node(node, inputs, certain=True)
        pairs = zip(node.outputs, results, strict=False)
        self._known.update((value, result) for value, result in pairs if value is not None)

    def may_run(self, node: Node) -> bool:
        """Test whether a loop-invariant node may run."""
        if self.mask is not None or self.extent.certain or node.is_op(*FREE):
            return True
        try:
            self.speculation.run_node(node, self._known_inputs(node), certain=False)
        except Hazard:
            return False
        return True

    def _known_inputs(self, node: Node) -> list[Known]:
        return [Known(UNKNOWN) if value is None else self.known(value) for value in node.inputs]

    # Indices that may be out of range where a branch does not run --------------------------------

    def _can_clamp(self, node: Node) -> bool:
        """Test for a node that cannot fail at index 0: a Gather along a nonempty axis."""
        if not node.is_op("Gather") or any(map(self.is_partial, node.inputs)):
            return False
        data, indices = (self.known(node.operand(index)).fact for index in (0, 1))
        axis = normal_axis(node, data)
        if data.shape is None or axis is None or indices.shape is None:
            return False
        some = self.extent.never_negative(data.shape[axis] - 1)
        return some or self._is_always_read(node.operand(0), axis)

    def _is_always_read(self, data: Value, axis: int) -> bool:
        """Test for an axis that every iteration reads, so that it is not empty."""
        return any(
            node.is_op("Gather")
            and node.input(0) is data
            and normal_axis(node, self.fact(data)) == axis
            # A vector of indices may be empty, and reads nothing then.
            and self.inference.fact(node.operand(1)).shape == ()
            for node in self.feeding.loop_view.body.unordered_nodes()
        )

    def operands_of(self, node: Node) -> list[Operand | None]:
        """The operands of a node, with safe indices."""
        operands = super().operands_of(node)
        if node is self._clamped:
            operands[1] = self._clamp(node.operand(1))
        return operands

    def _clamp(self, indices: Value) -> Operand:
        """Replace the indices by 0 in iterations that do not run the branch."""
        assert self.mask is not None
        operand, fact = self.operand(indices), self.fact(indices).without_content()
        rank = len(fact.shape or ())
        dtype = np.int64 if fact.elem_type == 7 else np.int32
        zero = self.emit.constant(np.zeros((), dtype), "first")
        mask = self.lift(self.mask, rank)
        value = self.emit.add("Where", [mask, operand.value, zero], indices.name)
        return Operand(value, True, fact)


def normal_axis(node: Node, data: Fact) -> int | None:
    """The axis of a Gather, counted from the front; None if out of range."""
    axis, rank = node.attribute("axis", 0), len(data.shape or ())
    return axis % rank if -rank <= axis < rank else None


# Ifs ---------------------------------------------------------------------------------------------


def compute_choice(node: Node, around: NodeBatcher) -> list[Fact]:
    """Compute both branches of an If for all iterations, and select.

    Returns:
        the facts of the outputs.

    Raises:
        Unbatchable: a branch that may fail where it does not run, or an output without a select.
    """
    obstacle = f"{node}, whose condition may not be of one element"
    flags = elements(node.operand(0), around, obstacle)
    branches, results = [node.body(name) for name in BRANCHES], []
    for branch, mask in zip(branches, _masks(flags, around), strict=True):
        batcher = InlineBatcher(around, mask)
        operands = batcher.run(branch)
        results.append(list(zip(operands, map(batcher.fact, branch.outputs), strict=True)))
    facts = []
    for value, (one, fact), (other, fact_2) in zip(node.outputs, *results, strict=False):
        # The content of one branch need not be that of the other.
        facts.append(fact.without_content())
        if value is not None:
            why = unselectable(fact, fact_2, around.emit.opset)
            if why is not None:
                raise Unbatchable(
                    f"holds {node}, whose condition differs from iteration to iteration and whose"
                    f" output '{value.name}' {why}"
                )
            around.require_room(node, fact)
            around.operands[value] = _select(value, flags, one, other, facts[-1], around)
    return facts


def elements(value: Value, around: NodeBatcher, obstacle: str) -> Value:
    """Emit the only elements of a value in all iterations, a vector."""
    shape = around.fact(value).shape
    if shape is None or any(dim != 1 for dim in shape):
        raise Unbatchable(f"holds {obstacle}")
    return around.emit.squeeze(around.every(value), tuple(range(1, 1 + len(shape))), value.name)


def _masks(flags: Value, around: NodeBatcher) -> list[Value]:
    """Emit the masks of the iterations that run each branch."""
    emit, outer = around.emit, around.mask
    masks = [flags, emit.add("Not", [flags], f"{flags.name}_not")]
    if outer is None:
        return masks
    # A branch in a branch runs where both conditions hold.
    return [emit.add("And", [outer, mask], f"{flags.name}_too") for mask in masks]


def _select(
    value: Value, flags: Value, one: Operand, other: Operand, fact: Fact, around: NodeBatcher
) -> Operand:
    """Emit the select of an If's output."""
    if one.value is other.value:
        return Operand(one.value, one.batched, fact)
    condition = around.lift(flags, len(fact.shape or ()))
    both, label = (one.value, other.value), value.name
    result = select(around.emit, condition, *both, fact.elem_type, label, value)
    return Operand(result, True, fact)


# Calls -------------------------------------------------------------------------------------------


def compute_call(node: Node, around: NodeBatcher) -> Sequence[Fact]:
    """Compute the body of the function that a node calls.

    Returns:
        the facts of the outputs.

    Raises:
        Unbatchable: a body that cannot be batched, or differs in the caller's graph.
    """
    functions, feeding = around.inference.model.functions, around.feeding
    function = around.inference.callee(node)
    assert function is not None
    if node.op.function_key not in functions:
        feeding.defined[node.op.qualname] = None
    reason = semantic_difference(function, node, functions)
    # Functions that call others twice grow exponentially.
    if reason is None and feeding.depth >= _DEEPEST:
        reason = f"it is nested deeper in calls than {allowed('call_depth')}"
    elif reason is None and not current().may_work(_INLINE_STEPS * len(function.graph), node):
        reason = "computing it for all iterations needs more steps than max_work allows"
    if reason is not None:
        raise Unbatchable(f"holds {node}, which cannot be entered: {reason}")
    bound, batcher = bind(function, node), InlineBatcher(around, around.mask)
    if around.emit.room is not None:
        around.emit.room.admit(sum(len(graph) for graph in bound.graph.walk()))
    for value, argument in zip(bound.graph.inputs, node.inputs, strict=False):
        if argument is not None:
            batcher.enter(value, argument)
    feeding.depth += 1
    try:
        results = batcher.run(bound.graph)
    finally:
        feeding.depth -= 1
    pairs = zip(node.outputs, results, strict=False)
    around.operands.update((value, result) for value, result in pairs if value is not None)
    return [batcher.fact(value) for value in bound.graph.outputs]
