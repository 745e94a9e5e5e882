"""MatMul: products of matrices.

- 9: integers.
- 13: bfloat16.
"""

import onnx

from ...facts.types import INTEGER_BITS
from ..registry import AdapterResult, NodeDraft, longer_form
from ..snippets import from_halves, halves

_T = onnx.TensorProto
_MOST_PRODUCTS = 1 << 20
"""Limit of numbers below 2^33 of which doubles hold the sum."""


@longer_form(9, "MatMul")
def add_products(draft: NodeDraft) -> AdapterResult:
    """Below opset 9, integers: all products, summed in 64 bits, of which the low ones count.

    onnxruntime adds long integers as doubles, so that the halves of products are added apart.
    """
    elem_type = draft.required_elem_type(0, "MatMul before opset 9")
    if elem_type not in INTEGER_BITS:
        return None
    ranks = [draft.required_rank("MatMul before opset 9", index) for index in (0, 1)]
    if 0 in ranks:
        draft.refuse("MatMul does not support scalars")
    if (draft.length(ranks[0] - 1) or 0) > _MOST_PRODUCTS:
        draft.refuse(f"sums of more than {_MOST_PRODUCTS} products are not exact")
    one, other = (draft.as_type(draft.required(index), _T.INT64) for index in (0, 1))
    if ranks[0] == 1:
        one = draft.unsqueeze(one, [0])
    if ranks[1] == 1:
        other = draft.unsqueeze(other, [1])
    one = draft.unsqueeze(one, [max(ranks[0], 2)])
    other = draft.unsqueeze(other, [max(ranks[1], 2) - 2])
    rank = max(*ranks, 2)
    product = draft.emit("Mul", [one, other], "products")
    high, low = (
        draft.emit("ReduceSum", [half], "sum", axes=[rank - 1], keepdims=0)
        for half in halves(draft, product)
    )
    total = from_halves(draft, high, low, _T.INT64)
    absent = [rank - 2] * (ranks[0] == 1) + [rank - 1] * (ranks[1] == 1)
    if absent:
        total = draft.emit("Squeeze", [total], "sum", axes=absent)
    return [draft.as_type(total, elem_type)]
