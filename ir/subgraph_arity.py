"""Arity of the bodies of Loop, If, Scan and SequenceMap."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .errors import ModelError
from .graph import Graph
from .node import Node


def fed_inputs(op_type: str, input_count: int, opset: int) -> int | None:
    """Count the inputs that a Loop, If or Scan feeds its bodies; None for another operator. A body
    may have further ones, its constants."""
    if op_type == "If":
        return 0
    if op_type == "Loop":
        return 2 + max(input_count - 2, 0)
    if op_type == "Scan":
        return input_count - (1 if opset == 8 else 0)
    return None


def surplus(names: Sequence[str], constants: Collection[str], feed_count: int | None) -> set[str]:
    """Select the inputs of a body that its node does not feed: its constants.

    IR versions below 4 require each initializer among the inputs, and tf2onnx lists them in later
    versions too. They may stand in any place, as in onnxruntime; among more inputs with
    initializers, the last ones count.

    Args:
        names: the inputs of the body.
        constants: the initializers of the body.
        feed_count: the number of inputs that the node feeds; None where unknown.
    """
    count = 0 if feed_count is None else max(len(names) - feed_count, 0)
    return set([name for name in names if name in constants][-count:] if count else ())


def count_fed_inputs(node: Node) -> int | None:
    """Count the inputs that a node feeds its bodies; None where unknown."""
    if node.domain not in ("", "ai.onnx") or node.graph is None:
        return None
    return fed_inputs(node.op_type, len(node.inputs), node.graph.root.opset())


def check_bodies(node: Node) -> None:
    """Check the number of inputs and outputs of a control-flow node's bodies.

    Raises:
        ModelError: a body is missing or its arity does not fit (operator specifications of Loop,
            If, Scan 8, Scan 9 and SequenceMap).
    """
    if node.op.references or node.graph is None:
        return
    if node.is_op("If"):
        _check_if(node)
    elif node.is_op("Loop"):
        carried = max(len(node.inputs) - 2, 0)
        _check(node, _one_body(node, "body"), 2 + carried, 1 + carried, len(node.outputs) + 1)
    elif node.is_op("Scan"):
        _check_scan(node)
    elif node.is_op("SequenceMap"):
        _check(node, _one_body(node, "body"), len(node.inputs), len(node.outputs), 0)


def _check_if(node: Node) -> None:
    if len(node.inputs) != 1 or node.inputs[0] is None:
        raise ModelError(f"{node} has {len(node.inputs)} inputs; If takes one, its condition")
    for name in ("then_branch", "else_branch"):
        branch = _one_body(node, name)
        _check(node, branch, 0, len(node.outputs), len(node.outputs))


def _check_scan(node: Node) -> None:
    assert node.graph is not None
    first = 1 if node.graph.root.opset() == 8 else 0
    scanned = node.attribute("num_scan_inputs", 0)
    states = len(node.inputs) - first - scanned
    if scanned < 1 or states < 0:
        raise ModelError(
            f"{node} has {len(node.inputs)} inputs and num_scan_inputs = {scanned};"
            " at least one input must be scanned, and at most all"
        )
    body = _one_body(node, "body")
    _check(node, body, states + scanned, states, len(node.outputs))


def _one_body(node: Node, name: str) -> Graph:
    graphs = node.bodies.get(name, ())
    if len(graphs) != 1:
        raise ModelError(f"{node} lacks its graph attribute '{name}'")
    return graphs[0]


def _check(node: Node, body: Graph, inputs: int, least: int, outputs: int) -> None:
    if len(body.inputs) != inputs:
        raise ModelError(f"{node}: its body has {len(body.inputs)} inputs; the node feeds {inputs}")
    if len(body.outputs) < max(least, outputs):
        raise ModelError(
            f"{node}: its body has {len(body.outputs)} outputs; the node needs"
            f" {max(least, outputs)}"
        )
