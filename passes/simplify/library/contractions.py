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
