"""Axes of terms that follow from axes of their arguments, as operator classes tell them.

A slice computed from slices of the operands has the same bits, since each element comes from the
same operations in the same order; for operators that round in between that holds up to the choice
of a runtime's kernel (`exact_operators.py`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ....facts.fact import UNKNOWN, Fact, Shape
from ....ir import Node
from ....ops import described
from ....ops.axes import AxisMap
from ....ops.axis_map import axis_map_of, canonical_of
from .term import Args, Head, Term, speaks_of_no_axis
from .term_manager import Terms

ELEMENTWISE = frozenset([name for name, rules in described().items() if rules.elementwise])
"""Operators that broadcast their inputs and work element by element."""

_OPERANDS = 64
"""Operands that are looked at in a step."""


def broadcast(shapes: Sequence[Shape | None]) -> Shape | None:
    """Shape that shapes broadcast to (ONNX, "Broadcasting in ONNX"). None if that depends on
    unknown sizes."""
    if any(shape is None for shape in shapes):
        return None
    ranked = [shape for shape in shapes if shape is not None]
    rank = max(map(len, ranked), default=0)
    result = []
    for axis in range(-rank, 0):
        dims = {shape[axis] for shape in ranked if len(shape) >= -axis}
        long = [dim for dim in dims if dim.value != 1]
        # Of two sizes that differ, either may be 1 in a run.
        if len(long) > 1:
            return None
        result.append(long[0] if long else next(iter(dims)))
    return tuple(result)


def covers(one: Term, other: Term) -> bool:
    """Test whether a term certainly keeps its shape if it is broadcast with another one."""
    shape, small = one.fact.shape, other.fact.shape
    if small == () or has_shape_of(one, other):
        return True
    if shape is None and broadcast_from(other, unranked=True) <= broadcast_from(one, unranked=True):
        return True
    return shape is not None and broadcast([shape, small]) == shape


def sized_as(term: Term) -> Term:
    """Term that certainly has the shape of another one. Where the rank is unknown, elementwise
    operators keep the shape of their only operand that is no scalar."""
    while term.fact.shape is None and term.head.name in ELEMENTWISE and not term.index:
        operands = {arg for arg in term.args if arg is not None and arg.fact.shape != ()}
        if len(operands) != 1 or term.head.attribute("broadcast"):
            break
        (term,) = operands
    return term


def has_shape_of(one: Term, other: Term) -> bool:
    """Test whether two terms certainly have one shape."""
    shape = one.fact.shape
    if shape is not None and shape == other.fact.shape:
        return True
    if sized_as(one) is sized_as(other):
        return True
    return broadcast_from(one, unranked=True) == broadcast_from(other, unranked=True)


_MOST_OPERANDS = 16


def broadcast_from(term: Term, *, unranked: bool = False) -> frozenset[Term]:
    """Terms whose shapes broadcast to that of a term, below its elementwise operators.

    Two terms fit each other if each two of these do.

    Args:
        unranked: whether to look only below terms of unknown rank.
    """
    sources: set[Term] = set()
    waiting, visited = [term], {term}
    while waiting:
        part = waiting.pop()
        keeps = part.head.name in ELEMENTWISE and not part.index
        if (
            not keeps
            or part.head.attribute("broadcast")
            or (unranked and part.fact.shape is not None)
        ):
            sources.add(part)
            continue
        operands = {arg for arg in part.args if arg is not None and arg.fact.shape != ()}
        waiting += operands - visited
        visited |= operands
        if len(visited) > _MOST_OPERANDS:
            return frozenset([term])
    return frozenset(sources)


def axis_map(terms: Terms, head: Head, args: Args, axis: int) -> AxisMap | None:
    """Axes of the arguments that an axis of an output follows; None if unknown.

    Args:
        axis: axis of the first output.
    """
    if speaks_of_no_axis(head, args):
        return None
    return axis_map_of(*_node(terms, head, args), axis)


def canonical(terms: Terms, head: Head, args: Args) -> Mapping[str | int, Any]:
    """Attributes and arguments of an operator in their canonical form."""
    return {} if speaks_of_no_axis(head, args) else canonical_of(*_node(terms, head, args))


def _node(terms: Terms, head: Head, args: Args) -> tuple[Node, list[Fact]]:
    terms.budget.step(len(args) // _OPERANDS)
    node = terms.facts.node(head, args, {}, max(1, head.outputs))
    return node, [UNKNOWN if arg is None else arg.fact for arg in args]
