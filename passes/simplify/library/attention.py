"""Parts of attention that onnxruntime computes in one node of com.microsoft.

Measured under onnxruntime 1.32 on one thread: a rotation takes 0.36 to 0.57 of the time of its
nodes, attention 0.84 to 0.93.
"""

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..rules.match import Match
from ..rules.registry import raised
from ..rules.rule import Rule


@raised
class RotaryEmbedding(Rule):
    """Rotate the halves of queries or keys by angles that all batches share."""

    before = """(float x[b, n, s, d], float angles[1, s, h]) => (y) {
        both = Concat <axis = -1> (angles, angles)  cos = Cos (both)  sin = Sin (both)
        c = Unsqueeze <axes = [1]> (cos)  z = Unsqueeze <axes = [1]> (sin)
        first, second = Split <axis = 3, split = @sizes> (x)
        minus = Neg (second)  turned = Concat <axis = -1> (minus, first)
        real = Mul (x, c)  imag = Mul (turned, z)  y = Add (real, imag)
    }"""
    after = """(x, angles) => (y) {
        row = Squeeze <axes = [0]> (angles)  cosRows = Cos (row)  sinRows = Sin (row)
        y = com.microsoft.RotaryEmbedding (x, [0], cosRows, sinRows)
    }"""
    exactness = "reals"
    since = 11

    def where(self, match: Match) -> bool:
        """Require halves of the size of the angles."""
        sizes = match["sizes"]
        return len(sizes) == 2 and sizes[0] == sizes[1] == match.sizes["h"].value

    def cases(self, ranks: Any) -> list[dict[str, Any]]:
        """Write heads of two and eight elements."""
        return [{"h": half, "d": 2 * half, "sizes": (half, half)} for half in (1, 4)]


@raised
class RotaryEmbeddingByTables(Rule):
    """Rotate the halves of queries or keys by constant cosines and sines."""

    before = """(float x[b, n, s, d], const c[1, 1, s, d], const z[1, 1, s, d]) => (y) {
        first, second = Split <axis = 3, split = @sizes> (x)
        minus = Neg (second)  turned = Concat <axis = -1> (minus, first)
        real = Mul (x, c)  imag = Mul (turned, z)  y = Add (real, imag)
    }"""
    after = """(x, c, z) => (y) {
        cosines, cosRest = Split <axis = 3, split = @sizes> (c)
        sines, sinRest = Split <axis = 3, split = @sizes> (z)
        cosRows = Squeeze <axes = [0, 1]> (cosines)  sinRows = Squeeze <axes = [0, 1]> (sines)
        y = com.microsoft.RotaryEmbedding (x, [0], cosRows, sinRows)
    }"""
    exactness = "reals"
    since = 11

    def where(self, match: Match) -> bool:
        """Require tables with equal halves."""
        tables, sizes = [match.array("c"), match.array("z")], match["sizes"]
        if len(sizes) != 2 or sizes[0] != sizes[1] or any(table is None for table in tables):
            return False
        halves = [np.split(table, 2, axis=3) for table in tables if table is not None]
        return all(np.array_equal(one, other) for one, other in halves)

    def cases(self, ranks: Any) -> list[dict[str, Any]]:
        """Write tables of three positions."""
        angles = np.arange(12.0).reshape(1, 1, 3, 4) / 7
        tables = {"c": np.cos, "z": np.sin}
        values = {name: np.concatenate([f(angles)] * 2, 3) for name, f in tables.items()}
        return [{"s": 3, "d": 8, "sizes": (4, 4), **values}]


class _Form(NamedTuple):
    """A form of the queries, keys and values of a rule.

    Attributes:
        name: the first words of the rule's name.
        operands: the operands that the nodes read.
        nodes: the nodes that make query, key and value of one product; empty for operands.
        has_heads: the queries have an axis of heads already.
        operator: the node in the place of all with its first operands, behind others.
    """

    name: str
    operands: str
    nodes: str
    has_heads: bool
    operator: str


