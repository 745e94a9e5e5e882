"""Where, If and boolean connectives, as far as their conditions are decided."""

from collections.abc import Sequence

import numpy as np

from ....ir import Tensor
from ..terms.axis_maps import broadcast, covers
from ..terms.term import Head, Operands, Term
from ..terms.term_manager import Terms, rule
from .dynamic_sizes import select_count


@rule("Where", constants=True)
def where(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None] | None:
    """Rewrite Where(true, x, y) and Where(c, x, x) to x, where nothing broadcasts. A choice by one
    boolean is "choose", as for If."""
    condition, x, y = args
    shape = broadcast([condition.fact.shape, x.fact.shape, y.fact.shape])
    chosen = x if x is y else _decide(terms, condition, x, y)
    if chosen is not None and shape is not None and chosen.fact.shape == shape:
        return [chosen]
    if shape is not None and x.fact.shape == y.fact.shape == shape and _is_one(condition):
        counted = select_count(terms, condition, x, y)
        if counted is not None:
            return [counted]
        return [choose(terms, terms.view(condition, ()), x, y)]
    return None


def _decide(terms: Terms, condition: Term, x: Term, y: Term) -> Term | None:
    tensor = terms.tensor(condition)
    if tensor is None or not tensor.size:
        return None
    truth = tensor.numpy()
    return x if truth.all() else None if truth.any() else y


def _is_one(term: Term) -> bool:
    return term.fact.shape is not None and all(dim.value == 1 for dim in term.fact.shape)


def choose(terms: Terms, condition: Term, x: Term, y: Term) -> Term:
    """Choice of x if a scalar holds, else y: the output of If."""
    return terms.own("choose", condition, x, y)


@rule("choose")
def choice(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None]:
    """Drop a choice that is decided or between equal terms. Inside a branch the same choice has one
    case."""
    condition, x, y = args
    if condition.is_op("Not"):
        return [choose(terms, condition.operands[0], y, x)]
    chosen = x if x is y else _decide(terms, condition, x, y)
    if chosen is not None:
        return [chosen]
    if x.head is head and x.args[0] is condition:
        x = x.operands[1]
    if y.head is head and y.args[0] is condition:
        y = y.operands[2]
    if x is y:
        return [x]
    shape = x.fact.shape
    if shape and shape[0].value == 1 and y.fact.shape == shape:
        bare = choose(terms, condition, terms.view(x, shape[1:]), terms.view(y, shape[1:]))
        return [terms.view(bare, shape)]
    return [terms.keep(head, (condition, x, y), terms.either(x.fact, y.fact))]


@rule("And", "Or", constants=True)
def connective(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None] | None:
    """Rewrite And(x, true), And(x, false), And(x, x), and the same of Or."""
    x, y = args
    for one, other in ((x, y), (y, x)):
        uniform = _uniform(terms.tensor(one))
        if uniform is not None:
            neutral = uniform is (head.name == "And")
            result, dropped = (other, one) if neutral else (one, other)
            if covers(result, dropped):
                return [result]
    return [x] if x is y else None


@rule("Xor", constants=True)
def exclusive(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None] | None:
    """Rewrite Xor(x, false) to x and Xor(x, true) to Not(x)."""
    for one, other in (args, args[::-1]):
        uniform = _uniform(terms.tensor(one))
        if uniform is not None and covers(other, one):
            return [terms.op("Not", head, other) if uniform else other]
    return None


def _uniform(tensor: Tensor | None) -> bool | None:
    """The element that fills a constant; None where there are several or none."""
    array = np.zeros(0, bool) if tensor is None else tensor.numpy()
    return bool(array.all()) if array.size and array.all() == array.any() else None
