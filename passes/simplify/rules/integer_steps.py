"""Values that are rounded to integers: there another rounding becomes a step of 1.

Position buckets, for example, are integers that a logarithm gives exactly. A constant that a rule
multiplies into another one would move such a number across the step.
"""

from __future__ import annotations

import onnx

from ....analysis.shapes.inference import ShapeInference
from ....facts.types import INTEGER_BITS
from ....ir import Graph, Node, Value
from ....ops import rules_of

_ROUNDING = frozenset(("Ceil", "Floor", "Mod", "Round"))

_MOST_READERS = 256
"""Limit of the readers that are searched."""


def is_rounded(value: Value, graph: Graph, inference: ShapeInference) -> bool:
    """Test for a reader that rounds to an integer, directly or after some operators.

    These compute each element by itself, or move elements.

    Args:
        value: the value, of any type.
        graph: its graph.
        inference: the facts of values.
    """
    waiting, visited = [value], {value}
    while waiting and len(visited) <= _MOST_READERS:
        for user in graph.users(waiting.pop()):
            if not isinstance(user, Node) or user.domain or user.bodies or len(user.outputs) != 1:
                continue
            output, rules = user.output(), rules_of(user.op)
            elem_type = inference.fact(output).elem_type
            is_integer = elem_type in INTEGER_BITS
            if user.is_op(*_ROUNDING) or (is_integer and user.is_op("Cast", "CastLike")):
                return True
            if is_integer or elem_type == onnx.TensorProto.BOOL or output in visited:
                continue
            if rules.elementwise or rules.exact:
                visited.add(output)
                waiting.append(output)
    return False
