"""Saying by other operators what a target does not take.

A node is cut out into a model of its own, where one way after the other is tried until the target
takes all that comes of it. The ways are those of conversion: what an older opset, which lacks the
operator too, has in its place is brought back to the opset of the model, so that each is as exact
as a conversion is. What no way can say, or says by what the target lacks as well, stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..analysis.constants.folding import Folder
from ..ir import Graph, Model, Node, Value, normal_domain
from ..ir.lazy import lazy_property
from ..ir.opaque import Reads
from ..ops.schemas import schema_at
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
from ..passes.manager.registry import default_passes
from ..passes.utils.budget import Budget
from ..passes.utils.trial import try_passes
from ..passes.utils.value_numbering import merge_equal, same_key
from ..version_converter import ConversionError, convert
from ..version_converter.constants import Constants
from ..version_converter.engine import Engine
from ..version_converter.errors import Refused
from ..version_converter.registry import LONGER_FORMS
from ..version_converter.schemas import OLDEST, REVIEWED, first_opset
from ..version_converter.subgraph_extraction import Cut, Gap
from .decompositions import SPELLINGS
from .legality import Judge, name_of
from .moulds import Form, Mould, OpaqueConstants, form_of
from .outputs import give_own_outputs, shared_outputs
from .recurrences import RECURRENT, ways_apart
from .target import Target

Way = Callable[[Model], None]
"""Says the one node of a model by others, in place."""

_TIDY = (FoldConstants(), EliminateIdentities(), EliminateDeadNodes())
_STRAIGHTEN = tuple(
    p for p in default_passes() if not isinstance(p, VectorizeLoops | RaiseRecurrences)
)
_DEEPEST = 4
"""So often what stands for a node may need something in its own place."""


class Replaced(NamedTuple):
    """A node that others stand for now.

    Attributes:
        op_type: its operator.
        path: where it was.
        what: what stands for it.
    """

    op_type: str
    path: str
    what: str


def replace_untaken(
    model: Model, target: Target, budget: Budget
) -> tuple[list[Replaced], Mapping[Node, str]]:
    """Replace what a target does not take, in place, as far as all that comes for it is taken.

    Args:
        model: the model.
        target: the target.
        budget: how many nodes may be added.

    Returns:
        what was replaced, and what is left with the reason.
    """
    if model.functions and not target.functions:
        _inline_functions(model, budget)
    replaced: list[Replaced] = []
    # In other words than Identity a constant would be one again.
    constants = target.lists("Identity", model.opset())
    given: set[int] = set()
    while True:
        behind = give_own_outputs(model, constants) if target.own_outputs else []
        replaced += _given_by_identity(behind)
        # Whose Identity became a constant again is given by one that stays, taken or not.
        places = {at for at, value in enumerate(model.graph.outputs) if _copied(value) in behind}
        within = ("Identity",) if places and places <= given else ()
        more, left = _Replacing(model, target, budget, within).run()
        replaced += more
        given |= places
        if not (target.own_outputs and any(shared_outputs(model, constants))):
            return replaced, left


def _copied(value: Value) -> Value | None:
    """What an Identity gives out."""
    node = value.producer
    return node.input(0) if node is not None and node.is_op("Identity") else None


def _given_by_identity(values: Iterable[Value]) -> Iterator[Replaced]:
    """What is told of outputs that were given out as they were: of each node once."""
    nodes = dict.fromkeys(value.producer or value for value in values)
    for one in nodes:
        place = ("Constant", one.name) if isinstance(one, Value) else (one.op_type, one.path)
        yield Replaced(*place, "given out by Identity")


def _inline_functions(model: Model, budget: Budget) -> None:
    """Put the bodies of the model's own functions in the place of their calls, where they are not
    too many."""
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
            open_.append(graph)  # for what it has brought
    EliminateDeadFunctions().run(model, PassContext())


class _Replacing:
    """Replacing what a target does not take in one model.

    Args:
        model: is changed in place.
        target: the target.
        budget: how many nodes may be added.
        within: the operators for which this model stands, outermost first.
        moulds: the bodies for nodes of some forms, or why there are none, shared by all models of
            one replacement.
    """

    def __init__(
        self,
        model: Model,
        target: Target,
        budget: Budget,
        within: tuple[str, ...] = (),
        moulds: dict[Hashable, Mould | str] | None = None,
    ) -> None:
        self.model = model
        self.target = target
        self.budget = budget
        self.within = within
        self.judge = Judge(target, model)
        self._calls = CallGraph(model.functions)
        self._replaced: list[Replaced] = []
        self._tried: dict[Node, str] = {}
        self._moulds = {} if moulds is None else moulds
        self._folder = Folder(model)
        self._had: dict[Graph, set[Value]] = {}  # constants, before recurrences were taken apart

    def run(self) -> tuple[list[Replaced], Mapping[Node, str]]:
        """Replace until nothing is left that was not tried; what is replaced brings only what is
        taken, so that this ends."""
        self._write_out()
        while True:
            left = self.judge.untaken()
            if all(node in self._tried for node in left):
                for graph, had in self._had.items():
                    merge_equal(graph, had, same_key)
                told = {node: _joined(why, self._tried[node]) for node, why in left.items()}
                return self._replaced, told
            new = [node for node in left if node not in self._tried]
            for node in new:
                if not self._is_gone(node):
                    self._tried[node] = self._replace(node)

    def _write_out(self) -> None:
        """Write out the defaults that the target wants written, and constants as initializers."""
        for node, defaults in list(self.judge.to_be_written()):
            assert node.graph is not None
            written = [*node.op.attributes.values(), *defaults.values()]
            node.graph.set_operator(node, node.op.with_attributes(written))
            told = f"{', '.join(defaults)} written out"
            self._replaced.append(Replaced(node.op_type, node.path, told))
        for value in dict.fromkeys(self.judge.to_be_initializers()):
            holder, graph = value.producer, value.graph
            assert holder is not None and graph is not None and value.constant is not None
            self._replaced.append(Replaced(holder.op_type, holder.path, "made an initializer"))
            graph.supersede(value, graph.add_initializer(value.name, value.constant))
            graph.remove(holder)

    def _is_gone(self, node: Node) -> bool:
        """Whether a node was removed with others, or in a body of one that was."""
        if node.graph is None:
            return True
        holder = node.graph.holder
        while holder is not None and holder.graph is not None:
            holder = holder.graph.holder
        return holder is not None

    def _form(self, node: Node) -> Form | None:
        """Return all of a node that decides its replacement; None where more might decide it."""
        if node.bodies or node.op_type in RECURRENT or node.op.references or self._stays(node):
            return None
        return form_of(node, self.within, self.judge.types, self._constants)

    def _stays(self, node: Node) -> bool:
        """Return whether no way is tried for a node."""
        is_foreign = bool(normal_domain(node.op.domain))
        return is_foreign or name_of(node) in self.within or len(self.within) == _DEEPEST

    def _replace(self, node: Node) -> str:
        """Replace a node.

        Returns:
            Why that could not be done; "" where it was.
        """
        if self._stays(node):
            return ""
        form = self._form(node)
        if form is None:
            return self._replace_alone(node)
        mould = self._mould(node, form)
        if isinstance(mould, str):
            return mould
        assert node.graph is not None
        told = Replaced(node.op_type, node.path, _told(mould.operators))
        self._spend(mould.size)
        if not mould.fill(Gap(node.graph, [node], self.judge.types), form):
            return self._replace_alone(node)
        self._replaced.append(told)
        return ""

    def _mould(self, node: Node, form: Form) -> Mould | str:
        """Return the body that replaces nodes of a form; the reason where none does.

        The first node of a form decides for all.
        """
        mould = self._moulds.get(form.like)
        if mould is None and form.exact in self._moulds:
            form.read()
            mould = self._moulds[form.exact]
        if mould is None:
            note = Reads()
            constants = OpaqueConstants(self.judge.types, self._constants, note)
            cut = self._first_way(node, constants)
            mould = cut if isinstance(cut, str) else Mould(cut, note)
            self._moulds[form.exact if note.any else form.like] = mould
        return mould

    def _replace_alone(self, node: Node) -> str:
        """Replace a node that is like no other; returns what `_replace` does."""
        cut = self._first_way(node)
        if isinstance(cut, str):
            return cut
        told = _told(_operators(cut.scratch.graph))
        self._replaced.append(Replaced(node.op_type, node.path, told))
        self._spend(len(cut.scratch.graph))
        if node.op_type in RECURRENT and cut.graph not in self._had:
            self._had[cut.graph] = set(cut.graph.initializers)
        cut.put_in_place()
        return ""

    def _spend(self, nodes: int) -> None:
        if not self.within:
            self.budget.spend(nodes)

    def _first_way(self, node: Node, constants: Constants | None = None) -> Cut | str:
        """Return a copy of a node after the first way that succeeds; the reasons if none does."""
        reasons = dict[str, None]()
        for way in self._ways(node):
            cut = self._cut(node, constants)
            reason = cut.obstacle()
            if reason is not None:
                return reason
            reason = self._tried_on(cut.scratch, way, name_of(node))
            if reason is None:
                return cut
            reasons[reason] = None
        return "; ".join(filter(None, reasons))

    def _ways(self, node: Node) -> Iterator[Way]:
        """How a node may be said by others, the shortest first."""
        if node.op_type in RECURRENT:
            yield from ways_apart(node, self.target, self.judge.types, self.budget, self._folder)
        yield from _ways(node)

    @lazy_property
    def _constants(self) -> Constants:
        return Constants(self.judge.types, Folder(self.model))

    def _cut(self, node: Node, constants: Constants | None = None) -> Cut:
        assert node.graph is not None
        known = self.judge.types, constants or self._constants
        return Cut(self.model, node.graph, [node], *known, self._calls)

    def _tried_on(self, scratch: Model, way: Way, name: str) -> str | None:
        """Go one way; why it leads nowhere, or None where all that comes of it is taken."""
        try:
            way(scratch)
        except Refused as refusal:
            return refusal.reason
        except ConversionError as error:
            told = dict.fromkeys(failure.reason for failure in error.failures)
            return "; ".join(why for why in told if not why.startswith(f"{name} does not exist"))
        within = (*self.within, name)
        has_ifs = any(node.is_op("If") for node in scratch.graph.unordered_nodes())
        tidy = _STRAIGHTEN if has_ifs else _TIDY  # some functions choose by what is known
        try_passes(tidy, scratch, PassContext(default_passes=_STRAIGHTEN))
        _, left = _Replacing(scratch, self.target, self.budget, within, self._moulds).run()
        if any(node.bodies for node in left):
            try_passes(_STRAIGHTEN, scratch, PassContext(default_passes=_STRAIGHTEN))
            _, left = _Replacing(scratch, self.target, self.budget, within, self._moulds).run()
        if any(name_of(node) == name for node in left):
            return ""
        needed = dict.fromkeys(name_of(node) for node in left)
        return f"in other words it needs {', '.join(needed)}" if needed else None


def _operators(graph: Graph) -> dict[str, None]:
    """The names of the operators of a graph, in order."""
    return dict.fromkeys(name_of(node) for node in graph.nodes())


def _told(operators: Iterable[str]) -> str:
    """What stands for a node."""
    said = ", ".join(operators)
    return f"said by {said}" if said else "said by constants"


def _joined(why: str, more: str) -> str:
    return f"{why}; {more}" if more else why


def _ways(node: Node) -> Iterator[Way]:
    """How a node may be said by others, the shortest first."""
    assert node.graph is not None
    op_type, opset = node.op_type, node.graph.root.opset()
    if op_type in SPELLINGS:
        yield _spelled(op_type)
    for version in sorted(_versions(op_type, opset), key=lambda version: abs(version - opset)):
        yield _in_other_words(op_type, version)
    first = first_opset(op_type)
    if first is not None and OLDEST < first <= opset:
        yield _as_before(first)


def _versions(op_type: str, opset: int) -> set[int]:
    """The opsets in which an operator may have a longer form or a function: its own, and others."""
    schema = schema_at(op_type, opset)
    found = {opset} | {version for name, version in LONGER_FORMS if name == op_type}
    if schema is not None:
        found.update(schema.function_opset_versions)
        found.update(schema.context_dependent_function_opset_versions)
    return {version for version in found if OLDEST < version <= REVIEWED or version == opset}


def _spelled(op_type: str) -> Way:
    """Its form that holds in every opset."""

    def way(scratch: Model) -> None:
        engine = Engine(scratch)
        for node in scratch.graph.nodes():
            if node.is_op(op_type):
                engine.replace_node(SPELLINGS[op_type], node, scratch.opset())

    return way


def _in_other_words(op_type: str, version: int) -> Way:
    """Its longer form, or its function, in an opset."""

    def way(scratch: Model) -> None:
        opset, ir_version = scratch.opset(), scratch.ir_version
        convert(scratch, version)
        engine = Engine(scratch)
        for node in scratch.graph.nodes():
            if node.is_op(op_type):
                engine.expand_node(node, version)
        convert(scratch, opset, ir_version)

    return way


def _as_before(first: int) -> Way:
    """What stands for it below the opset in which it came to be."""

    def way(scratch: Model) -> None:
        opset, ir_version = scratch.opset(), scratch.ir_version
        convert(scratch, first - 1, ir_version)
        convert(scratch, opset, ir_version)

    return way
