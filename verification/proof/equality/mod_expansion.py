"""Mod of integers by its definition: older opsets have only a Div that truncates.

The remainder of a is r = a - a / b * b (operator specification, Div: integers round toward zero).
With fmod that is all; else r + b where r is not 0 and differs from b in sign. A division by 0 fails
in both, as does the one quotient that overflows its type.
"""

from __future__ import annotations

import numpy as np
import onnx

from ....ir import Operator
from ..terms.term import Pair, Term
from ..terms.term_manager import Terms

_IMPORTS = {"": 16}
_SIGNED = (onnx.TensorProto.INT32, onnx.TensorProto.INT64)
_UNSIGNED = (onnx.TensorProto.UINT32, onnx.TensorProto.UINT64)


def expand_mod(terms: Terms, one: Term, other: Term) -> list[Pair] | None:
    """Expand a Mod that is compared with another operator."""
    if one.is_op("Mod") is other.is_op("Mod"):
        return None
    expansion = _expand(terms, one if one.is_op("Mod") else other)
    if expansion is None:
        return None
    return [(expansion, other) if one.is_op("Mod") else (one, expansion)]


def _expand(terms: Terms, mod: Term) -> Term | None:
    def op(op_type: str, *args: Term) -> Term:
        result = terms.apply(terms.heads.of(Operator(op_type), _IMPORTS), args)[0]
        assert result is not None
        return result

    a, b = mod.args
    assert a is not None and b is not None
    if mod.fact.elem_type not in _SIGNED + _UNSIGNED:
        return None
    rest = op("Sub", a, op("Mul", op("Div", a, b), b))
    if mod.head.attribute("fmod") or mod.fact.elem_type in _UNSIGNED:
        return rest
    zero = terms.constant(np.zeros((), onnx.helper.tensor_dtype_to_np_dtype(mod.fact.elem_type)))
    signs = op("Xor", op("Less", rest, zero), op("Less", b, zero))
    wrong = op("And", signs, op("Not", op("Equal", rest, zero)))
    return op("Where", wrong, op("Add", rest, b), rest)
