"""Loops over doubling distances as the recurrence that they compute (W. Hillis, G. Steele 1986).

    for d in 1, 2, 4, ...: rows = Concat <axis = 0> (rows[:d], J (rows[:-d], rows[d:]))

J(s, x) is the state after a row x. After the step of distance d, each row joins the 2d rows up to
it, or all of them, since joining a state with k joined rows is joining it with one after the other:

    J_k+1 (s, J_1 (u, v)) = J_1 (J_k (s, u), v)

J_k may depend on k by powers `c^k`; else this is associativity. It is proved on variables: bits of
integers and truth values, functions of floats over the reals. J is total, so that no row fails
that the recurrence does not compute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import onnx

from ....facts.fact import Fact, Shape, element
from ....facts.polynomial import Dimension, product
from ....facts.types import INTEGER_BITS
from ....ir import Array
from ....ops.axes import ONE
from ..arithmetic.trip_counts import number_of, parts_of_least
from ..reals.field import Real
from ..reals.real_terms import FLOATS, RealTerms
from ..reals.rounded import ROUNDED
from ..simplify.slices import entry_of
from ..terms.free_variables import Bound, binding
from ..terms.term import Term, bare, descendants
from ..terms.term_manager import Terms
from .doubling_chains import blocks_of, chain_of
from .fold_forms import JOINS
from .induction import Induction
from .modular_polynomials import ModularPolynomials
from .new_recurrences import new_recurrence
from .slice_pushdown import SlicePushdown
from .substitution import Substitution

_TYPES = onnx.TensorProto
_OPSET = 13
_RING = frozenset(["Add", "Sub", "Mul", "Neg"])
_TRUTHS = ("And", "Or", "Xor")
_ASSOCIATIVE = {
    name: {_TYPES.BOOL} if name in _TRUTHS else INTEGER_BITS.keys() | FLOATS for name in JOINS
}
"""Associative operators, with their types; those of floats over the reals."""

_MOST_NODES = 64
"""Limit of operators in a step."""

_MOST_SIZE_BITS = 63
"""No axis has 2^63 elements."""


class _Leaf(NamedTuple):
    """Rows of a state in a step.

    Attributes:
        state: its index.
        late: whether the rows are the later ones, from the distance on.
    """

    state: int
    late: bool


class _Step(NamedTuple):
    """Function that joins rows.

    Attributes:
        joined: for each state that is read, the later rows of its next value.
        leaves: the slices of states in them.
        powers: operands `c^d` of the distance d, each with c.
        others: operands that depend on neither state nor distance.
    """

    joined: Mapping[int, Term]
    leaves: Mapping[Term, _Leaf]
    powers: Mapping[Term, Term]
    others: Sequence[Term]


class DoublingLoops:
    """Opens Loops over doubling distances.

    Args:
        over_reals: whether floats that are equal over the reals are equal.

    Attributes:
        rounded: assumptions about powers of matrices.
    """

    def __init__(self, terms: Terms, over_reals: bool) -> None:
        self._terms, self._over_reals = terms, over_reals
        self._opened: dict[tuple[Term, int], Term | None] = {}
        self._pushdown = SlicePushdown(terms)
        self.rounded: set[str] = set()

    def open(self, term: Term) -> Term | None:
        """Rows after all steps as the states of a recurrence; None for other terms."""
        if term.head.name in _ASSOCIATIVE:
            return self._of_chain(term)
        if term.head.name != "final" or term.args[0] is None:
            return None
        key = term.args[0], term.head.key
        if key not in self._opened:
            self._opened[key] = None  # what the step computes is no term of itself
            self._opened[key] = self._recurrence(*key)
        return self._opened[key]

    def _of_chain(self, term: Term) -> Term | None:
        """Rows after steps in a row as the states of a recurrence."""
        key = term, 0
        if key in self._opened:
            return self._opened[key]
        self._opened[key] = None
        terms = self._terms
        chain = chain_of(terms, term) or blocks_of(terms, term)
        if chain is None or chain.rows.fact.elem_type not in _ASSOCIATIVE[chain.head.name]:
            return None
        fact = chain.rows.fact
        # Addition of floats is not associative: steps of doubling distance round in another order.
        if (fact.elem_type in FLOATS and not self._over_reals) or not fact.shape:
            return None
        length = fact.shape[0]
        # After k steps of doubling distance a row has met the 2^k - 1 rows before it; fewer steps
        # than the rows need leave prefixes incomplete.
        is_all = (length - chain.reach - 1).less(0) is True
        if not is_all and not (
            length.value is None and terms.symbols.magnitudes.is_end(chain.reach)
        ):
            return None
        # The form begins with the first row, so that there must be one.
        if (length - 1).less(0) is not False:
            return None
        row = Fact(fact.elem_type, (ONE, *fact.shape[1:]))
        early, late = _variable(terms, row), _variable(terms, row)
        (joined,) = terms.apply(chain.head, (early, late))
        if joined is None:
            return None
        step = _Step({0: joined}, {early: _Leaf(0, False), late: _Leaf(0, True)}, {}, [])
        self._opened[key] = self._rows([chain.rows], 0, step)
        return self._opened[key]

    def _recurrence(self, loop: Term, number: int) -> Term | None:
        bound, inits = binding(loop), loop.args[2:]
        # A condition might end the loop before the last distance.
        if bound is None or bound.conditional or loop.args[1] is not None or loop.args[0] is None:
            return None
        if any(init is None or init.fact.shape is None for init in inits):
            return None
        shape = loop.operands[2 + number].shape
        if not shape or (shape[0] - 1).less(0) is not False:
            return None
        iterations = element(loop.args[0].fact)
        if not isinstance(iterations, Dimension) or not _reaches(self._terms, iterations, shape[0]):
            return None
        step = _Reading(self._terms, loop, bound, self._pushdown).step(number)
        if step is None or not self._is_associative(step):
            return None
        return self._rows(loop.operands[2:], number, step)

    def _is_associative(self, step: _Step) -> bool:
        """Test whether joining joined rows is joining one row after the other."""
        (joined, *others), leaves = step.joined.values(), step.leaves
        operands = [leaves[arg] for arg in joined.operands if arg in leaves]
        # The step is one associative operator on both rows: no law has to be checked.
        if not others and sorted(operands) == sorted(set(leaves.values())) and len(operands) == 2:
            types = _ASSOCIATIVE.get(joined.head.name, ())
            if len(joined.args) == 2 and joined.fact.elem_type in types:
                return self._over_reals or joined.fact.elem_type not in FLOATS
        # s A^k + x has the law of a ring, which matrices over the reals are.
        scaled = [part for part in joined.operands if part.is_op("MatMul")]
        if scaled and not others and scaled[0].operands[0] in leaves:
            rest = [leaves.get(part) for part in joined.operands if part is not scaled[0]]
            early, is_sum = leaves[scaled[0].operands[0]], joined.is_op("Add") and self._over_reals
            is_linear = is_sum and not early.late and rest == [_Leaf(early.state, True)]
            self.rounded |= {ROUNDED} if is_linear else set()
            return is_linear
        # On variables, as the law must hold for all rows, whatever computes them.
        law = _Law(self._terms, step)
        parts = [part for each in step.joined.values() for part in _inside(each, step)]
        names = {part.head.name for part in parts}
        if self._over_reals and all(part.fact.elem_type in FLOATS for part in parts):
            reals = RealTerms(self._terms, self._pushdown.settled)
            sides = [law.sides(state) for state in step.joined]
            if names <= _RING:
                return all(reals.equal(*pair) for pair in sides)
            # Max-plus and min-plus (Viterbi, shortest paths): Add distributes over one extreme,
            # never over both.
            extreme = "Max" if "Max" in names else "Min"
            sums = partial(_extremes, reals, extreme)
            return names == {"Add", extreme} and all(sums(a) == sums(b) for a, b in sides)
        if not names <= _RING:
            return False
        if step.powers or not all(part.fact.elem_type in INTEGER_BITS for part in parts):
            return False
        # Integers wrap, and arithmetic modulo 2^n is a ring: the law may be checked on polynomials.
        polynomials = ModularPolynomials(Induction(self._terms, self._pushdown))
        return all(polynomials.equal(*law.sides(state)) == [] for state in step.joined)

    def _rows(self, inits: Sequence[Term], number: int, step: _Step) -> Term:
        """First row, and the states after each other one."""
        terms = self._terms
        length = inits[number].shape[0]
        order = list(step.joined)

        def joined(states: Sequence[Term], index: Dimension) -> list[Term]:
            own = dict(zip(order, states, strict=True))
            early = {k: terms.view(own[k], (ONE, *own[k].shape)) for k in order}
            late = {k: terms.narrow(inits[k], 0, index + 1, 1) for k in order}
            updates = _applied(terms, step, early, late, _first_powers(terms, step))
            return [terms.view(updates[k], own[k].shape) for k in order]

        # The first row joins nothing, and is the same before and after all steps.
        firsts = [terms.narrow(inits[k], 0, 0, 1) for k in order]
        begin = [terms.view(row, row.shape[1:]) for row in firsts]
        operands = [*inits, *step.others, *step.powers.values()]
        rows, place = (
            new_recurrence(terms, length - 1, begin, joined, operands),
            order.index(number),
        )
        return terms.op("Concat", _OPSET, firsts[place], rows.stacked(place), axis=0)


def _variable(terms: Terms, fact: Fact) -> Term:
    return terms.leaf("fresh", (terms.number_of_binder(), 0, 0), terms.facts.one(fact))


def _inside(joined: Term, step: _Step) -> list[Term]:
    """Operators of a step, without its operands."""
    outside = {*step.leaves, *step.powers, *step.others}
    stack, inside = [joined], dict[Term, None]()
    while stack:
        term = stack.pop()
        if term not in outside and term not in inside:
            inside[term] = None
            stack += term.operands
    return list(inside)


def _applied(
    terms: Terms,
    step: _Step,
    early: Mapping[int, Term],
    late: Mapping[int, Term],
    others: Mapping[Term, Term],
) -> dict[int, Term]:
    """Step on one row each.

    Args:
        early: the earlier row [1, ...] of each state.
        late: the later row of each state.
        others: terms in the place of other operands.
    """
    rows = {part: (late if leaf.late else early)[leaf.state] for part, leaf in step.leaves.items()}
    substitution = Substitution(terms, {**others, **rows}, {})
    return {k: substitution.of(joined) for k, joined in step.joined.items()}


def _first_powers(terms: Terms, step: _Step) -> dict[Term, Term]:
    """First powers `c^1` in the place of powers."""
    return {power: terms.view(base, power.shape) for power, base in step.powers.items()}


def _extremes(reals: RealTerms, extreme: str, term: Term) -> frozenset[int]:
    """Sums of which a term is the maximum or minimum: Add distributes over these.

    Returns:
        The numbers of the sums as real functions.
    """
    field = reals.field

    def sums(part: Term) -> list[Real]:
        if part.head.name == "view" and _long(part.shape) == _long(part.operands[0].shape):
            return sums(part.operands[0])
        if part.is_op(extreme):
            return [each for operand in part.operands for each in sums(operand)]
        if part.is_op("Add"):
            one, other = map(sums, part.operands)
            # The product of both lists doubles with each Add; beyond the limit the sum stays one
            # atom.
            if len(one) * len(other) <= _MOST_NODES:
                return [field.add(a, b) for a in one for b in other]
        return [reals.of(part)]

    return frozenset(field.identify(each) for each in sums(term))


def _long(shape: Shape) -> Shape:
    """Shape without axes of size 1."""
    return tuple([dim for dim in shape if dim.value != 1])


class _Law:
    """Both sides of the law of a step, on variables."""

    def __init__(self, terms: Terms, step: _Step) -> None:
        self._terms, self._step = terms, step
        rows = {leaf.state: part for part, leaf in step.leaves.items()}
        names = list(rows)
        # Three rows in a row: (s, u) and (u, v) are joined first in the two sides of the law.
        s, u, v = (
            {k: self._fresh(rows[k], (ONE, *rows[k].shape[1:])) for k in names} for _ in range(3)
        )
        others = {each: self._fresh(each, each.shape) for each in step.others}
        first = {each: self._fresh(each, each.shape) for each in step.powers}
        power = {each: self._fresh(each, each.shape) for each in step.powers}
        after = {
            each: terms.op("Mul", _OPSET, power[each], first[each]) for each in step.powers
        }  # c^(k + 1)
        once, before, later = ({**others, **each} for each in (first, power, after))
        uv = {**u, **_applied(terms, step, u, v, once)}
        su = {**u, **_applied(terms, step, s, u, before)}
        self._one = _applied(terms, step, s, uv, later)
        self._other = _applied(terms, step, su, v, once)

    def sides(self, state: int) -> tuple[Term, Term]:
        """J_k+1 (s, J_1 (u, v)) and J_1 (J_k (s, u), v) of a state."""
        return self._one[state], self._other[state]

    def _fresh(self, like: Term, shape: Shape) -> Term:
        return _variable(self._terms, Fact(like.fact.elem_type, shape))


class _Reading:
    """Reads a step of a Loop."""

    def __init__(self, terms: Terms, loop: Term, bound: Bound, pushdown: SlicePushdown) -> None:
        self._terms, self._loop, self._bound = terms, loop, bound
        self._pushdown = pushdown
        self._shape: Shape = ()
        self._distance: Dimension | None = None
        self._leaves: dict[Term, _Leaf] = {}
        self._powers: dict[Term, Term] = {}
        self._others: dict[Term, None] = {}

    def step(self, number: int) -> _Step | None:
        """Step of a state and all states in it; None if a Loop does anything else."""
        joined: dict[int, Term] = {}
        self._shape = self._loop.operands[2 + number].shape
        waiting = [number]
        while waiting:
            state = waiting.pop()
            if state in joined:
                continue
            later = self._later_rows(state)
            if later is None or not self._reads(later):
                return None
            joined[state] = later
            waiting += [leaf.state for leaf in self._leaves.values()]
        return _Step(joined, self._leaves, self._powers, list(self._others))

    def _later_rows(self, state: int) -> Term | None:
        """Rows from the distance on; those before stay as they are."""
        update, variable = self._loop.head.parts[state], self._bound.states[state]
        init = self._loop.operands[2 + state]
        # The distance is along the first axis of every state, so all have as many rows and axes.
        if variable.fact.shape != init.shape or len(init.shape) != len(self._shape):
            return None
        if init.shape[0] != self._shape[0] or variable.fact.elem_type != init.fact.elem_type:
            return None
        # The form: the first d rows as they are, then the later rows, joined with those d before.
        if not update.is_op("Concat") or len(update.args) != 2 or update.fact.shape != init.shape:
            return None
        first, later = update.operands
        if update.head.attribute("axis") != 0 or first.head.name != "narrow":
            return None
        whole, start, size = first.operands
        distance = element(size.fact)
        if whole is not variable or first.head.key != 0 or element(start.fact) != 0:
            return None
        if not isinstance(distance, Dimension) or not self._is_distance(distance):
            return None
        self._distance = distance
        return later

    def _is_distance(self, size: Dimension) -> bool:
        """Test for the minimum of 2^iteration and the number of rows."""
        if self._distance is not None:
            return size == self._distance
        parts = parts_of_least(self._terms, size)
        others = [part for part in parts if part != self._shape[0]]
        if len(parts) != 2 or len(others) != 1:
            return False
        (other,) = others
        name = (other - other.terms.get((), 0)).only_symbol
        count = self._terms.counts.get(name or "")
        if name is None or count is None or other.terms.get((name,)) != 1:
            return False
        rest, atoms = count.shift(other.terms.get((), 0)).parts()
        if rest.value != 0 or len(atoms) != 1 or atoms[0][1] != 1 or count.low < 0:
            return False
        return self._is_power_of_two(atoms[0][0])

    def _is_power_of_two(self, term: Term) -> bool:
        """Test for one integer 2^iteration: the entry of a table of powers, in the order of the
        iterations."""
        entry, sign = entry_of(self._terms, term)
        position: Dimension | None = None
        while entry.head.name in ("view", "narrow", "Cast"):
            # These floats hold each power of two; a narrower type may not.
            if entry.is_op("Cast") and entry.fact.elem_type not in (_TYPES.FLOAT, _TYPES.DOUBLE):
                return False
            if entry.head.name == "narrow":
                start, shape = element(entry.operands[1].fact), entry.operands[0].shape
                if entry.head.key != 0 or product(shape[1:]) != 1:
                    return False
                if position is None:
                    position = start
                elif start != 0:
                    return False
            entry = entry.operands[0]
        if position != Dimension.symbol(self._bound.index) or sign != 1:
            return False
        return _are_powers_of_two(self._terms.numbers(entry))

    def _reads_powers(self, matrix: Term) -> bool:
        """Test for powers A^(2^iteration) of a constant matrix, rounded after each square."""
        count, values = element(self._loop.operands[0].fact), list[Array]()
        most = count.value if isinstance(count, Dimension) else None
        for k in range(_MOST_SIZE_BITS if most is None else most):
            index = {self._bound.index: Dimension.constant(k)}
            number = self._pushdown.settled(Substitution(self._terms, {}, index).of(matrix))
            tensor = self._terms.tensor(bare(number))
            if tensor is None or tensor.elem_type not in (_TYPES.FLOAT, _TYPES.DOUBLE):
                return False
            values.append(tensor.numpy())
        if not values or values[0].ndim != 2 or len({*values[0].shape}) != 1:
            return False
        kind, roots = np.finfo(values[0].dtype), np.stack(values).astype(np.float64)
        with np.errstate(all="ignore"):
            # Both factors are rounded, and so is the square; a NaN is no power.
            errors = 2 * kind.eps * (abs(roots) @ abs(roots)) + kind.tiny
            if not (abs(roots @ roots - np.roll(roots, -1, 0)) <= errors)[:-1].all():
                return False
        self._powers[matrix] = self._terms.constant(values[0])
        return True

    def _reads(self, later: Term) -> bool:
        """Test for a total function of rows, elementwise along the first axis."""
        own = set(self._bound.states)
        # A draw differs from step to step, so that no law holds for it.
        if self._terms.contains(later, "drawn"):
            return False
        stack, visited = [later], set[Term]()
        while stack:
            term = stack.pop()
            if term in visited:
                continue
            visited.add(term)
            self._terms.budget.step()
            if len(visited) > _MOST_NODES:
                return False
            if not self._holds_state(term, own):
                if not self._reads_operand(term):
                    return False
            elif not self._reads_slice(term):
                is_product = term.is_op("MatMul") and len(self._shape) > 1
                is_known = is_product or term.head.name in _RING or term.head.name in _ASSOCIATIVE
                if not is_known or term.index or term.head.attribute("broadcast"):
                    return False
                # Broadcasting against a longer operand would shift the axis of the rows.
                if term.fact.shape is None or len(term.shape) != len(self._shape):
                    return False
                if None in term.args:
                    return False
                if is_product and not self._reads_powers(term.operands[1]):
                    return False
                stack += term.operands[: 1 if is_product else None]
        return self._holds_state(later, own)

    def _holds_state(self, term: Term, own: Iterable[Term]) -> bool:
        return any(part in own for part in descendants([term]))

    def _reads_slice(self, term: Term) -> bool:
        """Test for rows of a state: all but the last ones, or all but the first ones."""
        if term.head.name != "narrow" or term.head.key != 0:
            return False
        whole, start, size = term.operands
        if whole not in self._bound.states or self._distance is None:
            return False
        if element(size.fact) != self._shape[0] - self._distance:
            return False
        first = element(start.fact)
        if first not in (0, self._distance):
            return False
        state = self._bound.states.index(whole)
        if whole.fact.shape is None or whole.shape[0] != self._shape[0]:
            return False
        self._leaves[term] = _Leaf(state, first == self._distance)
        return len(whole.shape) == len(self._shape)

    def _reads_operand(self, term: Term) -> bool:
        """Test for an operand without an axis of rows; only a power depends on the distance."""
        shape = term.fact.shape
        if shape is None or len(shape) > len(self._shape):
            return False
        if len(shape) == len(self._shape) and shape[0].value != 1:
            return False
        if not self._depends_on_iteration(term):
            self._others[term] = None
            return True
        base = self._base_of_power(term)
        if base is None:
            return False
        self._powers[term] = base
        return True

    def _base_of_power(self, term: Term) -> Term | None:
        """Base c of c^(2^iteration), in the shape of the power."""
        power = bare(self._pushdown.settled(term))
        if not power.is_op("Pow") or power.fact.elem_type not in (_TYPES.FLOAT, _TYPES.DOUBLE):
            return None
        base, exponent = power.operands
        shape, own = term.fact.shape, base.fact.shape
        if shape is None or own is None or product(shape) != product(own):
            return None
        if exponent.fact.shape is None or any(dim.value != 1 for dim in exponent.shape):
            return None
        is_known = not self._depends_on_iteration(base) and self._is_power_of_two(exponent)
        return self._terms.view(base, shape) if is_known else None

    def _depends_on_iteration(self, term: Term) -> bool:
        free, index = self._terms.symbols.free, Dimension.symbol(self._bound.index)
        return not free(term).isdisjoint(free(self._terms.size(index)))


def _are_powers_of_two(numbers: Sequence[int] | None) -> bool:
    return bool(numbers) and list(numbers or ()) == [1 << k for k in range(len(numbers or ()))]


def _reaches(terms: Terms, iterations: Dimension, length: Dimension) -> bool:
    """Test whether 2^iterations is at least a length: the number of powers of two below it."""
    if iterations.value is not None:
        return (
            length.value is not None
            and iterations.value >= 0
            and 1 << iterations.value >= length.value
        )
    total = number_of(terms, iterations)
    axes = None if total is None else total.head.attribute("axes")
    if total is None or not total.is_op("ReduceSum") or list(axes or ()) != [0]:
        return False
    flags = total.operands[0]
    if not flags.is_op("Cast") or flags.fact.elem_type not in (_TYPES.INT32, _TYPES.INT64):
        return False
    less = flags.operands[0]
    if not less.is_op("Less") or less.fact.shape is None or len(less.shape) != 1:
        return False
    table, bound = less.operands
    numbers, number = terms.numbers(table), element(bound.fact)
    # A shorter table would end the loop too early on an axis beyond its last power.
    if not _are_powers_of_two(numbers) or len(numbers or ()) < _MOST_SIZE_BITS:
        return False
    return isinstance(number, Dimension) and (number - length).less(0) is False
