"""Conversion of every node of a model from one opset version to the next."""

import logging
from collections.abc import Callable, Sequence

from ..analysis.conformance import Conformance, rank_fault
from ..analysis.constants.folding import Folder
from ..analysis.constants.provenance import origins
from ..definitions import Expansion
from ..ir import Function, Model, Node, Operator, Value, nearest
from ..ir.attributes import LARGE
from ..ops.schema_queries import operators, schema_at
from ..passes import Progress
from ..passes.base import MAY_BE_CONTROL_FLOW
from . import scans
from .absent import AbsentInputs
from .conformance import conform, keep_defaults, require_types, target_schema
from .constants import Constants
from .declaring import declare_results
from .errors import Failure, Refused
from .function_body import function_body, instantiate_function, with_inner
from .narrow_constants import widen_constants
from .registry import (
    INEXACT_BODIES,
    UNFIT_BODIES,
    NodeDraft,
    adapt,
    expand_longer_form,
    has_adapter,
)
from .schemas import REVIEWED, first_opset
from .subgraph_extraction import drop_unread
from .types import Types, shape_of
from .via_wider_type import detour
from .worklist import Worklist

_log = logging.getLogger(__name__)

Decomposition = Callable[[NodeDraft], Sequence[Value | None]]
"""Computes the replacements of a node's outputs, or refuses before it adds any node."""

_MOST_EXPLAINED = 100
"""Limit of values whose origins are explained, which searches the whole graph."""


