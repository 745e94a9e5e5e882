"""Carrying every node of a model from one opset version to the next."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence

from ..analysis.conformance import Conformance, rank_fault
from ..analysis.constants.folding import Folder
from ..analysis.constants.provenance import origins
from ..ir import Function, Graph, Model, Node, Operator, Value, captured_by, nearest
from ..ir.attributes import LARGE
from ..ops.schemas import operators, schema_at
from ..passes import Progress
from . import scans
from .absent import AbsentInputs
from .conformance import conform, keep_defaults, require_types, target_schema
from .constants import Constants
from .declaring import declare_results
from .errors import Failure, Refused
from .function_body import function_body, instantiate_function
from .node_draft import Site
from .onnx_fallback import Batch
from .registry import INEXACT_BODIES, adapt, has_adapter, in_longer_form
from .schemas import OLDEST, REVIEWED, first_opset
from .types import Types, shape_of
from .via_wider_type import detour
from .worklist import Agenda

_log = logging.getLogger(__name__)

Form = Callable[[Site], Sequence[Value | None]]
"""Makes of a node what takes the place of its outputs, or refuses before it adds anything."""

_MOST_EXPLAINED = 100
"""Of so many values is told what they depend on, which takes looking through the whole graph."""


class Engine:
    """Converts a model in place, one version after the other.

    Attributes:
        failures: the nodes that could not be carried over; the model is of no use if there are any.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.types = Types(model)
        self.failures: list[Failure] = []
        self._conformance = Conformance(model)
        self._absent = AbsentInputs(model)
        self._folder = Folder(model)
        self._constants = Constants(self.types, self._folder)
        self._stuck: set[Node] = set()
        self._explained: dict[Value, str] = {}
        # Nodes that stand for another one, with its path and operator.
        self._origins: dict[Node, tuple[str, str]] = {}
        self._drafted = Drafted()

    def convert(
        self, root: Model | Function, target: int, progress: Progress | None = None
    ) -> None:
        """Carry the model's graph or one function to a version, with all graphs inside."""
        version = first = root.opset()
        agenda = Agenda(root, target, self.model, self.types)
        while version != target:
            step = version + (1 if target > version else -1)
            nodes = agenda.due(version)
            if progress is not None:
                what = f"{root}: opset {version} to {step}"
                progress(what, abs(version - first), abs(target - first))
            if nodes:
                _log.debug(
                    "%s: opset %d to %d, %d nodes to look at", root, version, step, len(nodes)
                )
                self._step(root, version, step, agenda, nodes)
                agenda.types = self.types
                agenda.step_done(step, [n for n in nodes if n not in self._stuck])
            else:
                _import(root, step)
            version = step

    def _step(
        self, root: Model | Function, source: int, target: int, agenda: Agenda, due: Sequence[Node]
    ) -> None:
        """Carry the nodes that have work to do to the next version."""
        self.types.begin_step(due, source)
        crossing, nodes, waiting = None, list(due), [n for n in due if n.op_type == "Scan"]
        if waiting and scans.crosses(source, target):
            crossing = scans.Crossing(root, self.model, source, self.types)
            nodes = [n for n in nodes if n.op_type != "Scan"]
        _import(root, target)
        batch = Batch(source, target, self.types)
        self._constants = Constants(self.types, self._folder)
        while nodes:
            node = nodes.pop()
            if node.stands:
                inside = self._visit(node, source, target, batch)
                nodes += [n for n in inside if agenda.is_due(n, source)]
        self._convert_by_onnx(batch)
        # Scans come last: their bodies, which are copied, are in the next version by now.
        if crossing is not None and not self.failures:
            self._cross(crossing, source, target)
        elif crossing is not None:
            for node in waiting:
                self._leave(node, source)

    def _cross(self, crossing: scans.Crossing, source: int, target: int) -> None:
        """Carry Scans over to the opset in which they mean something else."""
        for node, path, reason, added in crossing.run():
            if reason is not None:
                self._fail(node, source, target, reason)
            else:
                self._origins.update((new, (path, "Scan")) for new in added)
        if not self.failures:
            self.types = Types(self.model)
            # What other nodes declare may be part of their meaning, as that of a Loop is.
            graphs = crossing.root.graph.walk()
            scans_now = [n for g in graphs for n in g.unordered_nodes() if n.op_type == "Scan"]
            declare_results(scans_now, self.types)

    def _visit(self, node: Node, source: int, target: int, batch: Batch) -> list[Node]:
        """Convert one node; what comes back are nodes that are still in the old version."""
        if not OLDEST < max(source, target) <= REVIEWED:
            batch.add(node)
            return []
        if schema_at(node.op_type, source) is None:
            self._fail(node, source, target, _missing(node.op_type, source))
            return []
        try:
            self._adapt(node, source, target)
            return []
        except Refused as refusal:
            return self._by_another_way(node, source, target, refusal)

    def _adapt(self, node: Node, source: int, target: int) -> None:
        """Carry one node over: by its adapter, and as the schema of the next version wants it.

        Raises:
            Refused: that version cannot say what the node does.
        """
        site = self._site(node, source, target)
        known = schema_at(node.op_type, target)
        if known is not None:
            keep_defaults(site, known)
        if has_adapter(site):
            self._require_presence(site)
            require_types(site)
        outcome = adapt(site)
        self._come_from(node, site.added)
        self._require_conformance(node, site.added, target)
        if outcome is not None:
            self._supersede(node, outcome)
            return
        schema = target_schema(site)
        if schema is None:
            gone = known is not None and known.deprecated
            what = "is deprecated" if gone else "does not exist"
            site.refuse(f"{site.op_type} {what} in opset {target}")
        conform(site, schema)
        redraft(node, site, schema.max_output, self._drafted)
        self.types.carried_over(node)

    def _by_another_way(self, node: Node, source: int, target: int, refusal: Refused) -> list[Node]:
        """Say in the old version what can be converted: in another type, in a longer form, or by a
        function."""
        site = self._site(node, source, target)
        results: Sequence[Value | None] | None
        try:
            self._require_presence(site)
            results, added = detour(site), site.added
            if results is None:
                results, added = self._in_other_words(site)
            else:
                self._require_conformance(node, added, source)
        except Refused as other:
            self._fail(node, source, target, self._told(refusal, other))
            return []
        inside = list(self._inside(added))
        self._come_from(node, inside)
        self._supersede(node, results)
        return inside

    def say_in_other_words(self, node: Node, version: int) -> None:
        """Put others of the same version in the place of a node: its longer form, or its function.

        Raises:
            Refused: it has neither there; the model stays as it is.
        """
        site = self._site(node, version, version - 1)
        self._require_presence(site)
        results, _ = self._in_other_words(site)
        self._supersede(node, results)

    def say_by(
        self, form: Callable[[Site], Sequence[Value | None]], node: Node, version: int
    ) -> None:
        """Put what a form makes of a node, all of the same version, in its place.

        Raises:
            Refused: it cannot be made of this node; the model stays as it is.
        """
        site = self._site(node, version, version)
        self._require_presence(site)
        require_types(site)
        results = form(site)
        self._require_conformance(node, site.added, version)
        self._supersede(node, results)

    def _site(self, node: Node, source: int, target: int) -> Site:
        """A draft of a node, without the inputs that every call of its function leaves out."""
        if not self._absent.always.isdisjoint(node.inputs):
            graph = node.graph
            assert graph is not None
            for index, value in enumerate(node.inputs):
                if value in self._absent.always:
                    graph.set_input(node, index, None)
        return Site(node, source, target, self.types, self._constants)

    def _require_presence(self, site: Site) -> None:
        """Check that no input of the function around a node is absent in some calls alone.

        Raises:
            Refused: one is.
        """
        for value in site.node.inputs:
            if value is not None and value in self._absent.sometimes:
                site.refuse(
                    f"'{value.name}' is left out by some calls of the function; inline it first"
                )

    def _in_other_words(self, site: Site) -> tuple[Sequence[Value | None], list[Node]]:
        """What stands for a node in its own version, and the nodes that were added for it."""
        node, version, other = site.node, site.source, Refused("")
        require_types(site)
        try:
            results = in_longer_form(site)
        except Refused as refusal:
            results, other = None, refusal
        added = site.added
        if results is None:
            inexact = node.op_type in INEXACT_BODIES
            proto = None if inexact else function_body(node, version, self.types)
            if proto is None:
                raise other
            results, added = instantiate_function(proto, node, version, self.types)
        self._require_conformance(node, added, version)
        self._require_ranks(node, results, added, version)
        return results, added

    def _require_conformance(self, node: Node, added: Sequence[Node], version: int) -> None:
        """Check new nodes against their schemas; those of a form that does not fit are removed.

        Raises:
            Refused: a node does not conform.
        """
        for new in self._inside(added):
            types = self.types.plain_elem_types((*new.inputs, *new.outputs))
            count = len(new.inputs)
            fault = self._conformance.of_form(new.op, version, types[:count], types[count:])
            fault = rank_fault(new) if fault is None else fault
            if fault is not None:
                self._discard(added)
                raise Refused(f"its longer form needs {new.op_type}, which {fault}")

    def _require_ranks(
        self, node: Node, results: Sequence[Value | None], added: Sequence[Node], version: int
    ) -> None:
        """Check that results have the ranks of the outputs that they replace.

        Raises:
            Refused: a rank is another one.
        """
        # Declarations may be false; inference of the node itself is not.
        inferred = [shape_of(type_) for type_ in self.types.of_outputs(node, node.op, version)]
        for shape, new in zip(inferred, results, strict=False):
            rank = None if new is None or shape is None else self.types.rank(new)
            if rank is not None and shape is not None and rank != len(shape):
                self._discard(added)
                raise Refused(f"what would stand for it is of rank {rank}, not {len(shape)}")

    def _discard(self, added: Sequence[Node]) -> None:
        """Remove new nodes, which nothing but they themselves reads."""
        new, pending = set(added), list(added)
        while pending:
            node = pending.pop()
            graph = node.graph
            if graph is None or graph.is_needed(node):
                continue
            inputs = [*node.inputs, *captured_by(node)]
            graph.remove(node)
            drop_unused(inputs)
            pending += [v.producer for v in inputs if v is not None and v.producer in new]

    def _told(self, refusal: Refused, other: Refused) -> str:
        """Why a node cannot be carried over, what it depends on, and why not in a longer form."""
        reason = self._with_origin(refusal)
        around = "" if other.reason == refusal.reason else self._with_origin(other)
        return f"{reason} (a way around: {around})" if around else reason

    def _with_origin(self, refusal: Refused) -> str:
        reason, value = refusal.reason, refusal.undecided
        if value is None or len(self._explained) == _MOST_EXPLAINED:
            return reason
        if value not in self._explained:
            self._explained[value] = origins(value)
        return f"{reason}; it depends on {self._explained[value]}"

    def _come_from(self, node: Node, added: Sequence[Node]) -> None:
        """Note for which node others now stand."""
        if added:
            origin = self._origins.get(node, (node.path, node.op_type))
            self._origins.update((new, origin) for new in added)

    def _inside(self, nodes: Sequence[Node]) -> Iterator[Node]:
        """Some nodes, and all in their bodies."""
        for node in nodes:
            yield node
            for graph in node.graphs():
                for inner in graph.walk():
                    yield from inner.unordered_nodes()

    def _convert_by_onnx(self, batch: Batch) -> None:
        """Let onnx carry over what was put aside for it."""
        done, refused = batch.run()
        for node, values in done:
            self._supersede(node, values)
        for node, reason in refused:
            self._fail(node, batch.source, batch.target, reason)

    def _leave(self, node: Node, version: int) -> None:
        """Go on without a node, to find what else cannot be carried over."""
        self._stuck.add(node)
        self.types.leave_behind(node, version)

    def _fail(self, node: Node, source: int, target: int, reason: str) -> None:
        """Note that a node cannot be carried over, by the path and operator that it came with."""
        self._leave(node, source)
        path, op_type = node.path, node.op_type
        if node in self._origins:
            path, op_type = self._origins[node]
            reason = f"what stands for it needs {node.op_type}: {reason}"
        failure = Failure(path, op_type, source, target, reason)
        if failure not in self.failures:
            self.failures.append(failure)

    def _supersede(self, node: Node, values: Sequence[Value | None]) -> None:
        """Put values in the place of a node's outputs, with all that is known about those."""
        graph = node.graph
        assert graph is not None
        single = {v.producer for v in values if v is not None}
        for old, new in zip(node.outputs, values, strict=False):
            if old is not None and new is not None:
                self._replace(graph, old, new)
        inputs = list(node.inputs)
        graph.remove(node)
        drop_unused(inputs)
        if len(single) == 1:
            (last,) = single
            if last is not None and last.graph is graph:
                inherit(last, node)

    def _replace(self, graph: Graph, old: Value, new: Value) -> None:
        placed = graph.supersede(old, new)
        for value in dict.fromkeys((new, placed)):
            self.types.hand_over(old, value)


