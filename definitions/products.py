"""Matrix products and convolutions of com.microsoft with what is fused with them."""

from .case import Case
from .fused_activations import activation
from .registry import defines

_FACTS = {"source": "docs/ContribOperators.md", "tried": "onnxruntime 1.32.0"}


def _matrix(case: Case, name: str, transposes: object, moves: object) -> str:
    """A node that brings an operand of a product into place, named with T behind.

    Args:
        name: the operand.
        transposes: swap its last two axes; of a vector that means nothing.
        moves: its first axis is that of the rows.
    """
    if not transposes and not moves:
        return f"{name}T = Identity ({name})"
    rank = case.rank(name)
    axes = list(range(rank))
    if moves and rank > 2:
        axes.insert(rank - 2, axes.pop(0))
    if transposes and rank > 1:
        axes[-2:] = axes[:-3:-1]
    return f"{name}T = Transpose <perm = {axes}> ({name})"


_MATMUL = """(floats a, floats b) => (y) { y = com.microsoft.FusedMatMul <alpha = @alpha ? 1.0,
    transA = @transA ? 0, transB = @transB ? 0, transBatchA = @moveA ? 0, transBatchB = @moveB ? 0>
    (a, b) }"""


def rows_of_pair(case: Case) -> str:
    """Operands that may have more axes in front, where a and b broadcast."""
    ranks = case.rank("a"), case.rank("b")
    each = [
        rows
        for rows, fits in (("* a", ranks[0] >= ranks[1]), ("* b", ranks[1] >= ranks[0]))
        if fits
    ]
    return "; ".join([*each, *(["* a b"] if len(each) == 2 else [])])


def rows_of_product(case: Case) -> str:
    """Rows of matrices at their places."""
    moves = case["moveA"] or case["moveB"]
    return "" if moves or min(case.rank("a"), case.rank("b")) < 2 else rows_of_pair(case)


@defines(_MATMUL, rows=rows_of_product, **_FACTS)
def fused_matmul(case: Case) -> str:
    """alpha A' B'."""
    if case["transA"] and case.rank("b") == 1 and case.rank("a") > 1:
        case.unfit("onnxruntime 1.32 reads a transposed matrix untransposed before a vector")
    first = _matrix(case, "a", case["transA"], case["moveA"])
    second = _matrix(case, "b", case["transB"], case["moveB"])
    scaled = "y = Identity (p)" if case["alpha"] == 1 else "y = Mul (p, @alpha)"
    return f"{first} {second} p = MatMul (aT, bT) {scaled}"


@defines(
    """(floats a, floats b) => (y) { y = com.microsoft.TransposeMatMul <alpha = @alpha ? 1.0,
    transA = @transA ? 0, transB = @transB ? 0, moveA = @moveA ? 0, moveB = @moveB ? 0> (a, b) }""",
    rows=rows_of_product,
    **_FACTS,
)
def transpose_matmul(case: Case) -> str:
    """alpha A' B'."""
    return fused_matmul(case)


def _rows_of_gemm(case: Case) -> str:
    is_row = not case.has("c") or case.rank("c") < 2 or case.size("c", 0) == 1
    return "a" if is_row and not case["transA"] else ""


@defines(
    """(floats a, floats b, floats c) => (y) { y = com.microsoft.FusedGemm <alpha = @alpha ? 1.0,
    beta = @beta ? 1.0, transA = @transA ? 0, transB = @transB ? 0, activation = @name text ?,
    activation_alpha = @p float ?, activation_beta = @q float ?, activation_gamma = @r float ?> (a,
    b, c?) }""",
    rows=_rows_of_gemm,
    **_FACTS,
)
def fused_gemm(case: Case) -> str:
    """activation (alpha A' B' + beta C)."""
    parameters = [case["p"], case["q"], case["r"]]
    return f"""t = Gemm <alpha = @alpha, beta = @beta, transA = @transA, transB = @transB> (a, b, c)
        {activation(case["name"], parameters, "t", "y")}"""


@defines(
    """(floats x, floats w, floats b, floats z) => (y) { y = com.microsoft.FusedConv <
    activation = @name text ?, activation_params = @parameters floats ?,
    auto_pad = @auto_pad text ?,
    dilations = @dilations ints ?, group = @group int ?, kernel_shape = @kernel_shape ints ?,
    pads = @pads ints ?,
    strides = @strides ints ?> (x, w, b?, z?) }""",
    rows="x z",
    **_FACTS,
)
def fused_conv(case: Case) -> str:
    """activation (Conv + Z)."""
    return f"""c = Conv <auto_pad = @auto_pad, dilations = @dilations, group = @group,
        kernel_shape = @kernel_shape, pads = @pads, strides = @strides> (x, w, b)
        t = Add (c, z) {activation(case["name"], case["parameters"] or (), "t", "y")}"""
