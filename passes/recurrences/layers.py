"""One layout for the operands and attributes of RNN, GRU and LSTM."""

from ...analysis.shapes.inference import ShapeInference
from ...facts.polynomial import Dimension
from ...ir import Node, Value
from ...ops.composite import GATES
from ...records import record
from ..utils.legality import caller_attribute
from .functions import Function, directions_of, functions_of
from .weights import Unfit

OLDEST_OPSET = 7
"""The first opset whose operators have these outputs."""

(INPUT, WEIGHTS, RECURRENT, BIAS, LENGTHS, HIDDEN, CELL, PEEPHOLES) = range(8)
"""The positions of their operands."""


@record(frozen=True)
class Layer:
    """The operands and attributes of a node.

    Attributes:
        elem_type: the element type of all operands but the lengths.
        backward: for each direction, true if it runs from the last element to the first.
        functions: the activations of each direction.
        hidden: the width of a state.
        length: the number of steps; None if known only at run time.
        batch: the number of rows.
        clip: the limit of the magnitude of activation operands, if any.
        batch_first: true if rows are the first axis of the input, and steps the second.
        coupled: true if the forget gate is one minus the input gate.
        reset_after: true if the reset gate comes after the product with the state.
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
        """The number of gates."""
        return GATES[self.node.op_type]

    @property
    def states(self) -> tuple[int, ...]:
        """The positions of the initial states among the inputs."""
        return (HIDDEN, CELL) if self.node.op_type == "LSTM" else (HIDDEN,)


def required_input(node: Node, index: int) -> Value:
    """An input that must be present.

    Raises:
        Unfit: it is absent.
    """
    value = node.input(index)
    if value is None:
        raise Unfit(f"needs input {index} of {node}")
    return value


def read_layer(node: Node, inference: ShapeInference) -> Layer:
    """Read the operands and attributes of a node.

    Raises:
        Unfit: undecided attributes; the message continues a sentence about the node.
    """
    if node.root.opset() < OLDEST_OPSET:
        raise Unfit(f"is of an opset below {OLDEST_OPSET}, in which it is another operator")
    reason = caller_attribute(node)
    if reason is not None:
        raise Unfit(f"is not decided: {reason}")
    backward, functions = directions_of(node), functions_of(node)
    each = len(functions) // len(backward)
    batch_first, clip = bool(node.attribute("layout", 0)), node.attribute("clip")
    fact = inference.fact(required_input(node, INPUT))
    shape = fact.shape if fact.shape is not None and len(fact.shape) == 3 else (None,) * 3
    batch, length = (shape[0], shape[1]) if batch_first else (shape[1], shape[0])
    elem_type = fact.elem_type or inference.fact(required_input(node, RECURRENT)).elem_type
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
        None if length is None else length.value,
        batch,
        None if clip is None else float(clip),
        batch_first,
        bool(node.attribute("input_forget", 0)),
        bool(node.attribute("linear_before_reset", 0)),
    )


def _hidden(node: Node, inference: ShapeInference) -> int:
    """The width of a state."""
    shape = inference.fact(required_input(node, RECURRENT)).shape
    width = shape[-1].value if shape else None
    hidden = node.attribute("hidden_size") if width is None else width
    if not hidden or hidden < 0:
        raise Unfit("has states of a width that is not known; write its attribute hidden_size")
    return int(hidden)
