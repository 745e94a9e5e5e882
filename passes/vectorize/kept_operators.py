"""Operators outside of ONNX on the rows of all iterations, where their definitions permit it.

    y = Loop (n, , w) { t = com.microsoft.SkipLayerNormalization (s[i], r[i], g) }
->
    y = com.microsoft.SkipLayerNormalization (s, r, g)

Otherwise the graph of the definition takes the place of the operator.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ...definitions import Unfit
from ...facts.fact import Fact
from ...ir import Node, Value
from ...ops.batching import Batch, Operand, Unbatchable
from ...ops.merge_batch_axis import joined, parted
from .batch_interpreter import NodeBatcher

_LEADING = "*"


def compute_kept(node: Node, around: NodeBatcher) -> bool:
    """Compute an operator for all iterations by itself; false where its definition must stand in.

    Args:
        node: the operator.
        around: the interpreter, in which all iterations run the node.
    """
    inputs = [Fact() if value is None else around.fact(value) for value in node.inputs]
    try:
        expansion = around.inference.definition(node, inputs)
    except Unfit:
        return False
    feeding = around.feeding
    if expansion is None or not expansion.rows or any(map(around.is_partial, node.inputs)):
        return False
    operands = around.operands_of(node)
    facts = [Fact() if value is None else around.fact(value) for value in node.outputs]
    batch = Batch(node, operands, facts, around.emit, feeding.iterations, around.extent)
    for rows in expansion.rows.split(";"):
        mark, *names = rows.split()
        names = names if mark == _LEADING else [mark, *names]
        places = [expansion.definition.places[name] for name in names]
        present = [place for place in places if batch.operand(place) is not None]
        if not _fits(batch, present):
            continue
        try:
            results = (_with_leading_axis if mark == _LEADING else _merged)(batch, present)
        except Unbatchable:
            continue
        for value, result, fact in zip(node.outputs, results, facts, strict=True):
            if value is not None and result is not None:
                around.require_room(node, fact)
                around.operands[value] = Operand(result, True, fact)
        if not expansion.definition.exact:
            feeding.of_rows[node.op.qualname] = None
        return True
    return False


def _fits(batch: Batch, rows: Sequence[int]) -> bool:
    """Test that these operands alone vary."""
    others = [i for i, each in enumerate(batch.operands) if each is not None and i not in rows]
    if any(map(batch.varies, others)) or not any(map(batch.varies, rows)):
        return False
    results = zip(batch.node.outputs, batch.results, strict=True)
    return all(value is None or fact.shape is not None for value, fact in results)


def _with_leading_axis(batch: Batch, rows: Sequence[int]) -> list[Value | None]:
    """The outputs, with the iterations as one more axis in front."""
    if len({batch.rank(index) for index in rows}) > 1:
        raise Unbatchable("has operands of other ranks")
    return _emitted(batch, {index: batch.spread(index) for index in rows})


def _merged(batch: Batch, rows: Sequence[int]) -> list[Value | None]:
    """The outputs, with the iterations merged into the first axis."""
    sizes = [batch.shape(index)[:1] for index in rows]
    if not all(size and size == sizes[0] for size in sizes):
        raise Unbatchable("has operands of other batches")
    first = batch if 0 in rows else dataclasses.replace(batch, operands=[batch.operands[rows[0]]])
    outputs = _emitted(batch, {index: joined(batch, index) for index in rows})
    return [
        None if value is None else parted(dataclasses.replace(first, results=[fact]), value)
        for value, fact in zip(outputs, batch.results, strict=True)
    ]


def _emitted(batch: Batch, rows: dict[int, Value]) -> list[Value | None]:
    """The outputs of the operator on some other operands."""
    inputs = [rows.get(i) or batch.fixed(i) for i in range(len(batch.operands))]
    labels = ["" if value is None else value.name for value in batch.node.outputs]
    if batch.emit.room is not None:
        batch.emit.room.take()
    return list(batch.emit.graph.add_node(batch.node.op, inputs, labels).outputs)
