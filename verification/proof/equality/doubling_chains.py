"""Steps of doubling distance in a row, each of which joins rows with earlier ones.

    y = Op (Concat <axis = 0> (same[:d], x[:-d]), x)          for d in 1, 2, 4, ...

A row of `same` changes none: x itself for Max, Min, And and Or, else rows of 0 or 1.

Of these four operators a few steps may join rows of a block, and the others the blocks:

    last = rows after steps up to the size s of a block
    before = Concat <axis = 0> (x[:1], last[s - 1 :: s]) after all other steps
    y = Op (Gather (before, numbers / s), last)

Row t of the first operand joins all whole blocks before t, and of the second the s rows up to t.
"""

from typing import NamedTuple

import numpy as np

from ....facts.fact import element
from ....facts.polynomial import Dimension
from ..arithmetic.trip_counts import least, with_whole
from ..terms.term import Head, Term
from ..terms.term_manager import Terms

_IDEMPOTENT = ("Max", "Min", "And", "Or")
_NEUTRAL = {"Add": 0, "Mul": 1}


class Chain(NamedTuple):
    """Steps in a row.

    Attributes:
        rows: the rows before the first step.
        reach: the number of rows that each row joins after the last step.
    """

    rows: Term
    head: Head
    reach: int


def chain_of(terms: Terms, term: Term) -> Chain | None:
    """The steps that end in a term; None for other terms."""
    if term.head.name not in _IDEMPOTENT and term.head.name not in _NEUTRAL:
        return None
    steps: list[tuple[Term, Term]] = []
    rows = term
    while (step := _step_of(rows, term.head)) is not None:
        steps.append(step)
        rows = step[0]
    for digit, (before, joined) in enumerate(reversed(steps)):
        terms.budget.step()
        if not _joins(terms, term.head, before, joined, 1 << digit):
            return None
    return Chain(rows, term.head, 1 << len(steps)) if steps else None


def blocks_of(terms: Terms, term: Term) -> Chain | None:
    """The steps within blocks and of blocks that end in a term; None for other terms."""
    if term.head.name not in _IDEMPOTENT or len(term.args) != 2 or None in term.args:
        return None
    for early, last in (term.operands, term.operands[::-1]):
        if not early.is_op("Gather") or early.head.attribute("axis", 0) != 0:
            continue
        within, blocks = chain_of(terms, last), chain_of(terms, early.operands[0])
        if within is None or blocks is None or not within.head is blocks.head is term.head:
            continue
        whole, size = within.rows, within.reach
        is_joined = _are_blocks(terms, blocks.rows, whole, last, size)
        if is_joined and _are_places(terms, early.operands[1], whole, blocks.rows, size):
            return Chain(whole, term.head, size * blocks.reach)
    return None


def _are_places(terms: Terms, term: Term, rows: Term, blocks: Term, size: int) -> bool:
    """Test for the number of the block that each row is in."""
    # No row is beyond the last place, so a Min with it changes no number.
    if term.is_op("Min") and len(term.args) == 2 and None not in term.args:
        for one, most in (term.operands, term.operands[::-1]):
            if element(most.fact) == blocks.shape[0] - 1:
                term = one
    if not term.is_op("Div") or terms.numbers(term.operands[1]) != [size]:
        return False
    numbers = term.operands[0]
    if not numbers.is_op("Range"):
        return False
    start, limit, step = (element(each.fact) for each in numbers.operands)
    return start == 0 and step == 1 and limit == rows.shape[0]


def _are_blocks(terms: Terms, term: Term, rows: Term, last: Term, size: int) -> bool:
    """Test for the first row, then the last row of each whole block."""
    if not term.is_op("Concat") or term.head.attribute("axis") != 0 or len(term.args) != 2:
        return False
    first, blocks = term.operands
    if first is not terms.narrow(rows, 0, 0, 1) or not blocks.is_op("Slice"):
        return False
    if blocks.operands[0] is not last or len(blocks.args) != 5 or None in blocks.args:
        return False
    start, end, axis, step = (terms.numbers(each) for each in blocks.operands[1:])
    # A Slice to the largest integer ends where the axis does.
    is_rest = end is not None and len(end) == 1 and end[0] == np.iinfo(np.int64).max
    return is_rest and (start, axis, step) == ([size - 1], [0], [size])


def _step_of(term: Term, head: Head) -> tuple[Term, Term] | None:
    """The rows before a step, and those that it joins with them; None for other terms."""
    if term.head is not head or len(term.args) != 2 or not term.fact.shape:
        return None
    one, other = term.operands
    for rows, joined in ((one, other), (other, one)):
        if not joined.is_op("Concat") or joined.head.attribute("axis") != 0:
            continue
        is_pair = len(joined.args) == 2 and joined.operands[1].head.name == "narrow"
        if is_pair and joined.operands[1].operands[0] is rows:
            return (rows, joined) if rows.fact.shape == term.fact.shape else None
    return None


def _joins(terms: Terms, head: Head, rows: Term, joined: Term, distance: int) -> bool:
    """Test for rows that change none, and all rows but the last ones."""
    shape = rows.shape
    count = least(terms, [Dimension.constant(distance), shape[0]])
    front, early = joined.operands
    if front.fact.shape != (count, *shape[1:]) or front.fact.elem_type != rows.fact.elem_type:
        return False
    if with_whole(terms, count + early.shape[0]) != shape[0]:
        return False
    if early is not terms.narrow(rows, 0, 0, early.shape[0]):
        return False
    if head.name in _IDEMPOTENT:
        return front is terms.narrow(rows, 0, 0, count)
    return head.name in _NEUTRAL and terms.is_filled(front, _NEUTRAL[head.name])
