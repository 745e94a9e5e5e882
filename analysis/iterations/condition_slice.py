"""Backward slices of Loop conditions, evaluated on constants iteration by iteration."""

from collections import deque
from collections.abc import Sequence

from ...ir import Node, Tensor, Value
from ...ir.lazy import lazy_property
from ..constants.call_results import CallResults
from ..constants.dependence import CallReads, Query
from ..constants.equal import are_equal
from ..constants.evaluation import ConstructEvaluator, construct_evaluator, is_call
from ..constants.folding import Folder
from ..constants.provenance import origins
from ..shapes.inference import ShapeInference
from ..shapes.single_node_model import reads_of
from .body_inputs import condition_tensor, iteration_number


class ConditionSlice:
    """The backward slice of a body's condition, and its values in each iteration.

    Args:
        target: the truth value of the body to slice; its condition by default.

    Attributes:
        obstacle: the obstacle to evaluation; None if there is none.
        failure: the reason of a failed evaluation.
        settled: the latest iteration changed no value of the slice.
    """

    def __init__(self, loop: Node, folder: Folder, target: Value | None = None) -> None:
        self.body = loop.body("body")
        self.target = target or self.body.outputs[0]
        self.folder = folder
        self.obstacle: str | None = None
        self.failure = ""
        self.settled = False
        self._carried: dict[Value, Tensor] = {}
        self._updates: dict[Value, Value] = {}
        self._nodes: list[Node] = []
        self._inputs = {value: index for index, value in enumerate(self.body.inputs)}
        self._counts = False  # true if the condition depends on the iteration number
        self._constructs: dict[Node, ConstructEvaluator] = {}
        self._calls = CallResults(folder, lambda: self._around)
        self._outputs_of: dict[Node, set[Value]] = {}  # of calls with unknown arguments
        needed: set[Node] = set()
        for value, before in self._slice().items():
            self.obstacle = self._take(value, before, loop, needed)
            if self.obstacle is not None:
                return
        self._nodes = [node for node in self.body.nodes() if node in needed] if needed else []

    @lazy_property
    def _around(self) -> ShapeInference:
        return ShapeInference(self.folder.model)

    def _slice(self) -> dict[Value, list[Value]]:
        """The values of the slice, nearest first, each with its sources. A loop-carried value has
        its update as a source."""
        reads = CallReads(self.folder.model.functions)
        updates = dict(zip(self.body.inputs[2:], self.body.outputs[1:], strict=False))
        sources: dict[Value, list[Value]] = {}
        waiting = deque([self.target])
        while waiting:
            value = waiting.popleft()
            if value in sources:
                continue
            node = value.producer if value.graph is self.body else None
            if value in updates:
                sources[value] = [updates[value]]
            elif node is None or value.constant is not None:
                sources[value] = []
            elif reads.calls(node):
                queries = reads.of(Query(value, False))
                sources[value] = [v for v, sizes in queries if not sizes]
            else:
                sources[value] = reads_of(node)
            waiting += sources[value]
        return sources

    def _take(
        self, value: Value, before: Sequence[Value], loop: Node, needed: set[Node]
    ) -> str | None:
        """Add a value to the slice, and return the obstacle to its evaluation, if any."""
        if value.constant is not None:
            return None if value.constant.is_readable else origins(value)
        if value in self._inputs:
            return self._enter(loop, value, self._inputs[value])
        node = value.producer if value.graph is self.body else None
        if node is None:
            return origins(self.target)
        needed.add(node)
        if is_call(node, self.folder.model) and set(before) != set(reads_of(node)):
            self._outputs_of.setdefault(node, set()).add(value)
        elif node not in self._constructs:
            construct = construct_evaluator(node, self.folder.model)
            if construct is not None:
                self._constructs[node] = construct
            elif not self.folder.may_fold(node):
                return f"{node}, which is not evaluated before run time"
        return None

    def _enter(self, loop: Node, value: Value, index: int) -> str | None:
        """Add an input of the body; a loop-carried one with its initial value."""
        if index < 2:
            self._counts |= index == 0
            return None
        initial = loop.input(index)
        if initial is None or initial.constant is None or not initial.constant.is_readable:
            return origins(self.target)
        self._carried[value] = initial.constant
        self._updates[value] = self.body.outputs[index - 1]
        return None

    def step(self, iteration: int) -> bool | None:
        """Run an iteration, and return the condition; None where a node fails."""
        elements: dict[Value, Tensor] = dict(self._carried)
        elements[self.body.inputs[0]] = iteration_number(self.body, iteration)
        elements[self.body.inputs[1]] = condition_tensor(self.body, True)
        for node in self._nodes:
            results = self._compute(node, elements)
            if results is None:
                self.failure = f"{node} fails, or runs more iterations than are counted"
                return None
            elements.update(results)
        carried = {v: new.constant or elements[new] for v, new in self._updates.items()}
        self.settled = not self._counts and all(
            are_equal(tensor, self._carried[v]) for v, tensor in carried.items()
        )
        self._carried = carried
        condition = self.target
        tensor = condition.constant or elements[condition]
        if tensor.size != 1:
            self.failure = f"'{condition.name}' has {tensor.size} elements"
            return None
        return bool(tensor.numpy().reshape(()))

    def _compute(self, node: Node, elements: dict[Value, Tensor]) -> dict[Value, Tensor] | None:
        construct = self._constructs.get(node)
        results: Sequence[Tensor] | None
        if construct is not None:
            results = construct.evaluate({v: v.constant or elements[v] for v in construct.reads})
        elif node in self._outputs_of:
            return self._call(node, elements)
        else:
            tensors = [None if v is None else v.constant or elements[v] for v in node.inputs]
            results = self.folder.fold(node, tensors)
        if results is None:
            return None
        pairs = zip(node.outputs, results, strict=False)
        return {value: tensor for value, tensor in pairs if value is not None}

    def _call(self, node: Node, values: dict[Value, Tensor]) -> dict[Value, Tensor] | None:
        """Compute the required outputs of a call with unknown arguments."""
        outputs = self._outputs_of[node]
        elements = {v: v.constant or values.get(v) for v in node.inputs if v is not None}
        reads = self.folder.reads
        arguments = {
            v: tensor for v, tensor in elements.items() if tensor is not None and reads(tensor)
        }
        results = self._calls.inside(node, outputs, arguments, lambda: self._around, 1)
        self._calls.computed.clear()  # no call will have these arguments again
        return results if results.keys() == outputs else None
