"""Sequences whose elements are known: each is the one before it and an element."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import onnx

from ...facts.fact import Fact
from .budget import Budget
from .terms import Term

if TYPE_CHECKING:
    from .term_manager import Terms

_REMEMBERED = 8


@functools.cache
def _sequence_of(elem_type: int) -> onnx.TypeProto:
    element = onnx.helper.make_tensor_type_proto(elem_type, None)
    return onnx.helper.make_sequence_type_proto(element)


def empty_chain(terms: Terms, elem_type: int) -> Term:
    """A sequence of no tensors of a type."""
    return terms.leaf("empty", elem_type, Fact(other=_sequence_of(elem_type), count=0))


def appended(terms: Terms, chain: Term, element: Term) -> Term:
    """A sequence with one element more."""
    known = terms.get(terms.heads.own("append"), (chain, element))
    if known is not None:
        return known
    assert chain.fact.count is not None
    fact = Fact(other=chain.fact.other, count=chain.fact.count + 1)
    return terms.keep(terms.heads.own("append"), (chain, element), fact)


def collected(terms: Terms, rows: Term) -> Term:
    """The sequence of the rows of a tensor, however many there are."""
    type_ = _sequence_of(rows.fact.elem_type)
    return terms.keep(terms.heads.own("collected"), (rows,), Fact(other=type_))


def rows_of(sequence: Term | None) -> Term | None:
    """The tensor whose rows a sequence holds; None for another one."""
    if sequence is None or sequence.head.name != "collected":
        return None
    return sequence.args[0]


def is_chain(term: Term | None) -> bool:
    """Whether all elements of a sequence are known."""
    return term is not None and term.head.name in ("append", "empty")


class Elements:
    """The elements of chains; those asked for last are remembered."""

    def __init__(self) -> None:
        self._known: dict[Term, tuple[Term, ...]] = {}

    def of(self, chain: Term | None, budget: Budget) -> tuple[Term, ...] | None:
        """The elements of a chain, in order; None for what is none."""
        if chain is None or not is_chain(chain):
            return None
        found = self._known.get(chain)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.pop(next(iter(self._known)))
            found = self._known[chain] = _unrolled(chain)
            budget.step(len(found))
        return found


def _unrolled(chain: Term) -> tuple[Term, ...]:
    elements = []
    while chain.head.name == "append":
        before, element = chain.args
        assert before is not None and element is not None
        elements.append(element)
        chain = before
    return tuple(reversed(elements))
