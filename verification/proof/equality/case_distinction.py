"""Choices and boolean formulas, by cases: equal if they are for each truth of their conditions.

At each position a condition holds or does not. In each case a Where is one of its operands, a
connective is a truth value, and an elementwise operator of choices is one of what is chosen.
"""

import itertools
from collections.abc import Callable, Mapping

import onnx

from ..terms.axis_maps import ELEMENTWISE, has_shape_of
from ..terms.exact_operators import is_exact
from ..terms.term import Pair, Term, bare
from ..terms.term_manager import Terms
from .slice_pushdown import SlicePushdown

_EXPAND = 13
_MOST_CONDITIONS = 5
_MOST_DEPTH = 4
"""Limit of operators around a choice."""

_CONNECTIVES: dict[str, Callable[[bool, bool], bool]] = {
    "And": lambda one, other: one and other,
    "Or": lambda one, other: one or other,
    "Xor": lambda one, other: one is not other,
    "Equal": lambda one, other: one is other,
}
_CHOICES = ("Where", "choose")
_MOVING = ("view", "narrow", "reversed", "choose")
"""Heads of the prover's own of whose operands the result alone depends."""
_MOST_TERMS = 64
"""Limit of terms below a choice in which a condition is decided."""

Case = Mapping[Term, bool]
"""Truth of each condition."""


