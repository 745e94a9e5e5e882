"""Passes, and the context in which they run.

They stand in one file, since a pass takes a context, and a watcher in it takes passes.
"""

from __future__ import annotations

import abc
import contextlib
import contextvars
import dataclasses
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, get_args

from ..analysis.constants.equal import KeyMemory
from ..analysis.shapes.inference import ShapeInference
from ..analysis.shapes.onnx_inference_cache import Memory
from ..facts.fact import Fact
from ..facts.notions import Equality
from ..facts.reason import Message, Reason
from ..ir import Error, Model, Node, Operator, Value
from ..ir.io.deserialize import FlatModel
from ..ir.option_names import by
from ..records import record
from .faults import observing
from .remarks import Remark, RemarkLog

if TYPE_CHECKING:
    from .new_nodes import NewNodes

Progress = Callable[[str, int, int], None]
"""The callback of progress: the work, the steps done, and their number."""


_MANY_NODES = 500
"""The nodes from which copies of bodies run slower than the loop, measured in onnxruntime 1.32.

Each copy has kernels of its own, which leave the cache before the next run; a loop reuses one set.
"""
INEXACT = Message("recurrence-inexact", "it could be {recurrence}: {option}", rank=3)
_MANY = Message(
    "many-copies",
    "onnxruntime runs so many nodes ({nodes}) at 0.4 to 1.1 of the loop's speed; {option} keeps the"
    " loop or finds a faster form",
)


class PassOptionError(Error):
    """An unknown pass, an unknown option, or an invalid value of an option."""


MAY_BE_CONTROL_FLOW = ("Loop", "Scan", "If", "SequenceMap", "LSTM", "GRU", "RNN")
"""The operators that are control flow, or that a pass may convert to it."""


Part = Literal["inputs", "outputs", "opsets", "functions"]
PARTS: tuple[Part, ...] = get_args(Part)
"""The parts of a model that a pass keeps unless it declares a change."""


@record(frozen=True)
class Pass(abc.ABC):
    """One rewrite. Its fields are its options; state lives in `PassContext`, never here.

    Attributes:
        name: its name in pipelines, in kebab-case.
        by_default: true for a pass of the default pipeline.
        default_options: its options there, where they differ from its defaults.
        cleans_up: true if it only removes superfluous parts, which gives no other pass new work.
        keeps_facts: true if it only replaces values by equal ones, and removes others.
        keeps_sizes: true if no construct in a body is hidden from it (`constructs_in_doubt`): it
            replaces none, asks by itself, or runs passes from which they are hidden.
        works_on: the operators that it needs in a model, if no other pass of a pipeline emits them.
        needs_graphs: true if it works on bodies and functions of the model alone.
        adds: the operators of control flow that it may add to a model without them.
        changes: the parts of a model that it may change; it keeps all others.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> class Nothing(sl.passes.Pass):
        ...     name = "nothing"
        ...     def run(self, model: sl.ir.Model, context: sl.passes.PassContext) -> bool:
        ...         return False
        >>> sl.rewrite(model, [Nothing()], verify=False) is model
        False
    """

    name: ClassVar[str]
    by_default: ClassVar[bool] = False
    default_options: ClassVar[Mapping[str, Any]] = {}
    cleans_up: ClassVar[bool] = False
    keeps_facts: ClassVar[bool] = False
    keeps_sizes: ClassVar[bool] = False
    works_on: ClassVar[tuple[str, ...] | None] = None
    needs_graphs: ClassVar[bool] = False
    adds: ClassVar[tuple[str, ...]] = ()
    changes: ClassVar[tuple[Part, ...]] = ()

    @property
    def exactness(self) -> Equality:
        """Notion of equality that it keeps of outputs."""
        return "bits"

    @abc.abstractmethod
    def run(self, model: Model, context: PassContext) -> bool:
        """Rewrite the model in place, and return whether it changed."""

    def is_idle(self, flat: FlatModel) -> bool:
        """Test that it certainly leaves a flat model as it is."""
        lacks_work = self.works_on is not None and flat.kinds.isdisjoint(self.works_on)
        return lacks_work or self.needs_graphs

    def violation(self, model: Model) -> str | None:
        """Return what breaks the pass's postcondition in a model; None if it holds."""
        return None

    @property
    def summary(self) -> str:
        """The description of the pass: the first line of its docstring."""
        return (self.__doc__ or "").strip().partition("\n")[0]

    def options(self) -> Iterator[tuple[str, Any]]:
        """The options with their values, except those that only code can set."""
        for field in dataclasses.fields(self):
            if not field.metadata.get("code_only"):
                yield field.name, getattr(self, field.name)

    def __str__(self) -> str:
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        changes = [f"{name}={value}" for name, value in self.options() if value != defaults[name]]
        return f"{self.name}{{{','.join(changes)}}}" if changes else self.name


class Watcher(Protocol):
    """Observer of each pass that runs, except trials on copies."""

    def before(self, pass_: Pass, model: Model) -> None:
        """Observe the model before a pass; the model must stay as it is."""

    def after(self, pass_: Pass, model: Model, changed: bool) -> None:
        """Observe the model after a pass; the model must stay as it is."""


_watcher: contextvars.ContextVar[Watcher | None] = contextvars.ContextVar("watcher", default=None)


@contextlib.contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Notify a watcher of the passes of every pipeline in this block.

    >>> from straightline import ir, rewrite
    >>> class Names:
    ...     def before(self, pass_, model):
    ...         pass
    ...     def after(self, pass_, model, changed):
    ...         if changed:
    ...             print(pass_.name)
    >>> model = ir.parse('''<ir_version: 10, opset_import: ["": 21]>
    ...     main (float[3] x) => (float[3] y) { a = Identity (x) y = Exp (a) }''')
    >>> with watching(Names()):
    ...     flat = rewrite(model)
    eliminate-identities
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def current_watcher() -> Watcher | None:
    """The current watcher, if any."""
    return _watcher.get()


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
        # Facts are about the values of one model object; a copy has values of its own.
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


@record
class Meter:
    """Cost of a rewrite so far.

    Attributes:
        added_nodes: nodes that copying has added to graphs; budgets count them.
        growth: the same with the nodes in their bodies, less the nodes that they replace. Copies
            of copies make it the larger one where bodies are nested.
        folded_bytes: bytes that folding constants has added; those that it freed count.
        folded_room: returns the limit of these; None before the first fold.
        seconds: time of each pass by its name, all its runs together.
    """

    added_nodes: int = 0
    growth: int = 0
    folded_bytes: int = 0
    folded_room: Callable[[], int] | None = None
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)


@record
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


@record
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

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> context = sl.passes.PassContext()
        >>> sl.passes.FoldConstants().run(model, context), list(context.remarks)
        (False, [])
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

    def with_offer(self, node: Node, reason: str, nodes: int = 0) -> str:
        """Append the offers of other options to a reason.

        Args:
            node: the construct.
            reason: the reason.
            nodes: how many nodes the construct is now, where no costs were compared.
        """
        many = _MANY(nodes=nodes, option=by("--passes accelerate")) if nodes > _MANY_NODES else None
        offers = [offer for offer in (self.offers.get(node.op), many) if offer is not None]
        return Reason.join([reason, *offers]) if offers else reason
