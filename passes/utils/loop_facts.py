"""Facts of a loop's outputs for the values that replace them.

    float[1, 8] h = Loop (thousand, , h0) <...>
->
    h_999 = Add (...): its type follows from 21,000 nodes, or from one inference of the body
"""

from collections.abc import Mapping, Sequence

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Fact, is_settled
from ...facts.polynomial import Dimension
from ...ir import Node, Value, captured_by
from ..base import PassContext

_MANY = 8
"""The number of copies from which one inference of the body is cheaper than that of the copies."""


def settled_outputs(inference: ShapeInference, loop: Node, iterations: int) -> dict[int, Fact]:
    """Infer the outputs of a Loop or Scan whose types and sizes are known.

    Facts inside bodies and functions hold for one iteration or call only, so there are none.

    Args:
        iterations: its trip count.
    """
    if iterations < _MANY or loop.graph is not inference.model.graph:
        return {}
    facts = {}
    for index, value in enumerate(loop.outputs):
        fact = Fact() if value is None else inference.fact(value)
        if fact.shape and loop.is_op("Loop") and index >= len(loop.inputs) - 2:
            fact = Fact(fact.elem_type, (Dimension.constant(iterations), *fact.shape[1:]))
        if is_settled(fact):
            facts[index] = fact
    return facts


def record_facts(
    context: PassContext,
    inference: ShapeInference,
    loop: Node,
    facts: Mapping[int, Fact],
    outputs: Sequence[Value | None],
) -> None:
    """Record the facts of a loop's outputs as facts of their replacements.

    A value that the loop reads has facts of its own, which may tell more.
    """
    read = {None, *loop.inputs, *captured_by(loop)}
    for index, fact in facts.items():
        value = outputs[index]
        if value is not None and value not in read and value.constant is None:
            context.analyses.facts[value] = fact
            inference.assume(value, fact)
