"""Products with what follows them in one operator."""

import itertools

import numpy as np

from ....ir import Value
from ..rules.match import Match
from ..rules.registry import law

law(
    "MatMulAdd (reals): Make a Gemm of a product of matrices and a bias.",
    "(floats x[m, k], w[k, n], b[< m, n]) => (y) { t = MatMul (x, w)  y = Add (t, b) }",
    "(x, w, b) => (y) { y = Gemm (x, w, b) }",
)


def _sums_last_axis(match: Match) -> bool:
    """Require a new axis before the last one, and sums along that."""
    rank = match.rank("x")
    if rank is None:
        return False
    return match.axes("a", rank + 1) == (rank - 1,) and match.axes("b", rank + 1) == (rank,)


law(
    "SumOfProducts (reals): Make a MatMul of the sums of all products of two sets of rows.",
    """(floats x[*S, m, k], z[n, k]) => (y) {
        u = Unsqueeze <axes = @a> (x)
        p = Mul (u, z)
        y = ReduceSum <axes = @b, keepdims = 0> (p)
    }""",
    "(x, z) => (y) { t = Transpose <perm = [1, 0]> (z)  y = MatMul (x, t) }",
    _sums_last_axis,
    lambda ranks: [{"a": (-2,), "b": (-1,)}, {"a": (ranks["S"] + 1,), "b": (ranks["S"] + 2,)}],
)


def _shapes(a: int, b: int) -> str:
    """Shapes of the matrices of a Gemm with attributes transA and transB."""
    return f"x[{('m, k', 'k, m')[a]}], w[{('k, n', 'n, k')[b]}]"


for _a, _b in itertools.product((0, 1), repeat=2):
    _gemm = f"Gemm <alpha = @a, transA = {_a}, transB = {_b}>"
    law(
        f"Gemm{_a}{_b}Add (reals): Add a bias in the Gemm.",
        f"""(floats {_shapes(_a, _b)}, b[< m, n]) => (y) {{
            t = {_gemm} (x, w)
            y = Add (t, b)
        }}""",
        f"(x, w, b) => (y) {{ y = {_gemm} (x, w, b) }}",
        since=11,  # the first opset whose Gemm may have no bias
    )
    for _op in ("Add", "Sub"):
        law(
            f"{_op}OfGemm{_a}{_b} (reals): Apply {_op} to the bias of the Gemm.",
            f"""(floats {_shapes(_a, _b)}, const b[n], const s[< n]) => (y) {{
                t = {_gemm} (x, w, b)
                y = {_op} (t, s)
            }}""",
            f"(x, w, b, s) => (y) {{ d = {_op} (b, s)  y = {_gemm} (x, w, d) }}",
        )

for _place, _flag, _other in itertools.product(("Right", "Left"), (0, 1), (0, 1)):
    # Its attributes transA and transB, where a Transpose is before it, and without that.
    _flags, _turned = ((_other, _flag), (_other, 1 - _flag))
    _turn, _pair = "w", "x, t"
    if _place == "Left":
        _flags, _turned = _flags[::-1], _turned[::-1]
        _turn, _pair = "x", "t, w"
    _gemm = "Gemm <alpha = @a, beta = @c, transA = {}, transB = {}> ({}, b?)"
    law(
        f"GemmOfTransposed{_place}{_flags[0]}{_flags[1]} (reals): Let the Gemm transpose a matrix.",
        f"""(floats {_shapes(*_turned)}, b[< m, n]) => (y) {{
            t = Transpose <perm = [1, 0]> ({_turn})
            y = {_gemm.format(*_flags, _pair)}
        }}""",
        f"(x, w, b) => (y) {{ y = {_gemm.format(*_turned, 'x, w')} }}",
    )
for _name, _turn, _pair, _flags in (("", "w", "x, t", (0, 1)), ("Left", "x", "t, w", (1, 0))):
    law(
        f"MatMulOfTransposed{_name} (reals): Make a Gemm of a product of a transposed matrix.",
        f"""(floats {_shapes(*_flags)}) => (y) {{
            t = Transpose <perm = [1, 0]> ({_turn})  y = MatMul ({_pair})
        }}""",
        f"(x, w) => (y) {{ y = Gemm <trans{'AB'[_flags[1]]} = 1> (x, w) }}",
        since=11,  # the first opset whose Gemm may have no bias
    )


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


_KINDS = {None: "MatMul", 0: "Gemm", 1: "Gemm1"}
"""Names of a product, by the attribute transB of a Gemm."""


