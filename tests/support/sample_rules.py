"""Rules that tests match, drive and prove."""

from straightline.passes.simplify.rules.rule import Rule


class DoubleNeg(Rule):
    """A right rule."""

    before = "(x) => (y) { t = Neg (x)  y = Neg (t) }"
    after = "(x) => (x)"


class WrongSub(Rule):
    """A rule that swaps the operands of a difference."""

    before = "(float x[*S], z[*S]) => (y) { t = Neg (z)  y = Add (x, t) }"
    after = "(x, z) => (y) { y = Sub (z, x) }"
    ranks = (1, 2)


class Scaled(Rule):
    """A rule over the reals with constants."""

    before = (
        "(floats x[m, k], const w[k, n], const s[n]) => (y) { t = MatMul (x, w) y = Mul (t, s) }"
    )
    after = "(x, w, s) => (y) { u = Mul (w, s)  y = MatMul (x, u) }"
    exactness = "reals"


class Joined(Rule):
    """A rule with any number of operands."""

    before = """(xs..., ys..., zs...) => (y) {
        t = Concat <axis = @a> (ys...)
        y = Concat <axis = @a> (xs..., t, zs...)
    }"""
    after = "(xs, ys, zs) => (y) { y = Concat <axis = @a> (xs..., ys..., zs...) }"
