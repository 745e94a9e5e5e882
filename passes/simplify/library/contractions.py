"""Products with what follows them in one operator."""

from __future__ import annotations

from ..rules.registry import shipped
from ..rules.rule import Rule


@shipped
class MatMulAdd(Rule):
    """Make a Gemm of a product of matrices and a bias."""

    before = "(floats x[m, k], w[k, n], b[< m, n]) => (y) { t = MatMul (x, w)  y = Add (t, b) }"
    after = "(x, w, b) => (y) { y = Gemm (x, w, b) }"
    exactness = "reals"


def _bias(trans: int) -> type[Rule]:
    """A rule that adds a bias in a Gemm."""
    right = "n, k" if trans else "k, n"
    gemm = f"Gemm <alpha = @a, transB = {trans}>"
    content = {
        "before": f"""(floats x[m, k], w[{right}], b[< m, n]) => (y) {{
            t = {gemm} (x, w)
            y = Add (t, b)
        }}""",
        "after": f"(x, w, b) => (y) {{ y = {gemm} (x, w, b) }}",
        "exactness": "reals",
        "since": 11,
        "__doc__": "Add a bias in the Gemm.",
    }
    return type(f"Gemm{trans or ''}Add", (Rule,), content)


for _trans in (0, 1):
    shipped(_bias(_trans))


@shipped
class GemmOfTransposed(Rule):
    """Let the Gemm transpose its right matrix."""

    before = """(floats x[m, k], w[n, k], b[< m, n]) => (y) {
        t = Transpose <perm = [1, 0]> (w)
        y = Gemm <alpha = @a, beta = @c> (x, t, b?)
    }"""
    after = "(x, w, b) => (y) { y = Gemm <alpha = @a, beta = @c, transB = 1> (x, w, b?) }"
    exactness = "reals"


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