def _import(root: Model | Function, version: int) -> None:
    root.opset_imports["ai.onnx" if "ai.onnx" in root.opset_imports else ""] = version


def _missing(op_type: str, version: int) -> str:
    """What is said of an operator that an opset does not have, though a node of it has it."""
    said = f"{op_type} does not exist in opset {version}"
    since = first_opset(op_type)
    if since is None:
        meant = nearest(op_type, operators())
        asked = "" if meant is None else f"did you mean '{meant}'? else "
        return f"{said}, nor in any that is known; {asked}give it a domain of its own"
    return f"{said}; it came with opset {since}"


class Drafted:
    """The operators of drafts: nodes that shared one and still say the same share the new one."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Operator] = {}

    def of(self, site: Site) -> Operator:
        """The operator of a draft."""
        old, attributes = site.node.op, site.attributes
        if old.op_type == site.op_type and dict(old.attributes) == attributes:
            return old
        made = Operator(site.op_type, attributes, old.domain, "", old.extra)
        if any(message.type in LARGE for message in attributes.values()):
            return made
        said = [(name, message.SerializeToString()) for name, message in attributes.items()]
        return self._known.setdefault((old, site.op_type, *said), made)


def redraft(node: Node, site: Site, max_output: int, drafted: Drafted) -> None:
    """Make a node what its draft says, without touching what did not change."""
    graph, op = site.graph, drafted.of(site)
    if op is not node.op:
        graph.set_operator(node, op)
    if site.inputs != list(node.inputs):
        old = [v for v in node.inputs if v is not None]
        graph.resize_inputs(node, len(site.inputs))
        for index, value in enumerate(site.inputs):
            if value is not node.inputs[index]:
                graph.set_input(node, index, value)
        drop_unused(old)
    # Outputs that the version does not have are unused, or the draft would not conform.
    if len(node.outputs) > max_output:
        graph.set_node_outputs(node, node.outputs[:max_output])


def inherit(node: Node, old: Node) -> None:
    """Give a node the name, and the doc string and metadata, of the one that it replaces."""
    node.name = old.name
    if old.op.extra is not None and node.op.extra is None:
        op = node.op
        assert node.graph is not None
        node.graph.set_operator(
            node, Operator(op.op_type, op.attributes, op.domain, op.overload, old.op.extra)
        )


def drop_unused(values: Sequence[Value | None]) -> None:
    """Remove constants that nothing reads any more."""
    for value in dict.fromkeys(values):
        if value is None or value.constant is None or value.graph is None:
            continue
        graph, producer = value.graph, value.producer
        if value.pinned or graph.is_used(value):
            continue
        if producer is not None:
            if not graph.is_needed(producer):
                graph.remove(producer)
        elif value not in graph.inputs:
            graph.remove_initializer(value)