class CaseDistinction:
    """Rule of comparison by cases.

    Args:
        pushdown: record of operators that are applied in another shape.
    """

    def __init__(self, terms: Terms, pushdown: SlicePushdown) -> None:
        self._terms = terms
        self._pushdown = pushdown

    def equal(self, one: Term, other: Term) -> list[Pair] | None:
        """Pairs of what two terms are in each case; None if that decides nothing."""
        pairs = self.of_one_condition(one, other)
        if pairs is not None:
            return pairs
        if not any(term.head.name in _CHOICES or is_connective(term) for term in (one, other)):
            return None
        if not has_shape_of(one, other) or one.fact.elem_type != other.fact.elem_type:
            return None
        sides: tuple[dict[Term, None], dict[Term, None]] = {}, {}
        for term, own in zip((one, other), sides, strict=True):
            self._collect(term, own, _MOST_DEPTH)
        conditions = sides[0] | sides[1]
        if not 0 < len(conditions) <= _MOST_CONDITIONS:
            return None
        cases: dict[Pair, None] = {}
        for truths in itertools.product((False, True), repeat=len(conditions)):
            case = dict(zip(conditions, truths, strict=True))
            a, b = (self._in_case(term, case, _MOST_DEPTH) for term in (one, other))
            if a is b:
                continue
            if isinstance(a, bool) or isinstance(b, bool) or not has_shape_of(a, b):
                return None
            cases[a, b] = None
        # Of other conditions, which may be equal, not every case occurs.
        if (one, other) in cases or (cases and sides[0].keys() != sides[1].keys()):
            return None
        return list(cases)

    def of_branches(self, one: Term, other: Term) -> list[Pair] | None:
        """Choice of which one branch is the other term: so is the other branch."""
        for choice, term in ((one, other), (other, one)):
            branches = choice.operands[1:] if choice.head.name == "choose" else ()
            if term in branches and has_shape_of(choice, term):
                rest = branches[1 if branches[0] is term else 0]
                return [(rest, term) if choice is one else (term, rest)]
        return None

    def of_one_condition(self, one: Term, other: Term) -> list[Pair] | None:
        """Pairs of two terms if a boolean holds, and if it does not. Both have a choice by it,
        and one of them has another one inside of a branch."""
        sides = [term for term in (one, other) if term.head.name == "choose"]
        condition = sides[0].args[0] if sides else None
        if condition is None or not has_shape_of(one, other):
            return None
        if one.fact.elem_type != other.fact.elem_type:
            return None
        pairs, decides = [], False
        for truth in (True, False):
            cases = [self._given(term, condition, truth) for term in (one, other)]
            if cases[0] is one or cases[1] is other:
                return None
            pairs.append((cases[0], cases[1]))
            decides |= not all(a in b.args for a, b in zip(cases, (one, other), strict=True))
        return pairs if decides else None

    def _given(self, root: Term, condition: Term, truth: bool) -> Term:
        """Term without choices by a boolean that is decided. Bodies of loops stay as they are."""
        terms, memo = self._terms, dict[Term, Term]()
        stack, steps = [root], _MOST_TERMS
        while stack:
            term = stack[-1]
            below = [arg for arg in term.args if arg is not None]
            is_decided = _chooses_by(term, condition)
            if is_decided:
                below = [term.operands[1 if truth else 2]]
            elif term.head.op is None and term.head.name not in _MOVING:
                below = []
            waiting = [arg for arg in below if arg not in memo]
            if waiting:
                steps -= len(waiting)
                if steps < 0:
                    return root
                stack += waiting
                continue
            stack.pop()
            if term in memo:
                continue
            terms.budget.step()
            if is_decided:
                memo[term] = self._expanded(memo[below[0]], term)
                continue
            args = tuple([None if arg is None else memo.get(arg, arg) for arg in term.args])
            memo[term] = term if not below or args == term.args else terms.rebuild(term, args)
        return memo[root]

    def _expanded(self, chosen: Term, term: Term) -> Term:
        """Branch of a choice by one boolean; that of a Where broadcasts."""
        if term.head.name == "choose" or chosen.fact.shape == term.fact.shape:
            return chosen
        return self._terms.op("Expand", _EXPAND, chosen, self._terms.sizes(term.shape))

    def _collect(self, term: Term, conditions: dict[Term, None], depth: int) -> None:
        """Collect the conditions of a term."""
        if len(conditions) > _MOST_CONDITIONS:
            return
        self._terms.budget.step()
        name, operands = term.head.name, [arg for arg in term.args if arg is not None]
        if is_connective(term) or name in _CHOICES:
            parts = operands
        elif term.fact.elem_type == onnx.TensorProto.BOOL:
            if self._truth(term) is None:
                conditions[term] = None
            return
        else:
            parts = operands if _distributes(term) else []
        if depth:
            for part in parts:
                self._collect(part, conditions, depth - 1)
        # Too deep to be looked into: its truth is a case of its own.
        elif is_connective(term):
            conditions[term] = None

    def _in_case(self, term: Term, case: Case, depth: int) -> Term | bool:
        """Term in a case: a truth value, or a term without the choices that the case decides."""
        if term in case:
            return case[term]
        truth = self._truth(term)
        if truth is not None:
            return truth
        name = term.head.name
        if not depth:
            return term
        if is_connective(term):
            parts = [self._in_case(arg, case, depth - 1) for arg in term.operands]
            values = [part for part in parts if isinstance(part, bool)]
            if len(values) < len(parts):
                return term
            return not values[0] if name == "Not" else _CONNECTIVES[name](*values)
        if name in _CHOICES:
            condition, one, other = term.operands
            holds = self._in_case(condition, case, depth - 1)
            if not isinstance(holds, bool):
                return term
            return self._in_case(one if holds else other, case, depth - 1)
        return self._distributed(term, case, depth) if _distributes(term) else term

    def _distributed(self, term: Term, case: Case, depth: int) -> Term:
        """Elementwise operator on its operands in a case."""
        operands = []
        for arg in term.args:
            part = None if arg is None else self._in_case(arg, case, depth - 1)
            operands.append(arg if isinstance(part, bool) else part)
        if tuple(operands) == term.args:
            return term
        if not is_exact(term.head.name, (*term.args, term)):
            self._pushdown.chosen.add(term.head.name)
        return self._terms.rebuild(term, tuple(operands))

    def _truth(self, term: Term) -> bool | None:
        """Truth of a constant that is the same everywhere."""
        while term.head.name in ("Expand", "view"):
            term = term.operands[0]
        tensor = self._terms.tensor(term)
        # An empty constant would be true and false at once.
        if tensor is None or term.fact.elem_type != onnx.TensorProto.BOOL or not tensor.size:
            return None
        truths = tensor.numpy()
        return True if truths.all() else None if truths.any() else False


def _chooses_by(term: Term, condition: Term) -> bool:
    """Test for a choice by a condition; a Where may choose by a view of one boolean."""
    if term.head.name == "choose":
        return term.args[0] is condition
    if not term.is_op("Where") or condition.fact.shape != () or term.fact.shape is None:
        return False
    own = term.operands[0]
    if own.fact.shape is None or any(dim.value != 1 for dim in own.shape):
        return False
    return bare(own) is condition


def is_connective(term: Term) -> bool:
    """Test for a connective of truth values."""
    return (
        (term.head.name == "Not" or term.head.name in _CONNECTIVES)
        and bool(term.args)
        and all(arg and arg.fact.elem_type == onnx.TensorProto.BOOL for arg in term.args)
        and not term.head.attribute("broadcast")
    )


def _distributes(term: Term) -> bool:
    """Test whether an operator may have choices among its operands."""
    return (
        term.head.name in ELEMENTWISE
        and not term.index
        and any(arg is not None and arg.args for arg in term.args)
    )
