"""Commutativity: operators of two operands that may be swapped.

Sums and products of floats commute (IEEE 754; which of two NaN results is not compared).
"""

from ..terms.exact_operators import COMMUTATIVE
from ..terms.term import Pair, Term


def swap_operands(one: Term, other: Term) -> list[Pair] | None:
    """Pairs of swapped operands that must be equal; None if a swap does not help."""
    if len(one.args) != 2 or len(other.args) != 2 or one.head.attribute("broadcast"):
        return None
    if not _swap_helps(one, other):
        return None
    if other.head.attribute("broadcast"):
        return None
    (a, b), (c, d) = one.args, other.args
    if a is None or b is None or c is None or d is None:
        return None
    return [(a, d), (b, c)]


def _swap_helps(one: Term, other: Term) -> bool:
    """Test whether operands are more alike once they are swapped."""
    if one.head is not other.head or one.head.name not in COMMUTATIVE:
        return False
    (a, b), (c, d) = one.args, other.args
    return _likeness(a, d) + _likeness(b, c) > _likeness(a, c) + _likeness(b, d)


def _likeness(one: Term | None, other: Term | None) -> int:
    """Similarity of two terms at first sight."""
    if one is other:
        return 4
    if one is None or other is None or one.fact.elem_type != other.fact.elem_type:
        return 0
    same = one.head is other.head and one.head.name != "constant"
    return 2 * same + (one.fact.shape == other.fact.shape)
