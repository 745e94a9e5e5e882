"""Loop-carried states to which every iteration adds an element."""

from __future__ import annotations

import dataclasses

from ...ir import Node, Value
from .loop_view import State


@dataclasses.dataclass(frozen=True)
class Write:
    """A state to which every iteration adds an element.

    Attributes:
        state: the state.
        node: the node that adds the element: SequenceInsert, Concat with one other value,
            ScatterND or ScatterElements; for sums of blocks, Add or Sub.
        element: the element.
        index: the indices of a Scatter, distinct in every iteration unless it reduces; None for
            the others.
        reduction: the reduction by which a Scatter combines elements; "none" if it overwrites.
        reads: the nodes that read the state at the index, and combine it with the element.
    """

    state: State
    node: Node
    element: Value
    index: Value | None = None
    reduction: str = "none"
    reads: tuple[Node, ...] = ()
