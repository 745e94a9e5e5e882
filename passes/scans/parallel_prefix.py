"""Parallel prefix: all prefix reductions of rows, in a logarithmic number of steps.

After the step of distance k, row t holds the reduction of the rows t - 2k + 1 to t:

    y = Concat <axis = 0> (x[:k], Op (x[:-k], x[k:]))

A row may consist of several values, such as the factor and the offset of a linear function. Where a
row that changes nothing is known (itself, for Max), a step without a Loop takes four nodes:

    y = Op (Concat <axis = 0> (same[:k], x[:-k]), x)

If a row may be joined twice, as by Max, few steps join the rows of blocks, and the others blocks.
Truth values are counted instead: Or holds where the running sum of the true ones is not 0.
"""

from collections.abc import Callable, Sequence

import numpy as np
import onnx

from ...facts.fact import Fact
from ...ir import Node, Operator, Value
from ...ir.copying import empty_header
from ...ops.builder import Builder
from ...ops.rules import OLDEST_OPSET
from ...ops.schema_queries import MIN_OF_INTEGERS, is_defined
from ...records import record
from ..iteration.loop_view import add_holder, declaration, scalar_declaration

_END = np.iinfo(np.int64).max
MOST_STEP_BYTES = 256
"""The size limit of a state for a parallel prefix, which moves rows several times.

For states of 64 floats it is 2 to 6 times as fast as a Loop (200 to 4,000 iterations, onnxruntime),
for 256 floats as slow.
"""
STRAIGHT_STEPS = 31
"""The number of steps without a Loop, for less than 2^31 rows.

For few rows, all steps take 45 us in onnxruntime, like 60 iterations of a Loop of two nodes.
"""
_MOVING = 10
"""The first opset whose Slice has bounds of run time; there, few places serve all values."""
_BLOCK_STEPS = 4
"""The number of steps without a Loop that all rows take if a row may be joined twice.

The others join blocks of 16 rows, since beyond the number of rows a step only copies them: 10,000
rows take 154 us instead of 285 us, with blocks of 128 rows 165 us.
"""


DISTANCES = tuple([1 << digit for digit in range(63)])
"""The distances of all steps."""

_IDEMPOTENT = ("Max", "Min", "And", "Or")
_NEUTRAL = {"Add": 0, "Mul": 1}
"""The number that changes no row."""


Monoid = Callable[[Builder, Sequence[Value], Sequence[Value], Value], Sequence[Value]]
"""An associative operation: a builder, the earlier rows, the later ones, and their distance."""


_COUNTED = ("And", "Or", "Xor")
"""The operators on truth values whose result follows from the number of true or false ones."""


@record(frozen=True)
class OneOperator:
    """The associative operation of an operator on rows of one value.

    Attributes:
    """

    op: Operator

    def __call__(
        self, emit: Builder, early: Sequence[Value], late: Sequence[Value], distance: Value
    ) -> list[Value]:
        """Join earlier rows with later ones."""
        return [emit.apply(self.op, [*early, *late], "joined")]

    def neutral(self, emit: Builder, rows: Value, fact: Fact) -> Value | None:
        """Emit as many rows that change none; the rows themselves if the operator is idempotent."""
        number = _NEUTRAL.get(self.op.op_type)
        if number is None:
            return rows if self.op.op_type in _IDEMPOTENT else None
        same = emit.number(number, fact.elem_type, "same")
        return emit.add("Expand", [same, emit.add("Shape", [rows], "shape")], "same")


def joins_rows(loop: Node) -> bool:
    """Test for a Loop over doubling distances, whose few iterations are meant to stay."""
    count = loop.input(0) if loop.is_op("Loop") else None
    for op_type in ("ReduceSum", "Cast", "Less"):
        node = None if count is None else count.producer
        if node is None or not node.is_op(op_type):
            return False
        count = node.input(0)
    array = None if count is None else count.array
    numbers = () if array is None else tuple(array.reshape(-1).tolist())
    return len(numbers) > 1 and numbers == DISTANCES[-len(numbers) :]


def has_short_steps(monoid: Monoid) -> bool:
    """Test for an operation whose steps take four nodes."""
    return isinstance(monoid, OneOperator) and (
        monoid.op.op_type in _IDEMPOTENT or monoid.op.op_type in _NEUTRAL
    )