def _scaled(op_type: str, trans: int | None) -> None:
    """Add a rule that scales the constant weights instead of a product.

    Args:
        op_type: Mul or Div.
        trans: the attribute transB of a Gemm; None for a MatMul.
    """
    gemm = f"Gemm <alpha = @a, beta = @c, transB = {trans}>"
    rows, bias, last = "*S, k", "", "y = MatMul (x, v)"
    if trans is not None:
        rows, bias, last = "m, k", ", b", f"d = {op_type} (b, s)  y = {gemm} (x, v, d)"
    # Weights that the Gemm turns have their columns as rows.
    factor = "r = Unsqueeze <axes = [1]> (s)  " if trans else ""
    law(
        f"{op_type}Of{_KINDS[trans]} (reals):"
        f" Apply {op_type} to the weights instead of the product.",
        f"""(floats x[{rows}], const w[{"n, k" if trans else "k, n"}],
            const s[{"n" if trans else "< n"}]{", const b[n]" if bias else ""}) => (y) {{
            t = {f"{gemm} (x, w, b)" if bias else "MatMul (x, w)"}  y = {op_type} (t, s) }}""",
        f"""(x, w, s{bias}) => (y) {{
            {factor}v = {op_type} (w, {"r" if trans else "s"})  {last} }}""",
    )


def _scaled_before(op_type: str, trans: int | None) -> None:
    """Add a rule that scales the constant weights instead of the rows of a product.

    Args:
        op_type: Mul or Div.
        trans: the attribute transB of a Gemm; None for a MatMul.
    """
    gemm = f"Gemm <alpha = @a, beta = @c, transB = {trans}>"
    rows, node = ("*S, k", "MatMul ({}, {})") if trans is None else ("m, k", gemm + " ({}, {}, b?)")
    bias, shape = ("", "") if trans is None else (", b", "[< m, n]")
    law(
        f"{op_type}Before{_KINDS[trans]} (reals):"
        f" Apply {op_type} to the weights instead of the rows of a product.",
        f"""(floats x[{rows}], const w[{"n, k" if trans else "k, n"}], const s[< 1]{bias}{shape})
            => (y) {{ t = {op_type} (x, s)  y = {node.format("t", "w")} }}""",
        f"""(x, w, s{bias}) => (y) {{
            v = {op_type} (w, s)  y = {node.format("x", "v")} }}""",
        lambda match: not belongs_to_gelu(match),
        ranks=range(1, 7),
    )


for _form in (_scaled, _scaled_before):
    for _op, _trans in itertools.product(("Mul", "Div"), _KINDS):
        _form(_op, _trans)


def _normalized(trans: int | None, has_bias: bool) -> None:
    """Add a rule that normalizes a batch in the weights of a product.

    Args:
        trans: the attribute transB of a Gemm; None for a MatMul.
        has_bias: true for a Gemm with a bias.
    """
    gemm = f"Gemm <alpha = @a, transB = {trans}>"
    node = "MatMul" if trans is None else gemm
    bias, header = (", b", ", const float b[n]") if has_bias else ("", "")
    law(
        f"NormalizationOf{_KINDS[trans]}{'Bias' if has_bias else ''} (reals):"
        " Normalize a batch in the weights of a product.",
        f"""(float x[m, k], const float w[{"n, k" if trans else "k, n"}]{header},
            const float f[n], const float o[n], const float mu[n], const float va[n]) => (y) {{
            t = {node} (x, w{bias})
            y = BatchNormalization <epsilon = @e> (t, f, o, mu, va) }}""",
        f"""(x, w, f, o, mu, va{bias}) => (y) {{
            q = Add (va, @z)  s = Sqrt (q)  k = Div (f, s)
            l = {"Unsqueeze <axes = [1]>" if trans else "Identity"} (k)  v = Mul (w, l)
            g = {"Sub (b, mu)" if has_bias else "Neg (mu)"}  i = Mul (g, k)  u = Add (i, o)
            y = {"Gemm" if trans is None else gemm} (x, v, u) }}""",
        lambda match: match.bind("z", np.array(match["e"], np.float32)),
        lambda ranks: [{"e": 1e-3, "a": alpha} for alpha in (1.0, 0.5)],
    )


for _trans, _has_bias in ((None, False), (0, False), (0, True), (1, False), (1, True)):
    _normalized(_trans, _has_bias)
