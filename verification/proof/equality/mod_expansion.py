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


class ModExpansion:
    """Rule of comparison for Mod.

    Args:
        terms: the terms of both models.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    def defined(self, one: Term, other: Term) -> list[Pair] | None:
        """Expand a Mod that is compared with another operator."""
        if one.is_op("Mod") is other.is_op("Mod"):
            return None
        if one.is_op("Mod"):
            expansion = self._expand(one)
            return None if expansion is None else [(expansion, other)]
        expansion = self._expand(other)
        return None if expansion is None else [(one, expansion)]

    def _expand(self, mod: Term) -> Term | None:
        a, b = mod.args
        assert a is not None and b is not None
        if mod.fact.elem_type not in _SIGNED + _UNSIGNED:
            return None
        rest = self._op("Sub", a, self._op("Mul", self._op("Div", a, b), b))
        if mod.head.attribute("fmod") or mod.fact.elem_type in _UNSIGNED:
            return rest
        dtype = onnx.helper.tensor_dtype_to_np_dtype(mod.fact.elem_type)
        zero = self._terms.constant(np.zeros((), dtype))
        signs = self._op("Xor", self._op("Less", rest, zero), self._op("Less", b, zero))
        wrong = self._op("And", signs, self._op("Not", self._op("Equal", rest, zero)))
        return self._op("Where", wrong, self._op("Add", rest, b), rest)

    def _op(self, op_type: str, *args: Term) -> Term:
        head = self._terms.heads.of(Operator(op_type), _IMPORTS)
        result = self._terms.apply(head, args)[0]
        assert result is not None
        return result
