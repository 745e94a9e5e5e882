"""One layout for Scans of all versions, and the steps that their rewrites share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import onnx

from ...ir import Graph, Node, Operator, Value, attribute_message, copy_graph, empty_header
from ..utils.legality import caller_attribute
from ..utils.replace_all_uses import replace_values


@dataclasses.dataclass(frozen=True)
class ScanLayout:
    """The operands and attributes of a Scan (operator specification, Scan 8 and Scan 9).

    Attributes:
        node: the Scan.
        sequence_lens: the length of each row, of shape [batch]; None when absent, and from 9 on.
        states: the initial states; [batch, ...] in version 8.
        scan_inputs: the scan inputs; [batch, length, ...] in version 8.
        input_axes: the axis that each scan input is scanned along, as written; in version 8 that
            of one row, so always 0.
        input_backward: for each scan input, true if scanned from its end.
        output_axes: the axis of each scan output, in its own rank, as written.
        output_backward: for each scan output, true if filled from its end.
    """

    node: Node
    sequence_lens: Value | None
    states: tuple[Value, ...]
    scan_inputs: tuple[Value, ...]
    input_axes: tuple[int, ...]
    input_backward: tuple[bool, ...]
    output_axes: tuple[int, ...]
    output_backward: tuple[bool, ...]

    @property
    def body(self) -> Graph:
        """The graph that runs for each element."""
        return self.node.body("body")

    @property
    def final_states(self) -> tuple[Value | None, ...]:
        """The outputs that are states; None where omitted."""
        return self._outputs[: len(self.states)]

    @property
    def scan_outputs(self) -> tuple[Value | None, ...]:
        """The outputs that collect one element of each iteration; None where omitted."""
        return self._outputs[len(self.states) :]

    @property
    def _outputs(self) -> tuple[Value | None, ...]:
        """One for each output of the body: a node may leave out the last ones."""
        missing = len(self.body.outputs) - len(self.node.outputs)
        return (*self.node.outputs, *[None] * missing)


def read_scan(node: Node, version: int) -> ScanLayout:
    """Read the layout of a Scan that is not `unreadable`."""
    first = 1 if version == 8 else 0
    count = node.attribute("num_scan_inputs", 0)
    inputs = tuple(value for value in node.inputs[first:] if value is not None)
    states = len(inputs) - count
    outputs = len(node.body("body").outputs) - states
    # Scan 8 has `directions` of its inputs alone; from 9 on, outputs have theirs.
    prefix = "" if version == 8 else "scan_input_"
    return ScanLayout(
        node,
        node.inputs[0] if first else None,
        inputs[:states],
        inputs[states:],
        _numbers(node, "scan_input_axes", count),
        tuple(map(bool, _numbers(node, f"{prefix}directions", count))),
        _numbers(node, "scan_output_axes", outputs),
        tuple(map(bool, _numbers(node, "scan_output_directions", outputs))),
    )


def _numbers(node: Node, name: str, count: int) -> tuple[int, ...]:
    return tuple(node.attribute(name) or [0] * count)


def unreadable(node: Node, version: int) -> str | None:
    """The obstacle to reading a Scan's layout; None without one."""
    reason = caller_attribute(node)
    if reason is not None:
        return reason
    if any(value is None for value in node.inputs[1 if version == 8 else 0 :]):
        return "an initial state or a scan input is absent"
    if node.op.is_sharded:
        return "its device configurations refer to its tensors"
    return None


def add_holder(
    graph: Graph,
    like: Operator,
    attributes: Mapping[str, int | list[int]],
    bodies: Sequence[str],
    inputs: Sequence[Value | None],
    outputs: Sequence[str],
    name: str = "",
) -> Node:
    """Add a node whose graphs `Graph.add_body` adds later.

    Args:
        graph, name: the graph and the label of the new node.
        like: the source of operator type, domain, doc string and metadata.
        attributes, bodies: its other attributes, and the names of those that hold graphs.
        inputs, outputs: its operands, and the labels of its outputs.
    """
    kind = onnx.AttributeProto.GRAPH
    messages = [attribute_message(key, value) for key, value in attributes.items()]
    messages += [onnx.AttributeProto(name=body, type=kind) for body in bodies]
    return graph.add_node(like.with_attributes(messages), inputs, outputs, name)


def add_choice(
    graph: Graph,
    condition: Value,
    outputs: Sequence[str],
    branches: tuple[str, str],
    name: str = "",
) -> tuple[Node, Graph, Graph]:
    """Add an If with two empty branches, whose names and labels of outputs are passed."""
    attributes = ["then_branch", "else_branch"]
    choice = add_holder(graph, Operator("If"), {}, attributes, [condition], outputs, name)
    pairs = zip(attributes, branches, strict=True)
    then, other = (graph.add_body(choice, key, empty_header(own)) for key, own in pairs)
    return choice, then, other


def copy_body(scan: Node, target: Node) -> None:
    """Copy the body of a Scan to a new one, unchanged."""
    body = scan.body("body")
    assert target.graph is not None
    copy_graph(body, target.graph.add_body(target, "body", body.header), {})


def map_unique(values: Sequence[Value], make: Callable[[Value], Value]) -> list[Value]:
    """Map values to new ones, with one call for each distinct value."""
    results = {value: make(value) for value in dict.fromkeys(values)}
    return [results[value] for value in values]


def move_axis(rank: int, source: int, target: int) -> list[int]:
    """The permutation that moves an axis to another place."""
    perm = list(range(rank))
    perm.insert(target, perm.pop(source))
    return perm


def output_labels(node: Node, suffix: str) -> list[str]:
    """Labels derived from a node's outputs; empty where one is omitted."""
    return ["" if value is None else value.name + suffix for value in node.outputs]


def replace_outputs(graph: Graph, node: Node, results: Sequence[Value | None]) -> None:
    """Replace the outputs of a node by equal values, and remove the node.

    A result inherits a name from outside the data flow. None may stand for an output that is
    omitted or unused.
    """
    replaced: dict[Value, Value] = {}
    for old, new in zip(node.outputs, results, strict=True):
        if old is None or new is None:
            continue
        if old.pinned:
            graph.supersede(old, new)
        else:
            replaced[old] = new
    replace_values(graph, replaced)
    graph.remove(node)


def declaration(name: str, type_: onnx.TypeProto | None) -> onnx.ValueInfoProto:
    """A declaration of a body's input or output, with a type where it is known."""
    info = onnx.ValueInfoProto(name=name)
    if type_ is not None:
        info.type.CopyFrom(type_)
    return info


def row_type(value: Value | None) -> onnx.TypeProto | None:
    """The type of one row of a batch; None without a declared element type."""
    if value is None or value.elem_type is None:
        return None
    return onnx.helper.make_tensor_type_proto(
        value.elem_type, None if value.shape is None else value.shape[1:]
    )
