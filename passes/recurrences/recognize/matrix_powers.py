"""Powers of a constant matrix, by which steps of doubling distance join linear recurrences.

A vector s of states follows s = s A + b. The rows b[t] are joined in steps of doubling distance d,
each of which adds b[t - d] A^d; the powers are constants:

y = Concat <axis = 0> (b[:d], Add (b[d:], MatMul (b[:-d], A^d)))

Of a matrix that grows, such as the factor 2, A^d overflows long before all states do: it is a
bounded matrix times a scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import onnx

from ....facts.fact import Fact
from ....facts.polynomial import Dimension
from ....facts.types import PLAIN_INTEGERS
from ....ir import Array, Value
from ....ops.builder import Builder
from ...scans.parallel_prefix import DISTANCES, Monoid
from ..weights import Unfit
from .recurrence import Recurrence, Replacement
from .reductions import replace_rows

WIDEST = 16
"""The largest width of a matrix of which powers pay."""
_LARGEST = 16.0
"""The largest element of a power without a scale."""
LABEL = "linear steps of doubling distance"


class Powers(NamedTuple):
    """The powers of a matrix for each distance.

    Attributes:
        table: the powers, divided by the scale.
        thirds: the third root of the scale, by which a product is multiplied three times; None if
            no power is large. A scale itself would overflow where a product with it does not, and
            make NaN of a zero.
    """

    table: Array
    thirds: Array | None = None

    @property
    def is_full(self) -> bool:
        """Test for powers without zeros from the second on."""
        return bool((self.table[1] != 0).all())


def powers_of(matrix: Array) -> Powers:
    """The powers of a matrix; those of integers wrap.

    Raises:
        Unfit: an element that is no finite number.
    """
    if matrix.dtype.kind != "f":
        whole = [matrix]
        with np.errstate(all="ignore"):
            for _ in DISTANCES[1:]:
                whole.append(whole[-1] @ whole[-1])
        return Powers(np.stack(whole))
    power, exponent, table, exponents = matrix.astype(np.float64), 0, list[Array](), list[int]()
    for _ in DISTANCES:
        largest = float(np.abs(power).max(initial=0.0))
        if not math.isfinite(largest):
            raise Unfit("a factor of it is not a finite number")
        # A power with a scale keeps an element of at least 1: smaller ones underflow when squared.
        cubes = (math.frexp(largest)[1] - 1) // 3 if largest > _LARGEST or exponent else 0
        cubes = max(cubes, -exponent)
        power, exponent = power / 8.0**cubes, exponent + cubes
        table.append(power)
        exponents.append(exponent)
        power, exponent = power @ power, 2 * exponent
    if max(exponents) and matrix.dtype == np.float16:
        # Sixteen iterations overflow; the sums of some of them do before all of them.
        raise Unfit("powers of its factors may overflow")
    # Three times the largest power of 2 take any number but 0 beyond the largest one.
    most = np.finfo(matrix.dtype).maxexp - 1
    thirds = np.array([math.ldexp(1.0, min(each, most)) for each in exponents], matrix.dtype)
    return Powers(np.stack(table).astype(matrix.dtype), thirds if max(exponents) else None)


def raise_matrix(
    recurrence: Recurrence, offsets: Sequence[Value], powers: Powers, fact: Fact
) -> Replacement:
    """Replace states that follow a constant matrix; the first step leaves out zeros.

    Args:
        offsets: the addends of each state, iterations first.
        powers: the powers of the matrix, of which row i computes state i.
    """
    emit, rank = recurrence.emit, len(fact.shape or ())
    matrix = powers.table[0] if powers.thirds is None else powers.table[0] * powers.thirds[0] ** 3
    rows = recurrence.from_first(offsets)
    rows = [_first_step(recurrence, rows, index, matrix) for index in range(len(rows))]
    whole = Fact(fact.elem_type, (*(fact.shape or ()), Dimension.constant(len(rows))))
    together = emit.concat([emit.unsqueeze(row, rank + 1, "row") for row in rows], rank + 1, "rows")
    monoid = compose(emit, powers._replace(table=np.swapaxes(powers.table, 1, 2)))
    exact = fact.elem_type in PLAIN_INTEGERS
    (joined,) = recurrence.prefixes(monoid, [together], [whole], first=1, exact=exact)
    columns = [emit.integer(index, "k") for index in range(len(rows))]
    values = [emit.add("Gather", [joined, at], "all", axis=rank + 1) for at in columns]
    return replace_rows(recurrence, values, LABEL, exact)


def _first_step(recurrence: Recurrence, rows: Sequence[Value], index: int, matrix: Array) -> Value:
    """Emit the step of distance 1 for one state: it adds what the rows before it give."""
    emit, feeding = recurrence.emit, recurrence.feeding
    total = feeding.after(rows[index])
    for row, factor in zip(rows, matrix[index], strict=True):
        if factor:
            factors = [feeding.before(row), emit.constant(np.array(factor), "k")]
            total = emit.add("Add", [total, emit.add("Mul", factors, "scaled")], "added")
    return emit.concat([feeding.cut(rows[index], 0, 1), total], 0, "rows")


def power_table(around: Builder, powers: Array) -> Callable[[Builder, Value], Value]:
    """The emission of the power for a distance, from those of all distances."""
    table = around.constant(np.ascontiguousarray(powers), "powers")
    distances = around.vector(DISTANCES, "distances")

    def power(emit: Builder, distance: Value) -> Value:
        match = emit.once("Equal", [distances, distance], "match")
        numbers = emit.once("Cast", [match], "match", to=onnx.TensorProto.INT32)
        step = emit.once("ArgMax", [numbers], "step", axis=0, keepdims=0)
        return emit.add("Gather", [table, step], "power", axis=0)

    return power


def compose(around: Builder, powers: Powers, is_left: bool = False) -> Monoid:
    """The composition of linear functions by their distance, of which rows are the offsets."""
    power = power_table(around, powers.table)
    third = None if powers.thirds is None else power_table(around, powers.thirds)

    def monoid(
        emit: Builder, early: Sequence[Value], late: Sequence[Value], distance: Value
    ) -> list[Value]:
        by = power(emit, distance)
        scaled = emit.add("MatMul", [by, *early] if is_left else [*early, by], "scaled")
        if third is not None:
            scale = third(emit, distance)
            for _ in range(3):
                scaled = emit.add("Mul", [scaled, scale], "scaled")
        return [emit.add("Add", [scaled, *late], "offsets")]

    return monoid
