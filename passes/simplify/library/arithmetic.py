"""Signs, negations, and constants that meet."""

from collections.abc import Callable

import numpy as np

from ....ops.agreement import is_float
from ..rules.match import Match
from ..rules.registry import law, laws

laws("""
NegOfNeg: Remove a double negation.
    (x) => (y) { t = Neg (x)  y = Neg (t) }
    (x) => (x)
NotOfNot: Remove a double negation of booleans.
    (x) => (y) { t = Not (x)  y = Not (t) }
    (x) => (x)
AddOfNeg: Subtract instead of adding a negated value.
    (x[< *S], z[< *S]) => (y[*S]) { t = Neg (z)  y = Add (x, t) }
    (x, z) => (y) { y = Sub (x, z) }
SubOfNeg: Add instead of subtracting a negated value.
    (x[< *S], z[< *S]) => (y[*S]) { t = Neg (z)  y = Sub (x, t) }
    (x, z) => (y) { y = Add (x, z) }
WhereOfNot: Swap the values of a choice instead of negating its condition.
    (c[< *S], x[< *S], z[< *S]) => (y[*S]) { t = Not (c)  y = Where (t, x, z) }
    (c, x, z) => (y) { y = Where (c, z, x) }
NegOfSub (values): Swap operands of a difference instead of negating it; x - x is 0.0 either way.
    (x[< *S], z[< *S]) => (y[*S]) { t = Sub (x, z)  y = Neg (t) }
    (x, z) => (y) { y = Sub (z, x) }
MulOfNegs: Multiply what is negated twice.
    (floats x[< *S], z[< *S]) => (y[*S]) { s = Neg (x)  t = Neg (z)  y = Mul (s, t) }
    (x, z) => (y) { y = Mul (x, z) }
MulOfNegConstant: Negate a constant factor instead of the other one.
    (floats x[< *S], const c[< *S]) => (y[*S]) { t = Neg (x)  y = Mul (t, c) }
    (x, c) => (y) { d = Neg (c)  y = Mul (x, d) }
NegOfMulConstant: Negate a constant factor instead of the product.
    (floats x[< *S], const c[< *S]) => (y[*S]) { t = Mul (x, c)  y = Neg (t) }
    (x, c) => (y) { d = Neg (c)  y = Mul (x, d) }
AbsOfNeg: Remove a negation under Abs.
    (floats x) => (y) { t = Neg (x)  y = Abs (t) }
    (x) => (y) { y = Abs (x) }
MulOfReciprocal (reals): Divide instead of multiplying by a reciprocal.
    (floats x[< *S], z[< *S]) => (y[*S]) { t = Reciprocal (z)  y = Mul (x, t) }
    (x, z) => (y) { y = Div (x, z) }
""")


_MERGED = {
    "add-of-add-constants": ("Add (x, c)", "Add (t, d)", "Add (c, d)", "Add (x, e)"),
    "sub-of-add-constants": ("Add (x, c)", "Sub (t, d)", "Sub (c, d)", "Add (x, e)"),
    "add-of-sub-constants": ("Sub (x, c)", "Add (t, d)", "Sub (d, c)", "Add (x, e)"),
    "sub-of-sub-constants": ("Sub (x, c)", "Sub (t, d)", "Add (c, d)", "Sub (x, e)"),
    "mul-of-mul-constants": ("Mul (x, c)", "Mul (t, d)", "Mul (c, d)", "Mul (x, e)"),
    "div-of-mul-constants": ("Mul (x, c)", "Div (t, d)", "Div (c, d)", "Mul (x, e)"),
    "mul-of-div-constants": ("Div (x, c)", "Mul (t, d)", "Div (d, c)", "Mul (x, e)"),
    "div-of-div-constants": ("Div (x, c)", "Div (t, d)", "Mul (c, d)", "Div (x, e)"),
    "add-of-constant-less": ("Sub (c, x)", "Add (t, d)", "Add (c, d)", "Sub (e, x)"),
    "sub-of-constant-less": ("Sub (c, x)", "Sub (t, d)", "Sub (c, d)", "Sub (e, x)"),
    "constant-less-sum": ("Add (x, c)", "Sub (d, t)", "Sub (d, c)", "Sub (e, x)"),
    "constant-less-difference": ("Sub (x, c)", "Sub (d, t)", "Add (d, c)", "Sub (e, x)"),
    "constant-less-constant-less": ("Sub (c, x)", "Sub (d, t)", "Sub (d, c)", "Add (x, e)"),
    "mul-of-constant-over": ("Div (c, x)", "Mul (t, d)", "Mul (c, d)", "Div (e, x)"),
    "div-of-constant-over": ("Div (c, x)", "Div (t, d)", "Div (c, d)", "Div (e, x)"),
    "constant-over-product": ("Mul (x, c)", "Div (d, t)", "Div (d, c)", "Div (e, x)"),
    "constant-over-quotient": ("Div (x, c)", "Div (d, t)", "Mul (d, c)", "Div (e, x)"),
}
"""Two operators with a constant each, that of both constants, and the one in their place."""


