"""Where rules are found: by the name of the head that they speak about."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..function_symbols import Head
    from ..term_manager import Terms
    from ..terms import Args, Term

Rule = Callable[["Terms", "Head", "Args"], "Sequence[Term | None] | None"]

RULES: dict[str, Rule] = {}
"""The rule of each head that has one."""

LATE: dict[str, Rule] = {}
"""Rules that are asked for only where two terms are compared: they tell what is the same in two
forms, both of which are common."""


def rule(*names: str, constants: bool = False) -> Callable[[Rule], Rule]:
    """Let a function be the rule of heads.

    Args:
        names: the heads.
        constants: where the arguments are constants or sizes the head is computed, and the rule is
            not asked.
    """

    def register(function: Rule) -> Rule:
        own = _of_others(function) if constants else function
        for name in names:
            assert name not in RULES, name
            RULES[name] = own
        return own

    return register


def _of_others(function: Rule) -> Rule:
    @functools.wraps(function)
    def applied(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
        known = terms.folded(head, args)
        return known if known is not None else function(terms, head, args)

    return applied


def late(*names: str) -> Callable[[Rule], Rule]:
    """Let a function be the rule of heads where terms are compared."""

    def register(function: Rule) -> Rule:
        for name in names:
            assert name not in LATE, name
            LATE[name] = function
        return function

    return register
