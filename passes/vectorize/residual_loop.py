"""Residual loop: the iterations that stay, with the rows that they read and their outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ...facts.fact import Fact
from ...ir import Node, Operator, Value, captured_by, copy_node, empty_header
from ...ir.lazy import lazy_property
from ...ops.batching import Operand, Unbatchable
from ...ops.builder import Builder
from ..scans.layout import add_holder, declaration
from .batched_inputs import Feeding, around
from .induction_variables import iteration_like
from .loop_view import Repetition, Scanned, Stacked, State

_PLACEHOLDER = Operator("Output", domain="straightline.remainder")
"""Stands for an output of the loop until it is known which are asked for."""


class Remainder:
    """What is computed trip by trip, as the code behind the loop sees it.

    Args:
        repetition: the Loop or Scan as it is.
        feeding: what it is fed with.
        certain: whether it makes a trip, whatever is fed.

    Attributes:
        finals: final states, each with what stands for it until the loop is made.
        stacked: scan outputs of the original.
        rows: values of the body that code behind the loop reads for all trips.
    """

    def __init__(self, repetition: Repetition, feeding: Feeding, certain: bool) -> None:
        self.repetition = repetition
        self.feeding = feeding
        self._certain = certain
        self._visible = _symbols_around(repetition, feeding)
        self._rows: dict[Value, Operand] = {}
        self.finals: dict[State, Value] = {}
        self.stacked: dict[Stacked, Value] = {}
        self.rows: dict[Value, Value] = {}

    def operand(self, value: Value) -> Operand:
        """A value that is computed trip by trip, for all trips, as code behind the loop sees it.

        Raises:
            Unbatchable: its size may change from trip to trip.
        """
        if value not in self._rows:
            fact = self.feeding.inference.fact(value).without_content()
            self._require_one_shape(value, fact)
            self.feeding.require_room(f"computes '{value.name}' trip by trip", fact)
            self.rows[value] = self._placeholder(value.name)
            settled = self._settled(self.rows[value], fact)
            self._rows[value] = Operand(settled, True, fact)
        return self._rows[value]

    def final(self, state: State) -> Value:
        """What the last trip gave on."""
        return self.finals.setdefault(state, self._placeholder(named(state)))

    def output(self, stacked: Stacked) -> Value:
        """What is put together of an element of each trip, as the original does it."""
        return self.stacked.setdefault(stacked, self._placeholder(named(stacked)))

    def drop_unread(self) -> None:
        """Forget the rows of which nothing is made after all."""
        self.rows = {value: row for value, row in self.rows.items() if row.graph is not None}

    def _placeholder(self, label: str) -> Value:
        return self.feeding.emit.graph.add_node(_PLACEHOLDER, [], [label]).output()

    def _require_one_shape(self, value: Value, fact: Fact) -> None:
        if fact.shape is None or not fact.elem_type:
            raise Unbatchable(f"computes '{value.name}', whose rank is not known, trip by trip")
        if any(not dim.symbols <= self._visible for dim in fact.shape):
            raise Unbatchable(f"computes '{value.name}', whose size may change, trip by trip")

    def _settled(self, rows: Value, fact: Fact) -> Value:
        """Rows with the sizes of one element even if there are none.

        Without a trip, a Loop takes the sizes that its body does not tell for 0.
        """
        shape = fact.shape or ()
        if self._certain or all(dim.value is not None for dim in shape):
            return rows
        sizes = [self.feeding.size(dim) for dim in shape]
        target = self.feeding.emit.concat([self.feeding.trips, *sizes], 0, "rows_shape")
        return self.feeding.emit.add("Reshape", [rows, target], rows.name)


def named(output: State | Stacked) -> str:
    """What an output is called around the loop, or inside where nobody asks for it."""
    given = output.final if isinstance(output, State) else output.output
    return (given or output.result).name


def _symbols_around(repetition: Repetition, feeding: Feeding) -> set[str]:
    """The symbols of sizes that are the same on every trip."""
    shapes = [feeding.inference.fact(v).shape or () for v in around(repetition.node)]
    return {symbol for shape in shapes for dim in shape for symbol in dim.symbols}


class Plan:
    """What the loop that is left computes and reads.

    Args:
        remainder: its outputs that are asked for.
        inside: the nodes and states that it computes.
        operands: what stands for all else that the body is given or computes.

    Attributes:
        states: the states that it carries.
        nodes: the nodes that it runs, in order.
        reads: what it reads that it does not compute.
        boundary: what it reads of that which is computed at once for all trips.
    """

    def __init__(
        self, remainder: Remainder, inside: Iterable[object], operands: Mapping[Value, Operand]
    ) -> None:
        self.remainder = remainder
        self.repetition = remainder.repetition
        self.operands = operands
        self._inside = set(inside)
        self.states = [state for state in self.repetition.states if state in self._inside]
        plain, nodes = self._plain_reads(), self.repetition.body.nodes()
        self.nodes = [node for node in nodes if node in self._inside or node in plain]
        self.reads = self._read()
        self.boundary = self._boundary()

    def _plain_reads(self) -> set[Node]:
        """Reads of a row by the number of the trip, which stay as they are: computed at once, they
        would be the tensor that they read from."""
        return {
            node
            for node in self.repetition.body.nodes()
            if node not in self._inside and self._is_plain_read(node)
            if any(user in self._inside for user in self.repetition.body.users(node.output()))
        }

    def _is_plain_read(self, node: Node) -> bool:
        if not node.is_op("Gather") or self.repetition.iteration is None:
            return False
        source, index = node.inputs
        outside = source is not None and source.graph is not self.repetition.body
        return outside and index is not None and iteration_like(index, self.repetition)

    def _read(self) -> dict[Value, None]:
        """All that it reads, and gives out without computing it."""
        read: dict[Value | None, None] = {}
        for node in self.nodes:
            read |= dict.fromkeys((*node.inputs, *captured_by(node)))
        read |= dict.fromkeys(state.result for state in self.states)
        read |= dict.fromkeys(one.result for one in self.remainder.stacked)
        own = {value for node in self.nodes for value in node.outputs}
        own |= {state.given for state in self.states}
        return {value: None for value in read if value is not None and value not in own}

    def _boundary(self) -> list[Value]:
        scanned = {one.given for one in self.repetition.scanned}
        return [
            value
            for value in self.reads
            if value not in scanned and not iteration_like(value, self.repetition)
            if value in self.operands and self.operands[value].batched
        ]

    @property
    def gives(self) -> bool:
        """Whether anything is made of what it computes."""
        return bool(self.states or self.remainder.stacked or self.remainder.rows)

    @property
    def needed(self) -> list[Value]:
        """What stands for all that it reads, in the graph of the feeding."""
        return [self.operands[value].value for value in self.reads if value in self.operands]

    def cost(self, weigh: Callable[[Node], int]) -> int:
        """What a trip costs: the nodes, what is carried and given out, what a Loop reads by its
        number."""
        given = len(self.states) + len(self.remainder.stacked) + len(self.remainder.rows)
        iteration = self.repetition.iteration
        reads = len(self.boundary) if iteration is not None else 0
        if reads and iteration is not None and iteration.shape:
            reads += 1  # the number is made a scalar first
        return sum(map(weigh, self.nodes)) + given + reads

    @property
    def scanned(self) -> list[Scanned]:
        """What a Scan takes apart as it did; one at least, which tells how many trips there are."""
        used = [one for one in self.repetition.scanned if one.given in self.reads]
        return used or list(self.repetition.scanned if not self.boundary else ())[:1]


def rebuild(plan: Plan) -> Node:
    """Make the loop in the graph of the feeding, and connect what was asked of it."""
    return (_Loop if plan.repetition.iteration is not None else _Scan)(plan).make()


class _Rebuilding:
    """What Loop and Scan share."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.repetition = plan.repetition
        self.feeding = plan.remainder.feeding
        self.graph = self.feeding.emit.graph
        remainder = plan.remainder
        self.asked = [*remainder.stacked.values(), *remainder.rows.values()]
        self.values: dict[Value, Value] = {}

    def make(self) -> Node:
        node = self.holder()
        self.body = self.graph.add_body(
            node, "body", empty_header(self.repetition.body.header.name)
        )
        self.emit = Builder(self.body)
        self.enter()
        self._copy()
        self._give_out()
        for old, new in zip(self._outputs(), node.outputs, strict=True):
            if old is not None and new is not None:
                self.graph.replace_uses(old, new)
        return node

    def holder(self) -> Node:
        """The node without its body."""
        raise NotImplementedError

    def enter(self) -> None:
        """Give the body its inputs."""
        raise NotImplementedError

    def row(self, value: Value) -> Value:
        """A value of the boundary, on one trip."""
        raise NotImplementedError

    def _outputs(self) -> list[Value | None]:
        finals = self.plan.remainder.finals
        return [*(finals.get(state) for state in self.plan.states), *self.asked]

    def labels(self) -> list[str]:
        """Names for the outputs, also those that nobody asks for: onnxruntime does not always load
        a Scan that omits one."""
        states = [named(state) for state in self.plan.states]
        return [*states, *(value.name for value in self.asked)]

    def initial(self) -> list[Value]:
        """The initial states."""
        return [self.feeding.same(state.initial).value for state in self.plan.states]

    def enter_as(self, value: Value) -> None:
        """An input of the body as it was."""
        self.values[value] = self.body.add_input(value.name, value.info)

    def _copy(self) -> None:
        for node in self.plan.nodes:
            for value in (*node.inputs, *captured_by(node)):
                if value is not None:
                    self._within(value)
            copy = copy_node(node, self.body, self.values)
            self.body.value_infos += [v for v in copy.outputs if v is not None and v.info]

    def _within(self, value: Value) -> Value:
        """What stands for a value in the new body."""
        if value not in self.values:
            self.values[value] = self._entered(value)
        return self.values[value]

    def _entered(self, value: Value) -> Value:
        if iteration_like(value, self.repetition):
            assert self.repetition.iteration is not None
            return self.values[self.repetition.iteration]
        if value in self.repetition.body.initializers:
            tensor = self.repetition.body.initializers[value]
            return self.body.add_initializer(value.name, tensor)
        operand = self.plan.operands.get(value)
        if operand is None:
            return self.feeding.same(value).value
        return self.row(value) if operand.batched else operand.value

    def condition(self) -> list[Value]:
        """What a Loop's body gives out before all else."""
        return []

    def _give_out(self) -> None:
        remainder, body = self.plan.remainder, self.repetition.body
        given = [
            *(state.result for state in self.plan.states),
            *(one.result for one in remainder.stacked),
        ]
        infos = dict(zip(body.outputs, body.output_infos, strict=True))
        declared = [infos[value] for value in given]
        for value in remainder.rows:
            fact = self.feeding.inference.fact(value)
            declared.append(declaration(value.name, fact.type_proto(private=False)))
        results: list[Value] = []
        for value in (*given, *remainder.rows):
            results.append(given_out(self._within(value), results, self.emit))
        first = self.condition()
        self.body.set_outputs(
            [*first, *results], [*(declaration(v.name, v.type) for v in first), *declared]
        )


