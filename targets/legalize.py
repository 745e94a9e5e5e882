"""Saying by other operators what a target does not take.

A node is cut out into a model of its own, where one way after the other is tried until the target
takes all that comes of it. The ways are those of conversion: what an older opset, which lacks the
operator too, has in its place is brought back to the opset of the model, so that each is as exact
as a conversion is. What no way can say, or says by what the target lacks as well, stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..analysis.constants.folding import Folder
from ..ir import Graph, Model, Node, Value, normal_domain
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
from ..version_converter.subgraph_extraction import Cut
from .decompositions import SPELLINGS
from .legality import Judge, name_of
from .outputs import give_own_outputs, shared_outputs
from .recurrences import RECURRENT, ways_apart
from .target import Target

Way = Callable[[Model], None]
"""Says the one node of a model by others, in place."""

_TIDY = (FoldConstants(), EliminateIdentities(), EliminateDeadNodes())
_STRAIGHTEN = tuple(
    p for p in default_passes() if not isinstance(p, VectorizeLoops | RaiseRecurrences)
)
_WORTH_A_GROUP = 4
"""From so many nodes of one form on, they are replaced together."""

_MOST_TOGETHER = 64
"""So many nodes of one form are replaced at once."""

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
            function = calls.called(node)
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
        failed: why nodes of some forms could not be replaced, in all models of one replacing.
    """

    def __init__(
        self,
        model: Model,
        target: Target,
        budget: Budget,
        within: tuple[str, ...] = (),
        failed: dict[Hashable, str] | None = None,
    ) -> None:
        self.model = model
        self.target = target
        self.budget = budget
        self.within = within
        self.judge = Judge(target, model)
        self._constants: Constants | None = None
        self._calls = CallGraph(model.functions)
        self._replaced: list[Replaced] = []
        self._tried: dict[Node, str] = {}
        self._failed: dict[Hashable, str] = {} if failed is None else failed
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
            for alike in self._groups(new):
                if not any(map(self._is_gone, alike)) and self._replace_all(alike):
                    self._tried.update(dict.fromkeys(alike, ""))
            for node in new:
                if node not in self._tried and not self._is_gone(node):
                    self._tried[node] = self._replace_or_recall(node)

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

    def _form(self, node: Node) -> Hashable:
        """All of a node that decides what may stand for it; None where more might."""
        if node.bodies or node.op_type in RECURRENT or node.op.references:
            return None
        types = [self.judge.types.of(value) for value in node.inputs]
        read = [
            (None if type_ is None else type_.SerializeToString(), value and value.constant)
            for value, type_ in zip(node.inputs, types, strict=True)
        ]
        written = [m.SerializeToString() for m in node.op.attributes.values()]
        given = [value is not None for value in node.outputs]
        key = self.within, self.model.opset(), node.op.qualname
        return (*key, *written, *read, *given)

    def _groups(self, nodes: Sequence[Node]) -> Iterator[list[Node]]:
        """Nodes of one graph and one form, as many as are worth a model of their own."""
        groups: dict[Hashable, list[Node]] = {}
        for node in nodes:
            form = self._form(node)
            if form is not None and form not in self._failed:
                groups.setdefault((node.graph, form), []).append(node)
        for alike in groups.values():
            for first in range(0, len(alike), _MOST_TOGETHER):
                together = alike[first : first + _MOST_TOGETHER]
                if len(together) >= _WORTH_A_GROUP:
                    yield together

    def _replace_all(self, nodes: list[Node]) -> bool:
        """Replace nodes of one form at once; whether that could be done."""
        node = nodes[0]
        name = name_of(node)
        if name in self.within or len(self.within) == _DEEPEST or normal_domain(node.op.domain):
            return False
        for way in _ways(node):
            cut = self._cut(*nodes)
            if cut.obstacle() is not None:
                return False
            if self._tried_on(cut.scratch, way, name) is None:
                told = _told(cut.scratch)
                self._replaced += [Replaced(each.op_type, each.path, told) for each in nodes]
                self._put_in_place(node, cut)
                return True
        return False

    def _replace_or_recall(self, node: Node) -> str:
        """Replace a node, unless one of its form could not be; why that could not be done."""
        form = self._form(node)
        if form is not None and form in self._failed:
            return self._failed[form]
        reason, is_left = self._replace(node), node.graph is not None
        if form is not None and is_left:
            self._failed[form] = reason
        return reason

    def _replace(self, node: Node) -> str:
        """Put others in the place of a node; why that could not be done, "" where it was."""
        name, reasons = name_of(node), dict[str, None]()
        if name in self.within or len(self.within) == _DEEPEST or normal_domain(node.op.domain):
            return ""
        for way in self._ways(node):
            cut = self._cut(node)
            reason = cut.obstacle()
            if reason is not None:
                return reason
            reason = self._tried_on(cut.scratch, way, name)
            if reason is None:
                self._replaced.append(Replaced(node.op_type, node.path, _told(cut.scratch)))
                self._put_in_place(node, cut)
                return ""
            reasons[reason] = None
        return "; ".join(filter(None, reasons))

    def _put_in_place(self, node: Node, cut: Cut) -> None:
        if not self.within:
            self.budget.spend(len(cut.scratch.graph))
        if node.op_type in RECURRENT and cut.graph not in self._had:
            self._had[cut.graph] = set(cut.graph.initializers)
        cut.put_in_place()

    def _ways(self, node: Node) -> Iterator[Way]:
        """How a node may be said by others, the shortest first."""
        if node.op_type in RECURRENT:
            yield from ways_apart(node, self.target, self.judge.types, self.budget, self._folder)
        yield from _ways(node)

    def _cut(self, *nodes: Node) -> Cut:
        if self._constants is None:
            self._constants = Constants(self.judge.types, Folder(self.model))
        graph = nodes[0].graph
        assert graph is not None
        known = self.judge.types, self._constants
        return Cut(self.model, graph, list(nodes), *known, self._calls)

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
        _, left = _Replacing(scratch, self.target, self.budget, within, self._failed).run()
        if any(node.bodies for node in left):
            try_passes(_STRAIGHTEN, scratch, PassContext(default_passes=_STRAIGHTEN))
            _, left = _Replacing(scratch, self.target, self.budget, within, self._failed).run()
        if any(name_of(node) == name for node in left):
            return ""
        needed = dict.fromkeys(name_of(node) for node in left)
        return f"in other words it needs {', '.join(needed)}" if needed else None


def _told(scratch: Model) -> str:
    """What stands for a node."""
    used = dict.fromkeys(name_of(node) for node in scratch.graph.nodes())
    return f"said by {', '.join(used)}" if used else "said by constants"


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
                engine.say_by(SPELLINGS[op_type], node, scratch.opset())

    return way


def _in_other_words(op_type: str, version: int) -> Way:
    """Its longer form, or its function, in an opset."""

    def way(scratch: Model) -> None:
        opset, ir_version = scratch.opset(), scratch.ir_version
        convert(scratch, version)
        engine = Engine(scratch)
        for node in scratch.graph.nodes():
            if node.is_op(op_type):
                engine.say_in_other_words(node, version)
        convert(scratch, opset, ir_version)

    return way


def _as_before(first: int) -> Way:
    """What stands for it below the opset in which it came to be."""

    def way(scratch: Model) -> None:
        opset, ir_version = scratch.opset(), scratch.ir_version
        convert(scratch, first - 1, ir_version)
        convert(scratch, opset, ir_version)

    return way
