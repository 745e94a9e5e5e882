"""RotaryEmbedding over the reals, by the formula of the operator specification."""

from __future__ import annotations

from ....ops.axes import ONE
from ..terms.term import Term
from ..terms.term_manager import Terms
from .real_terms import FLOATS, rewriting

_PLAIN = {"interleaved": 0, "rotary_embedding_dim": 0}
"""Attributes with the values for which the formula holds."""


@rewriting("RotaryEmbedding")
def rotary_embedding(terms: Terms, term: Term) -> Term | None:
    """Rewrite to (x1, x2) * (cos, cos) + (-x2, x1) * (sin, sin)."""
    head, (x, *caches) = term.head, term.args
    if x is None or len(caches) != 2 or any(head.attribute(n, v) != v for n, v in _PLAIN.items()):
        return None
    if any(a is None or a.fact.elem_type not in FLOATS for a in (x, *caches)):
        return None
    if len(x.fact.shape or ()) == 3:
        return _of_sequences(terms, term, x)
    if len(x.fact.shape or ()) != 4:
        return None
    batch, _, places, size = x.shape
    half = size.divided_by(2)
    shapes = [None if cache is None else cache.fact.shape for cache in caches]
    if half is None or any(shape != (batch, places, half) for shape in shapes):
        return None
    first = terms.narrow(x, 3, 0, half)
    second = terms.narrow(x, 3, half, half)
    turned = terms.op("Concat", head, terms.op("Neg", head, second), first, axis=3)
    cos, sin = (
        terms.view(terms.op("Concat", head, cache, cache, axis=2), (batch, ONE, places, size))
        for cache in caches
    )
    plain, rotated = terms.op("Mul", head, x, cos), terms.op("Mul", head, turned, sin)
    return terms.op("Add", head, plain, rotated)


def _of_sequences(terms: Terms, term: Term, x: Term) -> Term | None:
    """Rotation of a tensor of rank 3, whose heads are split off and joined again."""
    head, count = term.head, term.head.attribute("num_heads", 0)
    size = x.shape[2].divided_by(count) if count else None
    if size is None:
        return None
    heads = terms.view(x, (*x.shape[:2], ONE * count, size))
    turned = terms.op("Transpose", head, heads, perm=[0, 2, 1, 3])
    rotated = terms.apply(head, (turned, *term.args[1:]))[0]
    form = None if rotated is None else rotary_embedding(terms, rotated)
    if form is None:
        return None
    return terms.view(terms.op("Transpose", head, form, perm=[0, 2, 1, 3]), x.shape)