_MOST_QUERIES = 8
"""Most queries that MultiHeadAttention adds a bias for in less time: 0.58 to 0.84 of it for a few,
1.02 to 1.18 for 16 to 128."""
_NODE = "<num_heads = @count, scale = @scale"
_MULTI = f"y = com.microsoft.MultiHeadAttention {_NODE}>"
_ATTENTION = f"y = com.microsoft.Attention {_NODE}, qkv_hidden_sizes = @sizes>"
_PARTS = "query, key, value = Split <axis = 2, split = @sizes> ({})"
_PARTS_OF_HEADS = """joint = Reshape ({}, @every)
    heads0 = Transpose <perm = [0, 2, 1, 3]> (joint)
    query, key, value = Split <axis = 1, split = @counts> (heads0)"""


def _projections() -> Iterator[_Form]:
    """The forms in which one product has queries, keys and values."""
    for parts, name, has_heads in ((_PARTS, "", False), (_PARTS_OF_HEADS, "Common", True)):
        operands, product = "float x[b, s, e], const float weights[e, t]", "MatMul (x, weights)"
        yield _Form(
            f"Projected{name}",
            operands,
            f"product = {product}  {parts.format('product')}",
            has_heads,
            f"{_ATTENTION} (x, weights, ",
        )
        yield _Form(
            f"Biased{name}",
            f"{operands}, const float shift[t]",
            f"product = {product}  all = Add (product, shift)  {parts.format('all')}",
            has_heads,
            f"{_ATTENTION} (x, weights, shift",
        )


_FORMS = (
    *_projections(),
    # Queries with heads already, as behind a rotation, take 0.98 to 1.40 of the time in one node.
    _Form("Plain", "float query[b, s, w]", "", False, f"{_MULTI} (query, key, value"),
)
_HEADS_OF_QUERIES = "q0 = Reshape (query, @queries)  q = Transpose <perm = [0, 2, 1, 3]> (q0)"
_HEADS_OF_KEYS = """k0 = Reshape (key, @keys)  k = Transpose <perm = [0, 2, 3, 1]> (k0)
    v0 = Reshape (value, @values)  v = Transpose <perm = [0, 2, 1, 3]> (v0)"""
_KEYS = (", float key[b, l, w], float value[b, l, u]", _HEADS_OF_KEYS, "v")
_KEY_HEADS = (
    ", float key[b, n, l, d], float value[b, n, l, d]",
    "k = Transpose <perm = [0, 1, 3, 2]> (key)",
    "value",
)
_FACTORS = (
    ("", "plain = MatMul (q, k)"),
    (", const factor", "product0 = MatMul (q, k)  plain = Mul (product0, factor)"),
    (", const factor, const other",
     "qS = Mul (q, factor)  kS = Mul (k, other)  plain = MatMul (qS, kS)"))  # fmt: skip
_BIASES = (
    ("", "", "plain", "", ""),
    (", float bias[bb, nn, s, l]", "scores = Add (plain, bias)", "scores", "", "bias"),
    (", float bias[bb, nn, s, l], float bias2[bb2, nn2, s, l]",
     "first = Add (plain, bias)  scores = Add (first, bias2)", "scores", "both = Add (bias, bias2)",
     "both"))  # fmt: skip


def _texts(form: _Form, biases: int) -> Iterator[str]:
    """The nodes of attention in one form, by keys and factors."""
    more, add, scores, *_ = _BIASES[biases]
    kinds, sizes = [_KEYS, _KEY_HEADS], "[b, s, u]"
    if form.nodes:  # as many keys as queries
        more, sizes = more.replace("s, l]", "s, s]"), ""
        kinds = [("", *(_KEY_HEADS if form.has_heads else _KEYS)[1:])]
    for (keys, of_keys, value), (factors, multiply) in itertools.product(kinds, _FACTORS):
        nodes = f"{'' if form.has_heads else _HEADS_OF_QUERIES} {of_keys} {multiply} {add}"
        if form.has_heads:
            nodes = re.sub(r"\bq\b", "query", nodes)
        yield f"""({form.operands}{keys}{factors}{more}) => (y{sizes}) {{ {form.nodes} {nodes}
            shares = Softmax <axis = -1> ({scores})  heads = MatMul (shares, {value})
            together = Transpose <perm = [0, 2, 1, 3]> (heads)
            y = Reshape (together, @joined) }}"""


