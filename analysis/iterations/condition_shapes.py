"""Loop conditions that shapes or lengths of sequences decide, as "until there are ten tokens". It
carries facts from iteration to iteration instead of values."""

from ...facts.fact import UNKNOWN, constant_fact, decided
from ...ir import Node, Tensor, Value
from ..constants.folding import Folder
from ..shapes.inference import ShapeInference
from .body_inputs import condition_tensor, iteration_number


class ConditionShapes:
    """Abstract execution of a Loop on facts about loop-carried values.

    Attributes:
        failure: the reason why the condition is unknown.
        settled: always False: there is no search for stable shapes.
    """

    settled = False

    def __init__(self, loop: Node, folder: Folder) -> None:
        self.folder = folder
        self.body = loop.body("body")
        self.failure = "the shapes around it do not decide it"
        self._around = ShapeInference(folder.model)
        self._carried = [UNKNOWN if v is None else self._around.fact(v) for v in loop.inputs[2:]]

    def step(self, iteration: int) -> bool | None:
        """Run an iteration on facts, and return the condition; None where they do not decide it."""
        body = self.body
        constants = (iteration_number(body, iteration), condition_tensor(body, True))
        # Each iteration needs its own trial: facts inside the body change with it.
        inside = self._around.trial()
        for value, fact in zip(
            body.inputs, [*map(constant_fact, constants), *self._carried], strict=True
        ):
            inside.assume(value, fact)
        holds = self._evaluate(body.outputs[0], inside)
        if holds is None or holds.size != 1:
            return None
        self._carried = [inside.fact(v) for v in body.outputs[1 : 1 + len(self._carried)]]
        return bool(holds.numpy().reshape(()))

    def _evaluate(self, target: Value, inside: ShapeInference) -> Tensor | None:
        """The elements of a value from facts, or by folding, as for floats."""
        tensors: dict[Value | None, Tensor | None] = {None: None}
        stack = [target]
        while stack:
            value = stack[-1]
            node = value.producer
            tensor = value.constant or _from_facts(value, inside)
            inner = node is not None and node.graph is self.body and self.folder.may_fold(node)
            if tensor is None and node is not None and inner:
                missing = [v for v in node.inputs if v is not None and v not in tensors]
                if missing:
                    stack += missing
                    continue
                tensor = self._fold(node, value, tensors)
            tensors[value] = tensor
            stack.pop()
        return tensors[target]

    def _fold(
        self, node: Node, value: Value, elements: dict[Value | None, Tensor | None]
    ) -> Tensor | None:
        tensors = [elements[v] for v in node.inputs]
        if any(t is None and v is not None for t, v in zip(tensors, node.inputs, strict=True)):
            return None
        results = self.folder.fold(node, tensors)
        return None if results is None else results[node.outputs.index(value)]


def _from_facts(value: Value, inside: ShapeInference) -> Tensor | None:
    array = decided(inside.fact(value))
    return None if array is None else Tensor(array=array)
