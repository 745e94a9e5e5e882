"""The condition of a Loop's body where only shapes decide it, or lengths of sequences, such as
"until the list of tokens has ten": facts are carried from trip to trip instead of values."""

from __future__ import annotations

from ...ir import Model, Node
from .facts import UNKNOWN, constant_fact, decided
from .given import given_condition, iteration_number
from .shape_inference import ShapeInference


class ConditionShapes:
    """Follows what is known of the carried values from trip to trip.

    Attributes:
        failure: why the condition is not known.
        settled: always False; shapes that no longer change are not looked for.
    """

    settled = False

    def __init__(self, loop: Node, model: Model) -> None:
        self.body = loop.body("body")
        self.failure = "the shapes around it do not decide it"
        self._around = ShapeInference(model)
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
        holds = decided(inside.fact(body.outputs[0]))
        if holds is None or holds.size != 1:
            return None
        self._carried = [inside.fact(v) for v in body.outputs[1 : 1 + len(self._carried)]]
        return bool(holds.reshape(()))
