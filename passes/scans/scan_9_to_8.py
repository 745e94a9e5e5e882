"""Convert Scans of opset 9 and later to opset 8, which has a batch axis.

    y = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_directions = [1],
              body = b (float e) => (float r) { r = Neg (e) }> (x)
->
    x_first = Transpose <perm = [1, 0]> (x)
    x_batch = Unsqueeze <axes = [0]> (x_first)
    y_batch = Scan <num_scan_inputs = 1,
                    body = b (float e) => (float r) { r = Neg (e) }> (, x_batch)
    y_forward = Scan <num_scan_inputs = 1, directions = [1],
                      body = reverse (e) => (r) { r = Identity (e) }> (, y_batch)
    y = Squeeze <axes = [0]> (y_forward)

The batch is 1. A Scan 8 fills all its outputs forward, so one more Scan reverses the backward ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...facts.obstacle import require_none
from ...ir import Graph, Node, Operator, Value
from ...ir.copying import empty_header
from ...ops.builder import Builder
from ...ops.schema_queries import type_obstacle
from ..iteration.scan_layout import (
    ScanLayout,
    add_holder,
    copy_body,
    declaration,
    map_unique,
    move_axis,
    output_labels,
    replace_outputs,
)
from .shapes import ScanShapes

_TO = 8


def obstacle_9_to_8(shapes: ScanShapes) -> str | None:
    """The obstacle to a readable Scan of opset 9 or later in opset 8; None without one.

    The inside of the body does not count.
    """
    scan = shapes.scan
    reasons = []
    for value, fact in zip((*scan.states, *scan.scan_inputs), shapes.input_facts, strict=True):
        reasons.append(_foreign_type(value, fact.elem_type))
    for index, value in enumerate(scan.scan_inputs):
        reasons.append(_immovable(value, scan.input_axes[index], shapes.input_rank(index)))
    for index, output in enumerate(scan.scan_outputs):
        if output is not None:
            reasons.append(_foreign_type(output, shapes.element(index).elem_type))
            reasons.append(_immovable(output, scan.output_axes[index], shapes.output_rank(index)))
    return next((reason for reason in reasons if reason), None)


def _immovable(value: Value, axis: int, rank: int | None) -> str | None:
    """The obstacle to moving an axis of a scan input or output to the front."""
    if rank is None and axis:
        return (
            f"opset {_TO} scans the first axis alone, and to bring axis {axis} of '{value.name}'"
            " there its rank must be known; declare its shape"
        )
    if rank is not None and not -rank <= axis < rank:
        return f"'{value.name}' has rank {rank} and no axis {axis}"
    return None


def _foreign_type(value: Value, elem_type: int) -> str | None:
    """The obstacle to a value in a Scan of opset 8; None also for an unknown type."""
    reason = type_obstacle(["Scan"], elem_type, _TO, "Scan") if elem_type else None
    return None if reason is None else f"'{value.name}' {reason}"


def convert_scan_9_to_8(graph: Graph, shapes: ScanShapes) -> None:
    """Replace a Scan of opset 9 or later by equivalent nodes of opset 8.

    The body is copied unchanged: the caller converts inner Scans before, or visits the copy.

    Args:
        graph: the graph of the node, read as opset 8 whatever its import.
        shapes: the Scan, surveyed.

    Raises:
        Obstacle: that of `obstacle_9_to_8`; nothing changes.
    """
    scan, node = shapes.scan, shapes.node
    require_none(obstacle_9_to_8(shapes))
    emitter = Builder(graph, opset=_TO)
    labels = output_labels(node, "_batch")
    states = map_unique(scan.states, lambda v: emitter.unsqueeze(v, 0, f"{v.name}_batch"))
    inputs = [*states, *_batched_rows(emitter, scan, shapes)]
    batched = _add_scan(graph, node.op, inputs, scan.input_backward, labels, node.name)
    copy_body(node, batched)
    results: list[Value | None] = []
    for index, value in enumerate(_forward(emitter, scan, batched.outputs), -len(scan.states)):
        old = node.outputs[len(results)]
        if value is not None and old is not None:
            value = emitter.squeeze(value, 0, old.name)
            if index >= 0:
                rank = shapes.output_rank(index)
                perm = [] if rank is None else move_axis(rank, 0, scan.output_axes[index] % rank)
                value = emitter.transpose(value, perm, old.name)
        results.append(value)
    replace_outputs(graph, node, results)


def _batched_rows(emitter: Builder, scan: ScanLayout, shapes: ScanShapes) -> list[Value]:
    """Emit the scan inputs, scanned axis first, with a batch of 1 before it."""
    rows = []
    for index, value in enumerate(scan.scan_inputs):
        rank = shapes.input_rank(index)
        perm = [] if rank is None else move_axis(rank, scan.input_axes[index], 0)
        first = emitter.transpose(value, perm, f"{value.name}_first")
        rows.append(emitter.unsqueeze(first, 0, f"{value.name}_batch"))
    return rows


def _add_scan(
    graph: Graph,
    like: Operator,
    inputs: Sequence[Value],
    backward: Sequence[bool],
    labels: Sequence[str],
    name: str = "",
) -> Node:
    """Add a Scan 8 of full rows, still without its body."""
    attributes: dict[str, int | list[int]] = {"num_scan_inputs": len(backward)}
    if any(backward):
        attributes["directions"] = [int(flag) for flag in backward]
    return add_holder(graph, like, attributes, ["body"], [None, *inputs], labels, name)


def _forward(
    emitter: Builder, scan: ScanLayout, outputs: Sequence[Value | None]
) -> list[Value | None]:
    """Emit the outputs of the Scan 8, with backward ones reversed along the length."""
    results = list(outputs)
    turned = {
        index: value
        for index, value in enumerate(outputs)
        if index >= len(scan.states)
        and scan.output_backward[index - len(scan.states)]
        and value is not None
    }
    if turned:
        labels = [f"{value.name}_reversed" for value in turned.values()]
        inputs, backward = list(turned.values()), [True] * len(turned)
        node = _add_scan(emitter.graph, Operator("Scan"), inputs, backward, labels)
        _add_identities(emitter.graph, node, len(turned))
        for index, value in zip(turned, node.outputs, strict=True):
            results[index] = value
    return results


def _add_identities(graph: Graph, node: Node, count: int) -> None:
    """Add a body to a Scan that returns its inputs."""
    body = graph.add_body(node, "body", empty_header("reverse"))
    inside = Builder(body, opset=_TO)
    results = [
        inside.add("Identity", [body.add_input("element", declaration("element", None))], "same")
        for _ in range(count)
    ]
    body.set_outputs(results, [declaration(value.name, None) for value in results])
