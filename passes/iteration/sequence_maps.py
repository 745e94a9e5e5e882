"""SequenceMaps over parts of tensors as loops, and reads of parts as reads of tensors.

s = SplitToSequence <axis = 0, keepdims = 0> (x)
t = SequenceMap (s) <body = b (e) => (r) {...}>      as Scan (x) <body = b (e) => (r) {...}>
e = SequenceAt (s, i)                                as Gather <axis = 0> (x, i)
"""

from __future__ import annotations

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import integers
from ...facts.obstacle import Obstacle
from ...facts.polynomial import Dimension
from ...facts.reason import Message
from ...ir import Graph, Node, Value
from ...ops.builder import Builder
from ..utils.replace_all_uses import replace_value
from .loop_view import LoopView, ScanInput, ScanOutput, check_readable

_SHAPES_DIFFER = Message(
    "element-shapes-differ", "the elements of its sequence '{sequence}' may differ in shape"
)


def read_map(node: Node, inference: ShapeInference) -> LoopView:
    """The loop view of a SequenceMap.

    Raises:
        Obstacle: it has none.
    """
    check_readable(node)
    body = node.body("body")
    if (len(body.inputs), len(body.outputs)) != (len(node.inputs), len(node.outputs)):
        raise Obstacle("the inputs and outputs of its body are not as many as its own")
    scanned, same = [], []
    for value, argument in zip(node.inputs, body.inputs, strict=True):
        if value is None:
            raise Obstacle("an input of it is absent")
        if inference.fact(value).elem_type:
            same.append((value, argument))
            continue
        parts = _parts(value, inference)
        if parts is None:
            raise Obstacle(_SHAPES_DIFFER(sequence=value.name))
        scanned.append(ScanInput(parts.source, argument, parts.axis, False, parts.size))
    if not scanned or len({_count(one, inference) for one in scanned}) > 1:
        raise Obstacle("its sequences may be of other lengths")
    stacked = [
        ScanOutput(result, output, 0, False)
        for result, output in zip(body.outputs, node.outputs, strict=True)
    ]
    return LoopView(node, None, None, None, None, (), tuple(scanned), tuple(stacked), tuple(same))


def _count(one: ScanInput, inference: ShapeInference) -> Dimension:
    shape = inference.fact(one.source).shape
    assert shape is not None
    return one.count(shape)


def _parts(sequence: Value, inference: ShapeInference) -> ScanInput | None:
    """The tensor that a sequence splits into parts of one size."""
    split = sequence.producer
    if split is None or not split.is_op("SplitToSequence") or split.op.references:
        return None
    source, axis = split.input(0), split.attribute("axis", 0)
    shape = None if source is None else inference.fact(source).shape
    if source is None or shape is None or not -len(shape) <= axis < len(shape):
        return None
    size = _size(split, shape[axis], inference)
    return None if size == 0 else ScanInput(source, sequence, axis, False, size)


def _size(split: Node, length: Dimension, inference: ShapeInference) -> int | None:
    """The size of each part along the axis; None without the axis, 0 for different sizes."""
    split_sizes = split.input(1)
    if split_sizes is None:
        return 1 if split.attribute("keepdims", 1) else None
    sizes = integers(inference.fact(split_sizes))
    if sizes is None or not sizes.size or bool((sizes != sizes.reshape(-1)[0]).any()):
        return 0
    size = int(sizes.reshape(-1)[0])
    if size == 1:
        return 1
    # A remainder would be a part of another size.
    return size if size > 0 and length.value is not None and length.value % size == 0 else 0


def read_tensors(graph: Graph, inference: ShapeInference) -> bool:
    """Read rows at run-time indices from a tensor instead of its sequence of parts.

    Returns:
        true after a change.
    """
    emit, changed = Builder(graph), False
    for node in graph.nodes():
        sequence, index = (
            (node.input(0), node.input(1)) if node.is_op("SequenceAt") else (None,) * 2
        )
        if sequence is None or index is None or index.constant is not None:
            continue
        parts = _parts(sequence, inference)
        if parts is None or parts.size is not None or node.output().pinned:
            continue
        # A sequence takes an index of any rank.
        number = emit.scalar(index, index.name) if inference.fact(index).shape != () else index
        inputs, label = [parts.source, number], node.output().name
        row = emit.add("Gather", inputs, label, axis=parts.axis)
        replace_value(graph, node.output(), row)
        graph.remove(node)
        changed = True
    return changed