def parallel_prefix(
    emit: Builder,
    monoid: Monoid,
    rows: Sequence[Value],
    facts: Sequence[Fact],
    most: int | None,
    straight: bool = False,
    first: int = 0,
    reach: Value | None = None,
    axis: int = 0,
) -> list[Value]:
    """Emit the reduction of each prefix of rows by an associative operation.

    Args:
        emit, monoid: the builder of the nodes, and the operation.
        rows, facts: the values of all rows, at least one, along an axis; the fact of each in one
            row.
        most: the maximum number of rows; None if known only at run time. Then a Loop runs the few
            steps.
        straight: emit steps for all lengths instead of a Loop.
        first: the number of steps that the rows have taken.
        reach: the number of rows to join, a power of 2, as a vector of one int64 computed at run
            time; None for all earlier rows. It needs an open maximum.
        axis: the axis of the rows, 0 for an operation of one operator.
    """
    if isinstance(monoid, OneOperator) and reach is None and is_defined("CumSum", emit.opset):
        kind = monoid.op.op_type
        if kind in _COUNTED:
            return [by_count(emit, kind, rows[0], axis)]
    if most is None and not straight and emit.opset >= OLDEST_OPSET:  # Slices of run-time bounds
        return _by_loop(emit, monoid, rows, facts, first, reach, axis)
    repeats = isinstance(monoid, OneOperator) and monoid.op.op_type in _IDEMPOTENT
    if most is None and not first and repeats and emit.opset >= MIN_OF_INTEGERS:
        return [_in_blocks(emit, monoid, rows[0], facts[0])]
    distances = [d for d in DISTANCES[first:STRAIGHT_STEPS] if most is None or d < most]
    return _straight(emit, monoid, rows, facts, distances, axis)


def by_count(emit: Builder, kind: str, rows: Value, axis: int = 0) -> Value:
    """Emit the And, Or or Xor of all truth values up to each, by counting."""
    flags = emit.add("Not", [rows], "flags") if kind == "And" else rows
    counts = emit.add("Cast", [flags], "counts", to=onnx.TensorProto.INT64)
    counts = emit.running_sum(counts, "counts", axis)
    if kind == "Xor":
        counts = emit.add("Mod", [counts, emit.integer(2, "two")], "counts")
    some = emit.add("Cast", [counts], "some", to=onnx.TensorProto.BOOL)
    return emit.add("Not", [some], "all") if kind == "And" else some


def _in_blocks(emit: Builder, monoid: Monoid, rows: Value, fact: Fact) -> Value:
    """Emit steps for all rows up to the size of a block, and for blocks.

    Each row joins so many rows up to it, and those of all whole blocks before it. The first row
    stands before all blocks, so that there is always one.
    """
    (last,) = _straight(emit, monoid, [rows], [fact], DISTANCES[:_BLOCK_STEPS])
    zero, one, size = (emit.vector((number,), "k") for number in (0, 1, 1 << _BLOCK_STEPS))
    end = [emit.vector((number,), "k") for number in ((1 << _BLOCK_STEPS) - 1, _END)]
    first = emit.add("Slice", [rows, zero, one, zero], "first")
    blocks = emit.add("Slice", [last, *end, zero, size], "blocks")
    distances = DISTANCES[: STRAIGHT_STEPS - _BLOCK_STEPS]
    (before,) = _straight(
        emit, monoid, [emit.concat([first, blocks], 0, "blocks")], [fact], distances
    )
    count, most = (emit.size(value, 0, "count") for value in (rows, blocks))
    divisor = emit.integer(1 << _BLOCK_STEPS, "k")
    numbers = emit.numbers(emit.squeeze(count, 0, "count"), "numbers")
    # The least of both is the first; the other one shows that there is such a row.
    places = emit.add("Min", [most, emit.add("Div", [numbers, divisor], "places")], "places")
    early = emit.add("Gather", [before, places], "early", axis=0)
    (joined,) = monoid(emit, [early], [last], one)
    return joined


def _straight(
    emit: Builder,
    monoid: Monoid,
    rows: Sequence[Value],
    facts: Sequence[Fact],
    distances: Sequence[int],
    axis: int = 0,
) -> list[Value]:
    """Emit a step for each distance."""
    same = None
    if isinstance(monoid, OneOperator) and distances:
        same = monoid.neutral(emit, rows[0], facts[0])
    values = list(rows)
    for distance in distances:
        here, back = (emit.vector((number,), "distance") for number in (distance, -distance))
        # Beyond the number of rows both slices are empty, and the head is all of them.
        if same is None:
            values = _step(emit, monoid, values, here, back, axis)
            continue
        front = values[0] if same is rows[0] else same
        values = _short_step(emit, monoid, values[0], front, here, back)
    return values


