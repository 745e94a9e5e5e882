"""Legalization: replacement of the nodes that a target does not support.

A node is copied to a scratch model, in which one way after the other is tried until the target
supports all its nodes. The ways are those of conversion: the form of an older opset, which lacks
the operator too, is converted back to the opset of the model, so that each is as exact as a
conversion. A node without such a form stays as it is, also where the form needs other unsupported
operators.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..analysis.constants.folding import Folder
from ..facts.fact import Fact, is_settled
from ..ir import Function, Graph, Model, Node, Operator, Value, normal_domain
from ..ir.lazy import lazy_property
from ..ir.opaque import Reads
from ..ops.schema_queries import schema_at
from ..passes import (
    EliminateDeadFunctions,
    EliminateDeadNodes,
    EliminateIdentities,
    FoldConstants,
    PassContext,
    RaiseRecurrences,
    VectorizeLoops,
)
from ..passes.functions.binding import bind, inline_call, obstacle
from ..passes.functions.calls import CallGraph, function_size
from ..passes.manager.registry import DEFAULT_PASSES
from ..passes.remarks import BY_DEFINITION
from ..passes.utils.budget import Budget
from ..passes.utils.trial import try_passes
from ..passes.utils.value_numbering import identity_key, merge_constants
from ..version_converter import ConversionError, convert
from ..version_converter.constants import Constants
from ..version_converter.defined_operators import is_defined, rounds, write_definition
from ..version_converter.engine import Decomposition, Engine
from ..version_converter.errors import Refused
from ..version_converter.registry import LONGER_FORMS
from ..version_converter.schemas import OLDEST, REVIEWED, first_opset
from ..version_converter.subgraph_extraction import Cut, identity_source
from .body_templates import BodyTemplate, Forms, NodeForm, OpaqueConstants
from .decompositions import DECOMPOSITIONS, decompositions_of
from .legality import Legality, name_of
from .outputs import isolatable_outputs, isolate_outputs
from .recurrences import RECURRENT, expansions
from .target import Target
from .write_out import NodeReplacement, write_out

Way = Callable[[Model], None]
"""Replaces the node of a scratch model by others, in place."""

_TIDY = (FoldConstants(), EliminateIdentities(), EliminateDeadNodes())
_STRAIGHTEN = tuple(
    p for p in DEFAULT_PASSES if not isinstance(p, VectorizeLoops | RaiseRecurrences)
)
_DEEPEST = 4
"""Limit of nested replacements."""

_OPEN = "too many forms of the operators that it needs fail"

_OPSET = 17
"""The opset of ONNX's operators in a model that had none, where the target supports it."""


class Legalized(NamedTuple):
    """Result of a legalization.

    Attributes:
        unsupported: the other unsupported nodes with reasons.
        facts: outputs of the model whose facts inference would find as they were before.
    """

    replaced: list[NodeReplacement]
    unsupported: Mapping[Node, str]
    facts: Mapping[Value, Fact]


def legalize(model: Model, target: Target, budget: Budget) -> Legalized:
    """Replace unsupported nodes in place, where the target supports all replacements."""
    # A client that reads no functions may still support every node in them.
    if model.functions and not target.functions:
        _inline_functions(model, budget)
    replaced: list[NodeReplacement] = []
    # Without an Identity, a constant would be one again.
    constants = target.lists("Identity", model.opset())
    positions: set[int] = set()
    while True:
        behind = isolate_outputs(model, constants, target.inner) if target.own_outputs else []
        replaced += _identity_outputs(behind)
        # Where an Identity became a constant again, the next one stays, supported or not.
        places = {
            at for at, value in enumerate(model.graph.outputs) if identity_source(value) in behind
        }
        within = ("Identity",) if places and places <= positions else ()
        legalizer = _Legalizer(model, target, budget, within)
        more, unsupported = legalizer.run()
        is_whole = not replaced
        replaced += more
        positions |= places
        if not (target.own_outputs and any(isolatable_outputs(model, constants, target.inner))):
            return Legalized(replaced, unsupported, legalizer.facts() if is_whole else {})