class Engine:
    """Conversion of a model in place, one version after the other.

    Attributes:
        failures: the nodes that could not be converted; with any, the model is unusable.
        additions: nodes with bodies that stand for nodes without any.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.types = Types(model)
        self.failures: list[Failure] = []
        self.additions: dict[Node, None] = {}
        self._conformance = Conformance(model)
        self._absent = AbsentInputs(model)
        self._folder = Folder(model)
        self._constants = Constants(self.types, self._folder)
        self._stuck: set[Node] = set()
        self._explained: dict[Value, str] = {}
        # Nodes that stand for another one, with its path and operator.
        self._origins: dict[Node, tuple[str, str]] = {}
        self._operators: dict[tuple[object, ...], Operator] = {}
        self._final: int | None = None

    def convert(
        self, root: Model | Function, target: int, progress: Progress | None = None
    ) -> None:
        """Convert the model's graph or one function to a version, with all graphs inside."""
        version = first = root.opset()
        self._final = target
        worklist = Worklist(root, target, self.model, self.types)
        while version != target:
            step = version + (1 if target > version else -1)
            if step < version and widen_constants(root, version):
                self.types = Types(self.model)
                worklist = Worklist(root, target, self.model, self.types)
            nodes = worklist.due(version)
            if progress is not None:
                what = f"{root}: opset {version} to {step}"
                progress(what, abs(version - first), abs(target - first))
            if nodes:
                _log.debug(
                    "%s: opset %d to %d, %d nodes to examine", root, version, step, len(nodes)
                )
                self._step(root, version, step, worklist, nodes)
                worklist.types = self.types
                worklist.step_done(step, [n for n in nodes if n not in self._stuck])
            else:
                _import(root, step)
            version = step

    def _step(
        self,
        root: Model | Function,
        source: int,
        target: int,
        worklist: Worklist,
        due: Sequence[Node],
    ) -> None:
        """Convert the due nodes to the next version."""
        # Within a step, due nodes have the old version beside converted ones; inference needs to
        # know which.
        self.types.begin_step(due, source)
        crossing, nodes, waiting = None, list(due), [n for n in due if n.op_type == "Scan"]
        if waiting and scans.crosses(source, target):
            crossing = scans.Crossing.of(root, self.model, source, self.types)
            nodes = [n for n in nodes if n.op_type != "Scan"]
        _import(root, target)
        self._constants = Constants(self.types, self._folder)
        while nodes:
            node = nodes.pop()
            if node.stands:
                inside = self._visit(node, source, target)
                nodes += [n for n in inside if worklist.is_due(n, source)]
        # Scans come last: copies of their bodies need the next version.
        if crossing is not None and not self.failures:
            self._cross(crossing, source, target)
        elif crossing is not None:
            for node in waiting:
                self._skip(node, source)

    def _cross(self, crossing: scans.Crossing, source: int, target: int) -> None:
        """Convert Scans across opsets 8 and 9, between which their meaning differs."""
        for node, path, reason, added in crossing.run():
            if reason is not None:
                self._fail(node, source, target, reason)
            else:
                origin = self._origins.get(node, (path, "Scan"))
                self._origins.update((new, origin) for new in added)
        if not self.failures:
            self.types = Types(self.model)
            # Declarations of other nodes may be part of their meaning, as those of a Loop are.
            graphs = crossing.root.graph.walk()
            scans_now = [n for g in graphs for n in g.unordered_nodes() if n.op_type == "Scan"]
            declare_results(scans_now, self.types)

    def _visit(self, node: Node, source: int, target: int) -> list[Node]:
        """Convert one node, and return nodes still in the old version."""
        newer = max(source, target)
        # A newer schema may change the meaning without a new attribute; nothing but a
        # review can tell.
        if newer > REVIEWED:
            self._fail(node, source, target, f"opset {newer} is newer than this straightline")
            return []
        if schema_at(node.op_type, source) is None:
            self._fail(node, source, target, _missing(node.op_type, source))
            return []
        # The adapter keeps the node; a longer form costs nodes, and so comes second.
        try:
            self._adapt(node, source, target)
            return []
        except Refused as refusal:
            return self._fall_back(node, source, target, refusal)

    def _adapt(self, node: Node, source: int, target: int) -> None:
        """Convert one node by its adapter, and conform it to the next version's schema.

        Raises:
            Refused: that version cannot express the node.
        """
        draft = self._draft(node, source, target)
        schema_there = schema_at(node.op_type, target)
        if schema_there is not None:
            keep_defaults(draft, schema_there)
        if has_adapter(draft):
            self._require_presence(draft)
            require_types(draft)
        outcome = adapt(draft)
        self._note_origin(node, draft.added)
        self._require_conformance(node, draft.added, target)
        if outcome is not None:
            self._supersede(node, outcome)
            return
        schema = target_schema(draft)
        if schema is None:
            is_deprecated = schema_there is not None and schema_there.deprecated
            what = "is deprecated" if is_deprecated else "does not exist"
            draft.refuse(f"{draft.op_type} {what} in opset {target}")
        conform(draft, schema)
        _redraft(node, draft, schema.max_output, _operator_of(draft, self._operators))
        self.types.mark_converted(node)

    def _fall_back(self, node: Node, source: int, target: int, refusal: Refused) -> list[Node]:
        """Replace a node by convertible ones of the old version: another type, a longer form, or a
        function."""
        draft = self._draft(node, source, target)
        results: Sequence[Value | None] | None
        try:
            self._require_presence(draft)
            results, added = detour(draft), draft.added
            if results is None:
                results, added = self._longer_form(draft)
            else:
                self._require_conformance(node, added, source)
        except Refused as other:
            self._fail(node, source, target, self._full_reason(refusal, other))
            return []
        inside = list(with_inner(added))
        self._note_origin(node, inside)
        self._supersede(node, results)
        return inside

    def expand_node(self, node: Node, version: int, form: Decomposition | None = None) -> None:
        """Replace a node by its longer form or its function, in the same version.

        Args:
            form: computes the replacements in the place of both.

        Raises:
            Refused: no form supports the node; the model is unchanged.
        """
        draft = self._draft(node, version, version if form else version - 1)
        self._require_presence(draft)
        if form is None:
            results, _ = self._longer_form(draft)
        else:
            require_types(draft)
            results = form(draft)
            self._require_conformance(node, draft.added, version)
        self._supersede(node, results)

    def expand_definition(self, node: Node, expansion: Expansion) -> None:
        """Replace an operator outside of ONNX by its definition.

        Raises:
            Refused: a node of it does not conform; the model is unchanged.
        """
        version = expansion.opset
        results, added = instantiate_function(expansion.proto, node, version, self.types)
        self._require_conformance(node, added, version)
        self._supersede(node, results)

    def _draft(self, node: Node, source: int, target: int) -> NodeDraft:
        """A draft of a node, without inputs that every call of its function omits."""
        # An input that no call of the function passes has no type; left in, it would
        # count as an unknown operand.
        if not self._absent.always.isdisjoint(node.inputs):
            graph = node.parent
            for index, value in enumerate(node.inputs):
                if value in self._absent.always:
                    graph.set_input(node, index, None)
        draft = NodeDraft(node, source, target, self.types, self._constants)
        draft.final = target if self._final is None else self._final
        return draft

    def _require_presence(self, draft: NodeDraft) -> None:
        """Check that no input of a node is absent in only some calls.

        Raises:
            Refused: one is.
        """
        for value in draft.node.inputs:
            if value is not None and value in self._absent.sometimes:
                draft.refuse(f"'{value.name}' is left out by some calls of the function")

    def _longer_form(self, draft: NodeDraft) -> tuple[Sequence[Value | None], list[Node]]:
        """The replacements of a node's outputs in its own version, and the new nodes."""
        node, version, other = draft.node, draft.source, Refused("")
        require_types(draft)
        try:
            results = expand_longer_form(draft)
        except Refused as refusal:
            results, other = None, refusal
        added = draft.added
        if results is None:
            # The function body of these operators in the specification rounds unlike
            # their kernels.
            unfit = UNFIT_BODIES.get(node.op_type)
            inexact = node.op_type in INEXACT_BODIES or (unfit is not None and unfit(node))
            proto = None if inexact else function_body(node, version, self.types)
            if proto is None:
                raise other
            results, added = instantiate_function(proto, node, version, self.types)
        self._require_conformance(node, added, version)
        self._require_ranks(node, results, added, version)
        return results, added

    def _require_conformance(self, node: Node, added: Sequence[Node], version: int) -> None:
        """Check new nodes against their schemas, and remove them where one does not conform.

        Raises:
            Refused: a node does not conform.
        """
        for new in with_inner(added):
            types = self.types.plain_elem_types((*new.inputs, *new.outputs))
            count = len(new.inputs)
            fault = self._conformance.of_form(new.op, version, types[:count], types[count:])
            fault = rank_fault(new) if fault is None else fault
            if fault is not None:
                _discard(added)
                raise Refused(f"its longer form needs {new.op_type}, which {fault}")

    def _require_ranks(
        self, node: Node, results: Sequence[Value | None], added: Sequence[Node], version: int
    ) -> None:
        """Check that results have the ranks of the outputs they replace.

        Raises:
            Refused: a rank differs.
        """
        # Declarations may be false; inference of the node itself is not.
        inferred = [shape_of(type_) for type_ in self.types.of_outputs(node, node.op, version)]
        for shape, new in zip(inferred, results, strict=False):
            rank = None if new is None or shape is None else self.types.rank(new)
            if rank is not None and shape is not None and rank != len(shape):
                _discard(added)
                raise Refused(f"its replacement is of rank {rank}, not {len(shape)}")

    def _full_reason(self, refusal: Refused, other: Refused) -> str:
        """Text of both refusals of a node, with the origins of undecided values."""
        reason = self._with_origin(refusal)
        around = "" if other.reason == refusal.reason else self._with_origin(other)
        return f"{reason} (another form: {around})" if around else reason

    def _with_origin(self, refusal: Refused) -> str:
        reason, value = refusal.reason, refusal.undecided
        if value is None or len(self._explained) == _MOST_EXPLAINED:
            return reason
        if value not in self._explained:
            self._explained[value] = origins(value)
        return f"{reason}; it depends on {self._explained[value]}"

    def _note_origin(self, node: Node, added: Sequence[Node]) -> None:
        """Record the node that new nodes replace."""
        if added:
            origin = self._origins.get(node, (node.path, node.op_type))
            self._origins.update((new, origin) for new in added)
            if origin[1] not in MAY_BE_CONTROL_FLOW:
                self.additions.update(dict.fromkeys([new for new in added if new.bodies]))

    def _skip(self, node: Node, version: int) -> None:
        """Exclude a node, to find what else cannot be converted."""
        self._stuck.add(node)
        self.types.pin_version(node, version)

    def _fail(self, node: Node, source: int, target: int, reason: str) -> None:
        """Record that a node cannot be converted, by its original path and operator."""
        self._skip(node, source)
        path, op_type = node.path, node.op_type
        if node in self._origins:
            path, op_type = self._origins[node]
            reason = f"its replacement needs {node.op_type}: {reason}"
        failure = Failure(path, op_type, source, target, reason)
        if failure not in self.failures:
            self.failures.append(failure)

    def _supersede(self, node: Node, values: Sequence[Value | None]) -> None:
        """Replace a node's outputs by values, and transfer their known types."""
        graph = node.parent
        # Name and metadata pass to the replacement only if a single node replaces this
        # one.
        single = {v.producer for v in values if v is not None}
        for old, new in zip(node.outputs, values, strict=False):
            if old is not None and new is not None:
                output = graph.supersede(old, new)
                for value in dict.fromkeys((new, output)):
                    self.types.transfer(old, value)
        inputs = list(node.inputs)
        graph.remove(node)
        drop_unused(inputs)
        if len(single) == 1:
            (last,) = single
            if last is not None and last.graph is graph:
                inherit(last, node)


