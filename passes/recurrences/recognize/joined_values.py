"""Reductions of values that stand beside each other, along an axis of their own.

y = ReduceSum <keepdims = 0> (Concat <axis = 0> (Unsqueeze (a, [0]), Unsqueeze (b, [0])), [0])
"""

from collections.abc import Callable

from ....analysis.iterations.trip_count import skip_identities
from ....facts.fact import Fact
from ....ir import Node, Value
from ....ops.views import read_reduction, unsqueezed

FactOf = Callable[[Value], Fact]


def joined_values(node: Node, fact: FactOf) -> list[Value] | None:
    """The values of which a reduction joins one element each; None for another node."""
    stack, shape = node.input(0), fact(node.output()).shape
    join = None if stack is None else skip_identities(stack).producer
    if join is None or not join.is_op("Concat") or node.domain or node.op.references:
        return None
    view = read_reduction(node, [Fact() if v is None else fact(v) for v in node.inputs])
    rank = 0 if shape is None else len(shape) + 1
    if view is None or view.keeps or not rank or view.axes != (join.attribute("axis") % rank,):
        return None
    values = [None if v is None else skip_identities(v) for v in join.inputs]
    sources = [unsqueezed(value, view.axes[0], fact) for value in values]
    return [each for each in sources if each is not None] if None not in sources else None
