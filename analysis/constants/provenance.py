"""Provenance: the sources of values that are not constant, described for users."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from onnx import TensorProto

from ...facts.reason import Reason
from ...ir import Model, Node, Value, normal_domain
from ...ops.randomness import draws_random_numbers
from ...records import record
from .dependence import CallReads, Query, carried_sources, comes_from, is_iteration_number

_MOST_NAMED = 3
_MOST_SET = 16
"""The most integers or truth values in a list that counts as a setting."""

_WHOLE = tuple(n for kind, n in TensorProto.DataType.items() if "INT" in kind or kind == "BOOL")


class Origin(NamedTuple):
    """A source of an unknown value.

    Attributes:
        what: its description.
        option: the option that fixes it; "" where there is none.
        data: true for data, which differs from run to run.
        value: the input, if it is one.
        function: the function whose parameter it is, if it is one.
    """

    what: str
    option: str = ""
    data: bool = False
    value: Value | None = None
    function: str = ""


_Sources = dict["Origin", None]
"""Sources in their order, which values share and nothing changes."""


@record
class _Visit:
    """A value on the path of a walk.

    Attributes:
        number: its place among the values that are not known yet.
        lowest: the lowest number that it leads to.
        sources: the sources that were found so far.
        before: what it depends on and the walk has not seen yet.
    """

    number: int
    lowest: int
    sources: _Sources
    before: Iterator[Query]

    def add(self, sources: _Sources, lowest: int | None = None) -> None:
        """Add the sources of something that it depends on."""
        self.lowest = self.lowest if lowest is None else min(self.lowest, lowest)
        if not self.sources:
            self.sources = sources
        elif sources is not self.sources and not sources.keys() <= self.sources.keys():
            self.sources = {**self.sources, **sources}


def origins(value: Value, sizes: bool = False, provenance: "Provenance | None" = None) -> Reason:
    """Describe the graph inputs and operators that decide a value, with a remedy.

    For example: "input 'n'; decide it with --set n=... (values= in Python)". The arguments are
    `depends_on`, `by_data`, `options`, and `functions`, whose parameters are among the origins.

    Args:
        value: the unknown value.
        sizes: ask only about its sizes.
        provenance: the walk that questions about the same model share.
    """
    sources = (provenance or Provenance()).of(value, sizes)
    names = [origin.what for origin in sources] or [f"value '{value.name}'"]
    by_data = any(origin.data for origin in sources)
    options = list(dict.fromkeys(origin.option for origin in sources))
    # Options for some of the sources alone decide nothing.
    if by_data or "" in options:
        options = []
    arguments = {
        "depends_on": names,
        "by_data": by_data,
        "options": options,
        "functions": list(dict.fromkeys(o.function for o in sources if o.function)),
    }
    text = join_names(names) + ("; decided by data" if by_data else "")
    return Reason(text, "", arguments, options)


def join_names(names: list[str]) -> str:
    """List the first names, and the number of others."""
    text = ", ".join(names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return f"{text} and {more} more" if more > 0 else text


class Provenance:
    """Sources of values of one model, each value walked once for all questions.

    Bodies depend on themselves, so the walk is Tarjan's: the values of a circle have the same
    sources, and are known when the walk leaves the circle.
    """

    def __init__(self) -> None:
        self._known: dict[Query, _Sources] = {}
        self._calls: CallReads | None = None

    def of(self, value: Value, sizes: bool = False) -> list[Origin]:
        """List the sources of a value, or of its sizes, once each, nearest first."""
        start = Query(value, sizes)
        if start not in self._known:
            self._walk(start)
        return list(self._known[start])

    def _walk(self, start: Query) -> None:
        """Walk against the data flow from one value to those that are not yet known."""
        numbers: dict[Query, int] = {}
        circle: list[Query] = []  # those that are not known, by number
        path = [self._visit(start, numbers, circle)]
        while path:
            visit = path[-1]
            query = next(visit.before, None)
            if query is None:
                path.pop()
                if path:
                    path[-1].add(visit.sources, visit.lowest)
                # Only the first value of a circle leads to no lower number; the circle's others
                # follow it.
                if visit.lowest == visit.number:
                    while len(circle) > visit.number:
                        self._known[circle.pop()] = visit.sources
            elif query in self._known:
                visit.add(self._known[query])
            elif query in numbers:
                visit.add({}, numbers[query])
            else:
                path.append(self._visit(query, numbers, circle))

    def _visit(self, query: Query, numbers: dict[Query, int], circle: list[Query]) -> _Visit:
        numbers[query] = len(circle)
        circle.append(query)
        own, before = self._step(query)
        return _Visit(numbers[query], numbers[query], dict.fromkeys(own), iter(before))

    def _step(self, query: Query) -> tuple[list[Origin], list[Query]]:
        """Sources among a value itself, and one step against the data flow."""
        value, sizes = query
        node = value.producer
        if value.constant is not None:
            # Sizes of a constant need no elements.
            if value.constant.is_readable or sizes:
                return [], []
            return [Origin(f"'{value.name}', external data in an unknown folder", "base_dir=")], []
        if node is None:
            outer = [Query(v, sizes) for v in carried_sources(value)]
            is_source = not outer and not is_iteration_number(value)
            return list(_source(value, sizes)) if is_source else [], outer
        # The sizes of random numbers are not random.
        if _is_opaque(node) or (draws_random_numbers(node) and not sizes):
            random = "" if _is_opaque(node) else "random "
            return [Origin(f"the {random}operator {node}")], []
        before = self._before(query)
        # A node whose inputs are all known, and which nothing could compute, is a source itself.
        reads = [a.value.constant for a in before]
        is_source = all(tensor is not None and tensor.is_readable for tensor in reads)
        return [Origin(f"the operator {node}")] if is_source else [], before

    def _before(self, query: Query) -> list[Query]:
        """Take one step against the data flow; through a call, to the arguments of the output."""
        node = query.value.producer
        root = node.graph.root if node is not None and node.graph is not None else None
        if node is not None and isinstance(root, Model) and root.functions:
            self._calls = self._calls or CallReads(root.functions)
            if self._calls.calls(node):
                return self._calls.of(query)
        return list(comes_from(query))


def _is_opaque(node: Node) -> bool:
    """Test for an unknown operator: neither ONNX's own nor a function."""
    root = node.root
    foreign = bool(normal_domain(node.domain)) and not node.bodies
    return foreign and isinstance(root, Model) and node.op.function_key not in root.functions


def _source(value: Value, sizes: bool) -> Iterator[Origin]:
    """Describe a value without a producer, unless its declaration fixes the sizes in question."""
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
        yield Origin(f"input '{value.name}', which is not a tensor")
    elif sizes:
        option = f"--shape {value.name}=..."
        yield Origin(f"the shape of input '{value.name}'", option, value=value)
    elif is_setting(value):
        yield Origin(f"input '{value.name}'", f"--set {value.name}=...", value=value)
    else:
        yield Origin(f"input '{value.name}'", data=True, value=value)


def is_setting(value: Value) -> bool:
    """Test whether an input is a setting instead of data. A setting is one element, or a short list
    of integers or truth values."""
    whole, shape = value.elem_type in _WHOLE, value.shape
    if shape is None:
        return whole
    sizes = [dim for dim in shape if isinstance(dim, int)]
    if len(sizes) < len(shape):
        return False
    return math.prod(sizes) == 1 or (whole and len(shape) == 1 and sizes[0] <= _MOST_SET)
