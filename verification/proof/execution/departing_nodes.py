"""Nodes of which onnxruntime departs from the specification, by their terms.

A proof speaks of the specification. A node that departs and that one model applies to the same
operands as the other gives equal results in onnxruntime, too; of any other the answer says what it
assumes.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ....facts.fact import Shape, integers
from ....ir import Array, normal_domain
from ....ops.departures import departing_outputs, departure
from ....ops.operand_view import Application, Body, Operand, Source
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms
from .compile_graph import Program

Departing = dict[tuple[Head, Args], str]
"""Applications that may depart, with the assumption under which they do not."""

_MOST_READ = 1 << 12


class TermOperand:
    """A term as an operand."""

    def __init__(self, terms: Terms, term: Term) -> None:
        self._terms, self._term = terms, term

    @property
    def elem_type(self) -> int:
        """The element type; 0 where it is unknown."""
        return self._term.fact.elem_type

    @property
    def shape(self) -> Shape | None:
        """The shape; None for an unknown rank."""
        return self._term.fact.shape

    @property
    def array(self) -> Array | None:
        """The elements of a small constant; None for others."""
        tensor = self._terms.tensor(self._term)
        if tensor is not None:
            return tensor.numpy() if tensor.size <= _MOST_READ else None
        return integers(self._term.fact)

    @property
    def source(self) -> Source | None:
        """The operator that computes the term, or the prover's own one."""
        head = self._term.head
        if head.op is not None and normal_domain(head.op.domain):
            return None
        return Source(head.name, operands(self._terms, self._term.args))

    def is_same(self, other: Operand) -> bool:
        """Test for the very same term."""
        return isinstance(other, TermOperand) and other._term is self._term


def operands(terms: Terms, args: Args) -> list[Operand | None]:
    """Terms as operands."""
    return [None if arg is None else TermOperand(terms, arg) for arg in args]


def assumption_of(terms: Terms, head: Head, args: Args, swaps: bool = False) -> str | None:
    """Assumption under which onnxruntime follows the specification; None if it does.

    Args:
        swaps: true for a Where by a Not: onnxruntime's optimizations swap its values.
    """
    if head.op is None or normal_domain(head.op.domain):
        return None
    plain = operands(terms, args)
    orders = [plain, [plain[0], plain[2], plain[1]]] if swaps else [plain]
    for order in orders:
        row = departure(Application(head.name, head.attribute, order, head.opset))
        if row is not None:
            return row.assumption.format(head.name)
    return None


def departing_bodies(head: Head, programs: Sequence[Program]) -> tuple[str, Hashable] | None:
    """Assumption about outputs of the bodies of a construct, and their places; None without one."""
    bodies = [Body(each.inputs, each.outputs, each.writers) for each in programs]
    application = Application(head.name, head.attribute, (), bodies=bodies)
    row = departure(application)
    if row is None:
        return None
    return row.assumption.format(head.name), departing_outputs(application)


def unequal(one: Mapping[tuple[Head, Args], Any], other: Departing) -> set[str]:
    """Assumptions about nodes of one model without an equal one in the other."""
    both = {**one, **other}
    return {both[key] for key in one.keys() ^ other.keys()}
