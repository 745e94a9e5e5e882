"""Sizes of tensors as numbers: the source of symbols in contents."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts.fact import Content, Fact, content_from
from ..facts.polynomial import product
from ..ir import Node, Value
from .batching import Batch
from .dynamic_shape_batching import multiplied, sizes_of
from .rules import Total, describes


@describes("Shape")
class Shape(Total):
    """Shape: of a part of the axes from opset 15 on."""

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        part = slice(node.attribute("start"), node.attribute("end"))
        return content_from(list(inputs[0].dims[part]))

    def batch(self, batch: Batch) -> Sequence[Value]:
        start, end = batch.node.attribute("start", 0), batch.node.attribute("end")
        return [batch.unvarying(sizes_of(batch, 0, start, end))]


@describes("Size")
class Size(Shape):
    """Size."""

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return content_from(product(inputs[0].dims))

    def batch(self, batch: Batch) -> Sequence[Value]:
        count = multiplied(batch, sizes_of(batch, 0))
        return [batch.unvarying(batch.emit.squeeze(count, 0, batch.label()))]
