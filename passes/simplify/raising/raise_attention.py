"""Replace products with a Softmax in between by Attention.

t = Transpose <perm = [0, 1, 3, 2]> (k)   s = MatMul (q, t)   c = Mul (s, 0.25)
m = Add (c, mask)   p = Softmax (m)   y = MatMul (p, v)
->
y = Attention <scale = 0.25> (q, k, v, mask)

Scales of scores, queries and keys, added masks, heads that Reshape and Transpose split off, groups
of heads that Expand repeats, caches that Concat appends and guards of NaN rows become parts of the
operator.

Kept: operands whose sizes are open or broadcast, since onnxruntime's kernel fails on an empty
batch; masks of another shape, and masks applied by Where; doubles.
"""

from typing import Any, ClassVar

import numpy as np

from ....facts.fact import Shape
from ....ir import Node, Operator, Value
from ....records import record, replace
from .algebra import close
from .attention_operands import Heads, grouped_heads, heads_of, mask_of, sequences_of, without_cache
from .attention_scores import Scores, guarded, only_reader, scores_of, stripped
from .replacement import FLOAT, HALF, Match, Operand, Raising, Site, has_elements

_HEADS_FIRST = [0, 2, 1, 3]
_MOST_VIEWS = 4
"""Most nodes that join heads."""


class RaiseAttention(Raising):
    """Replace two products with a Softmax in between by Attention, from opset 23 on."""

    name: ClassVar[str] = "raise-attention"
    seeds: ClassVar[tuple[str, ...]] = ("Softmax", "Attention")

    def match(self, site: Site, seed: Node) -> Match | None:
        """Return the attention around a Softmax."""
        if not site.has("Attention"):
            return None
        form = _operator_form(site, seed) if seed.is_op("Attention") else longer_form(site, seed)
        if form is None:
            return None
        cached = with_cache(site, form)
        forms = [form] if cached is None else [cached, form]
        matches = (_of_sequences(site, each) or _of_heads(site, each) for each in forms)
        return next((match for match in matches if match is not None), None)


@record(frozen=True)
class Form:
    """Attention with an axis of heads, or without one, in rank 3.

    Attributes:
        root: the product with the values.
        queries, keys, values: the operands.
        cache: keys and values before these, and those of both; none of them without a cache.
        mask: the summand of the scores.
        scale: the factor of the scores.
        attributes: further attributes.
    """

    root: Node
    queries: Heads
    keys: Heads
    values: Heads
    cache: tuple[Value, ...]
    mask: Operand
    scale: float
    attributes: dict[str, Any]


def longer_form(site: Site, seed: Node) -> Form | None:
    """Attention around a Softmax."""
    root, scores = _weighted(site, seed), scores_of(site, seed)
    return None if root is None or scores is None else _form(site, seed, scores, root)


def _operator_form(site: Site, node: Node) -> Form | None:
    """Attention with an axis of heads and without a cache."""
    q, k, v, mask = (node.input(index) for index in range(4))
    if any(node.inputs[4:]) or any(node.outputs[1:]) or q is None or k is None or v is None:
        return None
    plain = {"scale", "softmax_precision"}
    if any(node.attribute(name) for name in node.op.attributes if name not in plain):
        return None
    queries, keys, values = (heads_of(site, value, is_turned=False) for value in (q, k, v))
    keys, values = grouped_heads(site, keys), grouped_heads(site, values)
    if queries is None or keys is None or values is None or len(queries.shape) != 4:
        return None
    size = queries.shape[-1].value
    scale = node.attribute("scale") or (size**-0.5 if size else 0.0)
    scale *= queries.factor * keys.factor
    if values.factor != 1 or scale <= 0 or not _fit(queries.shape, keys.shape, values.shape):
        return None
    precision = node.attribute("softmax_precision")
    attributes = {} if precision is None else {"softmax_precision": precision}
    return Form(node, queries, keys, values, (), mask, float(np.float32(scale)), attributes)


def _weighted(site: Site, seed: Node) -> Node | None:
    """Product of a Softmax along the last axis with values."""
    shape = site.shape(seed.output())
    if (
        not shape
        or len(shape) not in (3, 4)
        or seed.attribute("axis", -1) not in (-1, len(shape) - 1)
    ):
        return None
    weights = guarded(site, seed.output())
    node = only_reader(site, weights)
    while node is not None and node.is_op("Cast", "Identity"):
        node = only_reader(site, node.output())
    if node is None or not node.is_op("MatMul") or node.input(0) is node.input(1):
        return None
    operand = node.input(0)
    below = None if operand is None else stripped(site, operand)
    return node if below is not None and below == (weights, 1.0) else None


