"""Registry of rules: those of straightline, of users' code, and of installed packages."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ....definitions.pattern import RuleError
from ....ir.onnx_errors import one_line
from .rule import Rule

if TYPE_CHECKING:
    from .match import Match
    from .rule_proof import RuleProof

GROUP = "straightline.rules"
"""The group of entry points whose modules define rules."""

MOST_CASES = 150
"""The most cases of a user's rule that are proved at its registration."""

Kind = TypeVar("Kind", bound=type[Rule])

SHIPPED: list[Rule] = []
"""The rules of straightline, in the order in which they are tried; a test proves them."""

RAISED: list[Rule] = []
"""Rules that bring in operators of a runtime, for a target that gains by them."""

_registered: dict[str, tuple[Rule, RuleProof | None]] = {}


def laws(rows: str) -> None:
    """Add rules of straightline's own that need no condition beyond their texts.

    A row has three lines, the arguments of `law`.
    """
    lines = rows.strip().splitlines()
    for head, before, after in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        law(head, before.strip(), after.strip())


def law(
    head: str,
    before: str | tuple[str, ...],
    after: str,
    where: Callable[[Match], bool] | None = None,
    cases: Callable[[Mapping[str, int]], Iterable[Mapping[str, Any]]] | None = None,
    **content: Any,
) -> None:
    """Add a rule of straightline's own.

    Args:
        head: name and summary, "Name: Remove it."; after the name a notion other than bits in
            brackets.
        before, after, where, cases: as of `Rule`.
        content: its other attributes.
    """
    claim, summary = head.split(": ", 1)
    name, _, exactness = claim.rstrip(")").partition(" (")
    content |= {"__doc__": summary, "before": before, "after": after}
    if exactness:
        content["exactness"] = exactness
    if where is not None:
        content["where"] = lambda rule, match: where(match)
    if cases is not None:
        content["cases"] = lambda rule, ranks: cases(ranks)
    SHIPPED.append(type(name, (Rule,), content)(checked=False))


def raised(kind: Kind) -> Kind:
    """Add a rule of straightline's own that brings in operators of a runtime."""
    RAISED.append(kind(checked=False))
    return kind


@overload
def rule(kind: Kind) -> Kind: ...
@overload
def rule(kind: None = None, **claims: Any) -> Callable[[Kind], Kind]: ...
def rule(kind: Any = None, **claims: Any) -> Any:
    """Register a rule; it must be proved first, unless it is `trusted`.

    A rule of the same name is replaced.

    Args:
        kind: the class of the rule.
        claims: its attributes `exactness`, `ranks`, `since`, `until`, `trusted`.

    Raises:
        RuleError: the rule is unreadable, open or refuted, or never applies.

    >>> import straightline as sl
    >>> @sl.rule
    ... class DoubleNegation(sl.Rule):
    ...     before = "(x) => (y) { t = Neg (x)  y = Neg (t) }"
    ...     after = "(x) => (x)"
    """

    def register(kind: Kind) -> Kind:
        if not (isinstance(kind, type) and issubclass(kind, Rule)):
            raise RuleError(f"a rule must be a subclass of straightline.Rule, not {kind!r}")
        for name, value in claims.items():
            if name not in ("exactness", "ranks", "since", "until", "trusted"):
                raise RuleError(f"{kind.__name__}: a rule claims no '{name}'")
            setattr(kind, name, value)
        new = kind()
        if new.name in {each.name for each in SHIPPED}:
            raise RuleError(f"'{new.name}' is a rule of straightline; rename yours")
        proof = None
        if not new.trusted:
            from .rule_proof import require_proof

            proof = require_proof(new, MOST_CASES)
        _registered[new.name] = new, proof
        return kind

    return register if kind is None else register(kind)


@functools.cache
def load_entry_points() -> None:
    """Import the modules of installed packages that define rules, once.

    Raises:
        RuleError: a module cannot be imported.
    """
    for entry in entry_points(group=GROUP):
        try:
            entry.load()
        except (Exception, SystemExit) as error:
            raise RuleError(
                f"the rules '{entry.name}' of '{entry.value}' cannot be loaded: {one_line(error)}"
            ) from error


def registered() -> list[tuple[Rule, RuleProof | None]]:
    """The rules of users with their proofs; None for a trusted one."""
    return list(_registered.values())


def forget(name: str) -> None:
    """Remove a user's rule."""
    _registered.pop(name, None)
