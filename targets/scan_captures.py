"""Scans that read no computed values around them, for targets that require such bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx

from ..ir import Graph, Model, Node, Operator, Value
from ..version_converter.types import Types

_FIRST = 9
"""The first opset in which a Scan has no batches."""


def pass_captures(model: Model) -> list[Node]:
    """Pass computed values that bodies of Scans capture as constant states.

    Returns:
        the Scans that changed.
    """
    types = Types(model)
    return [scan for scan in list(_scans(model)) if _pass_captures(scan, types)]


def _scans(model: Model) -> Iterator[Node]:
    for graph in model.graphs():
        if graph.root.opset() >= _FIRST:
            yield from graph.nodes_of("Scan")


def _pass_captures(scan: Node, types: Types) -> bool:
    """Pass the captures of one Scan, if all of them are tensors."""
    graph, body = scan.graph, scan.body("body")
    captures = [value for value in body.captures() if value.constant is None]
    infos = [
        onnx.helper.make_value_info(value.name, type_)
        for value in captures
        if (type_ := types.of(value)) is not None and type_.HasField("tensor_type")
    ]
    if graph is None or not captures or len(infos) < len(captures):
        return False
    count = len(body.inputs) - scan.attribute("num_scan_inputs")  # the number of states
    states = [body.add_input(value.name, info) for value, info in zip(captures, infos, strict=True)]
    _read_instead(body, dict(zip(captures, states, strict=True)))
    for element in body.inputs[count : -len(states)]:  # elements come after all states
        last = body.add_input(element.name, element.info)
        body.replace_uses(element, last)
        body.remove_input(element)
    same = [body.add_node(Operator("Identity"), [v], [v.name]).output() for v in states]
    body.set_outputs(
        [*body.outputs[:count], *same, *body.outputs[count:]],
        [*body.output_infos[:count], *infos, *body.output_infos[count:]],
    )
    inputs = [*scan.inputs[:count], *captures, *scan.inputs[count:]]
    graph.resize_inputs(scan, len(inputs))
    for index, value in enumerate(inputs):
        graph.set_input(scan, index, value)
    outputs = [*scan.outputs, *[None] * (count - len(scan.outputs))]
    labels = [f"{value.name}_after" for value in captures]
    graph.set_node_outputs(scan, [*outputs[:count], *labels, *outputs[count:]])
    return True


def _read_instead(body: Graph, values: Mapping[Value, Value]) -> None:
    """Read other values in a body and all graphs inside it."""
    for graph in body.walk():
        for node in graph.nodes():
            for index, value in enumerate(node.inputs):
                if value is not None and value in values:
                    graph.set_input(node, index, values[value])
        if any(value in values for value in graph.outputs):
            graph.set_outputs([values.get(value, value) for value in graph.outputs])
