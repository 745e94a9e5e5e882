"""Iterations that apply one step several times: a loop of single steps over rows side by side.

h1 = Tanh (Add (MatMul (h, r), e))            rows = e[0], f[0], e[1], f[1], ...
h2 = Tanh (Add (MatMul (h1, r), f))     ->    h' = Tanh (Add (MatMul (h, r), rows[j]))

Decoders that write two frames an iteration and loops unrolled by hand are such. A shift maps each
node of a step to the same node of the next one, and with it a state to its first value inside the
iteration. The loop of single steps is emitted only for cells, which the next visit raises: others
would run more iterations for nothing.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
import onnx

from ....analysis.iterations.trip_count import skip_identities
from ....facts.magnitudes import LAST_OF_64_BITS
from ....facts.polynomial import Dimension
from ....ir import Graph, Node, Operator, Value
from ....ir.copying import empty_header
from ....ops.batching import Operand
from ....ops.builder import Builder
from ...iteration.dependence_graph import producers
from ...iteration.loop_view import add_holder, declaration, scalar_declaration
from ...iteration.places import moving_indices
from ...utils.stacked_rows import concat_rows
from ..weights import Unfit
from .cell_emission import raise_cell
from .recurrence import Recurrence, Replacement

_BOOL, _INT64 = onnx.TensorProto.BOOL, onnx.TensorProto.INT64
_NO_STEPS = "it is not a step that an iteration repeats"
_MOST_NODES = 256
"""The largest number of nodes of an iteration, which the match follows one inside the other."""
_MOVING = ("Gather", "Slice")
"""The operators that read the rows of an iteration; each step reads its own."""

Copies = tuple[Value, ...]
"""A value of the first step, and the same one of each later step."""


def raise_repeated(recurrence: Recurrence) -> Replacement:
    """Replace states that each iteration changes by several equal steps of a cell.

    Raises:
        Unfit: other states.
    """
    nodes = recurrence.nodes
    # GRU, LSTM and RNN round on their own, so an exact rewrite has none to offer.
    if recurrence.iterations.options.exact or any(node.bodies for node in nodes):
        raise Unfit(_NO_STEPS)
    if not 1 < len(nodes) <= _MOST_NODES:
        raise Unfit(_NO_STEPS)
    for previous in _candidates(recurrence):
        copies = _Shift(recurrence).copies(previous)
        if copies is not None and _is_cell(recurrence, copies):
            return _Steps(recurrence, copies).replacement()
    raise Unfit(_NO_STEPS)


def _candidates(recurrence: Recurrence) -> list[Value]:
    """The values that the first state may have before the last step."""
    last, values = skip_identities(recurrence.states[0].result), list[Value]()
    producer = last.producer
    if producer is None:
        return values
    for node in recurrence.nodes:
        value = node.outputs[producer.outputs.index(last)] if _is_like(node, producer) else None
        if node is not producer and value is not None:
            values.append(value)
    return values


def _is_like(one: Node, other: Node) -> bool:
    """Test for nodes of one operator with equal attributes."""
    if one.op is other.op:
        return True
    same = (one.op.op_type, one.op.domain) == (other.op.op_type, other.op.domain)
    plain = same and not one.bodies and len(one.inputs) == len(other.inputs)
    return plain and dict(one.op.attributes) == dict(other.op.attributes)


class _Shift:
    """The map from values of a step to those of the next one."""

    def __init__(self, recurrence: Recurrence) -> None:
        self._recurrence = recurrence
        self._nodes = set(recurrence.nodes)
        self._arguments = {state.argument for state in recurrence.states}
        self._next: dict[Value, Value] = {}

    def copies(self, previous: Value) -> list[Copies] | None:
        """The values of each state from the initial one to the last; None for no equal steps."""
        last, *others = [skip_identities(state.result) for state in self._recurrence.states]
        if not self._matches(last, previous):
            return None
        chains = [
            self._chain(state.argument, result)
            for state, result in zip(self._recurrence.states, [last, *others], strict=True)
        ]
        whole = [chain for chain in chains if chain is not None]
        if len(whole) < len(chains) or len({len(chain) for chain in whole}) > 1:
            return None
        # One step in an iteration is the recurrence itself, which other rules read.
        return whole if len(whole[0]) > 2 else None

    def _chain(self, value: Value, result: Value) -> Copies | None:
        chain = [value]
        while chain[-1] is not result:
            after = self._next.get(chain[-1])
            if after is None and len(chain) > 1 and self._matches(result, chain[-1]):
                after = result
            # A chain that returns to itself would never reach the result.
            if after is None or after in chain:
                return None
            chain.append(after)
        return tuple(chain)

    def _matches(self, later: Value, earlier: Value) -> bool:
        """Match a value with the same one of the step before."""
        later, earlier = skip_identities(later), skip_identities(earlier)
        # The map is a function: a value that was matched keeps its counterpart, or the steps are
        # not equal.
        if earlier in self._next:
            return self._next[earlier] is later
        if earlier in self._arguments:
            if self._inside(later):
                self._next[earlier] = later
            return self._inside(later)
        if not self._inside(earlier) or not self._inside(later):
            return later is earlier or self._are_rows(later, earlier)
        one, other = later.producer, earlier.producer
        assert one is not None and other is not None
        if not _is_like(one, other):
            return False
        if one.outputs.index(later) != other.outputs.index(earlier):
            return False
        self._next[earlier] = later
        pairs = zip(one.inputs, other.inputs, strict=True)
        return all(a is b if a is None or b is None else self._matches(a, b) for a, b in pairs)

    def _are_rows(self, *values: Value) -> bool:
        """Test for values of the iteration, as each step has its own; weights are common."""
        varies = self._recurrence.iterations.varies
        return all(varies(value) and not self._inside(value) for value in values)

    def _inside(self, value: Value) -> bool:
        return value.producer in self._nodes


def _is_cell(recurrence: Recurrence, copies: Sequence[Copies]) -> bool:
    """Test for a first step that an operator computes."""
    nodes = producers(recurrence.nodes, [chain[1] for chain in copies])
    # What the test emits in the scratch graph has no reader, so it goes with the graph.
    states = [
        state._replace(result=chain[1])
        for state, chain in zip(recurrence.states, copies, strict=True)
    ]
    step = dataclasses.replace(recurrence, states=tuple(states), nodes=tuple(nodes))
    try:
        raise_cell(step)
    except Unfit:
        return False
    return True


class _Steps:
    """The loop of single steps, in the scratch graph."""

    def __init__(self, recurrence: Recurrence, copies: Sequence[Copies]) -> None:
        self._recurrence = recurrence
        self._copies = copies
        self._count = len(copies[0]) - 1
        self._nodes = set(recurrence.nodes)
        self._values: dict[Copies, Value] = {}
        self._nodes_of: dict[tuple[Node | None, ...], Node] = {}
        iterations = recurrence.iterations
        self._indices = moving_indices(iterations.loop_view, iterations.inference)

    def replacement(self) -> Replacement:
        """Emit the loop, and read from it the values inside of iterations."""
        recurrence, loop = self._recurrence, self._loop()
        iterations, emit = recurrence.iterations, recurrence.iterations.emit
        every, final = {}, {}
        width = len(recurrence.states)
        for index, (state, chain) in enumerate(zip(recurrence.states, self._copies, strict=True)):
            rows, fact = loop.output(width + index), recurrence.fact(state.initial)
            for place, value in enumerate(chain[1:]):
                bounds = (place, LAST_OF_64_BITS, 0, self._count)
                ends = [emit.vector((number,), "k") for number in bounds]
                own = emit.add("Slice", [rows, *ends], value.name)
                if place + 1 < self._count:
                    iterations.operands[value] = Operand(own, True, fact.without_content())
                else:
                    every[state] = own
            final[state] = loop.output(index)
        return Replacement(f"a loop of {self._count} times as many steps", True, every, final)

    def _loop(self) -> Node:
        feeding, emit = self._recurrence.iterations.feeding, self._recurrence.iterations.emit
        states = self._recurrence.states
        number = emit.scalar(feeding.iterations, "count")
        count = emit.add("Mul", [number, emit.integer(self._count, "steps")], "count")
        holds = emit.constant(np.array(True), "holds")
        initial = [feeding.same(state.initial).value for state in states]
        labels = [f"{state.result.name}{end}" for end in ("_last", "_rows") for state in states]
        # A Loop: onnxruntime 1.32 fails in a Scan over no rows, should this one stay.
        loop = add_holder(
            emit.graph, Operator("Loop"), {}, ["body"], [count, holds, *initial], labels
        )
        body = emit.graph.add_body(loop, "body", empty_header("steps"))
        self._fill(body)
        return loop

    def _fill(self, body: Graph) -> None:
        """Fill the body with the nodes of the first step."""
        flag, number = scalar_declaration("holds", _BOOL), scalar_declaration("step", _INT64)
        self._step, holds = body.add_input("step", number), body.add_input("holds", flag)
        self._body = body
        infos = []
        for state, chain in zip(self._recurrence.states, self._copies, strict=True):
            fact = self._recurrence.fact(state.initial).without_content()
            infos.append(declaration(state.argument.name, fact.type_proto(private=False)))
            self._values[chain[:-1]] = body.add_input(state.argument.name, infos[-1])
        results = [self._of(chain[1:]) for chain in self._copies]
        rows = [Builder(body).add("Identity", [value], "row") for value in results]
        body.set_outputs([holds, *results, *rows], [flag, *infos, *infos])

    def _of(self, copies: Copies) -> Value:
        """The value of a single step for those of all steps of an iteration."""
        copies = tuple(map(skip_identities, copies))
        if copies not in self._values:
            self._values[copies] = self._enter(copies)
        return self._values[copies]

    def _enter(self, copies: Copies) -> Value:
        first, iterations = copies[0], self._recurrence.iterations
        if len(set(copies)) == 1 and not iterations.varies(first):
            return iterations.operand(first).value
        nodes = [value.producer for value in copies]
        node = nodes[0]
        alike = all(
            each is not None and node is not None and _is_like(each, node) for each in nodes
        )
        if node in self._nodes or (alike and self._is_input(copies)):
            return self._copy(copies)
        return self._place(copies) or self._read(copies) or self._row(copies)

    def _place(self, copies: Copies) -> Value | None:
        """An index that moves evenly from step to step; None for others."""
        indices = [self._indices.get(value) for value in copies]
        starts = [None if index is None else index.start.value for index in indices]
        first, second = starts[:2]
        if None in starts or first is None or second is None or copies[0].shape:
            return None
        by = second - first
        evenly = starts == [first + by * step for step in range(self._count)]
        # From one iteration to the next an index moves by all its steps, so that the steps of all
        # iterations read rows in one sequence.
        if not evenly or any(index and index.step != by * self._count for index in indices):
            return None
        emit, place = Builder(self._body), self._step
        if by != 1:
            place = emit.add("Mul", [place, emit.integer(by, "k")], "place")
        return emit.add("Add", [place, emit.integer(first, "k")], "place") if first else place

    def _read(self, copies: Copies) -> Value | None:
        """A read of the rows of one tensor at such an index; None for others."""
        nodes = [value.producer for value in copies]
        if not all(node is not None and node.is_op("Gather") for node in nodes):
            return None
        sources, places = zip(*[node.inputs for node in nodes if node is not None], strict=True)
        if len(set(sources)) > 1 or self._recurrence.iterations.varies(sources[0]):
            return None
        return None if self._place(places) is None else self._copy(copies)

    def _is_input(self, copies: Copies) -> bool:
        """Test for nodes without states, other than reads of rows, that each step has."""
        body, iterations = self._recurrence.iterations.loop_view.body, self._recurrence.iterations
        return all(
            value.producer is not None
            and value.producer.graph is body
            and not value.producer.bodies
            and not value.producer.is_op(*_MOVING)
            and iterations.fact(value).elem_type not in (_INT64, _BOOL)
            for value in copies
        )

    def _copy(self, copies: Copies) -> Value:
        nodes = tuple([value.producer for value in copies])
        first = nodes[0]
        assert first is not None
        if nodes not in self._nodes_of:
            inputs = zip(*[node.inputs for node in nodes if node is not None], strict=True)
            own = [self._of(values) if None not in values else None for values in inputs]
            labels = ["" if value is None else value.name for value in first.outputs]
            self._nodes_of[nodes] = self._body.add_node(first.op, own, labels)
        return self._nodes_of[nodes].output(first.outputs.index(copies[0]))

    def _row(self, copies: Copies) -> Value:
        """The rows of all steps beside each other, of which each step reads one."""
        iterations, emit = self._recurrence.iterations, self._recurrence.iterations.emit
        shape = self._recurrence.fact(copies[0]).shape
        if shape is None or any(self._recurrence.fact(one).shape != shape for one in copies):
            raise Unfit(f"'{copies[0].name}' has another shape in another step")
        parts = [emit.unsqueeze(iterations.every(one), 1, "step") for one in copies]
        beside = emit.concat(parts, 1, "steps")
        whole = (Dimension.constant(self._count), *shape)
        rows = concat_rows(beside, 0, whole, emit)
        return Builder(self._body).add("Gather", [rows, self._step], copies[0].name, axis=0)
