"""Slots of Loop and Scan: their operands, body inputs, body outputs and results, by position."""

from collections.abc import Sequence

from ..ir import Node, Value
from ..records import record
from .draft import Draft, UncuttableError

_AXES = ("scan_output_axes", "scan_output_directions")


@record(frozen=True)
class Slots:
    """Positions of the slots of a Loop, or of a Scan from opset 9 on.

    Attributes:
        first: position of the first state among the operands, and among the inputs of the body.
        result: position of the first state among the outputs of the body.
        number: the number of states.
    """

    node: Node
    first: int
    result: int
    number: int

    def states(self) -> dict[int, int]:
        """Position among the outputs of the body, by position of the result."""
        return {k: k + self.result for k in range(self.number)}

    def arguments(self) -> list[Value | None]:
        """Operands for one run of the body; None stands for a number, a condition or a slice."""
        body = self.node.body("body")
        states = range(self.first, self.first + self.number)
        return [self.node.input(k) if k in states else None for k in range(len(body.inputs))]


def slots(node: Node) -> Slots | None:
    """Slots of a node; None for other nodes, and for a Scan of opset 8."""
    if node.is_op("Loop"):
        return Slots(node, 2, 1, max(len(node.inputs) - 2, 0))
    if node.is_op("Scan") and len(node.inputs) == len(node.body("body").inputs):
        return Slots(node, 0, 0, len(node.inputs) - node.attribute("num_scan_inputs", 0))
    return None


def remove_slots(draft: Draft, node: Node, numbers: Sequence[int]) -> None:
    """Remove results of a Loop or Scan, each with its state or scan output.

    Readers of a result read a new input; in the body, the initial value takes the place of a state.

    Args:
        numbers: positions of results, ascending.
    """
    layout, graph, body = slots(node), node.graph, node.body("body")
    assert layout is not None and graph is not None
    if any(value is not None and value.pinned for value in node.outputs):
        raise UncuttableError("a value is named outside of the data flow")
    removed = set(numbers)
    for k in numbers:
        result = node.outputs[k]
        if result is not None:
            draft.free(result)
    pairs = list(zip(body.outputs, body.output_infos, strict=True))
    rest = [pair for k, pair in enumerate(pairs) if k - layout.result not in removed]
    body.set_outputs([value for value, _ in rest], [info for _, info in rest])
    states = sorted(removed.intersection(layout.states()), reverse=True)
    inputs = list(node.inputs)
    for k in states:
        place = layout.first + k
        state, initial = body.inputs[place], inputs.pop(place)
        if initial is None:
            raise UncuttableError(f"{node} lacks an initial value")
        body.replace_all_uses({state: initial})
        body.remove_input(state)
    for index, value in enumerate(inputs):
        graph.set_input(node, index, value)
    graph.resize_inputs(node, len(inputs))
    graph.set_node_outputs(
        node, [value for k, value in enumerate(node.outputs) if k not in removed]
    )
    _remove_axes(node, {k - layout.number for k in removed if k >= layout.number})


def _remove_axes(node: Node, stacks: set[int]) -> None:
    """Drop the axes and directions of scan outputs."""
    attributes = []
    for name, message in node.op.attributes.items():
        if name in _AXES:
            rest = [n for k, n in enumerate(message.ints) if k not in stacks]
            if not rest:
                continue
            copy = type(message)()
            copy.CopyFrom(message)
            copy.ints[:] = rest
            message = copy
        attributes.append(message)
    node.parent.set_operator(node, node.op.with_attributes(attributes))
