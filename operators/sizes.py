"""The sizes of tensors as numbers: where symbols come into what a model computes."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts.dimension import product
from ..facts.fact import Content, Fact, content_from
from ..ir import Node
from .rules import Total, describes


@describes("Shape")
class Shape(Total):
    """Shape: of a part of the axes from opset 15 on."""

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        dims = inputs[0].shape
        if dims is None:
            return None
        return content_from(list(dims[node.attribute("start") : node.attribute("end")]))


@describes("Size")
class Size(Total):
    """Size."""

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        dims = inputs[0].shape
        return None if dims is None else content_from(product(dims))
