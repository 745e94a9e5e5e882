"""Comparisons, logic, and choosing by a condition, element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ..facts.bounds import Bounds, Known, join
from ..facts.fact import Content, Fact
from ..facts.polynomial import Dimension
from ..ir import Node
from .elementwise import Elementwise, OfEach, each, each_known, negation
from .output_growth import broadcast_size
from .rules import Total, describes


def _equal(a: Any, b: Any) -> bool | None:
    if isinstance(a, Dimension) and isinstance(b, Dimension):
        return a.equals(b)
    return bool(a == b)


@describes("Equal", element=_equal)
@describes("Less", element=Dimension.less)
@describes("Greater", element=lambda a, b: b.less(a))
@describes("LessOrEqual", element=lambda a, b: negation(b.less(a)))
@describes("GreaterOrEqual", element=lambda a, b: negation(a.less(b)))
class Comparison(Elementwise):
    """Equal, Less, Greater, LessOrEqual and GreaterOrEqual.

    Equal compares integers and truth values from opset 7 on, Less and Greater integers from 9 on;
    LessOrEqual and GreaterOrEqual are there from 12 on.
    """

    element: Callable[[Any, Any], bool | None]

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each_known(self.element, inputs)


@describes("Not")
class Not(OfEach, Total):
    """Not."""

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each(negation, inputs)


@describes("And", decided=False)
@describes("Or", decided=True)
class Connective(Elementwise):
    """And, false as soon as one operand is known to be, and Or, true then."""

    decided: ClassVar[bool]

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each(self._element, inputs)

    def _element(self, a: bool | None, b: bool | None) -> bool | None:
        if self.decided in (a, b):
            return self.decided
        return None if a is None or b is None else not self.decided


@describes("Where")
class Where(Elementwise):
    """Operator Where, from opset 9 on. Facts that both choices share need no condition."""

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each(_chosen, inputs)

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        return [join(inputs[1].bounds, inputs[2].bounds)]

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        return broadcast_size(arrays)


def _chosen(condition: bool | None, a: Any, b: Any) -> Any:
    if condition is None:
        return a if a == b else None
    return a if condition else b