def _discard(added: Sequence[Node]) -> None:
    """Remove new nodes, which only they themselves read."""
    drop_unread([value for node in added for value in node.outputs if value is not None])


def _import(root: Model | Function, version: int) -> None:
    root.opset_imports["ai.onnx" if "ai.onnx" in root.opset_imports else ""] = version


def _missing(op_type: str, version: int) -> str:
    """Message for a node whose operator its opset does not have."""
    absence = f"{op_type} does not exist in opset {version}"
    since = first_opset(op_type)
    if since is None:
        suggestion = nearest(op_type, operators())
        question = "" if suggestion is None else f"did you mean '{suggestion}'? else "
        return f"{absence}, nor in any known opset; {question}put it in a domain of your own"
    return f"{absence}; it came with opset {since}"


def _operator_of(draft: NodeDraft, shared: dict[tuple[object, ...], Operator]) -> Operator:
    """The operator of a draft, shared by the nodes that shared the old one."""
    old, attributes = draft.node.op, draft.attributes
    if old.op_type == draft.op_type and dict(old.attributes) == attributes:
        return old
    operator = Operator(draft.op_type, attributes, old.domain, "", old.extra)
    # The bytes of tensors and graphs are dear to compare.
    if any(message.type in LARGE for message in attributes.values()):
        return operator
    content = [(name, message.SerializeToString()) for name, message in attributes.items()]
    return shared.setdefault((old, draft.op_type, *content), operator)


def _redraft(node: Node, draft: NodeDraft, max_output: int, op: Operator) -> None:
    """Apply a draft to its node, without touching what did not change."""
    graph = draft.graph
    if op is not node.op:
        graph.set_operator(node, op)
    if draft.inputs != list(node.inputs):
        old = [v for v in node.inputs if v is not None]
        graph.resize_inputs(node, len(draft.inputs))
        for index, value in enumerate(draft.inputs):
            if value is not node.inputs[index]:
                graph.set_input(node, index, value)
        drop_unused(old)
    # Outputs beyond the version's are unused, or the draft would not conform.
    if len(node.outputs) > max_output:
        graph.set_node_outputs(node, node.outputs[:max_output])


def inherit(node: Node, old: Node) -> None:
    """Copy name, doc string and metadata from the node that a new one replaces."""
    op, node.name = node.op, old.name
    if old.op.extra is not None and op.extra is None and node.graph is not None:
        described = Operator(op.op_type, op.attributes, op.domain, op.overload, old.op.extra)
        node.graph.set_operator(node, described)


def drop_unused(values: Sequence[Value | None]) -> None:
    """Remove constants without readers."""
    drop_unread([value for value in values if value is not None and value.constant is not None])
