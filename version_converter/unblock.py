"""Rewriting of the constructs that block a conversion, and of nothing else.

    s = SequenceConstruct (x, y)
    a = SequenceAt (s, zero)        ->      b = Relu (x)
    b = Relu (a)

The constructs are extracted, with the nodes between them, into a scratch model: its inputs are the
values that they read, with all known facts. The default pipeline rewrites it, and the result
replaces the original. The surroundings may decide a construct inside a body or function, so the
holder or the calls are extracted next.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..analysis.constants.folding import Folder
from ..ir import Function, Graph, Model, Node, Operator, Value, captured_by
from ..passes import Pass, PassContext, RaiseRecurrences, Remark, ScansToLoops, VectorizeLoops
from ..passes.base import Instrumentation, Meter, current_watcher
from ..passes.functions.calls import CallGraph, live_functions
from ..passes.manager.registry import DEFAULT_PASSES
from ..passes.remarks import kept_constructs
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
"""Operators that passes can remove. An Identity blocks a conversion where its value is a
sequence."""


class UnblockResult(NamedTuple):
    """Result of rewriting the constructs that block a conversion.

    Attributes:
        remarks: the rewrites, with reasons.
        obstacles: reasons for the other constructs, by operator and path.
    """

    remarks: tuple[Remark, ...]
    obstacles: dict[Place, str]


PIPELINES: tuple[tuple[Pass, ...], ...] = (
    (*DEFAULT_PASSES, ScansToLoops()),
    tuple(p for p in DEFAULT_PASSES if not isinstance(p, VectorizeLoops | RaiseRecurrences)),
)
"""Pipelines that may remove them. The first has the best results, but with young operators."""


def unblock(model: Model, failures: Iterable[Failure], passes: Sequence[Pass]) -> UnblockResult:
    """Rewrite, in place, the constructs of a model at which its conversion failed.

    Where it failed at other nodes, rewrite the constructs that compute their operands.
    """
    reasons = {f.place: f.reason for f in failures if f.op_type in CONSTRUCTS}
    if not reasons:
        reasons = _constructs_before(model, failures)
    return _Unblocker(model, reasons, passes).run() if reasons else UnblockResult((), {})


def straighten_additions(model: Model, nodes: Sequence[Node]) -> list[Remark]:
    """Rewrite, in place, nodes with bodies that a conversion wrote, where that is possible."""
    unblocker = _Unblocker(model, {(n.op_type, n.path): _ADDED for n in nodes}, PIPELINES[0])
    return list(unblocker.run(nodes).remarks)


_ADDED = "the conversion wrote it"


def _constructs_before(model: Model, failures: Iterable[Failure]) -> dict[Place, str]:
    """The nearest constructs on which failed nodes depend, with reasons; an If of results of
    several ranks, for instance, hides the rank that a conversion needs."""
    failed = {failure.place: failure for failure in failures}
    reasons: dict[Place, str] = {}
    for graph in model.graphs():
        for node in graph.unordered_nodes():
            failure = failed.get((node.op_type, node.path))
            if failure is None:
                continue
            why = f"{node.op_type} '{node.path}' depends on it: {failure.reason}"
            waiting, visited = [node], {node}
            # Breadth first, and no further than a construct: these are the nearest ones.
            for current in waiting:
                producers = {v.producer for v in current.inputs if v is not None} - visited
                for producer in (each for each in producers if each is not None):
                    visited.add(producer)
                    if producer.op_type in CONSTRUCTS and not producer.is_op("Identity"):
                        reasons[producer.op_type, producer.path] = why
                    else:
                        waiting.append(producer)
    return reasons


class _Unblocker:
    def __init__(self, model: Model, reasons: dict[Place, str], passes: Sequence[Pass]) -> None:
        self.model = model
        self.reasons = reasons
        # Reversed, so that the first reason of an operator wins.
        self.of_operator = {op_type: why for (op_type, _), why in reversed(reasons.items())}
        self.passes = passes
        self.types = Types(model)
        self.constants = Constants(self.types, Folder(model))
        self.calls = CallGraph(model.functions)
        self.added = 0, 0
        self.remarks: list[Remark] = []
        self.obstacles: dict[Place, str] = {}
        self.operators: set[Operator] = set()
        self.seeds: dict[Graph, dict[Node, None]] = {}
        self.callers: dict[Function, list[Node]] = {}
        self.remaining = ""
        self.undecided: set[Function] = set()

    def run(self, nodes: Sequence[Node] | None = None) -> UnblockResult:
        """Rewrite inner graphs before those around them, functions before their callers.

        Args:
            nodes: the constructs; by default those with a reason.
        """
        self._survey(nodes)
        live = live_functions(self.model)
        roots: list[Model | Function] = [*self.calls.callees_first(), self.model]
        for root in roots:
            for graph in reversed(list(root.graph.walk())):
                stands = graph.holder is None or graph.holder.stands
                if graph in self.seeds and stands and self._rewrite_graph(graph):
                    self._blame_holders(graph)
        # A function whose last call is gone would stay unconverted.
        for key in live - live_functions(self.model):
            del self.model.functions[key]
        return UnblockResult(tuple(self.remarks), self.obstacles)

    def _survey(self, nodes: Sequence[Node] | None) -> None:
        """Find the constructs, and the calls of each function."""
        op_types = {op_type for op_type, _ in self.reasons} if nodes is None else ()
        for node in nodes or ():
            self.operators.add(node.op)
            self._blame(node)
        for graph in self.model.graphs():
            for node in graph.unordered_nodes():
                callee = self.calls.callee(node)
                if callee is not None:
                    self.callers.setdefault(callee, []).append(node)
                elif node.op_type in op_types and (node.op_type, node.path) in self.reasons:
                    self.operators.add(node.op)
                    self._blame(node)

    def _blame(self, node: Node) -> None:
        self.seeds.setdefault(node.parent, {})[node] = None

    def _blame_holders(self, graph: Graph) -> None:
        """Add the holder or the calls of a graph, which may decide its constructs."""
        if graph.holder is not None:
            self._blame(graph.holder)
            place = graph.holder.op_type, graph.holder.path
            self.reasons.setdefault(place, f"of what it holds: {self.remaining}")
        elif isinstance(graph.root, Function):
            self.undecided.add(graph.root)
            for call in self.callers.get(graph.root, ()):
                self._blame(call)

    def _rewrite_graph(self, graph: Graph) -> bool:
        """Rewrite the constructs of one graph, and test whether some remain."""
        # A rewrite of another graph may have removed some.
        self.seeds[graph] = {node: None for node in self.seeds[graph] if node.graph is graph}
        nodes = graph.nodes()
        places = {node: place for place, node in enumerate(nodes)}
        groups = [[places[node] for node in group] for group in self._groups(graph)]
        regions = [_between(graph, nodes, group) for group in _disjoint(groups)]
        blocked = [self._rewrite(graph, region) for region in regions]
        return any(blocked)

    def _groups(self, graph: Graph) -> Iterator[set[Node]]:
        """The constructs of a graph, each with all that share sequences or optionals with it."""
        import networkx as nx

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
        """Rewrite some nodes of a graph separately, and test whether a construct remains."""
        cut = Cut(self.model, graph, nodes, self.types, self.constants, self.calls)
        obstacle = cut.obstacle()
        if obstacle is not None:
            self.obstacles.update(
                {(n.op_type, n.path): obstacle for n in nodes if n.op in self.operators}
            )
            return True
        before = [(node.op_type, node.path) for node in self._constructs_in(cut.scratch)]
        cut.inline(self.undecided)
        context = PassContext(
            meter=Meter(*self.added),
            instrumentation=Instrumentation(watcher=current_watcher()),
            default_passes=self.passes,
            supports=lambda op_type, _: op_type not in CONSTRUCTS,
        )
        rewrite_model(self.passes, cut.scratch, context, repeat=True)
        remaining = self._constructs_in(cut.scratch)
        remarks = [dataclasses.replace(r, path=_prefix(graph) + r.path) for r in context.remarks]
        self.obstacles.update({place: r.reason for place, r in kept_constructs(remarks).items()})
        # Without fewer constructs the copy is thrown away.
        if len(remaining) < len(before):
            self.added = context.meter.added_nodes, context.meter.growth
            rewrites = [r for r in remarks if r.action == "rewritten"]
            self._remark(
                rewrites
                or [
                    Remark("straighten", op_type, _prefix(graph) + at, "rewritten", "dissolved")
                    for op_type, at in before  # removed without a remark of a pass
                ]
            )
            cut.put_in_place(self.operators)
        if remaining:
            self.remaining = f"{remaining[0].op_type} '{_prefix(graph)}{remaining[0].path}'"
        return bool(remaining)

    def _constructs_in(self, model: Model) -> list[Node]:
        nodes = (node for graph in model.graphs() for node in graph.unordered_nodes())
        return [node for node in nodes if node.op in self.operators]

    def _remark(self, remarks: Iterable[Remark]) -> None:
        """Add remarks of rewrites, with the reasons for the conversion."""
        for remark in remarks:
            place = remark.op_type, remark.path
            why = self.reasons.get(place, self.of_operator.get(remark.op_type))
            reason = remark.reason if why is None else f"{remark.reason}, because {why}"
            self.remarks.append(dataclasses.replace(remark, reason=reason))


def _prefix(graph: Graph) -> str:
    """The prefix of the paths of a graph's nodes."""
    if graph.holder is not None:
        return f"{graph.holder.path}/"
    return f"{graph.root.name}/" if graph.root.name else ""


def _disjoint(groups: Iterable[list[int]]) -> Iterator[list[int]]:
    """Groups of positions, joined where they overlap, in order."""
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
    """The nodes at some positions, with all on a path between them, in order."""
    window, view = nodes[min(group) : max(group) + 1], graph.view()
    after = {nodes[place] for place in group}
    before = set(after)
    # In topological order one walk forward and one backward find all paths.
    for node in window:
        if not after.isdisjoint(view.predecessors(node)):
            after.add(node)
    for node in reversed(window):
        if not before.isdisjoint(view.successors(node)):
            before.add(node)
    return [node for node in window if node in after and node in before]
