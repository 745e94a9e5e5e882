"""Products with what follows them in one operator."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....ir import Value
from ..rules.match import Match
from ..rules.registry import shipped
from ..rules.rule import Rule


@shipped
class MatMulAdd(Rule):
    """Make a Gemm of a product of matrices and a bias."""

    before = "(floats x[m, k], w[k, n], b[< m, n]) => (y) { t = MatMul (x, w)  y = Add (t, b) }"
    after = "(x, w, b) => (y) { y = Gemm (x, w, b) }"
    exactness = "reals"


@shipped
class SumOfProducts(Rule):
    """Make a MatMul of the sums of all products of two sets of rows."""

    before = """(floats x[*S, m, k], z[n, k]) => (y) {
        u = Unsqueeze <axes = @a> (x)
        p = Mul (u, z)
        y = ReduceSum <axes = @b, keepdims = 0> (p)
    }"""
    after = "(x, z) => (y) { t = Transpose <perm = [1, 0]> (z)  y = MatMul (x, t) }"
    exactness = "reals"

    def where(self, match: Match) -> bool:
        """Require a new axis before the last one, and sums along that."""
        rank = match.rank("x")
        if rank is None:
            return False
        return match.axes("a", rank + 1) == (rank - 1,) and match.axes("b", rank + 1) == (rank,)

    def cases(self, ranks: Mapping[str, int]) -> list[dict[str, Any]]:
        """Count axes from the end and from the front."""
        return [{"a": (-2,), "b": (-1,)}, {"a": (ranks["S"] + 1,), "b": (ranks["S"] + 2,)}]


def _shapes(a: int, b: int) -> str:
    """Shapes of the matrices of a Gemm with attributes transA and transB."""
    return f"x[{('m, k', 'k, m')[a]}], w[{('k, n', 'n, k')[b]}]"


def _bias(a: int, b: int) -> type[Rule]:
    """A rule that adds a bias in a Gemm with attributes transA and transB."""
    gemm = f"Gemm <alpha = @a, transA = {a}, transB = {b}>"
    content = {
        "before": f"""(floats {_shapes(a, b)}, b[< m, n]) => (y) {{
            t = {gemm} (x, w)
            y = Add (t, b)
        }}""",
        "after": f"(x, w, b) => (y) {{ y = {gemm} (x, w, b) }}",
        "exactness": "reals",
        # From 11 on, a Gemm may have no bias.
        "since": 11,
        "__doc__": "Add a bias in the Gemm.",
    }
    return type(f"Gemm{a}{b}Add", (Rule,), content)


def _shifted(op_type: str, a: int, b: int) -> type[Rule]:
    """A rule that adds to the constant bias of a Gemm."""
    gemm = f"Gemm <alpha = @a, transA = {a}, transB = {b}>"
    content = {
        "before": f"""(floats {_shapes(a, b)}, const b[n], const s[< n]) => (y) {{
            t = {gemm} (x, w, b)
            y = {op_type} (t, s)
        }}""",
        "after": f"(x, w, b, s) => (y) {{ d = {op_type} (b, s)  y = {gemm} (x, w, d) }}",
        "exactness": "reals",
        "__doc__": f"Apply {op_type} to the bias of the Gemm.",
    }
    return type(f"{op_type}OfGemm{a}{b}", (Rule,), content)


for _flags in ((0, 0), (0, 1), (1, 0), (1, 1)):
    shipped(_bias(*_flags))
    for _op_type in ("Add", "Sub"):
        shipped(_shifted(_op_type, *_flags))


def _turned(is_first: bool, flag: int, other: int) -> type[Rule]:
    """A rule by which a Gemm transposes an operand by itself, or no longer.

    Args:
        is_first: true for the first operand.
        flag: its attribute transA or transB.
        other: that of the other operand.
    """
    first, second = (flag, other) if is_first else (other, flag)
    turned = (1 - first, second) if is_first else (first, 1 - second)

    def gemm(a: int, b: int, operands: str) -> str:
        return f"Gemm <alpha = @a, beta = @c, transA = {a}, transB = {b}> ({operands}, b?)"

    content = {
        "before": f"""(floats {_shapes(*turned)}, b[< m, n]) => (y) {{
            t = Transpose <perm = [1, 0]> ({"x" if is_first else "w"})
            y = {gemm(first, second, "t, w" if is_first else "x, t")}
        }}""",
        "after": f"(x, w, b) => (y) {{ y = {gemm(*turned, 'x, w')} }}",
        "exactness": "reals",
        "__doc__": "Let the Gemm transpose a matrix.",
    }
    place = "Left" if is_first else "Right"
    return type(f"GemmOfTransposed{place}{first}{second}", (Rule,), content)


for _is_first in (False, True):
    for _flag in (0, 1):
        for _other in (0, 1):
            shipped(_turned(_is_first, _flag, _other))


def _product_of_turned(is_first: bool) -> type[Rule]:
    """A rule that makes a Gemm of a product of a transposed matrix.

    Args:
        is_first: true for the first operand.
    """
    shape, operands = ("x[k, m], w[k, n]", "t, w") if is_first else ("x[m, k], w[n, k]", "x, t")
    content = {
        "before": f"""(floats {shape}) => (y) {{
            t = Transpose <perm = [1, 0]> ({"x" if is_first else "w"})  y = MatMul ({operands})
        }}""",
        "after": f"(x, w) => (y) {{ y = Gemm <trans{'A' if is_first else 'B'} = 1> (x, w) }}",
        "exactness": "reals",
        # From 11 on, a Gemm may have no bias.
        "since": 11,
        "__doc__": "Make a Gemm of a product of a transposed matrix.",
    }
    return type(f"MatMulOfTransposed{'Left' if is_first else ''}", (Rule,), content)


for _is_first in (False, True):
    shipped(_product_of_turned(_is_first))


def _scaled(op_type: str, trans: int | None) -> type[Rule]:
    """A rule that scales the constant weights instead of a product.

    Args:
        op_type: Mul or Div.
        trans: the attribute transB of a Gemm; None for a MatMul.
    """
    right = "n, k" if trans else "k, n"
    gemm = f"Gemm <alpha = @a, beta = @c, transB = {trans}>"
    product = "MatMul (x, w)" if trans is None else f"{gemm} (x, w, b)"
    bias = "" if trans is None else ", const b[n]"
    rows = "*S, k" if trans is None else "m, k"
    # Weights that the Gemm turns have their columns as rows.
    factor = "r = Unsqueeze <axes = [1]> (s)  " if trans else ""
    scaled = f"{factor}v = {op_type} (w, {'r' if trans else 's'})"
    after = "y = MatMul (x, v)" if trans is None else f"d = {op_type} (b, s)  y = {gemm} (x, v, d)"
    content = {
        "before": f"""(floats x[{rows}], const w[{right}], const s[{"n" if trans else "< n"}]{bias})
            => (y) {{ t = {product}  y = {op_type} (t, s) }}""",
        "after": f"(x, w, s) => (y) {{ {scaled}  {after} }}".replace(
            "(x, w, s)", "(x, w, s)" if trans is None else "(x, w, s, b)", 1
        ),
        "exactness": "reals",
        "__doc__": f"Apply {op_type} to the weights instead of the product.",
    }
    kind = "MatMul" if trans is None else f"Gemm{trans or ''}"
    return type(f"{op_type}Of{kind}", (Rule,), content)


for _op_type in ("Mul", "Div"):
    for _form in (None, 0, 1):
        shipped(_scaled(_op_type, _form))


def belongs_to_gelu(match: Match) -> bool:
    """Test for a factor of x * (1 + erf(..)), or with tanh: runtimes fuse all of a Gelu."""
    factors = _operands(match.value("x"), "Mul")
    terms = [term for factor in factors for term in _operands(factor, "Add")]
    return any(v.producer is not None and v.producer.is_op("Erf", "Tanh") for v in terms)


def _operands(value: Value, op_type: str) -> list[Value]:
    """The operands of the operator that computes a value."""
    node = value.producer
    is_other = node is None or not node.is_op(op_type)
    return [] if is_other or node is None else [v for v in node.inputs if v is not None]


def _scaled_before(op_type: str, trans: int | None) -> type[Rule]:
    """A rule that scales the constant weights instead of the rows of a product.

    Args:
        op_type: Mul or Div.
        trans: the attribute transB of a Gemm; None for a MatMul.
    """
    right = "n, k" if trans else "k, n"
    gemm = f"Gemm <alpha = @a, beta = @c, transB = {trans}>"
    rows, node = ("*S, k", "MatMul ({}, {})") if trans is None else ("m, k", gemm + " ({}, {}, b?)")
    bias = "" if trans is None else ", b"
    shape = "[< m, n]" if bias else ""

    def where(self: Rule, match: Match) -> bool:
        return not belongs_to_gelu(match)

    content = {
        "before": f"""(floats x[{rows}], const w[{right}], const s[< 1]{bias}{shape})
            => (y) {{ t = {op_type} (x, s)  y = {node.format("t", "w")} }}""",
        "after": f"""(x, w, s{bias}) => (y) {{
            v = {op_type} (w, s)  y = {node.format("x", "v")} }}""",
        "exactness": "reals",
        "where": where,
        "ranks": range(1, 7),
        "__doc__": f"Apply {op_type} to the weights instead of the rows of a product.",
    }
    kind = "MatMul" if trans is None else f"Gemm{trans or ''}"
    return type(f"{op_type}Before{kind}", (Rule,), content)


for _op_type in ("Mul", "Div"):
    for _form in (None, 0, 1):
        shipped(_scaled_before(_op_type, _form))


def _normalized(trans: int | None, has_bias: bool) -> type[Rule]:
    """A rule that normalizes a batch in the weights of a product.

    Args:
        trans: the attribute transB of a Gemm; None for a MatMul.
        has_bias: true for a Gemm with a bias.
    """
    right = "n, k" if trans else "k, n"
    gemm = f"Gemm <alpha = @a, transB = {trans}>"
    node = "MatMul ({}{})" if trans is None else gemm + " ({}{})"
    header = f"float x[m, k], const float w[{right}]{', const float b[n]' if has_bias else ''}"
    values = "const float f[n], const float o[n], const float mu[n], const float va[n]"
    shift = "g = Sub (b, mu)" if has_bias else "g = Neg (mu)"
    columns = "l = Unsqueeze <axes = [1]> (k)" if trans else "l = Identity (k)"
    after = "Gemm (x, v, u)" if trans is None else f"{gemm} (x, v, u)"

    def where(self: Rule, match: Match) -> bool:
        return match.bind("z", np.array(match["e"], np.float32))

    def cases(self: Rule, ranks: Any) -> list[dict[str, Any]]:
        return [{"e": 1e-3, "a": alpha} for alpha in (1.0, 0.5)]

    content = {
        "before": f"""({header}, {values}) => (y) {{
            t = {node.format("x, w", ", b" if has_bias else "")}
            y = BatchNormalization <epsilon = @e> (t, f, o, mu, va) }}""",
        "after": f"""(x, w, f, o, mu, va{", b" if has_bias else ""}) => (y) {{
            q = Add (va, @z)  s = Sqrt (q)  k = Div (f, s)  {columns}  v = Mul (w, l)
            {shift}  i = Mul (g, k)  u = Add (i, o)  y = {after} }}""",
        "exactness": "reals",
        "where": where,
        "cases": cases,
        "__doc__": "Normalize a batch in the weights of a product.",
    }
    kind = "MatMul" if trans is None else f"Gemm{trans or ''}{'Bias' if has_bias else ''}"
    return type(f"NormalizationOf{kind}", (Rule,), content)


for _trans in (None, 0, 1):
    for _has_bias in (False, True)[: 1 if _trans is None else 2]:
        shipped(_normalized(_trans, _has_bias))
