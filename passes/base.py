"""What a pass is, and what running one leaves behind."""

from __future__ import annotations

import abc
import dataclasses
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

from ..analysis.shapes.inference import ShapeInference
from ..analysis.shapes.onnx_inference_cache import Memory
from ..facts.fact import Fact
from ..ir import Error, Model, Node, Operator, Value

if TYPE_CHECKING:
    from .conformance import NewNodes

Action = Literal["rewritten", "kept", "noted"]


class RewriteError(Error):
    """A pass was not able to do what it was asked for."""


class PassOptionError(Error):
    """There is no such pass, or a pass has no such option, or the option's value does not fit."""


@dataclasses.dataclass(frozen=True)
class Remark:
    """What a pass did to one construct, or why it left it alone.

    Attributes:
        pass_name: the pass that speaks.
        op_type: the operator of the construct.
        path: where it is: the labels of the nodes around it and its own.
        action: "rewritten", "kept", or "noted" where something came to light that the user should
            know, and no construct was left alone for it.
        reason: what was done, or why nothing was, and what the user can do.
    """

    pass_name: str
    op_type: str
    path: str
    action: Action
    reason: str

    def __str__(self) -> str:
        return f"{self.op_type} '{self.path}': {self.action}, {self.reason}"

    def to_dict(self) -> dict[str, str]:
        """The remark as JSON takes it."""
        return dataclasses.asdict(self)


def kept_constructs(remarks: Iterable[Remark]) -> dict[tuple[str, str], Remark]:
    """What was kept, by operator and path, each with all that the passes said of it."""
    found: dict[tuple[str, str], list[Remark]] = {}
    for remark in remarks:
        if remark.action == "kept":
            found.setdefault((remark.op_type, remark.path), []).append(remark)
    return {
        key: dataclasses.replace(said[0], reason="; ".join(dict.fromkeys(r.reason for r in said)))
        for key, said in found.items()
    }


class Said(NamedTuple):
    """The remarks of a run at some time, each with the node that it is about."""

    remarks: list[tuple[Remark, Node | None]]


Progress = Callable[[str, int, int], None]
"""Told what is worked on, how much of it is done, and how much there is."""


class Watcher(Protocol):
    """Told of each pass that is run, not of those that are only tried on copies."""

    def before(self, pass_: Pass, model: Model) -> None:
        """A pass is about to be run on a model; the model must stay as it is."""

    def after(self, pass_: Pass, model: Model, changed: bool) -> None:
        """A pass was run; the model must stay as it is."""