def given_out(value: Value, others: Sequence[Value], emit: Builder) -> Value:
    """What a body gives out for a value: one that its nodes give, and not among the others, because
    onnxruntime gives zeros for one of two outputs that are one value."""
    if value.producer is not None and value.graph is emit.graph and value not in others:
        return value
    return emit.add("Identity", [value], value.name)


class _Loop(_Rebuilding):
    """A Loop reads a row by the number of the trip."""

    def holder(self) -> Node:
        repetition, same = self.repetition, self.feeding.same
        assert repetition.maximum is not None
        start = repetition.start
        inputs = [same(repetition.maximum).value, None if start is None else same(start).value]
        node = repetition.node
        return add_holder(
            self.graph, node.op, {}, ["body"], [*inputs, *self.initial()], self.labels(), node.name
        )

    @lazy_property
    def number(self) -> Value:
        """The number of the iteration, a scalar."""
        assert self.repetition.iteration is not None
        number = self.values[self.repetition.iteration]
        return self.emit.scalar(number, "number") if number.shape else number

    def enter(self) -> None:
        repetition = self.repetition
        assert repetition.iteration is not None and repetition.condition is not None
        self.enter_as(repetition.iteration)
        self.enter_as(repetition.condition)
        for state in self.plan.states:
            self.enter_as(state.given)

    def row(self, value: Value) -> Value:
        rows = self.plan.operands[value].value
        return self.emit.add("Gather", [rows, self.number], value.name, axis=0)

    def condition(self) -> list[Value]:
        assert self.repetition.condition is not None
        return [self.values[self.repetition.condition]]


