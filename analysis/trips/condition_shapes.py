"""The condition of a Loop's body where only shapes decide it, or lengths of sequences, such as
"until the list of tokens has ten": facts are carried from trip to trip instead of values."""

from __future__ import annotations

from ...facts.fact import UNKNOWN, constant_fact, decided
from ...ir import Node, Tensor, Value
from ..constants.folding import Folder
from ..shapes.inference import ShapeInference
from .body_inputs import given_condition, iteration_number


class ConditionShapes:
    """Follows what is known of the carried values from trip to trip.

    Attributes:
        failure: why the condition is not known.
        settled: always False; shapes that no longer change are not looked for.
    """

    settled = False

    def __init__(self, loop: Node, folder: Folder) -> None:
        self.folder = folder
        self.body = loop.body("body")
        self.failure = "the shapes around it do not decide it"
        self._around = ShapeInference(folder.model)
        self._carried = [UNKNOWN if v is None else self._around.fact(v) for v in loop.inputs[2:]]

    def step(self, trip: int) -> bool | None:
        """Run one trip on facts; the condition after it, None where they do not decide it."""
        body = self.body
        given = (iteration_number(body, trip), given_condition(body, True))
        # A trial of its own for each trip: what holds inside the body changes with every one.
        inside = self._around.trial()
        for value, fact in zip(
            body.inputs, [*map(constant_fact, given), *self._carried], strict=True
        ):
            inside.assume(value, fact)
        holds = self._decided(body.outputs[0], inside)
        if holds is None or holds.size != 1:
            return None
        self._carried = [inside.fact(v) for v in body.outputs[1 : 1 + len(self._carried)]]
        return bool(holds.numpy().reshape(()))

    def _decided(self, wanted: Value, inside: ShapeInference) -> Tensor | None:
        """The elements of a value; where facts do not follow them, as for floats, computed from
        values of which they do."""
        known: dict[Value | None, Tensor | None] = {None: None}
        stack = [wanted]
        while stack:
            value = stack[-1]
            node = value.producer
            tensor = value.constant or _from_facts(value, inside)
            inner = node is not None and node.graph is self.body and self.folder.may_fold(node)
            if tensor is None and node is not None and inner:
                missing = [v for v in node.inputs if v is not None and v not in known]
                if missing:
                    stack += missing
                    continue
                tensor = self._fold(node, value, known)
            known[value] = tensor
            stack.pop()
        return known[wanted]

    def _fold(
        self, node: Node, value: Value, known: dict[Value | None, Tensor | None]
    ) -> Tensor | None:
        tensors = [known[v] for v in node.inputs]
        if any(t is None and v is not None for t, v in zip(tensors, node.inputs, strict=True)):
            return None
        results = self.folder.fold(node, tensors)
        return None if results is None else results[node.outputs.index(value)]


def _from_facts(value: Value, inside: ShapeInference) -> Tensor | None:
    array = decided(inside.fact(value))
    return None if array is None else Tensor(array=array)