def _form(site: Site, seed: Node, scores: Scores, root: Node) -> Form | None:
    """Attention of scores and values whose sizes fit."""
    values = root.input(1)
    if values is None or scores.scale <= 0:
        return None
    operands = [
        heads_of(site, scores.queries, is_turned=False),
        grouped_heads(site, heads_of(site, scores.keys, is_turned=True)),
        grouped_heads(site, heads_of(site, values, is_turned=False)),
    ]
    q, k, v = operands
    if q is None or k is None or v is None or not _fit(q.shape, k.shape, v.shape):
        return None
    elem_type = site.elem_type(q.source)
    types = {site.elem_type(each.source) for each in (k, v)} | {site.elem_type(root.output())}
    if types != {elem_type} or elem_type not in (FLOAT, HALF):
        return None
    mask = mask_of(site, scores.masks, (*q.shape[:-1], k.shape[-2]), elem_type)
    if scores.masks and mask is None:
        return None
    inner = site.elem_type(seed.output())
    attributes = {} if inner == elem_type else {"softmax_precision": inner}
    scale = scores.scale * q.factor * k.factor
    size = q.shape[-1].value
    if v.factor != 1 or scale <= 0:
        return None
    if size is not None and close(scale, size**-0.5):
        scale = size**-0.5  # two roots of it were rounded, one for the queries, one for the keys
    return Form(root, q, k, v, (), mask, float(np.float32(scale)), attributes)


def with_cache(site: Site, form: Form) -> Form | None:
    """Attention whose keys and values are joined to those of a cache by the operator."""
    (keys, values), cache = without_cache(site, form.keys, form.values)
    if not cache:
        return None
    return replace(form, keys=keys, values=values, cache=cache)


def _fit(q: Shape, k: Shape, v: Shape) -> bool:
    """Test that sizes agree without broadcasting, and that no tensor is empty."""
    if not len(q) == len(k) == len(v) or not all(map(has_elements, (q, k, v))):
        return False
    if q[0] != k[0] or k[:-1] != v[:-1] or q[-1] != k[-1]:
        return False
    return len(q) == 3 or q[1].divided_by(k[1]) is not None


def _of_heads(site: Site, form: Form) -> Match | None:
    """Attention on operands with an axis of heads, or on rows of one head each."""
    attributes = dict(form.attributes)
    if len(form.queries.shape) == 3:
        attributes |= {"q_num_heads": 1, "kv_num_heads": 1}
    operands = [each.operand() for each in (form.queries, form.keys, form.values)]
    return _completed(site, form, operands, attributes, form.root)


def _of_sequences(site: Site, form: Form) -> Match | None:
    """Attention that splits and joins heads itself, on operands of rank 3."""
    parts = [sequences_of(site, each) for each in (form.queries, form.keys, form.values)]
    joined = joined_heads(site, form)
    if joined is None or None in parts:
        return None
    heads = form.queries.shape[1]
    counts = heads.value, form.keys.shape[1].value
    if None in counts:
        return None
    attributes = {**form.attributes, "q_num_heads": counts[0], "kv_num_heads": counts[1]}
    return _completed(site, form, parts, attributes, joined)


def joined_heads(site: Site, form: Form) -> Node | None:
    """The Reshape that joins the heads of the result, behind a Transpose and views.

    It may join the batch and the places, too.
    """
    if len(form.queries.shape) != 4:
        return None
    batch, heads, places, size = (*form.queries.shape[:3], form.values.shape[3])
    joined = [(batch, places, heads * size), (batch * places, heads * size)]
    value, is_turned = form.root.output(), 1 in (heads, places)  # then a Reshape turns them, too
    for _ in range(_MOST_VIEWS):
        node = only_reader(site, value)
        if node is None or not node.is_op("Transpose", "Reshape"):
            return None
        if node.is_op("Transpose"):
            if site.shape(value) != (batch, heads, places, size):
                return None
            if node.attribute("perm") != _HEADS_FIRST:
                return None
            is_turned = True
        value = node.output()
        if is_turned and site.shape(value) in joined:
            return node if node.is_op("Reshape") else None
        is_split = site.shape(value) == (batch, places, heads, size) and is_turned
        if not is_split and site.shape(value) != (batch, heads, places, size):
            return None
    return None


def _completed(
    site: Site, form: Form, operands: list[Any], attributes: dict[str, Any], root: Node
) -> Match | None:
    shape = site.shape(root.output()) or ()
    sizes = tuple([dim.value for dim in shape if dim.value is not None])
    if root.output().pinned or (len(shape) == 2 and len(sizes) < 2):
        return None
    op = Operator.make("Attention", scale=form.scale, **attributes)
    inputs = [*operands, form.mask, *form.cache[:2]]
    while inputs[-1] is None:
        inputs.pop()
    view = sizes if len(shape) == 2 else None
    return site.completed(Match(op, inputs, root, form.cache[2:], sizes=view))
