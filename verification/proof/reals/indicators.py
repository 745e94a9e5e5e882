"""Choices and truth values over the reals: a truth value is 1 or 0, and so its own square.

    Where (c, x, y) = y + [c] * (x - y)      [not c] = 1 - [c]      [c and d] = [c] * [d]

A choice has a value even where the branch that it does not take has none, and the formula has not.
So a branch with a divisor, a root, a logarithm or an infinite constant below it is left alone.
"""

from collections.abc import Sequence
from fractions import Fraction

from ..terms.term import Term
from .field import Real
from .real_terms import RealTerms, defined, strip

_MOST_MONOMIALS = 6
"""Limit of the monomials of both branches; longer ones are compared as they are."""
_LARGEST = 1 << 14
"""Limit of a number that a mask fills in: a larger one stands for an infinity."""
_SHARED = {"And": 1, "Or": 1, "Xor": 2}
"""How often the product counts in the sum of two truth values, or is the result of And."""


@defined("Where", "choose")
def _choice(reals: RealTerms, term: Term, args: Sequence[Real]) -> Real | None:
    condition, *branches = term.operands
    if len(args) != 2 or not all(map(reals.is_total, branches)):
        return None
    one, other = args
    if len(one.monomials) + len(other.monomials) > _MOST_MONOMIALS:
        return None
    if any(each.number is not None and abs(each.number) > _LARGEST for each in args):
        return None
    field, truth = reals.field, truth_of(reals, condition)
    if truth is None:
        return None
    return field.add(other, field.multiply(truth, field.subtract(one, other)))


def truth_of(reals: RealTerms, term: Term) -> Real | None:
    """Truth value as a number; None where its shape is unknown."""
    field, term = reals.field, reals.form(term)
    name, operands, tensor = term.head.name, term.args, reals.terms.tensor(term)
    if term.fact.shape is None:
        return None
    if tensor is not None and tensor.is_readable and tensor.size:
        values = tensor.numpy()
        if values.all() == values.any():
            return field.number(int(values.all()))
    if name not in ("Not", "view", "narrow", "Expand", *_SHARED) or operands[0] is None:
        return field.truth(reals.key(term), strip(term.shape))
    one = truth_of(reals, operands[0])
    other = truth_of(reals, operands[1]) if name in _SHARED and operands[1] else one
    if one is None or other is None:
        return None
    if name in _SHARED:
        both = field.multiply(one, other)
        apart = field.subtract(field.add(one, other), field.scale(both, Fraction(_SHARED[name])))
        return both if name == "And" else apart
    if name == "Not":
        return field.subtract(field.one, one)
    moved = one if name == "Expand" else None
    if name == "view":
        moved = reals.reshaped(one, operands[0].shape, term.shape)
    elif name == "narrow":
        moved = reals.narrowed(one, term)
    return field.truth(reals.key(term), strip(term.shape)) if moved is None else moved
