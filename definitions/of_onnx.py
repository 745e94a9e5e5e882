"""Operators of ONNX by other ones, in the form in which conversions write them."""

import onnx

from ..ir import MAX_OPSET
from .attention import from_heads, to_heads
from .case import Case, Signature, Unfit
from .cells import CELLS
from .definition import Definition
from .expansion import expand

_GELU = "{}  h = Mul (0.5, x)  y = Mul (h, s)"
_ERF = "d = Div (x, 1.4142135623730951)  e = Erf (d)  s = Sum (1.0, e)"
_TANH = """p = Pow (x, 3.0)  q = Mul (0.044715, p)  b = Sum (x, q)
    c = Mul (0.7978845608028654, b)  t = Tanh (c)  s = Sum (1.0, t)"""
_PLAIN = """<q_num_heads = @heads int, kv_num_heads = @groups int, scale = @scale float ?,
    is_causal = @causal ? 0, softcap = @cap ? 0.0, qk_matmul_output_mode = @mode ? 0,
    softmax_precision = @precision int ?>"""
_LENGTH = "q = Mul (x, x)  s = ReduceSum <keepdims = @keepdims> (q, a?)  y = Sqrt (s)"
_NORMALIZED = "<axis = @axis, epsilon = @epsilon, stash_type = 1>"


def _gemm(case: Case) -> str:
    """Product of matrices, and the bias."""
    turned = {name: f"{name}T" for name in "ab" if case[name]}
    nodes = " ".join(f"{new} = Transpose ({name})" for name, new in turned.items())
    product = f"MatMul ({', '.join(turned.get(name, name) for name in 'ab')})"
    return f"{nodes} " + (f"m = {product} y = Add (m, c)" if case.has("c") else f"y = {product}")


def _normalization(case: Case) -> str:
    """Elements, or distances from the mean, over the root of the mean square."""
    rank, axis, is_centered = case.rank("x"), case["axis"], "b" in case.operands
    # Half precision is computed in the type of `stash_type`, and rounded in between.
    if not -rank <= axis < rank or not case.is_typed("x", "float"):
        case.unfit("its axis is out of range, or it is computed in another type")
    mean, d = f"ReduceMean <axes = {[*range(axis % rank, rank)]}>", "d" if is_centered else "x"
    far = f"m = {mean} (x)  d = Sub (x, m)" if is_centered else ""
    scaled = "i = Reciprocal (r)  n = Mul (d, i)" if is_centered else "n = Div (x, r)"
    end = "t = Mul (n, s)  y = Add (t, b)" if case.has("b") else "y = Mul (n, s)"
    return f"""{far}  q = Mul ({d}, {d})  v = {mean} (q)  e = Add (v, @epsilon)  r = Sqrt (e)
        {scaled}  {end}"""


def _attention(case: Case) -> str:
    """Mean of values by the Softmax of scores and a mask."""
    count, more = case["heads"], [case[name] for name in ("causal", "cap", "mode", "precision")]
    if any(more) or count != case["groups"] or {*map(case.rank, "qkv")} != {3}:
        case.unfit("heads have an axis or share keys, or scores depend on another attribute")
    scale = case["scale"] or (case.known_size("q", 2) // count) ** -0.5
    nodes = " ".join(to_heads(name, count, f"{name}Heads") for name in "qkv")
    bias = "biased = Add (scaled, m)" if case.has("m") else "biased = Identity (scaled)"
    return f"""{nodes} kT = Transpose <perm = [0, 1, 3, 2]> (kHeads)  plain = MatMul (qHeads, kT)
        scaled = Mul (plain, {scale!r})  {bias}  weights = Softmax <axis = -1> (biased)
        heads = MatMul (weights, vHeads)
        {from_heads("heads", "y", case.known_size("v", 2))}"""


def _by_channel(case: Case) -> str:
    """Factor and summand of each channel."""
    shape = [-1, *[1] * (case.rank("x") - 2)]
    return f"""e = Add (v, @epsilon)  r = Sqrt (e)  f = Div (s, r)  p = Mul (m, f)  d = Sub (b, p)
        k = Reshape (f, {shape})  c = Reshape (d, {shape})  q = Mul (x, k)  y = Add (q, c)"""


def _exponentials(case: Case) -> str:
    return f"e = Exp (x)  s = ReduceSum <axes = [{case['axis']}]> (e)  y = Div (e, s)"


def _logarithm(case: Case) -> str:
    return f"s = ReduceLogSumExp <axes = [{case['axis']}]> (x)  y = Sub (x, s)"


_DEFINITIONS = [
    Definition(f"({operands}) => (y) {{ y = {node} }}", after)
    for operands, node, after in (
        ("floats x", 'Gelu <approximate = "none"> (x)', _GELU.format(_ERF)),
        ("floats x", 'Gelu <approximate = "tanh"> (x)', _GELU.format(_TANH)),
        ("floats x", "Mish (x)", "p = Softplus (x)  t = Tanh (p)  y = Mul (x, t)"),
        (
            "floats a, floats b, floats c",
            "Gemm <alpha = 1.0, beta = 1.0, transA = @a, transB = @b> (a, b, c?)",
            _gemm,
        ),
        (
            "floats x, int64 a",
            "ReduceL2 <keepdims = @keepdims, noop_with_empty_axes = 0> (x, a?)",
            _LENGTH,
        ),
        (
            "floats x, floats s, floats b",
            f"LayerNormalization {_NORMALIZED} (x, s, b?)",
            _normalization,
        ),
        ("floats x, floats s", f"RMSNormalization {_NORMALIZED} (x, s)", _normalization),
        ("floats q, floats k, floats v, floats m", f"Attention {_PLAIN} (q, k, v, m?)", _attention),
    )
]

_NORMALIZATION = "<epsilon = @epsilon, momentum = @momentum, training_mode = 0>"
_CLIPPED = "t = Add (x, 3.0)  c = Clip (t, 0.0, 6.0)  p = Mul (x, c)  y = Div (p, 6.0)"
_OVER_REALS = [
    Definition("(floats x) => (y) { y = HardSwish (x) }", _CLIPPED),
    Definition("(floats x) => (y) { y = Softmax <axis = @axis> (x) }", _exponentials),
    Definition("(floats x) => (y) { y = LogSoftmax <axis = @axis> (x) }", _logarithm),
    Definition(
        f"""(floats x, floats s, floats b, floats m, floats v) => (y) {{
            y = BatchNormalization {_NORMALIZATION} (x, s, b, m, v) }}""",
        _by_channel,
    ),
    *CELLS,
]


def function_of(signature: Signature, is_real: bool = False) -> onnx.FunctionProto | None:
    """Function of other operators that computes one of ONNX, of today's opset; None without one.

    Args:
        is_real: whether nothing is rounded, and no number too large.
    """
    for definition in [*_DEFINITIONS, *_OVER_REALS[: len(_OVER_REALS) * is_real]]:
        try:
            if definition.name == signature.op.op_type:
                return expand(definition, definition.case(signature), MAX_OPSET)
        except Unfit:
            continue
    return None