_FUNCTIONS = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}


def _keeps_range(op_type: str, first: str, second: str) -> Callable[[Match], bool]:
    """A condition on two constants: their sum or product neither overflows nor underflows."""

    def where(match: Match) -> bool:
        one, other = match.array(first), match.array(second)
        if one is None or other is None or not is_float(one):
            return True  # they are symbols in a proof
        with np.errstate(all="ignore"):
            result = _FUNCTIONS[op_type](one, other)
        tiny = np.finfo(one.dtype).smallest_normal if one.dtype.kind == "f" else 0
        is_zero = (one == 0) | (other == 0) if op_type in ("Mul", "Div") else result == 0
        # A subnormal result has fewer digits than its operands.
        normal = is_zero | (np.abs(result) >= tiny)
        return bool((np.isfinite(result) & normal).all())

    return where


_FLOATS = ("(floats x[< *S], const c[< *S], const d[< *S])",)
# Integers wrap, so their sums and products are those of a ring, in any order.
_INTEGERS = tuple(f"(integers x[*S], const c[{n}], const d[{n}])" for n in ("", "1"))


def _class_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-"))


def _merged(name: str, texts: tuple[str, ...], headers: tuple[str, ...]) -> None:
    """Add a rule that merges the constants of two sums or products."""
    first, second, constant, last = texts
    law(
        f"{name}: Merge the constants of {first} and {second}.",
        tuple(f"{h} => (y[*S]) {{ t = {first}  y = {second} }}" for h in headers),
        f"(x, c, d) => (y) {{ e = {constant}  y = {last} }}",
        _keeps_range(*constant.replace("(", "").replace(",", "").strip(")").split()),
    )


for _name, _texts in _MERGED.items():
    _merged(f"{_class_name(_name)} (reals)", _texts, _FLOATS)
    if not any(text.startswith("Div") for text in _texts):  # a quotient of integers rounds
        _merged(_class_name(_name.replace("constant", "integer")), _texts, _INTEGERS)

for _op in ("Add", "Mul"):
    for _name, _nodes in {
        f"{_op}OfTwo{_op}Constants": f"t = {_op} (x, c)  u = {_op} (z, d)  y = {_op} (t, u)",
        f"{_op}Of{_op}ConstantsAround": f"t = {_op} (x, c)  u = {_op} (t, z)  y = {_op} (u, d)",
    }.items():
        law(
            f"{_name} (reals): Merge two constants among the operands of {_op}.",
            f"""(floats x[< *S], z[< *S], const c[< *S], const d[< *S]) => (y[*S]) {{
                {_nodes} }}""",
            f"""(x, z, c, d) => (y) {{
                e = {_op} (c, d)  r = {_op} (x, z)  y = {_op} (r, e) }}""",
            _keeps_range(_op, "c", "d"),
        )

law(
    "MulOfInverse (reals): Divide instead of multiplying by 1 through a divisor.",
    "(floats x[< *S], z[< *S]) => (y[*S]) { t = Div (1, z)  y = Mul (x, t) }",
    "(x, z) => (y) { y = Div (x, z) }",
    # The 1 adds no axes.
    lambda match: (shape := match.shape("z")) is not None and shape == match.shape("t"),
)
