"""Integer sums and products as polynomials modulo 2^n, in whatever order they stand.

Two terms of one shape are equal if their polynomials are: each element is a polynomial of elements
of other terms, the same polynomial for all elements. A state to which each iteration adds the same
number is its initial value and a multiple of that (`start + i * delta`).
"""

import operator
from collections.abc import Callable

from ....facts.polynomial import Dimension
from ....facts.types import INTEGER_BITS
from ..terms.free_variables import binding
from ..terms.term import Pair, Term, bottom_up
from .induction import Induction, State
from .substitution import instantiate_iteration

_RING: dict[str, Callable[..., Dimension]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "Neg": operator.neg,
}
_THROUGH = ("view", "Expand", "Cast", "narrow")
_MOST_PRODUCTS = 32
"""Limit of monomials; a term with more is an atom."""

_MOST_FACTORS = 1024
"""Limit of products of monomials in one step."""

_ATOM = "@"
_ZERO = Dimension.constant(0)


class ModularPolynomials:
    """Rule of comparison for integers.

    Args:
        induction: rules for the states of recurrences.
    """

    def __init__(self, induction: Induction) -> None:
        self._terms, self._pushdown = induction.terms, induction.pushdown
        self._induction = induction
        self._known: dict[Term, Dimension] = {}
        self._atoms: dict[str, Term] = {}
        self._summands: dict[tuple[Term, int], Term | None] = {}

    def equal(self, one: Term, other: Term) -> list[Pair] | None:
        """Integers with equal polynomials. If these differ by one atom each, it is enough that the
        atoms are equal."""
        bits, shape = INTEGER_BITS.get(one.fact.elem_type), one.fact.shape
        if bits is None or other.fact.elem_type != one.fact.elem_type or shape is None:
            return None
        if shape != other.fact.shape or not (self._is_compound(one) or self._is_compound(other)):
            return None
        rest = self._of(one) - self._of(other)
        # Arithmetic wraps modulo 2^n, and so do the coefficients: no overflow has to be excluded.
        remainder = {m: f % (1 << bits) for m, f in rest.terms.items() if f % (1 << bits)}
        if not remainder:
            self._terms.used.add("polynomial")
            return []
        return self._one_each(one, other, remainder, bits)

    def _one_each(
        self, one: Term, other: Term, remainder: dict[tuple[str, ...], int], bits: int
    ) -> list[Pair] | None:
        """The atoms that remain, one of each side, with equal factors.

        s + q and s' - (-q) leave s and s', which a hypothesis of induction may equate.
        """
        single = [m for m in remainder if len(m) == 1]
        # Modulo 2^n, opposite factors add up to 2^n.
        if len(single) != 2 or len(remainder) != 2 or sum(remainder.values()) != 1 << bits:
            return None
        own = self._of(one).terms
        a, b = (self._atoms.get(name) for (name,) in sorted(single, key=lambda m: m not in own))
        if a is None or b is None or a.fact.shape != b.fact.shape or (a, b) == (one, other):
            return None
        return [(a, b)] if a.fact.elem_type == b.fact.elem_type else None

    def _is_compound(self, term: Term) -> bool:
        """Test whether a term is more than an atom."""
        while term.head.name in _THROUGH and term.args[0] is not None:
            term = term.args[0]
        return (
            term.head.name in _RING
            or self._step(self._induction.before_iteration(term)) is not None
        )

    def _of(self, root: Term) -> Dimension:
        """Polynomial of a term; without recursion."""
        return bottom_up(root, self._known, self._operands, self._combine)

    def _operands(self, term: Term) -> list[Term]:
        """Operands of a sum or product; none for an atom."""
        state = self._induction.before_iteration(term)
        step = self._step(state)
        if state is not None and step is not None:
            before = state.recurrence.args[2 + state.number]
            assert before is not None
            return [before, step]
        if term.head.name in _RING and not term.head.attribute("broadcast"):
            return [arg for arg in term.args if arg is not None]
        if term.head.name == "narrow":
            settled = self._pushdown.settled(term)
            return [] if settled is term else [settled]
        x = term.args[0] if term.head.name in _THROUGH else None
        if x is None or not _keeps_numbers(x, term):
            return []
        return [x] if term.head.name != "view" or _keeps_places(x, term) else []

    def _combine(self, term: Term, operands: list[Dimension]) -> Dimension:
        self._terms.budget.step()
        state = self._induction.before_iteration(term)
        name = term.head.name
        polynomial: Dimension | None = None
        if not operands:
            polynomial = self._number(term)
        elif state is not None:
            polynomial = operands[0] + state.iteration * operands[1]
        elif name not in _RING:
            polynomial = operands[0]
        elif name != "Mul" or len(operands[0].terms) * len(operands[1].terms) < _MOST_FACTORS:
            polynomial = _RING[name](*operands)
        return (
            polynomial
            if polynomial is not None and len(polynomial.terms) <= _MOST_PRODUCTS
            else self._atom(term)
        )

    def _number(self, term: Term) -> Dimension | None:
        """Number that all elements of a constant, or of sizes, equal."""
        tensor, content = self._terms.tensor(term), term.fact.content
        if tensor is not None and tensor.is_readable and 0 < tensor.size <= 64:
            numbers = {int(number) for number in tensor.numpy().reshape(-1)}
            return Dimension.constant(numbers.pop()) if len(numbers) == 1 else None
        if term.head.name != "sizes" or content is None:
            return None
        sizes = set(content.reshape(-1))
        size = sizes.pop() if len(sizes) == 1 else None
        return size if isinstance(size, Dimension) else None

    def _atom(self, term: Term) -> Dimension:
        """Symbol of a term; leading unit axes of a view or a constant change no place."""
        shape = term.fact.shape
        if term.head.name in ("view", "constant") and shape and shape[0].value == 1:
            longer = [axis for axis, dim in enumerate(shape) if dim.value != 1]
            term = self._terms.view(term, shape[longer[0] if longer else len(shape) :])
        name = f"{_ATOM}{term.number}"
        self._atoms[name] = term
        return Dimension.symbol(name)

    def _step(self, state: State | None) -> Term | None:
        """Number that each iteration adds to a state, if it is loop-invariant."""
        if state is None:
            return None
        key = state.recurrence, state.number
        if key not in self._summands:
            self._summands[key] = self._invariant_summand(state)
        return self._summands[key]

    def _invariant_summand(self, state: State) -> Term | None:
        bound, before = binding(state.recurrence), state.recurrence.args[2 + state.number]
        assert bound is not None
        variable = bound.states[state.number]
        update = state.recurrence.head.parts[state.number + bound.conditional]
        if variable.fact.elem_type not in INTEGER_BITS or not update.is_op("Add"):
            return None
        others = [arg for arg in update.args if arg is not variable]
        if before is None or len(others) != 1 or others[0] is None or before.fact.shape is None:
            return None
        if before.fact.shape != update.fact.shape or variable.fact.shape != before.fact.shape:
            return None
        # A summand that is the same term in any iteration depends on none.
        elsewhere = instantiate_iteration(
            self._terms, state.recurrence, others[0], self._induction.symbol(None)
        )
        return others[0] if elsewhere is others[0] else None


def _keeps_numbers(x: Term, term: Term) -> bool:
    """Test whether a term equals another one modulo 2^n of its own type."""
    bits, own = INTEGER_BITS.get(x.fact.elem_type), INTEGER_BITS.get(term.fact.elem_type)
    return bits is not None and own is not None and bits >= own


def _keeps_places(x: Term, term: Term) -> bool:
    """Test whether a view adds leading unit axes only, or has one element."""
    a, b = x.fact.shape, term.fact.shape
    if a is None or b is None:
        return False
    if all(dim.value == 1 for dim in (*a, *b)):
        return True
    short, long = sorted((a, b), key=len)
    new = len(long) - len(short)
    return long[new:] == short and all(dim.value == 1 for dim in long[:new])
