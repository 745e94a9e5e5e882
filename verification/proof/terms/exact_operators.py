"""Operators with the same bits in every kernel: they move numbers, or round once.

All others round in between, so that their last bits depend on the library and on the kernel, which
a runtime chooses by sizes: an operator applied to some rows may differ from the same rows of all,
and a folded constant from what a runtime computes. Measured with onnxruntime 1.32 on rows of 1 to
1000 numbers against all of them and against numpy: rows differ for MatMul, Gemm, Einsum, Acos,
Asin, Atan, Celu, Cos, Elu, Exp, Log, Mish, Selu, Sigmoid, Sin, Softmax, LogSoftmax, Softplus, Tanh
and the sums of Reduce; folded, nearly every operator without a `roundings` of its own differs.
"""

from collections.abc import Iterable

import onnx

from ....facts.types import INTEGER_BITS
from ....ops import described
from .term import Term

_WHOLE = frozenset([onnx.TensorProto.BOOL, onnx.TensorProto.STRING, *INTEGER_BITS])

READS_BITS = "BitCast"
"""Operator whose result depends on the bits of a NaN."""

COMMUTATIVE = frozenset(
    {"Add", "Mul", "And", "Or", "Xor", "Equal", "BitwiseAnd", "BitwiseOr", "BitwiseXor"}
)
"""Commutative operators. Max and Min of floats are not: 0 and -0."""

OF_ROWS = "of some rows gives the same bits as of all rows"
FOLDED = "of constants gives the same bits in the runtime"
LONGER = "gives the same bits as its definition"
"""Assumptions about an operator that rounds in between."""


def is_exact(name: str, terms: Iterable[Term | None]) -> bool:
    """Test whether an operator has the same bits in each kernel.

    Args:
        terms: operands and outputs; all operators are exact on integers.
    """
    rules = described().get(name)
    if rules is not None and rules.fixed_roundings() is not None:
        return True
    return all(term is None or term.fact.elem_type in _WHOLE for term in terms)


def assumptions_of(
    rows: Iterable[str], constants: Iterable[str], longer: Iterable[str] = ()
) -> set[str]:
    """Assumptions about operators, one sentence each.

    Args:
        rows: operators applied to some rows in one model and to all rows in the other.
        constants: operators that were folded in one of the models.
        longer: operators that are equal to their definition in the other model.
    """
    kinds = ((rows, OF_ROWS), (constants, FOLDED), (longer, LONGER))
    return {f"{name} {ending}" for names, ending in kinds for name in names}