def _identity_outputs(values: Iterable[Value]) -> Iterator[NodeReplacement]:
    """Replacements of nodes whose outputs got an Identity, each once."""
    nodes = dict.fromkeys(value.producer or value for value in values)
    for one in nodes:
        place = ("Constant", one.name) if isinstance(one, Value) else (one.op_type, one.path)
        yield NodeReplacement(*place, "output of an Identity")


def _inline_functions(model: Model, budget: Budget) -> None:
    """Inline the model's functions, up to the budget."""
    calls, fold = CallGraph(model.functions), Folder(model).fold
    added, open_ = 0, list(model.graph.walk())
    while open_:
        graph = open_.pop()
        for node in graph.nodes():
            function = calls.callee(node)
            if function is None or obstacle(function, node, calls) is not None:
                continue
            added += function_size(function)
            if added > budget.max_nodes:
                return
            inline_call(node, bind(function, node), fold)
            open_.append(graph)  # for the calls in its body
    EliminateDeadFunctions().run(model, PassContext())


class _Legalizer:
    """NodeReplacement of the unsupported nodes in one model.

    Args:
        model: the model, changed in place.
        within: the operators that this model replaces and the labels of ways, outermost first.
        templates: the bodies for nodes by form, or the reasons why there are none, shared by all
            models of one replacement.
        is_part: true for a part of a model.
    """

    def __init__(
        self,
        model: Model,
        target: Target,
        budget: Budget,
        within: tuple[str, ...] = (),
        templates: dict[Hashable, BodyTemplate | str] | None = None,
        is_part: bool = False,
    ) -> None:
        self.model = model
        self.target = target
        self.budget = budget
        self.within = within
        self.legality = Legality(target, model, is_part)
        self._calls = CallGraph(model.functions)
        self._replaced: list[NodeReplacement] = []
        self._tried: dict[Node, str] = {}
        self._templates = {} if templates is None else templates
        self._staying: dict[tuple[Operator, Model | Function], bool] = {}
        self._folder = Folder(model)
        self._old_constants: dict[Graph, set[Value]] = {}  # before recurrences were expanded
        self._keeps_facts = True

    def run(self) -> tuple[list[NodeReplacement], Mapping[Node, str]]:
        """Replace until every unsupported node was tried. Replacements are supported, so that this
        ends."""
        self._replaced += write_out(Legality(self.target, self.model))
        self._keeps_facts = not self._replaced
        while True:
            unsupported = self.legality.unsupported()
            if all(node in self._tried for node in unsupported):
                for graph, had in self._old_constants.items():
                    merge_constants(graph, had, identity_key)
                return self._replaced, {
                    node: "; ".join(filter(None, (why, self._tried[node])))
                    for node, why in unsupported.items()
                }
            new = [node for node in unsupported if node not in self._tried]
            for node in new:
                if not self._is_removed(node):
                    self._tried[node] = self._replace(node)

    def facts(self) -> dict[Value, Fact]:
        """Facts of the model's outputs that inference would find again; none where one may not."""
        # What follows from a body may rest on a declaration in it, which these types trust.
        if not (self._keeps_facts and self._replaced) or len(list(self.model.graphs())) > 1:
            return {}
        facts = {value: self.legality.types.fact(value) for value in self.model.graph.outputs}
        return {value: fact for value, fact in facts.items() if fact and is_settled(fact)}

    def _is_removed(self, node: Node) -> bool:
        """Test whether a node, or a node around it, was removed."""
        if node.graph is None:
            return True
        holder = node.graph.holder
        while holder is not None and holder.graph is not None:
            holder = holder.graph.holder
        return holder is not None

    def _form(self, node: Node) -> NodeForm | None:
        """Return all of a node that decides its replacement; None where more might decide it."""
        # A body, the weights of a recurrence or a reference to an attribute of a call decide as
        # well, and are not part of a form.
        if node.bodies or node.op_type in RECURRENT or node.op.references:
            return None
        return self._forms.of(node)

    def _stays(self, node: Node) -> bool:
        """Test whether a node stays without a try."""
        has_no_way = bool(normal_domain(node.op.domain)) and not (
            name_of(node) in DECOMPOSITIONS or is_defined(node)
        )
        return has_no_way or name_of(node) in self.within or len(self.within) == _DEEPEST

    def _replace(self, node: Node) -> str:
        """Replace a node.

        Returns:
            the reason why it failed; "" on success.
        """
        kind = node.op, node.parent.root
        if kind not in self._staying:
            self._staying[kind] = self._stays(node)
        if self._staying[kind]:
            return ""
        form = self._form(node)
        if form is None:
            return self._replace_alone(node)
        template = self._template(node, form)
        if isinstance(template, str):
            return template
        replacement = NodeReplacement(node.op_type, node.path, template.summary)
        self._spend(template.size)
        # The template read constants of the first node that this one does not have in this form.
        if not template.fill(node, form, self.legality.types):
            return self._replace_alone(node)
        if None in form.tensors:
            self._constants.leave_open(form.results)
        self._keeps_facts &= template.keeps_facts
        self._replaced.append(replacement)
        return ""

    def _template(self, node: Node, form: NodeForm) -> BodyTemplate | str:
        """Return the body that replaces nodes of a form; the reason where none does.

        The first node of a form decides for all.
        """
        template = self._templates.get(form.like)
        # The earlier decision read elements, so one that uses its result does, too.
        if template is None and form.exact in self._templates:
            form.read()
            template = self._templates[form.exact]
        if template is None:
            note = Reads()
            constants = OpaqueConstants(self.legality.types, self._constants, note)
            cut = self._first_success(node, constants)
            if isinstance(cut, Cut):
                template = BodyTemplate(cut, note, _summary(_operators(cut.scratch.graph), node))
            else:
                template = cut
            # With more forms left, a later search may find what this one had to leave open.
            if isinstance(cut, Cut) or not (self.within and self.budget.is_spent):
                self._templates[form.exact if note.any else form.like] = template
        return template

    def _replace_alone(self, node: Node) -> str:
        """Replace a node without a template; returns as `_replace` does."""
        cut = self._first_success(node)
        if isinstance(cut, str):
            return cut
        summary = _summary(_operators(cut.scratch.graph), node)
        self._keeps_facts = False
        self._replaced.append(NodeReplacement(node.op_type, node.path, summary))
        self._spend(len(cut.scratch.graph))
        if node.op_type in RECURRENT and cut.graph not in self._old_constants:
            self._old_constants[cut.graph] = set(cut.graph.initializers)
        cut.put_in_place()
        return ""

    def _spend(self, nodes: int) -> None:
        # Nested replacements count with the outermost one.
        if not self.within:
            self.budget.spend(nodes)

    def _first_success(self, node: Node, constants: Constants | None = None) -> Cut | str:
        """Return a copy of a node after the first way that succeeds; the reasons if none does."""
        reasons = dict[str, None]()
        # The reasons of all ways are kept: a user can remove the obstacle of any of them.
        for label, way in self._ways(node):
            if label in self.within:
                continue
            cut = self._cut(node, constants)
            if not self.budget.allows_form(cut.scratch, not self.within):
                return _OPEN
            reason = cut.obstacle()
            if reason is not None:
                return reason
            reason = self._failure(cut.scratch, way, label)
            if reason is None:
                return cut
            reasons[reason] = None
        return "; ".join(filter(None, reasons))

    def _ways(self, node: Node) -> Iterator[tuple[str, Way]]:
        """Yield ways to replace a node, the shortest first, with labels.

        A decomposition has a label of its own, since one may need another one of its operator. The
        other ways replace an operator altogether, but not one that a decomposition left.
        """
        op_type, opset, name = node.op_type, node.root.opset(), name_of(node)
        if is_defined(node):
            nearest = self.target.opsets.nearest
            yield name, lambda scratch: write_definition(scratch, opset or nearest(_OPSET))
            return
        for form in decompositions_of(name, node, self.legality.types) if opset else ():
            yield f"{name} by {form.__name__}", _expansion(op_type, opset, form)
        is_left = any(label.startswith(f"{name} by ") for label in self.within)
        if not normal_domain(node.op.domain) and not is_left:
            yield from ((name, way) for way in self._own_ways(node, op_type, opset))

    def _own_ways(self, node: Node, op_type: str, opset: int) -> Iterator[Way]:
        """Yield ways to replace one of ONNX's own operators altogether."""
        if op_type in RECURRENT:
            yield from expansions(node, self.target, self.legality.types, self.budget, self._folder)
        # The nearest first: from there the way back to this opset is the shortest.
        for version in sorted(_versions(op_type, opset), key=lambda version: abs(version - opset)):
            yield _expansion(op_type, version)
        first = first_opset(op_type)
        # The opset before the operator existed: conversion to it writes the operator by older ones.
        if first is not None and OLDEST < first <= opset:
            yield _expansion(op_type, first - 1)

    @lazy_property
    def _constants(self) -> Constants:
        return Constants(self.legality.types, Folder(self.model))

    @lazy_property
    def _forms(self) -> Forms:
        return Forms(self.within, self.legality.types, self._constants)

    def _cut(self, node: Node, constants: Constants | None = None) -> Cut:
        facts = self.legality.types, constants or self._constants
        return Cut(self.model, node.parent, [node], *facts, self._calls)

    def _failure(self, scratch: Model, way: Way, label: str) -> str | None:
        """Try one way, and return the reason why it failed; None on success."""
        name = label.partition(" ")[0]
        try:
            way(scratch)
        except Refused as refusal:
            return refusal.reason
        except ConversionError as error:
            reasons = dict.fromkeys(failure.reason for failure in error.failures)
            return "; ".join(why for why in reasons if not why.startswith(f"{name} does not exist"))
        within = (*self.within, label)
        has_ifs = any(node.is_op("If") for node in scratch.graph.unordered_nodes())
        tidy = _STRAIGHTEN if has_ifs else _TIDY  # some functions branch on known facts
        context = PassContext(default_passes=_STRAIGHTEN, supports=self.target.lists)
        for passes in (tidy, _STRAIGHTEN):
            try_passes(passes, scratch, context)
            shared = self.budget, within, self._templates
            _, rest = _Legalizer(scratch, self.target, *shared, is_part=True).run()
            # Only control flow is worth the second, dearer round.
            if not any(node.bodies for node in rest):
                break
        # A form that needs the operator itself gains nothing.
        if any(name_of(node) == name for node in rest):
            return ""
        needed = dict.fromkeys(name_of(node) for node in rest)
        return f"its replacement needs {', '.join(needed)}" if needed else None


