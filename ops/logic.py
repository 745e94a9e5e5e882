"""Comparisons, logic, and choosing by a condition, element by element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..facts.bounds import Bounds, Known, join
from ..facts.fact import Content, Fact
from ..facts.polynomial import Dimension
from ..ir import Node
from .agreement import has_negative_zero, is_float
from .elementwise import Elementwise, OfEach, each, each_known, negation
from .output_growth import broadcast_size
from .rules import Total, describes


@describes("Equal")
class Equal(Elementwise):
    """Equal: of integers and truth values from opset 7 on."""

    exact: ClassVar[bool] = True

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each_known(_equal, inputs)


def _equal(a: Any, b: Any) -> bool | None:
    if isinstance(a, Dimension) and isinstance(b, Dimension):
        return a.equals(b)
    return bool(a == b)


@describes("Less")
class Less(Elementwise):
    """Less: of integers from opset 9 on."""

    exact: ClassVar[bool] = True

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each_known(_less, inputs)


@describes("Greater")
class Greater(Elementwise):
    """Greater: of integers from opset 9 on."""

    exact: ClassVar[bool] = True

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each_known(lambda a, b: _less(b, a), inputs)


@describes("LessOrEqual")
class LessOrEqual(Elementwise):
    """LessOrEqual, from opset 12 on."""

    exact: ClassVar[bool] = True

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each_known(lambda a, b: negation(_less(b, a)), inputs)


@describes("GreaterOrEqual")
class GreaterOrEqual(Elementwise):
    """GreaterOrEqual, from opset 12 on."""

    exact: ClassVar[bool] = True

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each_known(lambda a, b: negation(_less(a, b)), inputs)


def _less(a: Dimension, b: Dimension) -> bool | None:
    return a.less(b)


@describes("Not")
class Not(OfEach, Total):
    """Not."""

    exact: ClassVar[bool] = True

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each(negation, inputs)


@describes("And")
class And(Elementwise):
    """And: false as soon as one operand is known to be."""

    exact: ClassVar[bool] = True

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each(_and, inputs)


def _and(a: bool | None, b: bool | None) -> bool | None:
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


@describes("Or")
class Or(Elementwise):
    """Or: true as soon as one operand is known to be."""

    exact: ClassVar[bool] = True

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each(_or, inputs)


def _or(a: bool | None, b: bool | None) -> bool | None:
    if a is True or b is True:
        return True
    return None if a is None or b is None else False


@describes("Xor")
class Xor(Elementwise):
    """Xor."""

    exact: ClassVar[bool] = True


@describes("Where")
class Where(Elementwise):
    """Where, from opset 9 on: what both choices agree on needs no condition."""

    roundings: ClassVar[int | None] = 0

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """onnxruntime makes 0 of some of those that are -0."""
        return not any(is_float(array) and has_negative_zero(array) for array in arrays[1:])

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
