"""Concatenation of a tensor's rows, and reads of sequences of its rows."""

from ...facts.fact import Shape
from ...ir import Graph, Node, Operator, Value
from ...ops.batching import Unbatchable
from ...ops.builder import Builder
from ...ops.schema_queries import ALLOWZERO
from .replace_all_uses import replace_value


def concat_rows(rows: Value, axis: int, shape: Shape, emit: Builder) -> Value:
    """Emit the concatenation of all rows along an axis of one row.

    Args:
        rows: the rows, [count, *shape].
        axis: the axis, not negative.
        shape: the shape of one row.

    Raises:
        Unbatchable: sizes may be 0, which Reshape does not allow in this opset.
    """
    perm = [*range(1, axis + 1), 0, *range(axis + 1, len(shape) + 1)]
    moved = emit.transpose(rows, perm, f"{rows.name}_turned")
    if shape[axis].value == 1:
        return emit.squeeze(moved, axis + 1, f"{rows.name}_joined")
    others = [dim.value for place, dim in enumerate(shape) if place != axis]
    if all(others):
        numbers = [-1 if place == axis else dim.value or 0 for place, dim in enumerate(shape)]
        lengths = emit.vector(tuple(numbers), "target")
        return emit.add("Reshape", [moved, lengths], f"{rows.name}_joined")
    allowed = emit.opset >= ALLOWZERO
    if not allowed and not all(dim.value for dim in shape[axis:]):
        raise Unbatchable("joins rows of run-time sizes; convert to opset 14 first")
    sizes = emit.add("Shape", [moved], "sizes")
    inside = emit.slice(sizes, axis, axis + 2, "inside")
    parts = [emit.add("ReduceProd", [inside], "length", keepdims=1)]
    if axis:
        parts.insert(0, emit.slice(sizes, 0, axis, "before"))
    if axis + 1 < len(shape):
        parts.append(emit.slice(sizes, axis + 2, len(shape) + 1, "behind"))
    shape_ = emit.concat(parts, 0, "target")
    reshape = Operator.make("Reshape", allowzero=1) if allowed else Operator("Reshape")
    return emit.apply(reshape, [moved, shape_], f"{rows.name}_joined")


def read_rows(graph: Graph, split: Node, shape: Shape) -> None:
    """Replace reads of a SplitToSequence of single rows by reads of the tensor.

    Args:
        split: the node, removed without readers.
        shape: the shape of one row.
    """
    emit = Builder(graph)
    for use in graph.uses(split.output()):
        node = use.user
        if isinstance(node, Node) and node.graph is graph and not node.output().pinned:
            read = _read(node, split, shape, emit)
            if read is not None:
                replace_value(graph, node.output(), read)
                graph.remove(node)
    if not graph.is_needed(split):
        graph.remove(split)


def _read(node: Node, split: Node, shape: Shape, emit: Builder) -> Value | None:
    """Emit a sequence operator's output from the rows; None for other operators."""
    rows = split.operand(0)
    if len(split.inputs) > 1:  # blocks of different sizes
        axes = node.attribute("axis"), split.attribute("axis", 0)
        is_whole = node.is_op("ConcatFromSequence") and not node.attribute("new_axis", 0)
        return rows if is_whole and axes[0] % len(shape) == axes[1] else None
    if node.is_op("ConcatFromSequence"):
        return _concat(node, rows, shape, emit)
    label = node.output().name
    if node.is_op("SequenceAt"):
        return emit.add("Gather", [rows, node.input(1)], label, axis=0)
    if node.is_op("SequenceLength"):
        sizes = emit.add("Shape", [rows], "sizes")
        return emit.scalar(emit.slice(sizes, 0, 1, "length"), label)
    return None


def _concat(node: Node, rows: Value, shape: Shape, emit: Builder) -> Value | None:
    axis, rank = node.attribute("axis"), len(shape)
    if node.attribute("new_axis", 0):
        axis %= rank + 1
        perm = [*range(1, axis + 1), 0, *range(axis + 1, rank + 1)]
        return emit.transpose(rows, perm, node.output().name)
    try:
        return concat_rows(rows, axis % rank, shape, emit)
    except Unbatchable:
        return None
