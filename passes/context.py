"""State of one rewrite, shared by its passes."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, overload

from ..analysis.constants.equal import KeyMemory
from ..analysis.shapes.inference import ShapeInference
from ..analysis.shapes.onnx_inference_cache import Memory
from ..facts.fact import Fact
from ..facts.reason import Reason
from ..ir import Model, Node, Operator, Value
from .base import Action, Pass, Remark
from .vetoes import observing

if TYPE_CHECKING:
    from .conformance import NewNodes

Progress = Callable[[str, int, int], None]
"""The callback of progress: the work, the steps done, and their number."""


class Watcher(Protocol):
    """Observer of each pass that runs, except trials on copies."""

    def before(self, pass_: Pass, model: Model) -> None:
        """Observe the model before a pass; the model must stay as it is."""

    def after(self, pass_: Pass, model: Model, changed: bool) -> None:
        """Observe the model after a pass; the model must stay as it is."""


class Analyses:
    """Facts about the model, computed once and shared by passes until one changes the model.

    Attributes:
        memory: results of inference on nodes, also for the trials of this rewrite.
        facts: values outside of bodies whose facts their passes knew; inference may know less.
        keys: keys of equal constants and operators.
        false_sizes: names of bodies and of outputs that they declared falsely at first.
    """

    def __init__(self, memory: Memory | None = None) -> None:
        self.memory = Memory() if memory is None else memory
        self.facts: dict[Value, Fact] = {}
        self.keys = KeyMemory()
        self.false_sizes: set[tuple[str, str]] = set()
        self._inference: ShapeInference | None = None
        self._is_stale = False

    def inference(self, model: Model) -> ShapeInference:
        """Return the inference on a model that all passes share."""
        if self._inference is None or self._inference.model is not model:
            self._inference = self.new_inference(model)
        elif self._is_stale:
            self._inference.refresh()
        self._is_stale = False
        return self._inference

    def new_inference(self, model: Model) -> ShapeInference:
        """Return a new inference for one pass, which may add assumptions."""
        return ShapeInference(model, memory=self.memory)

    def share(self, inference: ShapeInference) -> None:
        """Let other passes use an inference of one pass, unless they share one already."""
        if self._inference is None or self._inference.model is not inference.model:
            self._inference = inference
            self._is_stale = False

    def invalidate(self, keeps_facts: bool = False) -> None:
        """Drop the facts after a change of the model.

        Args:
            keeps_facts: the change replaced values by equal ones only, so that the facts of the
                others stay true.
        """
        self._is_stale = True
        if not keeps_facts:
            self._inference = None


class RemarkLog(Sequence[Remark]):
    """Remarks in the order in which passes made them.

    Attributes:
        entries: each remark with its node; None where it is about no single node.
    """

    def __init__(self) -> None:
        self.entries: list[tuple[Remark, Node | None]] = []
        self._open: set[str] = set()  # passes with remarks on what stays

    @overload
    def __getitem__(self, index: int) -> Remark: ...
    @overload
    def __getitem__(self, index: slice) -> list[Remark]: ...
    def __getitem__(self, index: int | slice) -> Remark | list[Remark]:
        if isinstance(index, slice):
            return [remark for remark, _ in self.entries[index]]
        return self.entries[index][0]

    def __len__(self) -> int:
        return len(self.entries)

    def add(self, remark: Remark, node: Node | None = None) -> None:
        """Add a remark, with the node that it is about."""
        self.entries.append((remark, node))
        if remark.action != "rewritten":
            self._open.add(remark.pass_name)

    def restore(self, entries: list[tuple[Remark, Node | None]]) -> None:
        """Replace all remarks."""
        self.entries = []
        for remark, node in entries:
            self.add(remark, node)

    def add_on_model(self, pass_: Pass, model: Model, action: Action, reason: str) -> None:
        """Add a remark on a model where no single construct can be named."""
        self.add(Remark(pass_.name, "Model", model.graph.name, action, reason))

    def forget_kept(self, pass_: Pass) -> None:
        """Drop the reasons of a pass that is about to look again."""
        if pass_.name not in self._open:
            return
        self._open.discard(pass_.name)
        self.entries = [
            (remark, node)
            for remark, node in self.entries
            if remark.action == "rewritten" or remark.pass_name != pass_.name
        ]

    def forget_gone(self, model: Model) -> None:
        """Drop the reasons for keeping nodes that another pass has removed after all."""
        present = set(model.graphs())
        self.entries = [
            (remark, node)
            for remark, node in self.entries
            if remark.action == "rewritten" or node is None or node.graph in present
        ]

    def follow(self, model: Model) -> None:
        """Find nodes of remarks by operator and path, in a model with new graphs."""
        nodes_kept = [node for remark, node in self.entries if remark.action == "kept" and node]
        if not nodes_kept:
            return
        nodes = (node for graph in model.graphs() for node in graph.unordered_nodes())
        ops = {node.op_type for node in nodes_kept}
        now = {(n.op_type, n.path): n for n in nodes if n.op_type in ops}
        self.entries = [
            (remark, now.get((remark.op_type, remark.path), node)) for remark, node in self.entries
        ]


@dataclasses.dataclass
class Meter:
    """Cost of a rewrite so far.

    Attributes:
        added_nodes: nodes that copying has added; budgets count them.
        folded_bytes: bytes that folding constants has added; those that it freed count.
        folded_room: limit of these; None before the first fold.
        seconds: time of each pass by its name, all its runs together.
    """

    added_nodes: int = 0
    folded_bytes: int = 0
    folded_room: int | None = None
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Instrumentation:
    """Observers of a rewrite.

    Attributes:
        progress: called now and then during long work.
        watcher: called before and after each pass.
        new_nodes: records the nodes that passes add, where they are checked in the end.
        log_level: the level at which passes are logged.
    """

    progress: Progress | None = None
    watcher: Watcher | None = None
    new_nodes: NewNodes | None = None
    log_level: int = logging.DEBUG

    def report_step(self, work: str, step: int, total: int) -> None:
        """Report every hundredth step of long work."""
        if self.progress is not None and step % 100 == 0:
            with observing():
                self.progress(work, step, total)


@dataclasses.dataclass
class PassContext:
    """State of one rewrite, shared by its passes.

    Attributes:
        analyses: facts about the model.
        remarks: the remarks of the passes.
        meter: the cost so far.
        instrumentation: observers of the rewrite.
        default_passes: the default pipeline, for a pass that tries it on copies.
        offers: the result of another option for a construct and its copies, by operator.
        supports: tests whether the client has an operator in an opset; None for any client.
    """

    analyses: Analyses = dataclasses.field(default_factory=Analyses)
    remarks: RemarkLog = dataclasses.field(default_factory=RemarkLog)
    meter: Meter = dataclasses.field(default_factory=Meter)
    instrumentation: Instrumentation = dataclasses.field(default_factory=Instrumentation)
    default_passes: Sequence[Pass] = ()
    offers: dict[Operator, str] = dataclasses.field(default_factory=dict)
    supports: Callable[[str, int], bool] | None = None

    def rewritten(self, pass_: Pass, node: Node, path: str, what: str) -> None:
        """Remark that a construct was rewritten; `path` is where it was."""
        self.remarks.add(Remark(pass_.name, node.op_type, path, "rewritten", what), node)

    def kept(self, pass_: Pass, node: Node, why: str) -> None:
        """Remark why a construct was left alone."""
        self.remarks.add(Remark(pass_.name, node.op_type, node.path, "kept", why), node)

    def noted(self, pass_: Pass, node: Node, what: str) -> None:
        """Remark what the user should know about a node."""
        self.remarks.add(Remark(pass_.name, node.op_type, node.path, "noted", what), node)

    def inference(self, model: Model) -> ShapeInference:
        """Return the facts about a model's values; short for `analyses.inference`."""
        return self.analyses.inference(model)

    def with_offer(self, node: Node, reason: str) -> str:
        """Append the offer of another option to a reason."""
        offer = self.offers.get(node.op)
        return reason if offer is None else Reason.join([reason, offer])
