"""Signs, negations, and constants that meet."""

from __future__ import annotations

from ..rules.registry import shipped
from ..rules.rule import Rule


@shipped
class NegOfNeg(Rule):
    """Remove a double negation."""

    before = "(x) => (y) { t = Neg (x)  y = Neg (t) }"
    after = "(x) => (x)"


@shipped
class NotOfNot(Rule):
    """Remove a double negation of booleans."""

    before = "(x) => (y) { t = Not (x)  y = Not (t) }"
    after = "(x) => (x)"


@shipped
class AddOfNeg(Rule):
    """Subtract instead of adding a negated value."""

    before = "(x[< *S], z[< *S]) => (y[*S]) { t = Neg (z)  y = Add (x, t) }"
    after = "(x, z) => (y) { y = Sub (x, z) }"


@shipped
class SubOfNeg(Rule):
    """Add instead of subtracting a negated value."""

    before = "(x[< *S], z[< *S]) => (y[*S]) { t = Neg (z)  y = Sub (x, t) }"
    after = "(x, z) => (y) { y = Add (x, z) }"


@shipped
class WhereOfNot(Rule):
    """Swap the values of a choice instead of negating its condition."""

    before = "(c[< *S], x[< *S], z[< *S]) => (y[*S]) { t = Not (c)  y = Where (t, x, z) }"
    after = "(c, x, z) => (y) { y = Where (c, z, x) }"


@shipped
class AbsOfNeg(Rule):
    """Remove a negation under Abs."""

    before = "(floats x) => (y) { t = Neg (x)  y = Abs (t) }"
    after = "(x) => (y) { y = Abs (x) }"


def _merged(op_type: str) -> type[Rule]:
    """A rule that merges the constants of two sums or products."""
    before = f"""(floats x[< *S], const c[< *S], const d[< *S]) => (y[*S]) {{
        t = {op_type} (x, c)
        y = {op_type} (t, d)
    }}"""
    after = f"(x, c, d) => (y) {{ e = {op_type} (c, d)  y = {op_type} (x, e) }}"
    content = {"before": before, "after": after, "exactness": "reals"}
    content["__doc__"] = f"Merge the constants of two nodes {op_type}."
    return type(f"{op_type}Of{op_type}Constants", (Rule,), content)


for _op_type in ("Add", "Mul"):
    shipped(_merged(_op_type))


@shipped
class MulOfReciprocal(Rule):
    """Divide instead of multiplying by a reciprocal."""

    before = "(floats x[< *S], z[< *S]) => (y[*S]) { t = Reciprocal (z)  y = Mul (x, t) }"
    after = "(x, z) => (y) { y = Div (x, z) }"
    exactness = "reals"


@shipped
class DivOfConstant(Rule):
    """Merge a factor into a divisor, both constants."""

    before = """(floats x[< *S], const c[< *S], const d[< *S]) => (y[*S]) {
        t = Mul (x, c)
        y = Div (t, d)
    }"""
    after = "(x, c, d) => (y) { e = Div (c, d)  y = Mul (x, e) }"
    exactness = "reals"