class _Scan(_Rebuilding):
    """A Scan scans the rows, too."""

    def holder(self) -> Node:
        plan, node = self.plan, self.repetition.node
        scanned, stacked = plan.scanned, list(plan.remainder.stacked)
        more, rows = [0] * len(plan.boundary), [0] * len(plan.remainder.rows)
        attributes: dict[str, int | list[int]] = {
            "num_scan_inputs": len(scanned) + len(more),
            "scan_input_axes": [*(one.axis for one in scanned), *more],
            "scan_input_directions": [*(int(one.backward) for one in scanned), *more],
            "scan_output_axes": [*(one.axis for one in stacked), *rows],
            "scan_output_directions": [*(int(one.backward) for one in stacked), *rows],
        }
        said = {
            name: numbers
            for name, numbers in attributes.items()
            if isinstance(numbers, int) or any(numbers)
        }
        inputs = [
            *self.initial(),
            *(self.feeding.same(one.source).value for one in scanned),
            *(plan.operands[value].value for value in plan.boundary),
        ]
        return add_holder(self.graph, node.op, said, ["body"], inputs, self.labels(), node.name)

    def enter(self) -> None:
        for state in self.plan.states:
            self.enter_as(state.given)
        for one in self.plan.scanned:
            self.enter_as(one.given)
        for value in self.plan.boundary:
            fact = self.feeding.inference.fact(value)
            info = declaration(value.name, fact.type_proto(private=False))
            self.values[value] = self.body.add_input(value.name, info)

    def row(self, value: Value) -> Value:
        raise AssertionError(f"{value} is scanned, so it is an input of the body")
