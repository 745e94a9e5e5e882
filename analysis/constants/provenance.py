"""What a value that is not constant depends on, in the words a user needs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from onnx import TensorProto

from ...facts.reason import Reason
from ...ir import Model, Node, Value, normal_domain
from ...ops.randomness import draws_random_numbers
from .dependence import Asked, CallReads, comes_from, fed_from, is_iteration_number

_MOST_NAMED = 3
_MOST_SET = 16
"""A list of so many whole numbers or truth values at most is taken for settings."""

_WHOLE = tuple(n for kind, n in TensorProto.DataType.items() if "INT" in kind or kind == "BOOL")


class Origin(NamedTuple):
    """One source of what is not known.

    Attributes:
        what: its description.
        option: the option that makes it known; "" where there is none.
        data: it is what the model computes with, which differs from run to run.
        value: the input, where it is one.
        function: the function whose parameter it is, if it is one.
    """

    what: str
    option: str = ""
    data: bool = False
    value: Value | None = None
    function: str = ""


def origins(value: Value, sizes: bool = False) -> Reason:
    """Name the graph inputs and operators that keep a value from being known, with a way out.

    For example: "input 'n'; decide it with --set n=... (values= in Python)". The arguments are
    `depends_on`, `by_data`, `options`, and `functions`, whose parameters are among the origins.

    Args:
        value: what is not known.
        sizes: it is only its sizes that matter.
    """
    found = origins_of(value, sizes)
    names = [origin.what for origin in found] or [f"value '{value.name}'"]
    by_data = any(origin.data for origin in found)
    options = list(dict.fromkeys(origin.option for origin in found))
    if by_data or "" in options:
        options = []
    arguments = {
        "depends_on": names,
        "by_data": by_data,
        "options": options,
        "functions": list(dict.fromkeys(o.function for o in found if o.function)),
    }
    text = listed(names) + ("; decided by data" if by_data else "")
    return Reason(text, "", arguments, options)


def origins_of(value: Value, sizes: bool = False) -> list[Origin]:
    """The sources that keep a value, or its sizes, from being known, each once, the nearest
    first."""
    return list(dict.fromkeys(_Walk().roots(Asked(value, sizes))))


def listed(names: list[str]) -> str:
    """Return the first names, and how many more there are."""
    shown = ", ".join(names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


class _Walk:
    def __init__(self) -> None:
        self.seen: set[Asked] = set()
        self._calls: CallReads | None = None

    def roots(self, wanted: Asked) -> Iterator[Origin]:
        """Walk against the data flow; what only gives its sizes is marked as such."""
        stack = [wanted]
        while stack:
            asked = stack.pop()
            if asked in self.seen:
                continue
            self.seen.add(asked)
            value, sizes = asked
            node = value.producer
            if value.constant is not None:
                if not value.constant.is_readable and not sizes:
                    yield Origin(f"'{value.name}', external data in an unknown folder", "base_dir=")
            elif node is None:
                outer = list(fed_from(value))
                stack += [Asked(v, sizes) for v in reversed(outer)]
                if not outer and not is_iteration_number(value):
                    yield from _source(value, sizes)
            elif _is_opaque(node) or (draws_random_numbers(node) and not sizes):
                random = "" if _is_opaque(node) else "random "
                yield Origin(f"the {random}operator {node}")
            else:
                before = self._before(asked)
                reads = [a.value.constant for a in before]
                if all(tensor is not None and tensor.is_readable for tensor in reads):
                    yield Origin(f"the operator {node}")
                stack += reversed(before)

    def _before(self, asked: Asked) -> list[Asked]:
        """One step against the data flow; that over a call leads to what the output comes from."""
        node = asked.value.producer
        root = node.graph.root if node is not None and node.graph is not None else None
        if node is not None and isinstance(root, Model) and root.functions:
            self._calls = self._calls or CallReads(root.functions)
            if self._calls.calls(node):
                return self._calls.of(asked)
        return list(comes_from(asked))


def _is_opaque(node: Node) -> bool:
    """Whether nothing is known of an operator: it is neither ONNX's nor a function."""
    assert node.graph is not None
    root = node.graph.root
    foreign = bool(normal_domain(node.domain)) and not node.bodies
    return foreign and isinstance(root, Model) and node.op.function_key not in root.functions


def _source(value: Value, sizes: bool) -> Iterator[Origin]:
    """What a value that nothing computes is; nothing where only its sizes matter and are told."""
    graph = value.owner
    if sizes and value.shape is not None and all(isinstance(dim, int) for dim in value.shape):
        return
    if graph is None or graph.holder is not None:
        yield Origin(f"value '{value.name}' inside a body")
    elif value in getattr(graph.root, "trained", ()):
        yield Origin(f"'{value.name}', an initializer that training updates")
    elif value in graph.initializers:
        what = f"'{value.name}', an initializer that callers may override"
        yield Origin(what, "--freeze-initializers")
    elif getattr(graph.root, "name", ""):
        function = str(graph.root)
        yield Origin(f"parameter '{value.name}' of {function}", function=function)
    elif value.type is not None and not value.type.HasField("tensor_type"):
        yield Origin(f"input '{value.name}', which is no tensor")
    elif sizes:
        option = f"--shape {value.name}=..."
        yield Origin(f"the shape of input '{value.name}'", option, value=value)
    elif is_setting(value):
        yield Origin(f"input '{value.name}'", f"--set {value.name}=...", value=value)
    else:
        yield Origin(f"input '{value.name}'", data=True, value=value)


def is_setting(value: Value) -> bool:
    """Whether an input is one that a caller may fix, rather than what the model computes with:
    one element, or a short list of whole numbers or truth values."""
    whole, shape = value.elem_type in _WHOLE, value.shape
    if shape is None:
        return whole
    sizes = [dim for dim in shape if isinstance(dim, int)]
    if len(sizes) < len(shape):
        return False
    return math.prod(sizes) == 1 or (whole and len(shape) == 1 and sizes[0] <= _MOST_SET)
