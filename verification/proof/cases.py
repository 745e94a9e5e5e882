"""Cases of a proof: sizes that are 0, and sizes of 1 or more.

    n > 2     # N is 0, or N is 1 and a symbol for the rest, which is 0, or ...

Sizes that are compared with a small number split in this way as long as a case fails, up to it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import onnx

from ...facts.named_dimensions import Minima
from ...facts.polynomial import Dimension
from .arithmetic.inequalities import at_least, is_never_negative, least_sizes
from .arithmetic.trip_counts import MOST_ITERATIONS
from .execution.inputs import symbol_of
from .execution.obligations import Log
from .execution.safety import Safety
from .terms.budget import OpenError
from .terms.term import Args, Term, descendants
from .terms.term_manager import STEADY, Terms

Case = dict[str, Dimension]
"""Sizes by symbol."""

_MOST_COMPARED = 4
"""Limit of numbers up to which sizes split."""

_MOST_SIZES = 3
"""Limit of sizes that are decided at once."""

_COMPARISONS = ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
_BOUNDS = ("Max", "Min")
"""Operators whose result is a number that a small size falls below."""


def with_sizes(case: Mapping[str, Dimension], more: Mapping[str, Dimension]) -> Case:
    """Case with further sizes, which may stand in those that it has."""
    return {name: size.replaced(more) for name, size in case.items()} | dict(more)


def case_by_demands(terms: Terms, before: Log) -> Case:
    """Case of the least sizes with which the original runs; empty where they are 0.

    No other case is left, since the original fails where one of them is smaller.

    Args:
        before: obligations of the original.
    """
    safety = Safety(terms)
    numbers = [n for each in before if not each.guards for n in safety.demands(*each[:3])]
    least = sorted(least_sizes(numbers).items())
    return at_least({name: number for name, number in least if may_fix(terms, name)})


def facts_by_demands(terms: Terms, before: Log, outputs: Sequence[Term | None]) -> list[Dimension]:
    """Numbers that are at least 0 wherever the original runs, by all its demands.

        Gather (p, i) in a loop of T iterations, p [5]      i <= 4 on the last one, so T <= 5

    A loop without an iteration demands nothing, so the number must be at least 0 then as well.

    Args:
        before: obligations of the original.
        outputs: its outputs. A runtime may drop a node that none of them needs.
    """
    safety, facts = Safety(terms), dict[Dimension, None]()
    needed = set(descendants(outputs, budget=terms.budget))
    for each in before:
        if each.result not in needed:
            continue
        # The key of a loop that a condition may end is no name of its iterations.
        counts = {guard.key: guard.iterations for guard in each.guards if guard.is_loop}
        if len(counts) < len(each.guards) or not all(isinstance(key, str) for key in counts):
            continue
        last = {str(name): n - 1 for name, n in counts.items() if n is not None}
        if len(last) < len(counts) or any(n.symbols & terms.limits.keys() for n in last.values()):
            continue
        outermost = [MOST_ITERATIONS - 1 - n for n in list(last.values())[:1]]
        for number in (*outermost, *safety.demands(*each[:3])):
            fact = number.replaced(last)
            if fact.less(0) is not None or not all(may_fix(terms, name) for name in fact.symbols):
                continue
            if all(is_never_negative(terms, fact, [-n - 1]) for n in last.values()):
                facts[fact] = None
    return list(facts)


def _positive(names: Iterable[str]) -> Case:
    """Case in which sizes are 1 or more."""
    return at_least(dict.fromkeys(names, 1))


def case_of_minima(minima: Minima) -> Case:
    """Case in which sizes of inputs are at least some numbers."""
    return at_least({symbol_of(name): least for name, least in minima.items()})


def cases_by_sizes(terms: Terms, with_iterations: bool) -> list[Case]:
    """Cases of the sizes that are compared, or of trip counts; empty without such sizes.

    Either all of them are 1 or more, or one of them is 0. A rewrite that pads what is empty, or
    runs both branches of an If, is equal to the original in each case only.

    Args:
        with_iterations: whether trip counts make cases if no operator compares a size.
    """
    names = list(dict.fromkeys(_compared(terms)))
    if with_iterations and not names:
        names = list(dict.fromkeys(_trip_counts(terms)))
    # Most other sizes have a formula once those of inputs are decided.
    names = ([name for name in names if name in terms.facts.declared] or names)[:_MOST_SIZES]
    if not names:
        return []
    none = [{name: Dimension.constant(0)} for name in names]
    return [_positive(names), *none]


def _trip_counts(terms: Terms) -> Iterator[str]:
    """Symbols of sizes of inputs that are trip counts."""
    for iterations in terms.limits.values():
        name = iterations.only_symbol
        if name in terms.facts.declared and iterations == Dimension.symbol(name):
            yield name


def _compared(terms: Terms) -> Iterator[str]:
    """Symbols of sizes that an operator compares with a number from 0 on."""
    for head in terms.heads:
        to_bool = head.name == "Cast" and head.attribute("to") == onnx.TensorProto.BOOL
        is_bound = head.name in _BOUNDS
        if not to_bool and not is_bound and head.name not in _COMPARISONS:
            continue
        for args in list(head.applications):
            most = 0 if to_bool else _compared_with(terms, args)
            if most is not None:
                yield from _sizes(
                    terms, args, range(-_MOST_COMPARED, 0) if is_bound else range(most + 1)
                )


def _compared_with(terms: Terms, args: Args) -> int | None:
    """The largest number of a constant operand; None unless all are small."""
    constants = [numbers for arg in args if (numbers := terms.numbers(arg))]
    small = [each for each in constants if min(each) >= 0 and max(each) <= _MOST_COMPARED]
    return max(map(max, small)) if small else None


def _sizes(terms: Terms, args: Args, least_ones: range) -> Iterator[str]:
    """Symbols in operands that a case may fix: sizes, and sums of their products, which are one of
    some numbers if all symbols are 0."""
    for arg in args:
        content = None if arg is None else arg.fact.content
        for element in () if content is None else content.reshape(-1):
            if isinstance(element, Dimension) and element.value is None:
                least = element.replaced(_none(element)).value
                if least is not None and least in least_ones:
                    yield from sorted(name for name in element.symbols if may_fix(terms, name))


def _none(size: Dimension) -> Case:
    """Case in which all symbols of a size are 0."""
    return dict.fromkeys(size.symbols, Dimension.constant(0))


def may_fix(terms: Terms, name: str) -> bool:
    """Test whether a case may fix a size.

    That holds for a size of an input, and for one that a term determines alike in all cases.
    """
    return name in terms.facts.declared or name.startswith(STEADY)


def size_without_iteration(iterations: Dimension) -> Case:
    """Size for which a loop has no iteration.

    Raises:
        OpenError: that is not one size.
    """
    rest = iterations.terms.get((), 0)
    name = iterations.only_symbol
    if name is not None:
        factor = iterations.terms[(name,)]
        if rest % factor == 0 and -rest // factor >= 0:
            return {name: Dimension.constant(-rest // factor)}
    raise OpenError(
        f"a loop with trip count {iterations} may have no iteration, which is another case"
    )
