"""Where spellings are found: by the operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..function_symbols import Head
    from ..term_manager import Terms
    from ..terms import Args, Term

Spelling = Callable[["Terms", "Head", "Args", int], "Sequence[Term | None] | None"]
"""Given the terms, a head, its arguments and how many outputs are read; the outputs, or None where
this is the spelling that is compared."""

SPELLINGS: dict[str, Spelling] = {}


def spelling(*names: str) -> Callable[[Spelling], Spelling]:
    """Let a function be the spelling of operators of the default domain."""

    def register(function: Spelling) -> Spelling:
        for name in names:
            assert name not in SPELLINGS, name
            SPELLINGS[name] = function
        return function

    return register
