"""Signs of zeros: which operators carry equal values to equal values, which terms have no sign.

    y = Div (x, d)     -0.0 in place of 0.0 in x changes zeros of y, in d it changes infinities

Where a sign matters, equal values are equal bit for bit if no sign bit is set.
"""

from typing import Any

import numpy as np


def names(text: str) -> frozenset[str]:
    """Names that a text lists."""
    return frozenset(text.split())


_CARRYING = names("""Abs Add AveragePool Cast Clip Concat Conv ConvTranspose Cos CumSum Elu Equal
    Erf Exp Expand Flatten Gather GatherElements GatherND Gelu Gemm GlobalAveragePool Greater
    GreaterOrEqual HardSwish Identity If InstanceNormalization IsNaN LayerNormalization LeakyRelu
    Less LessOrEqual Log LogSoftmax MatMul Max MaxPool Mean Min Mish Mul Neg PRelu Pad
    RMSNormalization ReduceL2 ReduceMax ReduceMean ReduceMin ReduceSum ReduceSumSquare Relu Reshape
    ScatterElements ScatterND Shape Sigmoid Sin Slice Softmax Softplus Split Sqrt Squeeze Sub Sum
    Tanh Tile Transpose Unsqueeze Where moved""")
_CLEAR = names("Abs Exp ReduceL2 ReduceSumSquare Sigmoid Softmax")
"""Operators whose results have no sign bit, whatever their operands."""
_MOVING = names("""Expand Identity ReduceMean ReduceSum Reshape Sqrt Squeeze Transpose Unsqueeze
    moved""")
_KEEPING = names("Add Div Mul Sum") | _MOVING
"""Operators whose results have no sign bit if their operands, or the first one, have none."""
_FLOATS = (0, 1, 10, 11, 16)
"""Element types that may have signs of zeros; 0 is an unknown one."""
_MOST_DEPTH = 12


def carries(terms: Any, node: Any, position: int) -> bool:
    """Test for an operand whose signs of zeros reach only zeros of the result."""
    name, fact = node.head.name, terms.fact(node.args[position])
    if fact.elem_type not in _FLOATS or name in _CARRYING:
        return name != "Cast" or node.head.integer("to") != 8  # not texts
    if name == "Pow":  # a zero to a power above 0 is a zero
        powers = terms.tensor(node.args[1])
        return position == 0 and powers is not None and bool((powers.numpy() > 0).all())
    return name in ("Div", "Resize") and position == 0


def carries_all(terms: Any, node: Any) -> bool:
    """Test for a term whose operands may be others with the same values."""
    places = [place for place, arg in enumerate(node.args) if arg >= 0]
    return not terms.is_frozen or all(carries(terms, node, place) for place in places)


def is_clear(terms: Any, term: int, depth: int = 0) -> bool:
    """Test for a term without a sign bit, but for that of a NaN."""
    if depth > _MOST_DEPTH:
        return False
    node, tensor = terms.nodes[term], terms.constants.get(term)
    if tensor is not None:
        return not np.signbit(tensor.numpy()).any()
    name, args = node.head.name, node.args
    if name in _CLEAR or (name == "Mul" and args[0] == args[1]):
        return True
    if name == "Pow" and (powers := terms.tensor(args[1])) is not None:
        is_even = bool((powers.numpy() % 2 == 0).all())
        return is_even or is_clear(terms, args[0], depth + 1)
    count = 1 if name in _MOVING else len(args)
    return name in _KEEPING and all(is_clear(terms, arg, depth + 1) for arg in args[:count])