def _short_step(
    emit: Builder, monoid: Monoid, rows: Value, same: Value, here: Value, back: Value
) -> list[Value]:
    """Emit one step of four nodes."""
    zero = emit.vector((0,), "zero")
    front = emit.add("Slice", [same, zero, here, zero], "front")
    early = emit.add("Slice", [rows, zero, back, zero], "early")
    return list(monoid(emit, [emit.concat([front, early], 0, "earlier")], [rows], here))


def _step(
    emit: Builder, monoid: Monoid, rows: Sequence[Value], here: Value, back: Value, axis: int
) -> list[Value]:
    """Emit one step; no change for a distance of the number of rows or more."""
    heads, early, late = _cut(emit, rows, here, back, axis)
    joined = monoid(emit, early, late, here)
    return [
        emit.concat([head, value], axis, row.name)
        for head, value, row in zip(heads, joined, rows, strict=True)
    ]


def _cut(
    emit: Builder, rows: Sequence[Value], here: Value, back: Value, axis: int
) -> list[list[Value]]:
    """Emit the first rows, those that a later row joins, and these later ones."""
    if here.constant is None and emit.opset < _MOVING:
        numbers = emit.size(rows[0], axis, "count")
        numbers = emit.numbers(emit.squeeze(numbers, 0, "count"), "numbers")
        first = emit.add("Less", [numbers, here], "first")
        rest = emit.add("Not", [first], "rest")
        head, late = (emit.add("Compress", [numbers, own], "places") for own in (first, rest))
        places = head, emit.add("Sub", [late, here], "places"), late
        return [[emit.add("Gather", [row, at], "rows", axis=axis) for row in rows] for at in places]
    zero, end, at = (emit.vector((number,), "k") for number in (0, _END, axis))
    cuts = (zero, here), (zero, back), (here, end)
    return [[emit.add("Slice", [row, *cut, at], "rows") for row in rows] for cut in cuts]


def _by_loop(
    emit: Builder,
    monoid: Monoid,
    rows: Sequence[Value],
    facts: Sequence[Fact],
    first: int,
    reach: Value | None,
    axis: int,
) -> list[Value]:
    steps = _count_steps(emit, rows[0], first, reach, axis)
    holds = emit.constant(np.array(True), "holds")
    labels = [f"{row.name}_all" for row in rows]
    loop = add_holder(emit.graph, Operator("Loop"), {}, ["body"], [steps, holds, *rows], labels)
    body = emit.graph.add_body(loop, "body", empty_header("doubling"))
    flag = scalar_declaration("holds", onnx.TensorProto.BOOL)
    number = scalar_declaration("step", onnx.TensorProto.INT64)
    step, condition = body.add_input("step", number), body.add_input("holds", flag)
    infos = [_declare_rows(fact, axis) for fact in facts]
    before = [body.add_input("rows", info) for info in infos]
    inside = Builder(body, opset=emit.opset)
    # Tables, as few nodes as possible: these few steps take as long as what prepares them.
    here, back = (inside.add("Gather", [table, step], "distance") for table in _tables(emit, first))
    after = _step(inside, monoid, before, here, back, axis)
    body.set_outputs([condition, *after], [flag, *infos])
    return [loop.output(index) for index in range(len(rows))]


def _tables(emit: Builder, first: int) -> list[Value]:
    """The distances of all steps as vectors of one number, forward and backward."""
    column = np.array(DISTANCES[first:], np.int64).reshape(-1, 1)
    return [emit.constant(array, "distances") for array in (column, -column)]


def _count_steps(emit: Builder, rows: Value, first: int, reach: Value | None, axis: int) -> Value:
    """Emit the number of steps that some rows take."""
    distances, count = emit.vector(DISTANCES[first:], "distances"), reach
    if count is None:
        count = emit.size(rows, axis, "count")
    needed = emit.add("Less", [distances, count], "needed")
    needed = emit.add("Cast", [needed], "needed", to=onnx.TensorProto.INT64)
    return emit.reduce("ReduceSum", needed, (0,), "steps")


def _declare_rows(fact: Fact, axis: int) -> onnx.ValueInfoProto:
    sizes = [dim.value for dim in fact.shape or ()]
    sizes.insert(axis, None)
    return declaration("rows", onnx.helper.make_tensor_type_proto(fact.elem_type, sizes))
