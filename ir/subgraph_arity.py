"""Arity of the bodies of Loop, If, Scan and SequenceMap."""

from collections.abc import Collection, Sequence

from .errors import ModelError
from .node import Node


def fed_inputs(op_type: str, input_count: int, opset: int) -> int | None:
    """Count the inputs that a Loop, If or Scan feeds its bodies; None for another operator. A body
    may have further ones, its constants."""
    if op_type == "If":
        return 0
    if op_type == "Loop":
        # The body gets the iteration number and the condition also where the node omits its own.
        return 2 + max(input_count - 2, 0)
    if op_type == "Scan":
        # The lengths, the first input of Scan 8, are not for the body.
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
    # A slice from -0 on would be all of them.
    return set([name for name in names if name in constants][-count:] if count else ())


def count_fed_inputs(node: Node) -> int | None:
    """Count the inputs that a node feeds its bodies; None where unknown."""
    if node.domain not in ("", "ai.onnx") or node.graph is None:
        return None
    return fed_inputs(node.op_type, len(node.inputs), node.graph.root.opset())


def body_arity(
    op_type: str, input_count: int, output_count: int, opset: int, scan_count: int = 0
) -> tuple[int, int]:
    """Number of inputs and least number of outputs of each body of a node.

    Args:
        op_type: If, Loop, Scan or SequenceMap.
        opset: the version of the default domain.
        scan_count: its attribute num_scan_inputs.

    Raises:
        ModelError: the node has too few inputs (operator specifications of If and Scan).
    """
    feeds = fed_inputs(op_type, input_count, opset)
    inputs = input_count if feeds is None else feeds
    if op_type == "Loop":
        # A Loop's body returns the condition and all states; a node may omit outputs at the end.
        return inputs, max(inputs - 1, output_count + 1)
    if op_type == "If" and input_count != 1:
        raise ModelError(f"has {input_count} inputs; If has one, its condition")
    if op_type == "Scan":
        if not 1 <= scan_count <= inputs:
            raise ModelError(
                f"has {input_count} inputs and num_scan_inputs = {scan_count};"
                " at least one input must be scanned, and at most all"
            )
        return inputs, max(inputs - scan_count, output_count)
    return inputs, output_count


BRANCHES = ("then_branch", "else_branch")
BODIES = {"If": BRANCHES, "Loop": ("body",), "Scan": ("body",), "SequenceMap": ("body",)}
"""Graph attributes of the operators that hold bodies."""


def check_bodies(node: Node) -> None:
    """Check the number of inputs and outputs of a control-flow node's bodies.

    Raises:
        ModelError: a body is missing or its arity does not fit (operator specifications of Loop,
            If, Scan 8, Scan 9 and SequenceMap).
    """
    if node.op.references or node.graph is None or not node.is_op(*BODIES):
        return
    try:
        count = (
            0 if node.inputs and node.inputs[0] is None and node.is_op("If") else len(node.inputs)
        )
        inputs, outputs = body_arity(
            node.op_type,
            count,
            len(node.outputs),
            node.graph.root.opset(),
            node.attribute("num_scan_inputs", 0),
        )
    except ModelError as error:
        raise ModelError(f"{node} {error}") from error
    for name in BODIES[node.op_type]:
        graphs = node.bodies.get(name, ())
        if len(graphs) != 1:
            raise ModelError(f"{node} lacks its graph attribute '{name}'")
        fault = arity_fault(len(graphs[0].inputs), len(graphs[0].outputs), inputs, outputs)
        if fault:
            raise ModelError(f"{node}: {fault}")


def arity_fault(inputs: int, outputs: int, feed_count: int, read_count: int) -> str:
    """Sentence about a body whose inputs or outputs do not fit its node; empty if they do."""
    if inputs != feed_count:
        return f"its body has {inputs} inputs; the node feeds {feed_count}"
    if outputs < read_count:
        return f"its body has {outputs} outputs; the node needs {read_count}"
    return ""
