"""Vetoes: constructs that a pass must leave alone, since its rewrite of them failed.

A fault of a pass, an input on which outputs differ, and an open proof have the same remedy: run
again from the caller's model, with a veto. So nothing is copied while nothing fails. During the
pass with the veto, the construct has an operator that no pass knows:

    y = Loop (n, c, x)   ->   y = straightline::kept_Loop (n, c, x)
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import itertools
import traceback
from collections.abc import Collection, Iterable, Iterator

from ..facts.reason import Message, Reason
from ..ir import Error, Model, Node, Operator
from ..ir.faults import raises_faults, warn_of_fault
from .base import Pass, PassContext
from .faults import Fault, Place, isolating
from .remarks import Action, Remark

ALL = "all passes"
"""The name that stands for every pass in a veto."""
_BINDING = "freeze-initializers"
"""The pass that binds inputs for the caller; it is never left out."""
_DOMAIN, _KEPT = "straightline", "kept_"
_STAYS = Message("construct-kept", "{cause}; the {construct} is kept{advice}")
_GONE = Message("construct-left", "{cause}; {pass_name} leaves the {construct} alone{advice}")
_LEFT_OUT = Message("pass-left-out", "{cause}; {what} left out{advice}")


@dataclasses.dataclass(frozen=True)
class Veto:
    """A construct that one pass must leave alone.

    Attributes:
        pass_name: the pass.
        place: the operator and the path of the construct; None for the whole model.
        why: what failed, as a sentence with a code.
        advice: what follows in the remark.
    """

    pass_name: str
    place: Place | None
    why: Reason = dataclasses.field(compare=False)
    advice: str = dataclasses.field(default="", compare=False)

    def remark(self, model: Model) -> Remark:
        """Return the remark on it for a result."""
        if self.place is None:
            what = "all passes are" if self.pass_name == ALL else "the pass is"
            text = _LEFT_OUT(self.why, what=what, advice=self.advice)
            return Remark(self.pass_name, "Model", model.graph.name, "noted", self._coded(text))
        op_type, path = self.place
        word = op_type.lower() if op_type in ("Loop", "Scan") else op_type
        stays = any(_nodes_at([self.place], model))
        message = _STAYS if stays else _GONE
        text = message(self.why, construct=word, pass_name=self.pass_name, advice=self.advice)
        action: Action = "kept" if stays else "noted"
        return Remark(self.pass_name, op_type, path, action, self._coded(text))

    def _coded(self, text: Reason) -> Reason:
        """Return the sentence under the code of the failure."""
        return Reason(text.plain, self.why.code, text.arguments)


@dataclasses.dataclass(frozen=True)
class Vetoes:
    """The vetoes of one run."""

    entries: tuple[Veto, ...] = ()

    def places(self, pass_name: str) -> set[Place]:
        """Return the constructs that a pass must leave alone."""
        return {v.place for v in self.entries if v.pass_name == pass_name and v.place is not None}

    def covers(self, pass_name: str) -> bool:
        """Test whether a pass is left out."""
        names = (pass_name, ALL) if pass_name != _BINDING else (pass_name,)
        return any(v.place is None and v.pass_name in names for v in self.entries)

    def with_veto(self, veto: Veto) -> Vetoes:
        """Return these with another one; one on a pass replaces those on its constructs."""
        if veto.place is not None:
            return Vetoes((*self.entries, veto))
        others = tuple([v for v in self.entries if v.pass_name != veto.pass_name])
        return Vetoes((*others, veto))

    def without(self, pass_name: str, place: Place) -> Vetoes:
        """Return these but one."""
        mine = pass_name, place
        return Vetoes(tuple([v for v in self.entries if (v.pass_name, v.place) != mine]))

    def remarks(self, model: Model) -> tuple[Remark, ...]:
        """Return a remark for each."""
        return tuple([veto.remark(model) for veto in self.entries])

    @contextlib.contextmanager
    def in_force(self) -> Iterator[None]:
        """Let all passes in this block heed them, and report their faults."""
        token, flag = _current.set(self), isolating.set(True)
        try:
            yield
        finally:
            isolating.reset(flag)
            _current.reset(token)


NONE = Vetoes()
ALARMS = ("internal-error", "refuted-rewrite", "invalid-rewrite")
"""Codes of failures that a caller must hear of: straightline is at fault."""
_current: contextvars.ContextVar[Vetoes | None] = contextvars.ContextVar("vetoes", default=None)


def current_vetoes() -> Vetoes:
    """Return the vetoes in force."""
    return _current.get() or NONE


def is_alarm(remark: Remark) -> bool:
    """Test whether a remark is about a fault of straightline."""
    return remark.code in ALARMS


def warn_of(remarks: Iterable[Remark]) -> None:
    """Warn of faults of straightline.

    Warns:
        FaultWarning: for each.
    """
    for remark in remarks:
        if is_alarm(remark):
            warn_of_fault(remark.reason)


@contextlib.contextmanager
def heeding_vetoes(pass_: Pass, model: Model, context: PassContext) -> Iterator[bool]:
    """Let a pass run in the block under the vetoes in force; false if it must not run.

    Raises:
        Fault: the pass raised what is neither an error for the caller nor a fault of the machine.
    """
    vetoes = _current.get()
    if vetoes is None:
        yield True
        return
    places = vetoes.places(pass_.name)
    hidden = list(_nodes_at(places, model)) if places else []
    # A function would seem unused if its calls were hidden.
    if vetoes.covers(pass_.name) or any(n.op.function_key in model.functions for n in hidden):
        yield False
        return
    try:
        with _hiding(hidden, model, context) if hidden else contextlib.nullcontext():
            yield True
    except (Error, Fault, OSError, MemoryError):
        raise
    except Exception as error:
        if raises_faults():
            raise
        raise Fault(pass_.name, tuple(dict.fromkeys(_places_of(error)))) from error


def _nodes_at(places: Collection[Place], model: Model) -> Iterator[Node]:
    for graph in model.graphs():
        for node in graph.unordered_nodes():
            if (node.op_type, node.path) in places:
                yield node


@contextlib.contextmanager
def _hiding(nodes: list[Node], model: Model, context: PassContext) -> Iterator[None]:
    """Give nodes operators that no pass knows; their copies get the originals back, too."""
    originals: dict[str, Operator] = {}
    for number, node in enumerate(nodes):
        assert node.graph is not None
        op = originals[str(number)] = node.op
        hidden = Operator(f"{_KEPT}{op.op_type}", op.attributes, _DOMAIN, str(number), op.extra)
        node.graph.set_operator(node, hidden)
    context.analyses.invalidate()
    yield
    for graph in model.graphs():
        for node in graph.unordered_nodes():
            if _is_hidden(node):
                op = originals[node.op.overload]
                if node.op.attributes is not op.attributes:
                    op = op.with_attributes(node.op.attributes.values())
                graph.set_operator(node, op)
    context.analyses.invalidate()


def _places_of(error: BaseException) -> Iterator[Place]:
    """Yield the nodes that the frames of an exception name, the most likely first.

    A pass visits a construct before its parts, so nodes with graphs and outer frames come first.
    """
    # The first frames are that of the block's guard, and the one with the block.
    _, block, *frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    # An exception object that is raised once more keeps the frames of its first time at the end.
    mine = itertools.takewhile(lambda frame: frame.f_code is not block.f_code, frames)
    locals_ = [value for frame in mine for value in [*frame.f_locals.values()]]
    nodes = [value for value in locals_ if isinstance(value, Node)]
    for node in sorted(nodes, key=lambda node: not node.bodies):
        op_type = node.op_type.removeprefix(_KEPT) if _is_hidden(node) else node.op_type
        yield op_type, node.path


def _is_hidden(node: Node) -> bool:
    return node.domain == _DOMAIN and node.op_type.startswith(_KEPT)
