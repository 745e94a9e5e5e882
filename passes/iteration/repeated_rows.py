"""Rows that each iteration repeats a number of times that only run time decides.

t = Concat (s, Expand (x[i], [n[i], 4]))        owners = [i for i in 0..T for _ in 0..n[i]]
                                                t = Concat (s, Gather (x, owners))

Exporters write `torch.repeat_interleave` this way, and speech models the durations of phonemes. The
work is linear in the result: a one is written where the rows of an iteration begin, and a running
sum counts them.
"""

from typing import NamedTuple

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Shape
from ...facts.polynomial import Dimension
from ...ir import Graph, Node, Value
from ...ops.builder import Builder
from .loop_view import move_axis
from .places import moves_before


class Repeat(NamedTuple):
    """The repetition of a row along an axis of a block.

    Attributes:
        nodes: the nodes between the row and the block.
        block: the block.
        row: the row.
        sizes: the vector with the number of copies.
        place: the position of that number.
        single: the axes of size 1 of the row.
        rank: the number of its other axes.
        before: the number of these before the axis.
        added: the axes of size 1 of the block, without the axis.
        axis: the axis of the block.
    """

    nodes: tuple[Node, ...]
    block: Value
    row: Value
    sizes: Value
    place: int
    single: tuple[int, ...]
    rank: int
    before: int
    added: tuple[int, ...]
    axis: int


def find_repeat(
    block: Value, axis: int | None, body: Graph, inference: ShapeInference
) -> Repeat | None:
    """Find the row that a block repeats in each iteration.

    Args:
        block: the block, in a body.
        axis: the axis along which blocks are joined; None for the axis of the copies.
        body: the body.
        inference: the facts of its values.

    Returns:
        the repetition; None where another value is the block, or no iteration decides the number.
    """
    moves = moves_before(block, body)
    node = (moves[-1].input(0) if moves else block).producer  # type: ignore[union-attr]
    if node is None or node.graph is not body or not node.is_op("Expand", "Tile"):
        return None
    row, sizes = node.inputs
    assert row is not None and sizes is not None
    nodes = (*moves, node)
    alone = all(len(body.uses(each.output())) == 1 for each in nodes)
    old, new, joined = (inference.fact(value).shape for value in (row, node.output(), block))
    length = inference.fact(sizes).shape
    if not alone or old is None or new is None or joined is None or not _varies(sizes, body):
        return None
    rank = len(new)
    padded = (*[Dimension.constant(1)] * (rank - len(old)), *old)
    copied = [at for at in range(rank) if padded[at] != new[at]]
    count = None if not length else length[0].value
    if len(copied) != 1 or padded[copied[0]] != 1 or count is None:
        return None
    (own,) = copied
    place = own - rank + count
    before, after = _plain(new[:own]), _plain(new[own + 1 :])
    ways = range(len(joined)) if axis is None else [axis % len(joined)]
    fits = [
        at
        for at in ways
        if (_plain(joined[:at]), joined[at], _plain(joined[at + 1 :])) == (before, new[own], after)
    ]
    if len(fits) != 1 or place < 0:
        return None
    single = tuple(at for at, size in enumerate(old) if size == 1)
    added = tuple(at for at, size in enumerate(joined) if size == 1)
    others = len(old) - len(single)
    return Repeat(nodes, block, row, sizes, place, single, others, len(before), added, fits[0])


def _plain(shape: Shape) -> list[object]:
    return [size for size in shape if size != 1]


def _varies(value: Value, body: Graph) -> bool:
    return value.producer in body.dependents(body.inputs)


def repeat_rows(repeat: Repeat, rows: Value, counts: Value, emit: Builder) -> Value:
    """Emit all copies of all rows, joined along the axis of the block.

    Args:
        repeat: the repetition.
        rows: the rows, [iterations, *shape of a row].
        counts: the number of copies of each row, int64 [iterations].
        emit: the builder of the nodes.
    """
    zero, one = (emit.integer(number, "k") for number in (0, 1))
    # Without the rows that nothing repeats, the places where rows begin are distinct.
    some = emit.add("Greater", [counts, zero], "some")
    rows, counts = (emit.add("Compress", [each, some], "kept", axis=0) for each in (rows, counts))
    starts = emit.running_sum(counts, "starts", exclusive=1)
    total = emit.reduce("ReduceSum", counts, (0,), "total", keepdims=1, small=True)
    zeros = emit.add("Expand", [zero, total], "zeros")
    ones = emit.add("Expand", [one, emit.add("Shape", [counts], "shape")], "ones")
    marks = emit.add("ScatterElements", [zeros, starts, ones], "marks")
    owners = emit.add("Sub", [emit.running_sum(marks, "counted"), one], "owners")
    copies = emit.add("Gather", [rows, owners], "copies", axis=0)
    copies = emit.squeeze(copies, tuple(axis + 1 for axis in repeat.single), "copies")
    perm = move_axis(repeat.rank + 1, 0, repeat.before)
    return emit.unsqueeze(emit.transpose(copies, perm, "copies"), repeat.added, "copies")
