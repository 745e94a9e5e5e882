"""Conditions of Ifs that hold wherever the original runs: nodes refuse the other branch.

t = choose (c, a, b)      # a has 3 axes, b has 4
LSTM (t, w, r)            # refuses 4, so c holds wherever the model has outputs
"""

import itertools
from collections.abc import Container, Hashable, Iterator

from .equality.substitution import Substitution
from .execution.certain_failures import must_fail
from .execution.obligations import Log, Obligation
from .terms.term import Term, descendants
from .terms.term_manager import Terms

Forced = dict[tuple[Hashable, ...], dict[Term, bool]]
"""Truth values of conditions, by the keys of the branches in which they hold."""

MOST_FORCED = 8
"""Limit of runs of the original, each with more conditions that its nodes force."""

_MOST_TERMS = 4096
"""Limit of terms below a node that are searched for choices."""

_MOST_CHOICES = 16
"""Limit of choices below an operand that are decided on trial."""


def forced_conditions(terms: Terms, log: Log) -> Forced:
    """Conditions with the truth values that nodes of the original force where they run.

    Args:
        terms: the terms of the original.
    """
    forced: Forced = {}
    choices = set(_choices(terms))
    for each in log:
        if each.head.op is None or any(guard.is_loop for guard in each.guards):
            continue
        place = tuple([guard.key for guard in each.guards])
        if each.guards and must_fail(each.head, each.args):
            guard = each.guards[-1]
            assert guard.condition is not None
            forced.setdefault(place[:-1], {})[guard.condition] = not guard.holds
            continue
        for choice in itertools.islice(_below(each, choices), _MOST_CHOICES):
            condition, *branches = choice.operands
            refused = [_fails_with(terms, each, choice, branch) for branch in branches]
            if refused[0] is not refused[1]:
                forced.setdefault(place, {})[condition] = refused[1]
    return forced


def joined(one: Forced, other: Forced) -> Forced:
    """Conditions that either forces."""
    return {at: one.get(at, {}) | other.get(at, {}) for at in (*one, *other)}


def _choices(terms: Terms) -> Iterator[Term]:
    """Yield the choices between different ranks."""
    for head in terms.heads:
        for args, results in head.applications.items() if head.name == "choose" else ():
            shapes = [None if arg is None else arg.fact.shape for arg in args[1:]]
            ranks = {None if shape is None else len(shape) for shape in shapes}
            if None not in ranks and len(ranks) == 2 and results[0] is not None:
                yield results[0]


def _below(obligation: Obligation, choices: Container[Term]) -> Iterator[Term]:
    """Yield choices below operands of unknown rank."""
    operands = [arg for arg in obligation.args if arg is not None and arg.fact.shape is None]
    terms = itertools.islice(descendants(operands), _MOST_TERMS) if operands else ()
    yield from (term for term in terms if term in choices)


def _fails_with(terms: Terms, obligation: Obligation, choice: Term, branch: Term) -> bool:
    """Test whether a node fails if a choice is one of its branches."""
    change = Substitution(terms, {choice: branch}, {})
    args = tuple([None if arg is None else change.of(arg) for arg in obligation.args])
    return must_fail(obligation.head, args)
