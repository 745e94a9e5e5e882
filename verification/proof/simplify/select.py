"""Where, If and boolean connectives, as far as their conditions are decided."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, rule
from .dynamic_sizes import chosen_count
from .leading_axes import broadcast


@rule("Where", constants=True)
def where(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Where(true, x, y) = x, and Where(c, x, x) = x, where nothing is stretched; a choice by one
    truth value is "choose", as that of an If is."""
    condition, x, y = args
    assert condition is not None and x is not None and y is not None
    shape = broadcast([condition.fact.shape, x.fact.shape, y.fact.shape])
    chosen = x if x is y else _decided(terms, condition, x, y)
    if chosen is not None and shape is not None and chosen.fact.shape == shape:
        return [chosen]
    if shape is not None and x.fact.shape == y.fact.shape == shape and _is_one(condition):
        counted = chosen_count(terms, condition, x, y)
        if counted is not None:
            return [counted]
        return [choose(terms, terms.view(condition, ()), x, y)]
    return None


def _decided(terms: Terms, condition: Term, x: Term, y: Term) -> Term | None:
    tensor = terms.tensor(condition)
    if tensor is None or not tensor.size:
        return None
    truth = tensor.numpy()
    return x if truth.all() else None if truth.any() else y


def _is_one(term: Term) -> bool:
    return term.fact.shape is not None and all(dim.value == 1 for dim in term.fact.shape)


def choose(terms: Terms, condition: Term, x: Term, y: Term) -> Term:
    """x where a scalar holds, else y: what an If gives."""
    result = terms.apply(terms.heads.own("choose"), (condition, x, y))[0]
    assert result is not None
    return result


@rule("choose")
def choice(terms: Terms, head: Head, args: Args) -> Sequence[Term | None]:
    """A choice between equal terms, or one that is decided, is no choice; of the same choice
    inside one of its cases only that case can be taken."""
    condition, x, y = args
    assert condition is not None and x is not None and y is not None
    if condition.is_op("Not"):
        (inner,) = condition.args
        return [choose(terms, inner, y, x)] if inner is not None else [x]
    chosen = x if x is y else _decided(terms, condition, x, y)
    if chosen is not None:
        return [chosen]
    if x.head is head and x.args[0] is condition:
        x = x.args[1]
    if y.head is head and y.args[0] is condition:
        y = y.args[2]
    assert x is not None and y is not None
    if x is y:
        return [x]
    shape = x.fact.shape
    if shape and shape[0].value == 1 and y.fact.shape == shape:
        bare = choose(terms, condition, terms.view(x, shape[1:]), terms.view(y, shape[1:]))
        return [terms.view(bare, shape)]
    return [terms.keep(head, (condition, x, y), terms.either(x.fact, y.fact))]


@rule("Not")
def negation(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Not(Not(x)) = x."""
    (x,) = args
    assert x is not None
    if x.is_op("Not"):
        return [x.args[0]]
    return terms.folded(head, args)


@rule("And", "Or", constants=True)
def connective(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """And(x, true) = x, And(x, false) = false, And(x, x) = x, and so for Or."""
    x, y = args
    assert x is not None and y is not None
    shape = broadcast([x.fact.shape, y.fact.shape])
    if shape is None:
        return None
    neutral = head.name == "And"
    for one, other in ((x, y), (y, x)):
        tensor = terms.tensor(one)
        uniform = None if tensor is None or not tensor.size else np.unique(tensor.numpy())
        if uniform is not None and len(uniform) == 1:
            kept = other if bool(uniform[0]) is neutral else one
            if kept.fact.shape == shape:
                return [kept]
    if x is y:
        return [x]
    return None
