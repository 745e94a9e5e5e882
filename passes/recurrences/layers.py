"""What a node RNN, GRU or LSTM says, read into one form."""

from __future__ import annotations

import dataclasses

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Shape
from ...facts.polynomial import Dimension
from ...ir import Node, Value
from ..utils.legality import given_by_caller
from .functions import Function, directions_of, functions_of
from .weights import Unfit

OLDEST_OPSET = 7
"""Below, the operators have other outputs."""

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
"""How many gates they have."""

(
    INPUT,
    WEIGHTS,
    RECURRENT,
    BIAS,
    LENGTHS,
    HIDDEN,
    CELL,
    PEEPHOLES,
) = range(8)
"""Their inputs."""


@dataclasses.dataclass(frozen=True)
class Layer:
    """What a node says.

    Attributes:
        node: the node.
        elem_type: the element type of all but the lengths.
        backward: for each direction whether it goes from the last element to the first.
        functions: for each direction its activations.
        hidden: the width of a state.
        length: the number of steps; None where only run time tells.
        batch: the number of rows.
        clip: what is activated lies between this number and its negative, if it is given.
        batch_first: whether rows are the first axis of what is fed, and steps the second.
        coupled: whether the forget gate is one less the input gate.
        reset_after: whether the reset gate comes after the product with the state.
    """

    node: Node
    elem_type: int
    backward: tuple[bool, ...]
    functions: tuple[tuple[Function, ...], ...]
    hidden: int
    length: int | None
    batch: Dimension | None
    clip: float | None
    batch_first: bool
    coupled: bool
    reset_after: bool

    @property
    def gates(self) -> int:
        """How many gates there are."""
        return GATES[self.node.op_type]

    @property
    def states(self) -> tuple[int, ...]:
        """Where among the inputs the initial states are."""
        return (HIDDEN, CELL) if self.node.op_type == "LSTM" else (HIDDEN,)

    @property
    def peepholes(self) -> Value | None:
        """By what the cell is multiplied before gates see it."""
        return self.node.input(PEEPHOLES)


def read_layer(node: Node, inference: ShapeInference) -> Layer:
    """What a node says.

    Raises:
        Unfit: that cannot be told; the message ends a sentence that begins with the node.
    """
    assert node.graph is not None
    if node.graph.root.opset() < OLDEST_OPSET:
        raise Unfit(f"is of an opset below {OLDEST_OPSET}, in which it is another operator")
    reason = given_by_caller(node)
    if reason is not None:
        raise Unfit(f"is not decided: {reason}")
    backward, functions = directions_of(node), functions_of(node)
    each = len(functions) // len(backward)
    batch_first, clip = bool(node.attribute("layout", 0)), node.attribute("clip")
    fact = inference.fact(_given(node, INPUT))
    length, batch = _sizes(fact.shape, batch_first)
    elem_type = fact.elem_type or inference.fact(_given(node, RECURRENT)).elem_type
    if not elem_type:
        raise Unfit(
            "is of an element type that is not known; declare it, or inline the function around it"
        )
    return Layer(
        node,
        elem_type,
        backward,
        tuple(tuple(functions[i : i + each]) for i in range(0, len(functions), each)),
        _hidden(node, inference),
        length,
        batch,
        None if clip is None else float(clip),
        batch_first,
        bool(node.attribute("input_forget", 0)),
        bool(node.attribute("linear_before_reset", 0)),
    )


def _given(node: Node, index: int) -> Value:
    value = node.input(index)
    if value is None:
        raise Unfit(f"lacks its input {index}")
    return value


def _sizes(shape: Shape | None, batch_first: bool) -> tuple[int | None, Dimension | None]:
    """How many steps, and how many rows."""
    if shape is None or len(shape) != 3:
        return None, None
    rows, steps = (shape[0], shape[1]) if batch_first else (shape[1], shape[0])
    return steps.value, rows


def _hidden(node: Node, inference: ShapeInference) -> int:
    """The width of a state."""
    shape = inference.fact(_given(node, RECURRENT)).shape
    known = shape[-1].value if shape else None
    hidden = node.attribute("hidden_size") if known is None else known
    if not hidden or hidden < 0:
        raise Unfit("has states of a width that is not known; write its attribute hidden_size")
    return int(hidden)
