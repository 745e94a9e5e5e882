"""Values that are rounded to integers: there another rounding becomes a step of 1.

Position buckets, for example, are integers that a logarithm gives exactly. A constant that a rule
multiplies into another one would move such a number across the step.
"""

import onnx

from ....analysis.shapes.inference import ShapeInference
from ....facts.types import INTEGER_BITS
from ....ir import Node
from ....ops import rules_of

_ROUNDING = frozenset(("Ceil", "Floor", "Mod", "Round"))


def rounds(user: Node, inference: ShapeInference) -> bool | None:
    """Reading of a value: True for a rounding to an integer, None for an operator that it passes.

    These compute each element by itself, or move elements.
    """
    elem_type, rules = inference.fact(user.output()).elem_type, rules_of(user.op)
    is_integer = elem_type in INTEGER_BITS
    if user.is_op(*_ROUNDING) or (is_integer and user.is_op("Cast", "CastLike")):
        return True
    is_whole = is_integer or elem_type == onnx.TensorProto.BOOL
    return None if not is_whole and (rules.elementwise or rules.exact) else False
