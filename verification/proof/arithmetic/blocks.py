"""Blocks that cover a number of rows: (floor((n - 1) / b) + 1) * b is at least n."""

from __future__ import annotations

from ....facts.fact import element
from ....facts.polynomial import Dimension
from ..terms.term import Term
from ..terms.term_manager import Terms
from .exact_integers import is_one_integer


def cover(terms: Terms, size: Dimension, rows: Dimension) -> bool:
    """Test whether blocks of one length certainly have so many rows or more.

    The quotient of last and b times b is more than last - b, so that (floor(last / b) + 1) * b is
    more than last, for b of at least 1 and last of at least 0.

    Args:
        terms: the terms.
        size: the number of blocks times their length.
        rows: the number of rows.
    """
    for name in size.symbols & terms.counts.keys():
        operands = _quotient(terms, name)
        if operands is None:
            continue
        last, blocks = operands
        if blocks.less(1) is not False or last.less(0) is not False:
            continue
        is_whole = size == blocks * (Dimension.symbol(name) + 1)
        if is_whole and (last + 1 - rows).less(0) is False:
            return True
    return False


def _quotient(terms: Terms, symbol: str) -> tuple[Dimension, Dimension] | None:
    """Dividend and divisor of a size that is the maximum of a quotient and 0."""
    sizes, atoms = terms.counts[symbol].parts()
    if sizes.value != 0 or len(atoms) != 1 or atoms[0][1] != 1:
        return None
    term: Term | None = atoms[0][0]
    while term is not None and term.head.name == "view":
        term = term.args[0]
    if term is None or not term.is_op("Div") or not all(map(is_one_integer, term.args)):
        return None
    dividend, divisor = (element(operand.fact) for operand in term.operands)
    if not isinstance(dividend, Dimension) or not isinstance(divisor, Dimension):
        return None
    return dividend, divisor
