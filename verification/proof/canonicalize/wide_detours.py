"""Operators in a wider type than their operands: they are those of the narrow type."""

from collections.abc import Sequence

from ....facts.types import INTEGER_BITS
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, canonical_form
from .casts import holds, in_narrow_type

_MOVES: dict[str, Sequence[int] | None] = {
    "view": (0,),
    "narrow": (0,),
    "reversed": (0,),
    "Concat": None,
    "Expand": (0,),
    "Gather": (0,),
    "GatherElements": (0,),
    "Pad": (0, 2),
    "Slice": (0,),
    "Tile": (0,),
    "Transpose": (0,),
    "Where": (1, 2),
}
"""Heads that move elements, and the positions of these operands; None for all."""

_CHOOSES: dict[str, Sequence[int] | None] = {
    "Max": None,
    "Min": None,
    "MaxPool": (0,),
    "ReduceMax": (0,),
    "ReduceMin": (0,),
    "Relu": (0,),
}
"""Operators on integers whose result is an operand. Floats may be NaN, and zeros of two signs."""

_COUNTS: dict[str, None] = dict.fromkeys(("Add", "Sub", "Mul", "Div", "Mod"))
"""Operators on integers of any width, of whose results the low bits are those of narrow ones."""

_OF_LOW_BITS = ("Add", "Sub", "Mul", *_MOVES)
"""Heads that need only the low bits of their operands for those of their results."""

_PLACES = {**_MOVES, **_CHOOSES, **_COUNTS}

_MOST_TERMS = 16


@canonical_form("Cast")
def detour(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Compute in the narrow type if that of the operands holds all its numbers."""
    (x,), to = args, head.attribute("to")
    if x is None or x.head.name not in _PLACES or not holds(to, x.fact.elem_type):
        return None
    result = _in_type(terms, x, to, [_MOST_TERMS], fits=False)
    return None if result is None else [result]


def _in_type(
    terms: Terms, term: Term, elem_type: int, steps: list[int], *, fits: bool
) -> Term | None:
    """Term computed in a narrower type; None if its low bits may be others.

    Args:
        term: the term in the wide type.
        elem_type: the narrow type.
        steps: list of the number of terms that may be visited.
        fits: whether its numbers must be in the narrow type, not their low bits only.
    """
    steps[0] -= 1
    name = term.head.name
    if steps[0] < 0:
        return None
    if name not in _PLACES:
        return in_narrow_type(terms, term, elem_type)
    if term.index or not (name in _MOVES or _is_defined(term, elem_type)):
        return None
    if fits and name in _COUNTS and name != "Mod":
        return None
    inside = fits or name not in _OF_LOW_BITS
    places, operands = _PLACES[name], list(term.args)
    for place in range(len(operands)) if places is None else places:
        operand = operands[place] if place < len(operands) else None
        if operand is not None:
            operands[place] = _in_type(terms, operand, elem_type, steps, fits=inside)
            if operands[place] is None:
                return None
    return terms.rebuild(term, tuple(operands))


def _is_defined(term: Term, elem_type: int) -> bool:
    """Test whether an operator computes the same integers in a narrow type."""
    if elem_type not in INTEGER_BITS or term.head.attribute("broadcast"):
        return False
    if term.head.name in _COUNTS:
        return term.fact.elem_type in INTEGER_BITS  # floats round, and have remainders of 0
    if term.is_op("MaxPool"):
        pads = term.head.attribute("pads") or [0]
        return not any(pads) and not term.head.text("auto_pad").startswith("SAME")
    shape = term.operands[0].fact.shape
    if term.head.name.startswith("Reduce"):
        return shape is not None and all(dim.less(1) is False for dim in shape)
    return True
