"""Of which values the elements or the sizes of another one come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...ir import Function, FunctionKey, Node, Value
from ...limits import limit
from ...ops.rules import rules_of

_DEEPEST = limit("call_depth")


class Asked(NamedTuple):
    """What is asked about a value: its elements, or only its sizes."""

    value: Value
    sizes: bool


def comes_from(asked: Asked) -> Iterator[Asked]:
    """What a node's output comes from, one step against the data flow."""
    node = asked.value.producer
    assert node is not None
    if node.is_op("Loop", "Scan", "If") and node.bodies:
        yield from _of_construct(node, asked)
    else:
        yield from _of_operator(node, asked.sizes)
        for inner in _given_out(node, asked.value):
            yield Asked(inner, asked.sizes)


def _of_operator(node: Node, sizes: bool) -> Iterator[Asked]:
    rules = rules_of(node.op)
    for index, value in enumerate(node.inputs):
        if value is None:
            continue
        if not sizes:
            yield Asked(value, rules.reads_sizes_only)
        elif index in rules.sized_by:
            yield Asked(value, False)
        elif rules.sized_like is None or index in rules.sized_like:
            yield Asked(value, True)


def _of_construct(node: Node, asked: Asked) -> Iterator[Asked]:
    """The output of a Loop, Scan or If: what decides how often it runs or which branch, what it
    starts from, and what its bodies give out."""
    index = node.outputs.index(asked.value)
    if node.is_op("If"):
        yield from _elements(node.inputs[:1])
    elif node.is_op("Loop"):
        body = node.body("body")
        if not (asked.sizes and _stays(node, index)):
            yield from _elements([*node.inputs[:2], body.outputs[0]])
        yield from _given(node, 2 + index, asked.sizes)
    else:
        states = len(node.inputs) - node.attribute("num_scan_inputs", 0)
        yield from _given(node, index, asked.sizes)
        yield from (Asked(v, True) for v in node.inputs[states:] if v is not None)
    for inner in _given_out(node, asked.value):
        yield Asked(inner, asked.sizes)


def _elements(values: list[Value | None] | tuple[Value | None, ...]) -> Iterator[Asked]:
    return (Asked(value, False) for value in values if value is not None)


def _given(node: Node, index: int, sizes: bool) -> Iterator[Asked]:
    value = node.input(index)
    if value is not None:
        yield Asked(value, sizes)


def _stays(loop: Node, index: int) -> bool:
    """Whether a carried value is declared to keep its shape, however often the Loop runs."""
    body = loop.body("body")
    if index + 2 >= len(loop.inputs):
        return False
    shape = body.inputs[index + 2].shape
    return shape is not None and None not in shape and shape == body.outputs[index + 1].shape


def _given_out(node: Node, value: Value) -> Iterator[Value]:
    """What a node's bodies give out for one of its outputs."""
    index = node.outputs.index(value)
    for graph in node.graphs():
        extra = 1 if node.is_op("Loop") else 0
        if index + extra < len(graph.outputs):
            yield graph.outputs[index + extra]


def fed_from(value: Value) -> Iterator[Value]:
    """Where a body's input takes its values from: the node's input, and the body's own output."""
    body = value.owner
    node = body.holder if body is not None else None
    if body is None or node is None or value not in body.inputs:
        return
    index = body.inputs.index(value)
    shift = len(body.inputs) - len(node.inputs)
    outer = node.input(index - shift) if index >= shift else None
    if outer is not None:
        yield outer
    if node.is_op("Loop") and index >= 1:
        yield body.outputs[index - 1]


def is_iteration_number(value: Value) -> bool:
    """Whether a value numbers the trips of a Loop."""
    body = value.owner
    node = body.holder if body is not None else None
    return body is not None and node is not None and node.is_op("Loop") and value is body.inputs[0]


class CallReads:
    """Of which arguments the outputs of calls come, found once for each output of a function.

    Args:
        functions: those that are looked into.
    """

    def __init__(self, functions: Mapping[FunctionKey, Function]) -> None:
        self._functions = functions
        self._known: dict[tuple[Function, int, bool], frozenset[tuple[int, bool]]] = {}

    def calls(self, node: Node) -> bool:
        """Whether a node calls one of the functions."""
        return node.op.function_key in self._functions

    def of(self, asked: Asked, depth: int = 1) -> list[Asked]:
        """What an output of a call comes from, in the order of the arguments.

        Args:
            asked: what is asked about the output.
            depth: how many calls stand in each other, with this one.
        """
        node = asked.value.producer
        assert node is not None
        function = self._functions[node.op.function_key]
        key = function, node.outputs.index(asked.value), asked.sizes
        if key not in self._known:
            every = frozenset((i, False) for i in range(len(function.graph.inputs)))
            self._known[key] = every  # what calls itself, or stands too deep
            if depth <= _DEEPEST:
                given_out = Asked(function.graph.outputs[key[1]], asked.sizes)
                self._known[key] = frozenset(self._inputs(function, given_out, depth))
        arguments = [(node.input(index), sizes) for index, sizes in sorted(self._known[key])]
        return [Asked(value, sizes) for value, sizes in arguments if value is not None]

    def _inputs(self, function: Function, wanted: Asked, depth: int) -> Iterator[tuple[int, bool]]:
        places = {value: index for index, value in enumerate(function.graph.inputs)}
        stack, seen = [wanted], {wanted}
        while stack:
            asked = stack.pop()
            value, node = asked.value, asked.value.producer
            before: list[Asked] = []
            if value in places:
                yield places[value], asked.sizes
            elif node is not None:
                known = self.calls(node)
                before = self.of(asked, depth + 1) if known else list(comes_from(asked))
            elif value.constant is None:
                before = [Asked(v, asked.sizes) for v in fed_from(value)]
            stack += [a for a in before if a not in seen]
            seen.update(before)
