"""Reduction of a model by steps until none of them applies.

Each step numbers parts of one kind, and removes runs of them, longest first (delta debugging). Of
eight nodes, of which node 2 alone causes the fault:

    without 0-7: gone      without 4-7: still there, removed      without 0-3: gone
    without 2-3: gone      without 0-1: still there, removed
    without 3: still there, removed                               without 2: gone, the end
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import onnx
import onnx.inliner

from ..display import OnProgress, silent
from ..ir import (
    Error,
    GraphError,
    ModelError,
    ModelSource,
    OnnxError,
    ask_onnx,
    base_dir_of,
    load,
    read,
    to_proto,
)
from ..ir.io.external_data import load_external_data
from ..records import record
from ..runtimes.source import Source
from .command import FailingCommand
from .draft import Draft, UncuttableError, nesting_of
from .steps import (
    Attributes,
    Bypasses,
    Constants,
    Constructs,
    Inputs,
    LoopSlots,
    Nodes,
    Outputs,
    Step,
)

DEFAULT_MAX_TESTS = 2000
OnSmaller = Callable[[onnx.ModelProto], object]


class ReductionError(Error):
    """A model cannot be reduced."""


class Size(NamedTuple):
    """Size of a model with all bodies and functions; what counts most comes first."""

    nodes: int
    outputs_of_graphs: int
    elements_of_constants: int
    attributes: int
    inputs_of_graphs: int
    bytes: int


@record(frozen=True)
class Reduction:
    """Result of a reduction.

    Attributes:
        model: the smallest model found.
        tests: the number of runs of the command.
        complete: no step makes it smaller; false where the limit of tests ended the search.
    """

    model: onnx.ModelProto
    tests: int
    complete: bool


class _LimitReachedError(Exception):
    """The number of tests is used up."""


def reduce_model(
    source: ModelSource,
    still_fails: Callable[[onnx.ModelProto], bool],
    *,
    max_tests: int = DEFAULT_MAX_TESTS,
    on_smaller: OnSmaller | None = None,
    on_progress: OnProgress = silent,
) -> Reduction:
    """Search for the smallest model on which a fault remains, by delta debugging.

    Each model that is tried is well formed: ONNX's checker accepts it if it accepts the original.
    What loses its node becomes an input, so that the types stay.

    Args:
        source: the model on which the fault occurs.
        still_fails: test of a model for the fault, such as a `FailingCommand`.
        max_tests: limit of tests.
        on_smaller: called with each smaller model that still fails.
        on_progress: called with the work at hand.

    Raises:
        LoadError: the model cannot be read.
        ReductionError: the fault is gone as soon as straightline writes the model anew.
    """
    if isinstance(still_fails, FailingCommand):
        still_fails.expect(_message(source))
    search = _Search(_message(source), still_fails, max_tests, on_smaller, on_progress)
    try:
        search.run()
    except _LimitReachedError:
        return Reduction(search.best, search.tests, complete=False)
    return Reduction(search.best, search.tests, complete=True)


def _message(source: ModelSource) -> onnx.ModelProto:
    """The message of a model with its external data inside."""
    source = read(source)
    message = onnx.ModelProto()
    message.CopyFrom(to_proto(source))
    load_external_data(message, base_dir_of(source))
    return message


class _Search:
    """The smallest model so far, and the tests of smaller ones.

    Args:
        model: the model as it came.
    """

    def __init__(
        self,
        model: onnx.ModelProto,
        still_fails: Callable[[onnx.ModelProto], bool],
        max_tests: int,
        on_smaller: OnSmaller | None,
        on_progress: OnProgress,
    ) -> None:
        self.best, self.tests = model, 0
        self._still_fails, self._max_tests = still_fails, max_tests
        self._on_smaller, self._on_progress = on_smaller, on_progress
        # An invalid original may be reduced, too: the fault of a checker is found that way.
        self._is_valid = not Source(model).fault
        self._results: dict[bytes, bool] = {}
        self._size: Size | None = None

    def run(self) -> None:
        """Take steps until none of them makes the model smaller."""
        # Each draft is written anew, so that a fault which this removes cannot be followed.
        anew = to_proto(load(self.best))
        if not self._accepts(anew):
            raise ReductionError(
                "the fault is gone as soon as straightline reads and writes the model:"
                " it depends on names, on the order of nodes, or on unused parts"
            )
        # Functions first: with them inlined, steps cut nodes one by one in place of whole
        # functions.
        for simpler in (_inlined, _without_texts):
            self._accepts(simpler(self.best))
        while self._round():
            pass

    def _round(self) -> bool:
        """Take each step once."""
        before = self.best
        depth = 1 + max((nesting_of(graph) for graph in load(before).graph.walk()), default=0)
        # From large parts to small: each output that goes takes all nodes with it that only it
        # needs.
        steps: list[Step] = [Outputs(), *map(Nodes, range(depth)), LoopSlots()]
        steps += [Constructs(0), Constructs(1), Bypasses(), Constants(), Attributes(), Inputs()]
        for step in steps:
            self._take(step)
        return self.best is not before

    def _take(self, step: Step) -> None:
        """Remove as many parts of one kind as possible."""
        start = self.best
        count = step.count(Draft(load(start)))
        title = type(step).__name__.lower()

        def holds_without(chosen: Sequence[int]) -> bool:
            self._on_progress("reducing", f"{title}, run {self.tests}", 0, 0)
            draft = Draft(load(start))
            try:
                step.remove(draft, chosen)
                draft.finish()
                return self._accepts(to_proto(draft.model))
            except (UncuttableError, GraphError, ModelError):
                return False  # no model: nothing to test

        removable(count, holds_without)

    def _accepts(self, model: onnx.ModelProto) -> bool:
        """Test a model, and keep it if the fault is still there."""
        key = hashlib.sha256(model.SerializeToString(deterministic=True)).digest()
        # Steps may arrive at one model several times, and each test costs a run of the command.
        if key not in self._results:
            self._results[key] = self._test(model)
        return self._results[key]

    def _test(self, model: onnx.ModelProto) -> bool:
        size = size_of(model)
        # Size and checker first: they cost less than a run of the command.
        if (self._size is not None and size >= self._size) or (
            self._is_valid and Source(model).fault
        ):
            return False
        if self.tests >= self._max_tests:
            raise _LimitReachedError
        self.tests += 1
        fails = self._still_fails(model)
        if fails:
            self.best, self._size = model, size
            if self._on_smaller is not None:
                self._on_smaller(model)
        return fails


def size_of(model: onnx.ModelProto) -> Size:
    """Size of a model."""
    graphs = list(load(model).graphs())
    nodes = [node for graph in graphs for node in graph.unordered_nodes()]
    constants = [tensor.size for graph in graphs for tensor in graph.initializers.values()]
    constants += [v.constant.size for node in nodes for v in node.outputs if v and v.constant]
    return Size(
        nodes=len(nodes),
        outputs_of_graphs=sum(len(graph.outputs) for graph in graphs),
        elements_of_constants=sum(constants),
        attributes=sum(len(node.op.attributes) for node in nodes),
        inputs_of_graphs=sum(len(graph.inputs) for graph in graphs),
        bytes=model.ByteSize(),
    )


def _inlined(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model without functions of its own."""
    if not model.functions:
        return model
    try:
        return ask_onnx("the model", onnx.inliner.inline_local_functions, model)
    except OnnxError:
        return model  # the functions stay


