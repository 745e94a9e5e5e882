"""Rules: a graph before, an equal and smaller one after, and conditions."""

from __future__ import annotations

import functools
import itertools
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ....definitions.pattern import Pattern, RuleError, Variable, parse_pattern
from ....facts.notions import NOTIONS, Equality
from ....ir.dataflow_graph import reach
from ....ir.lazy import lazy_property
from .match import Match

if TYPE_CHECKING:
    from ....analysis.shapes.inference import ShapeInference
    from ....ir import Node

_MOST_PERMUTATIONS = 6


class Rule:
    """A rewrite rule: a graph before, an equal one after, conditions, and what it claims.

    A class derives from it, and `straightline.rule` registers it. See `docs/own-rules.md`.

    Args:
        checked: check the texts at once; those of straightline are read where they may match, and
            a test checks them.

    Attributes:
        before: the pattern to match, or several of them.
        after: the graph in its place, over the same variables.
        exactness: the notion of equality that the rule keeps.
        ranks: the ranks of `*S` for which the rule is proved, and to which it applies.
        sizes: the sizes of axes in the proof: "symbols", "numbers", "ones".
        commutes: try operands of commutative operators in either order.
        since: the first opset that the rule is for.
        until: the opset after the last one; None for all.
        trusted: true for a rule that is not proved; models rewritten with it are run.

    Examples:
        >>> import straightline as sl
        >>> class Twice(sl.Rule):
        ...     before = "(x[*S]) => (y) { a = Neg (x) y = Neg (a) }"
        ...     after = "(x[*S]) => (y) { y = Identity (x) }"
        >>> Twice().exactness
        'bits'
    """

    before: ClassVar[str | tuple[str, ...]]
    after: ClassVar[str]
    exactness: ClassVar[Equality] = "bits"
    ranks: ClassVar[Sequence[int]] = range(7)
    sizes: ClassVar[Sequence[str]] = ("symbols",)
    commutes: ClassVar[bool] = True
    since: ClassVar[int] = 7
    until: ClassVar[int | None] = None
    trusted: ClassVar[bool] = False

    def __init__(self, checked: bool = True) -> None:
        if checked:
            self.check()

    def check(self) -> None:
        """Read the texts.

        Raises:
            RuleError: one is missing or unreadable, or they do not fit each other.
        """
        before, after = (getattr(self, name, None) for name in ("before", "after"))
        texts = (*before, after) if isinstance(before, tuple) else (before, after)
        if not all(isinstance(text, str) for text in texts):
            raise RuleError(f"rule '{self.name}' needs the texts 'before' and 'after'")
        for pattern in self.patterns:
            _check(self, pattern)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the patterns to match."""
        return (self.before,) if isinstance(self.before, str) else self.before

    @lazy_property
    def patterns(self) -> tuple[Pattern, ...]:
        """The patterns to match."""
        return tuple(map(parse_pattern, self.texts))

    @lazy_property
    def result(self) -> Pattern:
        """The graph after."""
        return parse_pattern(self.after)

    @property
    def name(self) -> str:
        """The name of the class in kebab-case."""
        return _kebab_case(type(self).__name__)

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (type(self).__doc__ or "").strip().partition("\n")[0]

    def may_match(self, node: Node, inference: ShapeInference) -> bool:
        """Test the root at little cost, before operands are matched in every way."""
        return True

    def where(self, match: Match) -> bool:
        """Decide on a match, and bind the variables that only the text after has."""
        return True

    def cases(self, ranks: Mapping[str, int]) -> Iterable[Mapping[str, Any]]:
        """Values of the attributes' variables for the proof.

        Args:
            ranks: the rank of each value of the header and each `*S`.

        Returns:
            mappings by variable. A text for a value of the header is a node that computes it, a
            tuple or array a constant. A number for a size is that size, a name that of another one.
            By default lists of axes and permutations come from a few ranks.
        """
        return default_cases(self.patterns[0], ranks)

    def __repr__(self) -> str:
        return f"rule '{self.name}'"


def _check(rule: Rule, pattern: Pattern) -> None:
    if rule.exactness not in NOTIONS:
        raise RuleError(
            f"{rule}: its exactness must be bits, values or reals, not {rule.exactness!r}"
        )
    if not pattern.nodes or len(rule.result.outputs) != len(pattern.outputs):
        raise RuleError(f"{rule}: before and after need the same number of outputs, and a node")
    unknown = [name for name in rule.result.parameters if name not in pattern.values()]
    if unknown:
        raise RuleError(f"{rule}: '{unknown[0]}' of the text after is not in that before")
    nodes = pattern.producers()

    def read(name: str) -> list[str]:
        operands = [] if name not in nodes else nodes[name][0].inputs
        return [operand.name for operand in operands if operand.kind != "attribute"]

    names = reach(read, pattern.outputs[:1]) & nodes.keys()
    if len({id(nodes[name][0]) for name in names}) != len(pattern.nodes):
        raise RuleError(f"{rule}: its first output does not depend on every node before")


def default_cases(pattern: Pattern, ranks: Mapping[str, int]) -> list[dict[str, Any]]:
    """Draw values of attributes' variables by the names of the attributes."""
    choices: dict[str, list[Any]] = {}
    for node in pattern.nodes:
        for name, variable in node.attributes.items():
            if isinstance(variable, Variable) and variable.name not in choices:
                own = (ranks[o.name] for o in node.inputs if o.name in ranks)
                rank = next(own, max(ranks.values(), default=2))
                choices[variable.name] = values_of(name, rank)
    products = itertools.product(*choices.values())
    return [dict(zip(choices, values, strict=True)) for values in itertools.islice(products, 1000)]


def values_of(attribute: str, rank: int) -> list[Any]:
    """Values of an attribute of an operand of a rank."""
    axes = range(rank)
    if attribute == "perm":
        return sample(itertools.permutations(axes), _MOST_PERMUTATIONS)
    if attribute in ("axes", "pads", "starts", "ends"):
        return [c for count in (1, 2) for c in itertools.combinations(axes, count)]
    if attribute in ("alpha", "beta", "epsilon"):
        return [0.5, 1.0]
    return list(axes) if attribute == "axis" else [0, 1]


def sample(items: Iterable[Any], count: int) -> list[Any]:
    """A few of some items, the same ones each time."""
    every = list(itertools.islice(items, 1000))
    return every if len(every) <= count else random.Random(0).sample(every, count)


@functools.cache
def _kebab_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()
