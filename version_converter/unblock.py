"""Rewriting constructs that the next version cannot hold, and nothing else of a model.

    s = SequenceConstruct (x, y)
    a = SequenceAt (s, zero)        ->      b = Relu (x)
    b = Relu (a)

What stands in the way is cut out, with what lies between, and becomes a model of its own: its
inputs are what it reads, with all that is known of them. The default pipeline runs on that, and
what it makes of it is put in the place of the original. What is not decided inside a body or
function may be by what is around it, so the holder or the calls are cut out next.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import networkx as nx

from ..analysis.constants.folding import Folder
from ..ir import Function, Graph, Model, Node, Operator, Value, captured_by
from ..passes import Pass, PassContext, RaiseRecurrences, Remark, ScansToLoops, VectorizeLoops
from ..passes.base import kept_constructs
from ..passes.context import Instrumentation, Meter
from ..passes.functions.calls import CallGraph, live_functions
from ..passes.manager.instrumentation import current_watcher
from ..passes.manager.registry import default_passes
from ..passes.utils.fixpoint import rewrite_model
from .constants import Constants
from .errors import Failure, Place
from .subgraph_extraction import Cut
from .types import Types

CONSTRUCTS = frozenset(
    [
        *("If", "Loop", "Scan", "SequenceMap"),
        *("SequenceEmpty", "SequenceConstruct", "SequenceInsert", "SequenceErase", "SequenceAt"),
        *("SequenceLength", "SplitToSequence", "ConcatFromSequence"),
        *("Optional", "OptionalHasElement", "OptionalGetElement", "Identity"),
    ]
)
"""What passes can dissolve. An Identity stands in the way where it is one of a sequence."""


class Straightened(NamedTuple):
    """What became of the constructs that stood in the way.

    Attributes:
        remarks: what was rewritten, and why.
        kept: why the others were not, by operator and path.
    """

    remarks: tuple[Remark, ...]
    kept: dict[Place, str]


PIPELINES: tuple[tuple[Pass, ...], ...] = (
    (*default_passes(), ScansToLoops()),
    tuple(p for p in default_passes() if not isinstance(p, VectorizeLoops | RaiseRecurrences)),
)
"""What may dissolve them. The first makes the best form, but of operators that are young."""


def straighten_constructs(
    model: Model, failures: Iterable[Failure], passes: Sequence[Pass]
) -> Straightened:
    """Rewrite those constructs of a model, in place, that a conversion of it has failed at."""
    reasons = {f.place: f.reason for f in failures if f.op_type in CONSTRUCTS}
    return _Straightening(model, reasons, passes).run() if reasons else Straightened((), {})


class _Straightening:
    def __init__(self, model: Model, reasons: dict[Place, str], passes: Sequence[Pass]) -> None:
        self.model = model
        self.reasons = reasons
        self.of_operator = {op_type: why for (op_type, _), why in reversed(reasons.items())}
        self.passes = passes
        self.types = Types(model)
        self.constants = Constants(self.types, Folder(model))
        self.calls = CallGraph(model.functions)
        self.added_nodes = 0
        self.remarks: list[Remark] = []
        self.kept: dict[Place, str] = {}
        self.wanted: set[Operator] = set()
        self.seeds: dict[Graph, dict[Node, None]] = {}
        self.callers: dict[Function, list[Node]] = {}
        self.left = ""
        self.undecided: set[Function] = set()

    def run(self) -> Straightened:
        """Inner graphs before those around them, functions before what calls them."""
        self._survey()
        live = live_functions(self.model)
        roots: list[Model | Function] = [*self.calls.callees_first(), self.model]
        for root in roots:
            for graph in reversed(list(root.graph.walk())):
                if graph in self.seeds and _is_left(graph) and self._straighten(graph):
                    self._blame_holders(graph)
        for key in live - live_functions(self.model):
            del self.model.functions[key]
        return Straightened(tuple(self.remarks), self.kept)

    def _survey(self) -> None:
        """Find the constructs, and the calls of each function."""
        op_types = {op_type for op_type, _ in self.reasons}
        for graph in self.model.graphs():
            for node in graph.unordered_nodes():
                called = self.calls.callee(node)
                if called is not None:
                    self.callers.setdefault(called, []).append(node)
                elif node.op_type in op_types and (node.op_type, node.path) in self.reasons:
                    self.wanted.add(node.op)
                    self._blame(node)

    def _blame(self, node: Node) -> None:
        assert node.graph is not None
        self.seeds.setdefault(node.graph, {})[node] = None

    def _blame_holders(self, graph: Graph) -> None:
        """What is left in a graph may be decided by what is around it."""
        if graph.holder is not None:
            self._blame(graph.holder)
            place = graph.holder.op_type, graph.holder.path
            self.reasons.setdefault(place, f"of what it holds: {self.left}")
        elif isinstance(graph.root, Function):
            self.undecided.add(graph.root)
            for call in self.callers.get(graph.root, ()):
                self._blame(call)

    def _straighten(self, graph: Graph) -> bool:
        """Rewrite what stands in the way in one graph; whether some of it is left."""
        self.seeds[graph] = {node: None for node in self.seeds[graph] if node.graph is graph}
        nodes = graph.nodes()
        places = {node: place for place, node in enumerate(nodes)}
        groups = [[places[node] for node in group] for group in self._groups(graph)]
        regions = [_between(graph, nodes, group) for group in _apart(groups)]
        left = [self._rewrite(graph, region) for region in regions]
        return any(left)

    def _groups(self, graph: Graph) -> Iterator[set[Node]]:
        """The constructs of a graph, each with all that exchange sequences or optionals with it."""
        linked: nx.Graph[Node] = nx.Graph()
        linked.add_nodes_from(self.seeds[graph])
        open_ = list(self.seeds[graph])
        while open_:
            node = open_.pop()
            for other in self._partners(graph, node):
                if other not in linked:
                    open_.append(other)
                linked.add_edge(node, other)
        return nx.connected_components(linked)

    def _partners(self, graph: Graph, node: Node) -> Iterator[Node]:
        for value in (*node.inputs, *captured_by(node), *node.outputs):
            if value is not None and value.graph is graph and self._is_structure(value):
                for other in (value.producer, *graph.users(value)):
                    if isinstance(other, Node):
                        yield other

    def _is_structure(self, value: Value) -> bool:
        type_ = self.types.of(value)
        return type_ is not None and type_.WhichOneof("value") in ("sequence_type", "optional_type")

    def _rewrite(self, graph: Graph, nodes: list[Node]) -> bool:
        """Rewrite some nodes of a graph apart from the rest; whether anything is left of what
        stands in the way."""
        cut = Cut(self.model, graph, nodes, self.types, self.constants, self.calls)
        obstacle = cut.obstacle()
        if obstacle is not None:
            self.kept.update({(n.op_type, n.path): obstacle for n in nodes if n.op in self.wanted})
            return True
        before = [(node.op_type, node.path) for node in self._wanted_in(cut.scratch)]
        cut.inline(self.undecided)
        context = PassContext(
            meter=Meter(self.added_nodes),
            instrumentation=Instrumentation(watcher=current_watcher()),
            default_passes=self.passes,
        )
        rewrite_model(self.passes, cut.scratch, context, repeat=True)
        left = self._wanted_in(cut.scratch)
        said = [dataclasses.replace(r, path=_around(graph) + r.path) for r in context.remarks]
        self.kept.update({place: r.reason for place, r in kept_constructs(said).items()})
        if len(left) < len(before):
            self.added_nodes = context.meter.added_nodes
            done = [r for r in said if r.action == "rewritten"]
            self._tell(done or [_dissolved(op_type, _around(graph) + at) for op_type, at in before])
            cut.put_in_place(self.wanted)
        if left:
            self.left = f"{left[0].op_type} '{_around(graph)}{left[0].path}'"
        return bool(left)

    def _wanted_in(self, model: Model) -> list[Node]:
        nodes = (node for graph in model.graphs() for node in graph.unordered_nodes())
        return [node for node in nodes if node.op in self.wanted]

    def _tell(self, remarks: Iterable[Remark]) -> None:
        """Remark what was rewritten, with the reason for which it had to be."""
        for remark in remarks:
            place = remark.op_type, remark.path
            why = self.reasons.get(place, self.of_operator.get(remark.op_type))
            reason = remark.reason if why is None else f"{remark.reason}, because {why}"
            self.remarks.append(dataclasses.replace(remark, reason=reason))


def _dissolved(op_type: str, path: str) -> Remark:
    """What is said of a construct of which no pass has said anything."""
    return Remark("straighten", op_type, path, "rewritten", "dissolved")


def _is_left(graph: Graph) -> bool:
    """Whether all that a graph stands in is there; what only another construct has read is gone
    with that."""
    return graph.holder is None or graph.holder.stands


def _around(graph: Graph) -> str:
    """What stands before the paths of a graph's nodes."""
    if graph.holder is not None:
        return f"{graph.holder.path}/"
    return f"{graph.root.name}/" if graph.root.name else ""


def _apart(groups: Iterable[list[int]]) -> Iterator[list[int]]:
    """Groups of places, those that overlap joined, so that each is wholly before the next."""
    joined: list[int] = []
    end = -1
    for group in sorted(map(sorted, groups)):
        if joined and group[0] > end:
            yield joined
            joined = []
        joined += group
        end = max(end, group[-1])
    if joined:
        yield joined


def _between(graph: Graph, nodes: list[Node], group: list[int]) -> list[Node]:
    """The nodes at some places, with all that lies on a way from one to another, in order."""
    window, view = nodes[min(group) : max(group) + 1], graph.view()
    behind = {nodes[place] for place in group}
    before = set(behind)
    for node in window:
        if not behind.isdisjoint(view.predecessors(node)):
            behind.add(node)
    for node in reversed(window):
        if not before.isdisjoint(view.successors(node)):
            before.add(node)
    return [node for node in window if node in behind and node in before]
