"""A batched body, and the recurrences of states in it."""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from ....analysis.shapes.inference import ShapeInference
from ....facts.fact import Fact
from ....facts.reason import Message
from ....ir import Node, Value, captured_by
from ....ir.dataflow_graph import reach
from ....ir.lazy import lazy_property
from ....ir.option_names import by
from ....ops.batching import Operand, Unbatchable
from ....ops.builder import Builder, RewriteError
from ....records import field, record
from ...iteration.batched_inputs import Feeding
from ...iteration.dependence_graph import DependenceGraph, Vertex
from ...iteration.iterations import IterationMemory, MemoryBounds
from ...iteration.loop_view import LoopView, State
from ...iteration.places import is_invariant
from ...scans.parallel_prefix import Monoid, has_short_steps, parallel_prefix
from ...utils.zero_signs import readers_of
from ...vectorize.batch_interpreter import Batcher
from ...vectorize.nested_control_flow import compute_nested
from ..weights import Unfit
from .options import RaiseOptions

_log = logging.getLogger(__name__)
_OTHER_FORM = ("it is no ", "it is not ", "it is neither ", "it is carried with ")
_STEP = "it is not a linear recurrence: "
_OF_CELLS = ("MatMul", "Gemm", "Sigmoid", "Tanh", "LSTM", "GRU", "RNN")
_LONG_STEPS = Message(
    "long-steps",
    "is a recurrence whose steps of doubling distance take more than four nodes each; run few of"
    " them in a loop with {option}",
)


@record(frozen=True)
class Replacement:
    """The values of a recurrence's states, computed by an operator.

    Attributes:
        what: the operator, as a remark calls it.
        exact: true if it is bit-exact.
        every: for each state, its values after each iteration; a state may be missing if only its
            last value is known.
        final: for each state, its last value, which is the initial one without iterations; a state
            may be missing if its last value is in `every` or `rows`.
        rows: for states that `every` lacks, all values, the initial one first.
        aliases: values of the body that equal a state in the next iteration, with that state, up to
            axes of size 1.
    """

    what: str
    exact: bool
    every: Mapping[State, Value] = field(default_factory=dict)
    final: Mapping[State, Value] = field(default_factory=dict)
    rows: Mapping[State, Value] = field(default_factory=dict)
    aliases: Mapping[Value, State] = field(default_factory=dict)


@record(frozen=True)
class Recurrence:
    """Loop-carried states of one Loop or Scan on a dependence cycle.

    Attributes:
        states: the states, at least one, in the order of the Loop or Scan.
        nodes: the nodes of the body on that cycle, in order; none if states only swap values.
        iterations: the batch interpreter of values that do not depend on them.
        is_once: true if at most one iteration replaces an element of the state.
    """

    states: tuple[State, ...]
    nodes: tuple[Node, ...]
    iterations: "AllIterations"
    is_once: bool = False

    @property
    def emit(self) -> Builder:
        """The builder of the nodes of all iterations."""
        return self.iterations.emit

    @property
    def feeding(self) -> Feeding:
        """The inputs of all iterations."""
        return self.iterations.feeding

    def fact(self, value: Value) -> Fact:
        """The fact of a value of the body in one iteration."""
        return self.iterations.inference.fact(value)

    @property
    def state_fact(self) -> Fact:
        """The fact of the first state."""
        return self.fact(self.states[0].initial).without_content()

    @property
    def inside(self) -> set[Value]:
        """The states in the body, and the values between them and the next ones."""
        computed = {value for node in self.nodes for value in node.outputs if value is not None}
        return computed | {state.argument for state in self.states}

    def first_row(self, index: int = 0) -> Value:
        """Emit the initial value of a state as the first row."""
        return self.feeding.first_row(self.states[index])

    def from_first(self, after: Sequence[Value]) -> list[Value]:
        """Emit rows of each state after its initial value."""
        return [self.feeding.from_first(*pair) for pair in zip(self.states, after, strict=True)]

    def again(self, rows: Sequence[Value] = ()) -> list[Value]:
        """Emit the next values of all iterations from other states.

        Args:
            rows: those before each iteration, and after the last; by default all initial ones.
        """
        same = [self.feeding.same(state.initial) for state in self.states]
        starts = [
            Operand(self.feeding.before(own), True, each.fact.without_content())
            for own, each in zip(rows, same, strict=False)
        ]
        states = zip([state.argument for state in self.states], starts or same, strict=True)
        results = [state.result for state in self.states]
        operands = self.iterations.replay(self.nodes, dict(states), results)
        return [self.feeding.every(operand, "next") for operand in operands]

    def require_room(self, fact: Fact) -> None:
        """Check the size of all values of a state.

        Raises:
            Unbatchable: a size over the limit.
        """
        name = self.states[0].argument.name
        self.feeding.require_room(f"carries '{name}'", fact)

    def prefixes(
        self,
        monoid: Monoid,
        rows: Sequence[Value],
        facts: Sequence[Fact],
        first: int = 0,
        axis: int = 0,
        exact: bool = True,
    ) -> list[Value]:
        """Emit the reduction of each prefix of rows, most often the initial state first.

        Args:
            monoid, rows, facts, first, axis: as for `parallel_prefix`.
            exact: true if what is computed from them is bit-exact.

        Raises:
            Unbatchable: for any trip count, without a Loop, steps take more than four nodes.
        """
        iterations, options = self.iterations, self.iterations.options
        most = self.feeding.most_iterations
        if most is None and options.straight and options.exact and not has_short_steps(monoid):
            names = "straight=false" if exact else "exact=false,straight=false"
            raise Unbatchable(_LONG_STEPS(option=by(f"--passes 'straighten{{{names}}}'")))
        iterations.doubles = True
        most = None if most is None else most + 1
        return parallel_prefix(
            self.emit, monoid, rows, facts, most, options.straight, first, axis=axis
        )


