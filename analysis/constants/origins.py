"""What a value that is not constant depends on, in the words a user needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...ir import Node, Value
from ...operators.randomness import draws_random_numbers

_SHAPE_OPERATORS = ("Shape", "Size", "SequenceLength")
_MOST_NAMED = 3


class Origin(NamedTuple):
    """One source of what is not known: its description, and the option that makes it known."""

    what: str
    option: str = ""


def origins(value: Value) -> str:
    """Name the graph inputs and operators that keep a value from being known, with a way out.

    For example: "input 'n'; decide it with --set n=...".
    """
    found = list(dict.fromkeys(_Walk().roots(value)))
    text = _listed([origin.what for origin in found]) or f"value '{value.name}'"
    options = list(dict.fromkeys([origin.option for origin in found]))
    if not options or "" in options:
        return text
    return f"{text}; decide it with {' '.join(options[:_MOST_NAMED])}"


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


class _Walk:
    def __init__(self) -> None:
        self.seen: set[tuple[Value, bool]] = set()

    def roots(self, value: Value) -> Iterator[Origin]:
        """Walk against the data flow; what only gives its shape is marked as such."""
        stack = [(value, False)]
        while stack:
            value, shape_only = stack.pop()
            if (value, shape_only) in self.seen:
                continue
            self.seen.add((value, shape_only))
            node = value.producer
            if value.constant is not None:
                if not value.constant.is_readable and not shape_only:
                    yield Origin(f"'{value.name}', external data in an unknown folder", "base_dir=")
            elif node is None:
                outer = list(_fed_from(value))
                if outer:
                    stack += [(v, shape_only) for v in reversed(outer)]
                else:
                    yield _source(value, shape_only)
            elif draws_random_numbers(node) and not shape_only:
                yield Origin(f"the random operator {node}")
            else:
                inner = shape_only or node.is_op(*_SHAPE_OPERATORS)
                reads = [v for v in (*node.inputs, *_given_out(node, value)) if v is not None]
                if all(v.constant is not None and v.constant.is_readable for v in reads):
                    yield Origin(f"the operator {node}")
                stack += [(v, inner) for v in reversed(reads)]


def _given_out(node: Node, value: Value) -> Iterator[Value]:
    """What a node's bodies give out for one of its outputs."""
    index = node.outputs.index(value)
    for graph in node.graphs():
        extra = 1 if node.is_op("Loop") else 0
        if index + extra < len(graph.outputs):
            yield graph.outputs[index + extra]


def _fed_from(value: Value) -> Iterator[Value]:
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
    if node.is_op("Loop") and index >= 2:
        yield body.outputs[index - 1]


def _source(value: Value, shape_only: bool) -> Origin:
    graph = value.owner
    if graph is None or graph.holder is not None:
        return Origin(f"value '{value.name}' inside a body")
    if value in getattr(graph.root, "trained", ()):
        return Origin(f"'{value.name}', an initializer that training updates")
    if value in graph.initializers:
        what = f"'{value.name}', an initializer that callers may override"
        return Origin(what, "--freeze-initializers")
    if getattr(graph.root, "name", ""):
        return Origin(f"parameter '{value.name}' of {graph.root}")
    if value.type is not None and not value.type.HasField("tensor_type"):
        return Origin(f"input '{value.name}', which is no tensor")
    if shape_only:
        return Origin(f"the shape of input '{value.name}'", f"--shape {value.name}=...")
    return Origin(f"input '{value.name}'", f"--set {value.name}=...")