def _attention(form: _Form, biases: int) -> type[Rule]:
    """A rule of attention.

    Args:
        form: the form of its queries, keys and values.
        biases: the number of biases that are added to the scores.
    """
    *_, add, last = _BIASES[biases]
    operands = re.findall(r"(\w+)\[", form.operands)
    operands += [*([] if form.nodes else ["key", "value"]), *["bias", "bias2"][:biases]]
    rest = f", , , {last}" if last else ""  # in both operators a mask and another operand precede

    class AttentionRule(Rule):
        before = tuple(_texts(form, biases))
        after = f"({', '.join(operands)}) => (y) {{ {add} {form.operator}{rest}) }}"
        exactness = "reals"
        since = 13

        def where(self, match: Match) -> bool:
            """Require heads of known sizes and factors of one element."""
            if biases and not form.nodes and (match.sizes["s"].value or 0) > _MOST_QUERIES:
                return False
            return _binds_heads(match, form, biases) and _binds_scale(match)

        def cases(self, ranks: Any) -> list[dict[str, Any]]:
            """Write two heads of four elements."""
            case = {**dict.fromkeys(("queries", "keys", "values"), (0, 0, 2, 4)), "n": 2, "d": 4}
            case |= {"w": 8, "u": 8, "joined": (0, 0, 8), "e": 3, "t": 24, "sizes": (8, 8, 8)}
            case |= {"every": (0, 0, 6, 4), "counts": (2, 2, 2), "bb2": 1, "nn2": 2}
            case |= {"weights": np.arange(72.0).reshape(3, 24) / 7, "shift": np.arange(24.0)}
            case |= {"factor": np.float32(0.5), "other": np.float32(0.25)}
            shapes = [("b", 2), (1, 2), ("b", 1), (1, 1)] if biases else [(1, 1)]
            return [{**case, "bb": batch, "nn": heads} for batch, heads in shapes]

    AttentionRule.__doc__ = f"Attend to {form.name.lower()} heads with {biases} biases."
    AttentionRule.__name__ = f"{form.name}HeadsWith{biases}BiasesToOneNode"
    return AttentionRule


def _binds_heads(match: Match, form: _Form, biases: int) -> bool:
    """Bind the number of heads, where all operands have as many."""
    shape = match.shape("query" if form.has_heads else "q0")
    if shape is None or len(shape) != 4:
        return False
    count, size = shape[1 if form.has_heads else 2].value, shape[3].value
    if count is None or size is None:
        return False
    split = [(n, f"{n[0]}0") for n in ("query", "key", "value") if match.rank(n) == 3]
    counts = [count] * len(split)
    if form.nodes and form.has_heads:
        whole = "product" if "shift" not in match.values else "all"
        split, counts = [(whole, "joint")], [3 * count]
        if match["counts"] != (count,) * 3:
            return False
        match.bind("sizes", (count * size,) * 3)
    if not all(_splits(match, *names, n) for names, n in zip(split, counts, strict=True)):
        return False
    for batch, heads in [("bb", "nn"), ("bb2", "nn2")][:biases]:
        sizes = match.sizes[batch], match.sizes[heads]
        if sizes[0] not in (match.sizes["b"], 1) or sizes[1] not in (count, 1):
            return False
    return match.bind("count", count)


def _binds_scale(match: Match) -> bool:
    """Bind the product of the factors, each of one element and not 0."""
    factors = [match.array(name) for name in ("factor", "other") if name in match.values]
    if any(each is None or each.size != 1 or not each.item() for each in factors):
        return False
    numbers = [each.item() for each in factors if each is not None]
    return match.bind("scale", math.prod(numbers, start=1.0))  # an int would be another attribute


def _splits(match: Match, flat: str, split: str, count: int) -> bool:
    """Test that a Reshape splits the last axis into a number of heads alone."""
    before, after = match.shape(flat), match.shape(split)
    if before is None or after is None or len(after) != 4:
        return False
    return before[:2] == after[:2] and after[2] == count and after[3].value is not None


for _form, _count in itertools.product(_FORMS, range(3)):
    raised(_attention(_form, _count))