Raiser = Callable[[Recurrence], Replacement]
"""The replacement of a recurrence, or the signal Unfit, which completes "it is no GRU: ...".

It may emit nodes without a reader.
"""


def _obstacle(recurrence: Recurrence, reasons: Sequence[str]) -> str:
    """The one reason of a remark; all of them are logged.

    A state of a known form tells what stands in its way. Of others, the last raiser speaks of
    cells, the others of what an iteration does to the state.
    """
    *others, cell = reasons
    if any(node.is_op(*_OF_CELLS) for node in recurrence.nodes):
        return cell
    own = [reason for reason in others if not reason.startswith(_OTHER_FORM)]
    steps = [reason for reason in others if reason.startswith(_STEP)]
    return next(iter([*own, *steps, cell])).removeprefix(_STEP)


class _UnsolvedError(Unbatchable):
    """Signal that an operator needs a state which has none yet."""


class AllIterations(Batcher):
    """A batch interpreter with operators for the recurrences among the states.

    Args:
        loop_view, inference, options: the Loop or Scan, and those of the pass.
        certain: true if there is a first iteration for all inputs.
        raisers: the raisers, in the order of trial.
        memory: the limits of batched values; those of the options if None.

    Attributes:
        replacements: the emitted operators, with the values of their states.
        doubles: true if steps of doubling distance are among them.

    Raises:
        Unbatchable: an obstacle; the message continues a sentence about the Loop or Scan.
    """

    def __init__(
        self,
        loop_view: LoopView,
        inference: ShapeInference,
        options: RaiseOptions,
        certain: bool,
        raisers: Iterable[Raiser],
        memory: IterationMemory | None = None,
    ) -> None:
        self.options = options
        self.raisers = tuple(raisers)
        self._finals: dict[State, Value] = {}
        self._solved: dict[Value, tuple[State, Value, Value | None]] = {}
        self.replacements: list[Replacement] = []
        self.doubles = False
        bounds = MemoryBounds(options.max_bytes, options.row_bytes)
        memory = memory or IterationMemory(loop_view, inference, bounds)
        feeding = Feeding(loop_view, inference, memory, options.exact)
        super().__init__(loop_view, feeding, feeding.same, certain, compute_nested)
        self._solve_all()

    def placeholder(self, name: str, operand: Operand) -> Value:
        """Add a placeholder value of the body for a batched operand."""
        value = Value(name)
        self.operands[value] = operand
        self.inference.assume(value, operand.fact)
        return value

    def varies(self, value: Value) -> bool:
        """Test for a value that varies between iterations."""
        return value in self._varying or value.producer in self._varying

    @lazy_property
    def _varying(self) -> set[object]:
        body = self.loop_view.body
        same = {state.argument for state in self.loop_view.states if is_invariant(state)}
        return body.dependents([v for v in body.inputs if v not in same])

    def count_along(self, source: Value, axis: int) -> None:
        """Read a Scan's trip count from an axis as long as its first one.

        Otherwise a scan input might be computed for its length alone.
        """
        if self.loop_view.maximum is not None:
            return
        first = self.loop_view.scan_inputs[0]
        own, other = (self.inference.fact(value).shape for value in (first.source, source))
        if not own or not other or own[first.axis] != other[axis]:
            return
        count = self.emit.size(self.feeding.same(source).value, axis, "iterations")
        self.emit.graph.replace_uses(self.feeding.iterations, count)
        self.feeding.iterations = count

    def final(self, state: State) -> Value:
        """Emit the state after the last iteration, or the initial one without iterations."""
        if state in self._finals:
            return self._finals[state]
        self._join(state.argument)
        return super().final(state)

    # States --------------------------------------------------------------------------------------

    def _solve_all(self) -> None:
        """Solve the states, in the order of their dependences.

        Raises:
            Unbatchable: the first obstacle of each state that depends on no other one with one.
        """
        graph = DependenceGraph(self.loop_view, (), self.enter_independent())
        nodes = self.loop_view.body.nodes()
        obstacles: list[str] = []
        blocked = set[Vertex]()
        open_ = deque(reversed(graph.components()))
        waiting = set[State]()
        while open_:
            members = open_.popleft()
            states = tuple([state for state in self.loop_view.states if state in members])
            solved = self.operands.keys() | {state.argument for state in self._finals}
            if not states or states[0].argument in solved or states[0] in blocked:
                continue
            try:
                if len(members) > 1 or states[0] in graph.sources[states[0]]:
                    own = tuple([node for node in nodes if node in members])
                    self._solve(Recurrence(states, own, self))
                else:
                    self.compute(states[0])
            except _UnsolvedError:
                # A companion of an extreme may read a state on which the extreme does not depend.
                if states[0] not in waiting:
                    waiting.add(states[0])
                    open_.append(members)
                elif not obstacles:
                    raise
            except Unbatchable as obstacle:
                obstacles.append(str(obstacle))
                blocked |= reach(graph.readers.__getitem__, members)
        if obstacles:
            raise Unbatchable("; it ".join(obstacles))

    def _solve(self, recurrence: Recurrence) -> None:
        """Replace some states by an operator."""
        # Raisers read the first output of each node, which `, h = GRU (...)` omits.
        unread = [n for n in recurrence.nodes if n.outputs[:1] == (None,)]
        reasons = [f"{node} computes the next value" for node in unread]
        missing = list[RewriteError]()
        slots = [v for s in recurrence.states for v in (s.argument, s.result, s.final)]
        with readers_of(self.emit, slots):
            for raiser in () if unread else self.raisers:
                try:
                    replacement = raiser(recurrence)
                    break
                except Unfit as obstacle:
                    reasons.append(str(obstacle))
                except RewriteError as error:  # another form may do without the operator
                    missing.append(error)
            else:
                if missing:
                    raise missing[0]
                names = " and ".join(f"'{state.argument.name}'" for state in recurrence.states)
                _log.info("%s: no operator computes it: %s", names, "; ".join(reasons))
                why = f"which no operator computes: {_obstacle(recurrence, reasons)}"
                raise Unbatchable(f"carries {names}, {why}")
        self.replacements.append(replacement)
        self._finals.update(replacement.final)
        for value, state in replacement.aliases.items():
            if state in replacement.every:
                self.operands[value] = self._reshape(replacement.every[state], state, value)
        after = {state: self.feeding.after(rows) for state, rows in replacement.rows.items()}
        for state, every in {**replacement.every, **after}.items():
            fact = self.inference.fact(state.initial).without_content()
            self.operands[state.result] = Operand(every, True, fact)
            self._solved[state.argument] = state, every, replacement.rows.get(state)

    def _join(self, slot: Value) -> bool:
        """Enter a solved state on demand: its values before each iteration, initial one first."""
        if slot not in self._solved:
            return False
        state, every, rows = self._solved.pop(slot)
        self.enter_state(state, rows or self.feeding.from_first(state, every))
        return True

    def _reshape(self, every: Value, state: State, value: Value) -> Operand:
        """Reshape the values of a state to another shape, up to axes of size 1."""
        own, other = self.inference.fact(state.initial), self.inference.fact(value)
        old, new = (
            tuple([1 + axis for axis, dim in enumerate(fact.shape or ()) if dim == 1])
            for fact in (own, other)
        )
        if old != new:
            every = self.emit.squeeze(every, old, value.name)
            every = self.emit.unsqueeze(every, new, value.name)
        return Operand(every, True, other.without_content())

    # Values --------------------------------------------------------------------------------------

    def operand(self, value: Value) -> Operand:
        """The operand of a value; its producers are computed on first use."""
        stack = [value]
        while stack:
            node = self._missing(stack[-1])
            if node is None:
                stack.pop()
                continue
            read = (*node.inputs, *captured_by(node))
            needed = [v for v in read if v is not None and self._missing(v) is not None]
            stack += needed
            if not needed:
                self.compute_node(node)
        return super().operand(value)

    def compute_node(self, node: Node) -> None:
        """Compute a node; an Identity passes its operand on."""
        source = node.inputs[0] if node.is_op("Identity") else None
        if source is None:
            super().compute_node(node)
        else:
            self.operands[node.output()] = super().operand(source)

    def replay(
        self, nodes: Sequence[Node], operands: Mapping[Value, Operand], results: Sequence[Value]
    ) -> list[Operand]:
        """Compute nodes of a cycle from other operands of some of its values.

        Args:
            nodes: the nodes, producers first.
            results: the values to compute.

        Raises:
            Unbatchable: no batching rule.
        """
        before = {value: self.operands[value] for value in operands if value in self.operands}
        self.operands.update(operands)
        try:
            for node in nodes:
                if operands.keys().isdisjoint(node.outputs):
                    self.compute_node(node)
            return [self.operand(value) for value in results]
        finally:
            computed = [v for node in nodes for v in node.outputs if v is not None]
            for value in (*operands, *computed):
                self.operands.pop(value, None)
            self.operands.update(before)

    def _missing(self, value: Value) -> Node | None:
        """The node of the body that must still be computed for a value."""
        if value in self.operands:
            return None
        if value.constant is not None or self._join(value):
            return None
        body = self.loop_view.body
        if value.owner is body and value in body.inputs:
            is_last_known = any(state.argument is value for state in self._finals)
            raise (Unbatchable if is_last_known else _UnsolvedError)(
                f"needs all values of '{value.name}', of which only the last is there"
            )
        node = value.producer
        return node if node is not None and node.graph is body else None
