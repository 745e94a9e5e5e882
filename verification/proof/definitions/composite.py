"""Activations, products, reductions and losses as functions of simpler operators."""

from ..canonicalize.casts import WHOLE_IN, holds
from .functions import (
    DOUBLE,
    FLOAT,
    FLOATS,
    LONG_INTEGERS,
    OVER_REALS_ONLY,
    Application,
    defined,
    defined_by_onnx,
)

# Kernels of ThresholdedRelu move elements. Those of others differ on the sign of zero (Celu, PRelu,
# Selu), on a sum of exponentials that overflows or vanishes (ReduceLogSumExp, Softplus, and
# SoftmaxCrossEntropyLoss), on rows of infinities (Attention), or on what is ignored
# (NegativeLogLikelihoodLoss).
defined_by_onnx("ThresholdedRelu", types=FLOATS, is_exact=True)
defined_by_onnx("Elu", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", types=FLOATS)
defined_by_onnx("Softmax", "Softsign", "SwiGLU", "Swish", types=FLOATS)
defined_by_onnx("RotaryEmbedding", types=FLOATS, fails_alike=True)
defined_by_onnx("CausalConvWithState", "LogSoftmax", "Shrink", types=FLOATS - {DOUBLE})
defined_by_onnx("PRelu", types=LONG_INTEGERS, is_exact=True)
defined_by_onnx(
    "NegativeLogLikelihoodLoss",
    types=FLOATS,
    where=lambda application: application.attribute("ignore_index") is None,
    fails_alike=True,
)
defined_by_onnx("Attention", "Celu", "Selu", "Softplus", types=OVER_REALS_ONLY)
defined_by_onnx("SoftmaxCrossEntropyLoss", types=OVER_REALS_ONLY, fails_alike=True)


@defined("Gemm", types=FLOATS | LONG_INTEGERS, attributes=("alpha", "beta", "transA", "transB"))
def gemm(application: Application) -> str | None:
    """alpha * A' * B' + beta * C. A kernel adds nothing for an absent C, so that -0 stays. Integers
    are not scaled: kernels differ on the type of that."""
    scales = any(application.attribute(name, 1.0) != 1 for name in ("alpha", "beta"))
    if scales and application.elem_type() in LONG_INTEGERS:
        return None
    turned = [
        f"{name}T = " + ("Transpose" if application.attribute(f"trans{name}", 0) else "Identity")
        for name in "AB"
    ]
    has_summand = application.has(2)
    return f"""(A, B, C) => (Y) {{
        {turned[0]} (A) {turned[1]} (B)
        Product = MatMul (AT, BT)
        {_scaled(application, "alpha", "Product", "Left")}
        {_scaled(application, "beta", "C", "Right") if has_summand else ""}
        Y = {"Add (Left, Right)" if has_summand else "Identity (Left)"}
    }}"""


def _scaled(application: Application, factor: str, value: str, result: str) -> str:
    """Nodes of a product with an attribute; a product with 1 is the other factor."""
    if application.attribute(factor, 1.0) == 1:
        return f"{result} = Identity ({value})"
    return f"""
        {factor}Float = Constant <value_float : float = @{factor}> ()
        {factor}Typed = CastLike ({factor}Float, A)
        {result} = Mul ({factor}Typed, {value})"""


_REDUCTIONS = {
    "ReduceL1": ("Abs (X)", "Identity"),
    "ReduceL2": ("Mul (X, X)", "Sqrt"),
    "ReduceLogSum": ("Identity (X)", "Log"),
    "ReduceLogSumExp": ("Exp (X)", "Log"),
    "ReduceSumSquare": ("Mul (X, X)", "Identity"),
}
"""Functions before and after the sum."""


_OF_REDUCTIONS = ("axes", "keepdims", "noop_with_empty_axes")


@defined(
    *("ReduceL1", "ReduceSumSquare"),
    types=LONG_INTEGERS | {FLOAT, DOUBLE},
    attributes=_OF_REDUCTIONS,
    opset=13,
    fails_alike=True,
)
@defined(
    *("ReduceL2", "ReduceLogSum"),
    types=(FLOAT, DOUBLE),
    attributes=_OF_REDUCTIONS,
    opset=13,
    fails_alike=True,
)
@defined("ReduceLogSumExp", types=OVER_REALS_ONLY, attributes=_OF_REDUCTIONS, opset=13)
def reduction(application: Application) -> str | None:
    """ReduceSum with a function before and after it."""
    rank, axes = application.rank(), application.attribute("axes")
    if rank == 0 and application.over_reals:
        axes = None  # a number is the sum of itself; kernels differ on its bits
    elif rank == 0 or axes == []:
        return None  # a reduction over no axes
    if application.attribute("noop_with_empty_axes", 0):
        return None
    before, after = _REDUCTIONS[application.head.name]
    nodes = "" if axes is None else f"Axes = Constant <value_ints = {axes}> ()"
    names = "(X, Axes)" if axes is None else "(X)"
    return f"""{names} => (Y) {{
        {nodes}
        Each = {before}
        Total = ReduceSum <keepdims : int = @keepdims> (Each, Axes)
        Y = {after} (Total)
    }}"""


_POOLED = {"GlobalAveragePool": "ReduceMean", "GlobalMaxPool": "ReduceMax"}


@defined("GlobalAveragePool", "GlobalMaxPool", types=OVER_REALS_ONLY, attributes=())
def global_pool(application: Application) -> str | None:
    """Reduction of all axes after the channels. Kernels differ on NaN and signs of zero."""
    rank = application.rank()
    if rank is None or rank < 3:
        return None
    axes = list(range(2, rank))
    return f"(X) => (Y) {{ Y = {_POOLED[application.head.name]} <axes = {axes}> (X) }}"


@defined("Pow", types=(FLOAT, DOUBLE), attributes=(), opset=15)
def power(application: Application) -> str | None:
    """Exponents in the type of the base, if that holds them."""
    base, kind = application.elem_type(), application.elem_type(1)
    exponents = application.args[1]
    content = None if exponents is None else exponents.fact.content
    numbers = [] if content is None else [getattr(n, "value", n) for n in content.reshape(-1)]
    limit = 1 << WHOLE_IN[base] if base in WHOLE_IN else 0
    fits = content is not None and all(n is not None and abs(n) <= limit for n in numbers)
    if base == kind or not (holds(kind, base) or fits):
        return None
    return """(X, Y) => (Z) {
        Exponents = CastLike (Y, X)
        Z = Pow (X, Exponents)
    }"""
