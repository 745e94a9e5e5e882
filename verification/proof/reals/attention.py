"""Attention over the reals, by the formula of the operator specification."""

import math

import numpy as np
import onnx

from ....facts.fact import Shape
from ....ops.axes import ONE
from ..terms.term import Term, bare, descendants
from ..terms.term_manager import Terms
from .conditions import TOTAL
from .real_terms import FLOATS, rewriting

_EXPAND = 13
"""Opset of Expand as of today."""
_HEADS_FIRST = [0, 2, 1, 3]
_PLAIN = {"softcap": 0.0, "is_causal": 0, "qk_matmul_output_mode": 0}
"""Attributes with the values for which the formula holds."""
_TOTAL = TOTAL | {"Add", "input"}
_CACHED = ("present_key", "present_value")
"""Outputs after the first one."""


@rewriting("Attention")
def attention(terms: Terms, term: Term) -> Term | None:
    """Rewrite to the formula of the specification.

    Softmax(scale * Q * K' + mask) * V, where a cache comes before K and V.
    """
    head, (q, k, v, *rest) = term.head, term.args
    mask, *cache = rest or [None]
    if q is None or k is None or v is None or term.index > len(_CACHED) or len(cache) > 2:
        return None
    if any(head.attribute(name, value) != value for name, value in _PLAIN.items()):
        return None
    # A mask of truth values is no summand, as the formula has it.
    if any(a is not None and a.fact.elem_type not in FLOATS for a in term.args):
        return None
    counts = head.attribute("q_num_heads", 0), head.attribute("kv_num_heads", 0)
    split = [_heads(terms, term, x, n) for x, n in ((q, counts[0]), (k, counts[1]), (v, counts[1]))]
    queries, keys, values = split
    if queries is None or keys is None or values is None:
        return None
    if cache and cache[0] is not None and cache[1] is not None:
        keys, values = (
            terms.op("Concat", head, past, x, axis=2)
            for past, x in zip(cache, (keys, values), strict=True)
            if past is not None
        )
    elif any(cache):
        return None
    if term.index:
        return (keys, values)[term.index - 1]
    repeated = [_repeated(terms, x, queries) for x in (keys, values)]
    if repeated[0] is None or repeated[1] is None:
        return None
    result = _weighted(terms, term, queries, repeated[0], repeated[1], mask)
    if result is None or len(q.shape) == 4:
        return result
    return terms.view(terms.op("Transpose", head, result, perm=_HEADS_FIRST), term.shape)


def _heads(terms: Terms, term: Term, x: Term, count: int) -> Term | None:
    """Operand with an axis of heads before the sequence."""
    shape = x.fact.shape
    if shape is None or len(shape) not in (3, 4):
        return None
    if len(shape) == 4:
        return x
    size = shape[2].divided_by(count) if count else None
    if size is None:
        return None
    dims = (*shape[:2], ONE * count, size)
    return terms.op("Transpose", term.head, terms.view(x, dims), perm=_HEADS_FIRST)


def _repeated(terms: Terms, x: Term, queries: Term) -> Term | None:
    """Heads of keys or values, each for as many heads of queries as share it."""
    batch, heads, *rest = x.shape
    if heads == queries.shape[1]:
        return x
    times = queries.shape[1].divided_by(heads)
    if times is None:
        return None
    column = terms.view(x, (batch, heads, ONE, *rest))
    whole: Shape = (batch, heads, times, *rest)
    expanded = terms.op("Expand", _EXPAND, column, terms.sizes(whole))
    return terms.view(expanded, (batch, queries.shape[1], *rest))


def _weighted(
    terms: Terms, term: Term, queries: Term, keys: Term, values: Term, mask: Term | None
) -> Term | None:
    """Values weighted by the Softmax of the scores."""
    head, size = term.head, queries.shape[3].value
    dtype = onnx.helper.tensor_dtype_to_np_dtype(term.fact.elem_type)
    factor = head.attribute("scale")
    if factor is None:
        factor = None if not size else 1 / math.sqrt(size)
    if factor is None:
        return None
    turned = terms.op("Transpose", head, keys, perm=[0, 1, 3, 2])
    scores = terms.op("MatMul", head, queries, turned)
    scaled = terms.op("Mul", head, scores, terms.constant(np.array(factor, dtype)))
    masked = scaled if mask is None else terms.op("Add", head, scaled, mask)
    # A mask broadcasts to the scores, never the scores to a mask.
    if masked.fact.shape is None or masked.fact.shape != scaled.fact.shape:
        return None
    weights = terms.op("Softmax", head, masked, axis=-1)
    return terms.op("MatMul", head, weights, values)


@rewriting("Where")
def guarded(terms: Terms, term: Term) -> Term | None:
    """Rewrite a choice between numbers that certainly exist and others to the former.

    The test is for a NaN of a Softmax, or for a size below infinity.
    """
    condition, *values = term.operands
    test = bare(condition)
    if test.is_op("IsNaN") and bare(values[1]).is_op("Softmax"):
        chosen, is_sure = values[1], bare(test.operands[0]) is bare(values[1])
    elif test.is_op("Less") and test.operands[0].is_op("Abs"):
        chosen, is_sure = values[0], _is_infinity(terms, test) and _is_number(terms, test)
    else:
        return None
    if not is_sure or condition.fact.shape != term.fact.shape or term.fact.shape is None:
        return None
    if chosen.fact.shape != term.shape:
        chosen = terms.op("Expand", _EXPAND, chosen, terms.sizes(term.shape))
    return chosen if chosen.fact.shape == term.shape else None


def _is_infinity(terms: Terms, test: Term) -> bool:
    tensor = terms.tensor(test.operands[1])
    return tensor is not None and bool((tensor.numpy() == np.inf).all())


def _is_number(terms: Terms, test: Term) -> bool:
    """Test for a function that has a value for all numbers."""
    for part in descendants(test.operands[0].operands):
        tensor = terms.tensor(part)
        if part.fact.elem_type not in FLOATS:
            continue
        if tensor is not None and not np.isfinite(tensor.numpy()).all():
            return False
        if tensor is None and part.head.name not in _TOTAL:
            return False
    return True
