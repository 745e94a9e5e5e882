"""Activations of com.microsoft."""

from .case import Case
from .registry import defines, ship

_FACTS = {"source": "docs/ContribOperators.md", "tried": "onnxruntime 1.32.0"}

_ERF = """scaled = Mul (t, 0.7071067811865476)  e = Erf (scaled)  one = Add (e, 1.0)
    half = Mul (t, 0.5)  y = Mul (half, one)"""
_TANH = """square = Mul (t, t)  cubic = Mul (square, t)  part = Mul (cubic, 0.044715)
    sum = Add (t, part)  scaled = Mul (sum, 0.7978845608028654)  h = Tanh (scaled)
    one = Add (h, 1.0)  half = Mul (t, 0.5)  y = Mul (half, one)"""

for _name, _sum, _short, _long in (
    ("Gelu (x)", "t = Identity (x)", "y = Gelu (t)", _ERF),
    ("BiasGelu (x, b)", "t = Add (x, b)", "y = Gelu (t)", _ERF),
    ("FastGelu (x, b?)", "t = Add (x, b)", 'y = Gelu <approximate = "tanh"> (t)', _TANH),
):
    _inputs = "floats x, floats b" if "b" in _name else "floats x"
    for _since, _nodes in ((20, _short), (11, _long)):
        _before = f"({_inputs}) => (y) {{ y = com.microsoft.{_name} }}"
        ship(_before, f"{_sum} {_nodes}", since=_since, rows="* x", **_FACTS)
ship(
    "(floats x) => (y) { y = com.microsoft.QuickGelu <alpha = @alpha ? 1.702> (x) }",
    "(x) => (y) { scaled = Mul (x, @alpha)  s = Sigmoid (scaled)  y = Mul (x, s) }",
    rows="* x",
    **_FACTS,
)
ship(
    "(floats x, floats b, floats skip) => (y) { y = com.microsoft.BiasAdd (x, b, skip) }",
    "(x, b, skip) => (y) { t = Add (x, b)  y = Add (t, skip) }",
    source=_FACTS["source"],
)


@defines(
    "(floats x[n, s, d], floats b[d]) => (y) { y = com.microsoft.BiasSplitGelu (x, b) }",
    source=_FACTS["source"],
)
def bias_split_gelu(case: Case) -> str:
    """The first half of x + b times Gelu of the second."""
    size = case.known_size("x", 2)
    return f"""s = Add (x, b)  first, t = Split <axis = 2, split = [{size // 2}, {size // 2}]> (s)
        {_ERF.replace("y = ", "g = ")} y = Mul (first, g)"""


@defines(
    "(floats x, scale) => (y) { y = com.microsoft.ScaledSiLU <alpha = @alpha ? 1.0> (x, scale?) }",
    rows="* x",
    **_FACTS,
)
def scaled_silu(case: Case) -> str:
    """t sigmoid (t) of a scaled t."""
    kind = case.elem_type("x")
    factor = f"f = Cast <to = {kind}> (scale)  t = Mul (x, f)"
    scaled = factor if case.has("scale") else "t = Mul (x, @alpha)"
    return f"{scaled} s = Sigmoid (t)  y = Mul (t, s)"
