"""Signs, negations, and constants that meet."""

from __future__ import annotations

from ..rules.match import Match
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


_MERGED = {
    ("Add", "Add"): ("Add (c, d)", "Add"),
    ("Add", "Sub"): ("Sub (c, d)", "Add"),
    ("Sub", "Add"): ("Sub (d, c)", "Add"),
    ("Sub", "Sub"): ("Add (c, d)", "Sub"),
    ("Mul", "Mul"): ("Mul (c, d)", "Mul"),
    ("Mul", "Div"): ("Div (c, d)", "Mul"),
    ("Div", "Mul"): ("Div (d, c)", "Mul"),
    ("Div", "Div"): ("Mul (c, d)", "Div"),
}
"""Two operators with a constant each: that of both constants, and the one in their place."""


def _merged(first: str, second: str) -> type[Rule]:
    """A rule that merges the constants of two sums or products."""
    constant, last = _MERGED[first, second]
    before = f"""(floats x[< *S], const c[< *S], const d[< *S]) => (y[*S]) {{
        t = {first} (x, c)
        y = {second} (t, d)
    }}"""
    after = f"(x, c, d) => (y) {{ e = {constant}  y = {last} (x, e) }}"
    content = {"before": before, "after": after, "exactness": "reals"}
    content["__doc__"] = f"Merge the constants of {first} and {second}."
    return type(f"{second}Of{first}Constants", (Rule,), content)


for _pair in _MERGED:
    shipped(_merged(*_pair))


@shipped
class MulOfReciprocal(Rule):
    """Divide instead of multiplying by a reciprocal."""

    before = "(floats x[< *S], z[< *S]) => (y[*S]) { t = Reciprocal (z)  y = Mul (x, t) }"
    after = "(x, z) => (y) { y = Div (x, z) }"
    exactness = "reals"


@shipped
class MulOfInverse(Rule):
    """Divide instead of multiplying by 1 through a divisor."""

    before = "(floats x[< *S], z[< *S]) => (y[*S]) { t = Div (1, z)  y = Mul (x, t) }"
    after = "(x, z) => (y) { y = Div (x, z) }"
    exactness = "reals"

    def where(self, match: Match) -> bool:
        """Require a 1 that adds no axes."""
        shape = match.shape("z")
        return shape is not None and shape == match.shape("t")
