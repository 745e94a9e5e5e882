"""Reductions of values that stand beside each other, along an axis of their own.

y = ReduceSum <keepdims = 0> (Concat <axis = 0> (Unsqueeze (a, [0]), Unsqueeze (b, [0])), [0])
"""

from collections.abc import Callable

from ....analysis.iterations.trip_count import skip_identities
from ....facts.attribute_or_input import listed_numbers
from ....facts.fact import Fact
from ....ir import Node, Value
from ....ops.views import read_reduction

FactOf = Callable[[Value], Fact]


def joined_values(node: Node, fact: FactOf) -> list[Value] | None:
    """The values of which a reduction joins one element each; None for another node."""
    stack, shape = node.input(0), fact(node.output()).shape
    join = None if stack is None else skip_identities(stack).producer
    if join is None or not join.is_op("Concat") or node.domain or node.op.references:
        return None
    view = read_reduction(node, _facts(node, fact))
    rank = 0 if shape is None else len(shape) + 1
    if view is None or view.keeps or not rank or view.axes != (join.attribute("axis") % rank,):
        return None
    values = [_source(value, rank, view.axes[0], fact) for value in join.inputs]
    sources = [value for value in values if value is not None]
    return sources if len(sources) == len(values) else None


def _source(value: Value | None, rank: int, axis: int, fact: FactOf) -> Value | None:
    """The value to which an Unsqueeze gives the axis."""
    node = None if value is None else skip_identities(value).producer
    source = None if node is None or not node.is_op("Unsqueeze") else node.input(0)
    if node is None or source is None:
        return None
    shape, axes = fact(source).shape, listed_numbers(node, _facts(node, fact), "axes", 1)
    if shape is None or len(shape) + 1 != rank or axes is None:
        return None
    return source if [own % rank for own in axes] == [axis] else None


def _facts(node: Node, fact: FactOf) -> list[Fact]:
    return [Fact() if value is None else fact(value) for value in node.inputs]
