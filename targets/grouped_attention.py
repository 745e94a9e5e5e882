"""Attention to a cache becomes GroupQueryAttention.

k = Concat (past, new)   e = Expand (Unsqueeze (k))   p = Softmax (MatMul (q, e'))
y = MatMul (p, w)
->
y, k, v = com.microsoft.GroupQueryAttention (q, new, newV, past, pastV, lengths, total)

Measured under onnxruntime 1.32 on one thread: 0.70 to 0.83 of the time for a few tokens, 0.9 for
more. Attention is read as `raise-attention` reads it, so that all spellings have one form.
"""

import dataclasses
from typing import ClassVar

import numpy as np

from ..ir import Node, Operator, Value
from ..ops.axes import ONE
from ..passes.base import Part
from ..passes.simplify.raising.attention_operands import Heads, sequences_of
from ..passes.simplify.raising.attention_scores import guarded
from ..passes.simplify.raising.raise_attention import Form, joined_heads, longer_form, with_cache
from ..passes.simplify.raising.replacement import Emitted, Match, Operand, Raising, Site

_DOMAIN = "com.microsoft"
_HEAD = 8
"""The size of a head is a multiple of it."""


class RaiseGroupedAttention(Raising):
    """Replace attention to a cache by an operator of com.microsoft that has groups of heads."""

    name: ClassVar[str] = "raise-grouped-attention"
    changes: ClassVar[tuple[Part, ...]] = ("opsets",)
    seeds: ClassVar[tuple[str, ...]] = ("Softmax",)

    def match(self, site: Site, seed: Node) -> Match | None:
        """Return the attention around a Softmax."""
        form = longer_form(site, seed)
        cached = None if form is None else with_cache(site, form)
        if cached is None or cached.attributes:
            return None
        joined = joined_heads(site, cached)
        if joined is None:
            cached = _with_groups_apart(cached)
            joined = None if cached is None else joined_heads(site, cached)
        if cached is None or joined is None or joined.output().pinned:
            return None
        # A guard of rows that are masked whole has an effect there, and nowhere else.
        is_guarded = guarded(site, seed.output()) is not seed.output()
        if is_guarded and not _leaves_a_key(cached.mask):
            return None
        return _match(site, cached, joined)


def _with_groups_apart(form: Form) -> Form | None:
    """Attention of one token, whose heads of a group were rows of one head."""
    queries = form.queries
    if len(queries.shape) != 4 or not queries.is_plain or form.mask is not None:
        return None
    batch, groups, rows, size = queries.shape
    apart = dataclasses.replace(queries, shape=(batch, groups * rows, ONE, size))
    return dataclasses.replace(form, queries=apart)


def _leaves_a_key(mask: Operand) -> bool:
    """Test that a mask is finite at some key of each row."""
    while isinstance(mask, Emitted) and mask.op.qualname == "Expand":
        mask = mask.inputs[0]
    tensor = mask.constant if isinstance(mask, Value) else None
    if mask is None or (tensor is not None and not tensor.size):
        return mask is None
    return tensor is not None and bool(np.isfinite(tensor.numpy()).any(axis=-1).all())


def _match(site: Site, form: Form, joined: Node) -> Match | None:
    queries, keys, values = form.queries, form.keys, form.values
    past = site.shape(form.cache[0])
    if past is None or site.shape(form.cache[1]) != past or len(past) != len(queries.shape):
        return None
    # A cache of an open length may be empty, and lengths would have to be computed.
    sizes = [dim.value for dim in (*queries.shape, *keys.shape, past[2], values.shape[3])]
    if None in sizes or len(queries.shape) != 4:
        return None
    batch, heads, count, size, _, groups, new, _, room, width = map(int, filter(None, sizes))
    if size % _HEAD or width != size or count != new:
        return None
    total = room + count
    operands = [_flat(site, each) for each in (queries, keys, values)]
    mask = form.mask
    if mask is not None:
        full = Emitted(Operator("Expand"), [mask, np.array([1, 1, count, total], np.int64)])
        shape = site.shape(mask) if isinstance(mask, Value) else None
        is_full = (
            shape is not None and len(shape) == 4 and [d.value for d in shape[2:]] == [count, total]
        )
        mask = mask if is_full else full
    lengths = np.full(batch, total - 1, np.int32)
    inputs: list[Operand] = [*operands, *form.cache[:2], lengths, np.array(total, np.int32)]
    if mask is not None:
        inputs += [None, None, None, mask]
    op = Operator.make(
        "GroupQueryAttention",
        _DOMAIN,
        num_heads=heads,
        kv_num_heads=groups,
        scale=form.scale,
        causal=0,
    )
    view = None if len(site.shape(joined.output()) or ()) == 3 else (batch * count, heads * size)
    match = site.completed(Match(op, inputs, joined, form.cache[2:], sizes=view))
    if match is not None:
        site.graph.root.opset_imports.setdefault(_DOMAIN, 1)
    return match


def _flat(site: Site, heads: Heads) -> Operand:
    """Operand with the axis of heads merged into the last one."""
    batch, count, places, size = (dim.value or 0 for dim in heads.shape)
    # The prover does not see that one token is rotated in the same way with its heads joined.
    node = heads.source.producer
    is_rotated = node is not None and node.op_type == "RotaryEmbedding"
    rows = None if is_rotated and places == 1 else sequences_of(site, heads)
    if rows is not None:
        return rows
    perm = [heads.perm[axis] for axis in (0, 2, 1, 3)]
    turned: Operand = heads.source
    if perm != sorted(perm) and not (heads.is_plain and places == 1):
        turned = Emitted(Operator.make("Transpose", perm=perm), [turned])
    return Emitted(Operator("Reshape"), [turned, np.array([batch, places, count * size], np.int64)])
