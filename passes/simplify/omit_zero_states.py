"""Omit initial states of zeros, which are the default of recurrent layers.

z = ConstantOfShape (s)                                    ->      y, h = GRU (x, w, r)
y, h = GRU (x, w, r, , , z)

Kept: states that hold -0.0 or another number, and states that a caller may override.
"""

from typing import ClassVar

from ...facts.reason import Message
from ...ir import Model, Node, Tensor, Value
from ..base import Pass, PassContext

_OMITTED = Message("omitted-states", "initial states of zeros that are omitted: {states}")
_LAYERS = ("GRU", "LSTM", "RNN")
_PLACES = (5, 6)
_MOVES = (
    *("Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Split", "Squeeze"),
    *("Tile", "Transpose", "Unsqueeze"),
)
"""Operators whose result has elements of their first operand only."""
_MOST_ELEMENTS = 1 << 16


class OmitZeroStates(Pass):
    """Omit initial states of zeros, which are the default of recurrent layers."""

    name: ClassVar[str] = "omit-zero-states"
    keeps_facts: ClassVar[bool] = True
    works_on: ClassVar[tuple[str, ...] | None] = _LAYERS

    def run(self, model: Model, context: PassContext) -> bool:
        """Visit the recurrent layers of every graph."""
        states = 0
        for graph in model.graphs():
            for node in graph.nodes_of(*_LAYERS):
                for place in _PLACES:
                    value = node.input(place)
                    if value is not None and _is_zero(value):
                        graph.set_input(node, place, None)
                        states += 1
                graph.resize_inputs(node, _count(node))
        if states:
            context.remarks.add_on_model(self, model, "rewritten", _OMITTED(states=states))
        return states > 0


def _count(node: Node) -> int:
    """The number of operands up to the last one that is there."""
    return max(index + 1 for index, value in enumerate(node.inputs) if value is not None)


def _is_zero(value: Value) -> bool:
    """Test for a tensor of positive zeros, moved or repeated."""
    source: Value | None = value
    while source is not None and source.constant is None:
        node = source.producer
        if node is None or node.op.references:
            return False
        if node.is_op("ConstantOfShape"):
            filling = node.attribute("value")
            return filling is None or _holds_zeros(Tensor(filling))
        source = node.input(0) if node.is_op(*_MOVES) else None
    return source is not None and source.constant is not None and _holds_zeros(source.constant)


def _holds_zeros(tensor: Tensor) -> bool:
    """Test for floats whose bytes are 0."""
    if tensor.is_sparse or tensor.is_external or not tensor.is_readable:
        return False
    if tensor.size > _MOST_ELEMENTS:
        return False
    array = tensor.numpy()
    return array.dtype.kind == "f" and not any(array.tobytes())