def _operators(graph: Graph) -> dict[str, None]:
    """The names of the operators of a graph, in order."""
    return dict.fromkeys(name_of(node) for node in graph.nodes())


def _summary(operators: Iterable[str], node: Node) -> str:
    """A summary of the operators that replaced a node."""
    names = ", ".join(operators)
    if rounds(node):
        return BY_DEFINITION(operators=names or "constants")
    return f"expressed by {names}" if names else "expressed by constants"


def _versions(op_type: str, opset: int) -> set[int]:
    """The opsets in which an operator may have a longer form or a function."""
    schema = schema_at(op_type, opset)
    versions = {opset} | {version for name, version in LONGER_FORMS if name == op_type}
    if schema is not None:
        versions.update(schema.function_opset_versions)
        versions.update(schema.context_dependent_function_opset_versions)
    return {version for version in versions if OLDEST < version <= REVIEWED or version == opset}


def _expansion(op_type: str, version: int, form: Decomposition | None = None) -> Way:
    """The form of an operator in an opset: a decomposition, a longer form, its function, or what
    conversion makes of it below its first opset."""

    def way(scratch: Model) -> None:
        opset, ir_version = scratch.opset(), scratch.ir_version
        convert(scratch, version, ir_version)
        engine = Engine(scratch)
        for node in scratch.graph.nodes():
            if node.op_type == op_type:
                engine.expand_node(node, version, form)
        convert(scratch, opset, ir_version, restores=False)

    return way