class Run:
    """The state of one rewrite, shared by its passes.

    Attributes:
        added_nodes: nodes that copying has added so far; budgets count it.
        seconds: how long each pass took, all its runs together.
        progress: called now and then during long work.
        watcher: told before and after each pass.
        new_nodes: the nodes that passes add, where they are to be checked in the end.
        told_at: the level at which the passes are logged; what is only tried is told in detail.
        standard: the passes of the default pipeline, for a pass that tries what they would do.
        facts: what passes knew of values outside of bodies that they made; more may be known since.
        memory: what inferences have found out about nodes, in this rewrite and in those that it
            tries.
    """

    def __init__(
        self,
        progress: Progress | None = None,
        standard: Sequence[Pass] = (),
        memory: Memory | None = None,
    ) -> None:
        self._remarks: list[tuple[Remark, Node | None]] = []
        self._offers: dict[Operator, str] = {}
        self._inference: ShapeInference | None = None
        self.standard = standard
        self.facts: dict[Value, Fact] = {}
        self.memory = Memory() if memory is None else memory
        self.added_nodes = 0
        self.seconds: dict[str, float] = {}
        self.progress = progress
        self.watcher: Watcher | None = None
        self.new_nodes: NewNodes | None = None
        self.told_at = logging.DEBUG

    @property
    def remarks(self) -> list[Remark]:
        """The remarks, in the order in which they were made."""
        return [remark for remark, _ in self._remarks]

    def said(self) -> Said:
        """What was said so far, to come back to."""
        return Said(list(self._remarks))

    def take_over(self, other: Run, said: Said) -> None:
        """Go on with a copy of the model that another run has worked on: what was said since is of
        no account, and what that one says holds.

        Args:
            other: the run on the copy.
            said: what was said when the copy was made.
        """
        self._remarks = said.remarks + other._remarks
        self._offers, self.facts = other._offers, other.facts
        self.added_nodes = other.added_nodes
        for name, seconds in other.seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self.forget_facts()

    def remark(self, remark: Remark) -> None:
        """Note what was found out elsewhere."""
        self._remarks.append((remark, None))

    def rewritten(self, pass_: Pass, node: Node, path: str, what: str) -> None:
        """Note that a construct was rewritten; `path` is where it was."""
        self._remarks.append((Remark(pass_.name, node.op_type, path, "rewritten", what), node))

    def kept(self, pass_: Pass, node: Node, why: str) -> None:
        """Note why a construct was left alone."""
        self._remarks.append((Remark(pass_.name, node.op_type, node.path, "kept", why), node))

    def noted(self, pass_: Pass, node: Node, what: str) -> None:
        """Note what came to light at a node."""
        self._remarks.append((Remark(pass_.name, node.op_type, node.path, "noted", what), node))

    def rewritten_as_a_whole(self, pass_: Pass, model: Model, what: str) -> None:
        """Note what was done to a model where no single construct can be named."""
        remark = Remark(pass_.name, "Model", model.graph.name, "rewritten", what)
        self._remarks.append((remark, None))

    def noted_of_the_whole(self, pass_: Pass, model: Model, what: str) -> None:
        """Note what is to be known about a model as a whole."""
        self._remarks.append((Remark(pass_.name, "Model", model.graph.name, "noted", what), None))

    def follow(self, model: Model) -> None:
        """Go on with a model whose graphs were all made anew: what was kept is known again by its
        operator and path."""
        kept = [node for remark, node in self._remarks if remark.action == "kept" and node]
        if kept:
            nodes = (node for graph in model.graphs() for node in graph.unordered_nodes())
            ops = {node.op_type for node in kept}
            now = {(n.op_type, n.path): n for n in nodes if n.op_type in ops}
            self._remarks = [
                (remark, now.get((remark.op_type, remark.path), node))
                for remark, node in self._remarks
            ]
        self.facts.clear()
        self.forget_facts()

    def inference(self, model: Model) -> ShapeInference:
        """What is known of a model's values; passes share it until one has changed something."""
        if self._inference is None or self._inference.model is not model:
            self._inference = self.new_inference(model)
        return self._inference

    def new_inference(self, model: Model) -> ShapeInference:
        """The same for a pass that asks what it found out itself, or takes something for granted
        that other passes must not know."""
        return ShapeInference(model, memory=self.memory)

    def share(self, inference: ShapeInference) -> None:
        """Let passes share what one has found out for itself, where they have nothing yet."""
        if self._inference is None or self._inference.model is not inference.model:
            self._inference = inference

    def forget_facts(self) -> None:
        """Let what is known be found out anew: a pass has changed the model."""
        self._inference = None

    def offer(self, node: Node, what: str | None) -> None:
        """Note what another option would make of a construct and its copies, which share their
        operator; None takes back what was offered."""
        if what is None:
            self._offers.pop(node.op, None)
        else:
            self._offers[node.op] = what

    def pass_offer_on(self, node: Node, left: Node) -> None:
        """Offer of what is left of a construct what was offered of all of it."""
        if node.op in self._offers:
            self._offers[left.op] = self._offers.pop(node.op)

    def with_offer(self, node: Node, reason: str) -> str:
        """What is said of a construct, with what it could be instead, if that is anything."""
        offered = self._offers.get(node.op)
        return reason if offered is None else f"{reason}; {offered}"

    def forget_kept(self, pass_: Pass) -> None:
        """Drop what an earlier run of a pass kept: it is about to look again."""
        self._remarks = [
            (remark, node)
            for remark, node in self._remarks
            if remark.action == "rewritten" or remark.pass_name != pass_.name
        ]

    def forget_gone(self, model: Model) -> None:
        """Drop what was kept and then removed after all, by another pass."""
        present = set(model.graphs())
        self._remarks = [
            (remark, node)
            for remark, node in self._remarks
            if remark.action == "rewritten" or node is None or node.graph in present
        ]


MAY_BE_CONTROL_FLOW = ("Loop", "Scan", "If", "SequenceMap", "LSTM", "GRU", "RNN")
"""The operators that are control flow, or of which a pass may make it."""


@dataclasses.dataclass(frozen=True)
class Pass(abc.ABC):
    """One rewrite. Its fields are its options; a run's state lives in `Run`, never here.

    Attributes:
        name: how users call it, in kebab-case.
        by_default: whether the default pipeline holds it.
        default_options: the options that it has there, where they are others than its own.
        cleans_up: it only removes what is superfluous, which gives no other pass new work.
        works_on: the operators without which a model gives it nothing to do, if it is for some
            alone that no other pass of a pipeline makes.
    """

    name: ClassVar[str]
    by_default: ClassVar[bool] = False
    default_options: ClassVar[Mapping[str, Any]] = {}
    cleans_up: ClassVar[bool] = False
    works_on: ClassVar[tuple[str, ...] | None] = None

    @abc.abstractmethod
    def run(self, model: Model, run: Run) -> bool:
        """Rewrite the model in place; say whether anything changed."""

    @property
    def summary(self) -> str:
        """What the pass does, in a sentence: the first line of its docstring."""
        return (self.__doc__ or "").strip().partition("\n")[0]

    def options(self) -> Iterator[tuple[str, Any]]:
        """The options with their values, save those that only code can give."""
        for field in dataclasses.fields(self):
            if not field.metadata.get("code_only"):
                yield field.name, getattr(self, field.name)

    def __str__(self) -> str:
        changed = [
            f"{field.name}={getattr(self, field.name)}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"{self.name}{{{','.join(changed)}}}" if changed else self.name
