"""Dependences between values: the sources of elements and sizes."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...ir import Function, FunctionKey, Node, Value
from ...limits import limit
from ...ops.rules import rules_of

_DEEPEST = limit("call_depth")


class Query(NamedTuple):
    """A query about a value: its elements, or only its sizes."""

    value: Value
    sizes: bool


def comes_from(query: Query) -> Iterator[Query]:
    """The sources of a node's output, one step against the data flow."""
    node = query.value.producer
    assert node is not None
    if node.is_op("Loop", "Scan", "If") and node.bodies:
        yield from _of_construct(node, query)
    else:
        yield from _of_operator(node, query.sizes)
        for inner in _body_outputs(node, query.value):
            yield Query(inner, query.sizes)


def _of_operator(node: Node, sizes: bool) -> Iterator[Query]:
    rules = rules_of(node.op)
    for index, value in enumerate(node.inputs):
        if value is None:
            continue
        if not sizes:
            # The elements of a Shape follow from sizes.
            yield Query(value, rules.reads_sizes_only)
        elif index in rules.sized_by:
            yield Query(value, False)
        elif rules.sized_like is None or index in rules.sized_like:
            yield Query(value, True)


def _of_construct(node: Node, query: Query) -> Iterator[Query]:
    """The sources of the output of a construct: trip count or condition, initial value, and body
    outputs."""
    index = node.outputs.index(query.value)
    if node.is_op("If"):
        yield from _elements(node.inputs[:1])
    elif node.is_op("Loop"):
        body = node.body("body")
        # A value that keeps its shape has it after any number of iterations.
        if not (query.sizes and _stays(node, index)):
            yield from _elements([*node.inputs[:2], body.outputs[0]])
        yield from _initial(node, 2 + index, query.sizes)
    else:
        states = len(node.inputs) - node.attribute("num_scan_inputs", 0)
        yield from _initial(node, index, query.sizes)
        yield from (Query(v, True) for v in node.inputs[states:] if v is not None)
    for inner in _body_outputs(node, query.value):
        yield Query(inner, query.sizes)


def _elements(values: list[Value | None] | tuple[Value | None, ...]) -> Iterator[Query]:
    return (Query(value, False) for value in values if value is not None)


def _initial(node: Node, index: int, sizes: bool) -> Iterator[Query]:
    value = node.input(index)
    if value is not None:
        yield Query(value, sizes)


def _stays(loop: Node, index: int) -> bool:
    """Test whether a loop-carried value is declared to keep its shape."""
    body = loop.body("body")
    if index + 2 >= len(loop.inputs):
        return False
    shape = body.inputs[index + 2].shape
    return shape is not None and None not in shape and shape == body.outputs[index + 1].shape


def _body_outputs(node: Node, value: Value) -> Iterator[Value]:
    """The outputs of a node's bodies for one of its own outputs."""
    index = node.outputs.index(value)
    for graph in node.graphs():
        # Output 0 of a Loop's body is its condition.
        extra = 1 if node.is_op("Loop") else 0
        if index + extra < len(graph.outputs):
            yield graph.outputs[index + extra]


def carried_sources(value: Value) -> Iterator[Value]:
    """The sources of a body's input: the node's input, and the body's own output."""
    body = value.owner
    node = body.holder if body is not None else None
    if body is None or node is None or value not in body.inputs:
        return
    index = body.inputs.index(value)
    # Scan 8 has an input, the lengths of rows, that its body does not see.
    shift = len(body.inputs) - len(node.inputs)
    outer = node.input(index - shift) if index >= shift else None
    if outer is not None:
        yield outer
    if node.is_op("Loop") and index >= 1:
        yield body.outputs[index - 1]


def is_iteration_number(value: Value) -> bool:
    """Test whether a value is the iteration number of a Loop."""
    body = value.owner
    node = body.holder if body is not None else None
    return body is not None and node is not None and node.is_op("Loop") and value is body.inputs[0]


class CallReads:
    """The arguments on which outputs of calls depend, computed once for each."""

    def __init__(self, functions: Mapping[FunctionKey, Function]) -> None:
        self._functions = functions
        self._reads: dict[tuple[Function, int, bool], frozenset[tuple[int, bool]]] = {}

    def calls(self, node: Node) -> bool:
        """Test whether a node calls one of the functions."""
        return node.op.function_key in self._functions

    def of(self, query: Query, depth: int = 1) -> list[Query]:
        """The sources of an output of a call, in the order of the arguments.

        Args:
            query: the query about the output.
            depth: the nesting depth of the call.
        """
        node = query.value.producer
        assert node is not None
        function = self._functions[node.op.function_key]
        key = function, node.outputs.index(query.value), query.sizes
        if key not in self._reads:
            every = frozenset((i, False) for i in range(len(function.graph.inputs)))
            self._reads[key] = every  # the result of recursion or excessive depth
            if depth <= _DEEPEST:
                output = Query(function.graph.outputs[key[1]], query.sizes)
                self._reads[key] = frozenset(self._inputs(function, output, depth))
        arguments = [(node.input(index), sizes) for index, sizes in sorted(self._reads[key])]
        return [Query(value, sizes) for value, sizes in arguments if value is not None]

    def _inputs(self, function: Function, start: Query, depth: int) -> Iterator[tuple[int, bool]]:
        places = {value: index for index, value in enumerate(function.graph.inputs)}
        stack, visited = [start], {start}
        while stack:
            query = stack.pop()
            value, node = query.value, query.value.producer
            before: list[Query] = []
            if value in places:
                yield places[value], query.sizes
            elif node is not None:
                is_call = self.calls(node)
                before = self.of(query, depth + 1) if is_call else list(comes_from(query))
            elif value.constant is None:
                before = [Query(v, query.sizes) for v in carried_sources(value)]
            stack += [a for a in before if a not in visited]
            visited.update(before)