def _without_texts(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model without documentation, metadata, names of nodes, and types of inner values."""
    loaded = onnx.ModelProto()
    loaded.CopyFrom(model)
    for field in ("doc_string", "metadata_props", "producer_name", "producer_version", "domain"):
        loaded.ClearField(field)
    pending = [loaded.graph]
    while pending:
        graph = pending.pop()
        for field in ("doc_string", "metadata_props", "value_info"):
            graph.ClearField(field)
        for node in graph.node:
            for field in ("doc_string", "metadata_props", "name"):
                node.ClearField(field)
            pending += [a.g for a in node.attribute if a.HasField("g")]
    return loaded


Holds = Callable[[Sequence[int]], bool]


def removable(count: int, holds_without: Holds) -> list[int]:
    """Search for items that can be removed together while a property holds.

    Each item that stays was tried alone after the last removal, so the rest is 1-minimal. The
    number of trials is O(count log count) where few items stay, quadratic at worst.

    Args:
        count: the number of items, which are numbered from 0.
        holds_without: test of the property without some items, in ascending order.

    Returns:
        the items to remove, ascending.
    """
    removed: set[int] = set()
    size = count
    while size:
        progress = False
        rest = [item for item in range(count) if item not in removed]
        # Late items first: they depend on earlier ones.
        for start in range((len(rest) - 1) // size * size if rest else -1, -1, -size):
            trial = sorted(removed.union(rest[start : start + size]))
            if holds_without(trial):
                removed.update(trial)
                progress = True
        if size == 1 and not progress:
            break
        size = max(size // 2, 1)
    return sorted(removed)
