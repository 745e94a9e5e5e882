"""Axes along which operators work element by element: which operand slices a slice needs.

A slice computed from slices of the operands has the same bits, since each element comes from the
same operations in the same order; for operators that round in between that holds up to the choice
of a runtime's kernel (`exact_operators.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ....ops.axes import REDUCTIONS
from .term import Args, Head, Term, speaks_of_no_axis
from .term_manager import Terms

Axes = tuple["int | None", ...]
"""For each argument the axis that goes with one of the result; None where all of it is needed."""


class Batching(NamedTuple):
    """What a part of a result along one axis is made of.

    Attributes:
        axes: the axis of each argument.
        changed: attributes of the operator once the axis, being in front, is left out; None where
            that is another operator.
    """

    axes: Axes
    changed: dict[str, Any] | None = None


ELEMENTWISE = frozenset(
    [
        "Abs",
        "Acos",
        "Acosh",
        "Add",
        "And",
        "Asin",
        "Asinh",
        "Atan",
        "Atanh",
        "BitShift",
        "BitwiseAnd",
        "BitwiseNot",
        "BitwiseOr",
        "BitwiseXor",
        "Cast",
        "Ceil",
        "Celu",
        "Clip",
        "Cos",
        "Cosh",
        "Div",
        "Elu",
        "Equal",
        "Erf",
        "Exp",
        "Floor",
        "Gelu",
        "Greater",
        "GreaterOrEqual",
        "HardSigmoid",
        "HardSwish",
        "IsInf",
        "IsNaN",
        "LeakyRelu",
        "Less",
        "LessOrEqual",
        "Log",
        "Max",
        "Mean",
        "Min",
        "Mish",
        "Mod",
        "Mul",
        "Neg",
        "Not",
        "Or",
        "PRelu",
        "Pow",
        "Reciprocal",
        "Relu",
        "Round",
        "Selu",
        "Shrink",
        "Sigmoid",
        "Sign",
        "Sin",
        "Sinh",
        "Softplus",
        "Softsign",
        "Sqrt",
        "Sub",
        "Sum",
        "Swish",
        "Tan",
        "Tanh",
        "ThresholdedRelu",
        "Where",
        "Xor",
    ]
)
"""Operators whose inputs broadcast, if there are several, and that take each element by itself."""


ALIKE_OUTPUTS = frozenset(["TopK"])
"""Operators all of whose outputs have the axes of the first."""

Family = Callable[["Terms", "Head", "Args", int], "Batching | None"]


def batching(terms: Terms, head: Head, args: Args, axis: int, rank: int) -> Batching | None:
    """How a part of the first output of a head along one axis is made; None where it is not known.

    Args:
        terms: the terms.
        head: an operator.
        args: its arguments.
        axis: the axis of the result.
        rank: the rank of the result.
    """
    if head.name in ELEMENTWISE:
        if head.attribute("broadcast"):
            return None  # operands were aligned otherwise (operator specification, version 6)
        return Batching(tuple(_aligned(arg, axis, rank) for arg in args))
    family = _FAMILIES.get(head.name)
    if family is None or speaks_of_no_axis(head, args):
        return None
    return family(terms, head, args, axis)


def _aligned(arg: Term | None, axis: int, rank: int) -> int | None:
    """The axis of an operand that broadcasts to the axis of the result."""
    if arg is None or arg.fact.shape is None:
        return None
    own = axis - rank + len(arg.fact.shape)
    return own if own >= 0 and arg.fact.shape[own].value != 1 else None


def _along(name: str, default: int) -> Family:
    """Operators that work along one axis, an attribute."""

    def family(terms: Terms, head: Head, args: Args, axis: int) -> Batching | None:
        rank = _rank(args[0])
        own = head.attribute(name, default)
        if rank is None or own % rank == axis:
            return None
        if head.opset < 13 and axis > own % rank:
            return None  # all axes from that one on were one (operator specification, version 11)
        return Batching((axis, *[None] * (len(args) - 1)), {name: own % rank - 1})

    return family


def _reduction(terms: Terms, head: Head, args: Args, axis: int) -> Batching | None:
    """Reductions over some axes: the others are taken one by one."""
    rank = _rank(args[0])
    axes = head.attribute("axes")
    given = len(args) > 1 and args[1] is not None
    if given:
        axes = terms.numbers(args[1])
    if rank is None or not axes:
        return None
    reduced = [a % rank for a in axes]
    kept = list(range(rank)) if head.attribute("keepdims", 1) else None
    places = kept or [a for a in range(rank) if a not in reduced]
    if places[axis] in reduced:
        return None
    changed = None if given else {"axes": [a - 1 for a in reduced]}
    return Batching((places[axis], *[None] * (len(args) - 1)), changed)


def _arg_reduction(terms: Terms, head: Head, args: Args, axis: int) -> Batching | None:
    rank = _rank(args[0])
    if rank is None:
        return None
    reduced = head.attribute("axis", 0) % rank
    place = axis if head.attribute("keepdims", 1) or axis < reduced else axis + 1
    return None if place == reduced else Batching((place,), {"axis": reduced - 1})


def _matmul(terms: Terms, head: Head, args: Args, axis: int) -> Batching | None:
    """MatMul: rows of the left operand, and what stands before its matrices."""
    left, right = args
    a, b = _rank(left), _rank(right)
    if a is None or b is None or a < 2 or b < 2:
        return None
    rank = max(a, b)
    if axis == rank - 2:
        return Batching((a - 2, None), None)
    if axis == rank - 1:
        return None
    assert left is not None and right is not None
    return Batching((_aligned(left, axis, rank), _aligned(right, axis, rank)))


def _gemm(terms: Terms, head: Head, args: Args, axis: int) -> Batching | None:
    """Gemm: rows of the left operand."""
    if axis or head.attribute("transA", 0):
        return None
    bias = args[2] if len(args) > 2 else None
    own = _aligned(bias, 0, 2)
    return Batching((0, None, own)[: len(args)], None)


def _gather(terms: Terms, head: Head, args: Args, axis: int) -> Batching | None:
    """Gather: by its places, or by other axes of its data."""
    ranks = _rank(args[0]), _rank(args[1])
    if ranks[0] is None or ranks[1] is None:
        return None
    own = head.attribute("axis", 0) % ranks[0]
    if own <= axis < own + ranks[1]:
        return Batching((None, axis - own), None)
    place = axis if axis < own else axis - ranks[1] + 1
    return Batching((place, None), {"axis": own - 1})


def _normalization(terms: Terms, head: Head, args: Args, axis: int) -> Batching | None:
    """LayerNormalization and its kind: axes before those that are normalized."""
    rank = _rank(args[0])
    if rank is None:
        return None
    first = head.attribute("axis", -1) % rank
    if axis >= first:
        return None
    others = tuple([_aligned(arg, axis, rank) for arg in args[1:]])
    return Batching((axis, *others), {"axis": first - 1})


def _top_k(terms: Terms, head: Head, args: Args, axis: int) -> Batching | None:
    """TopK: axes other than that along which it looks."""
    rank = _rank(args[0])
    if rank is None or head.attribute("axis", -1) % rank == axis:
        return None
    others: Axes = (None,) * (len(args) - 1)
    return Batching((axis, *others), {"axis": head.attribute("axis", -1) % rank - 1})


def _first_only(terms: Terms, head: Head, args: Args, axis: int) -> Batching | None:
    """Operators that take each element of a batch by itself."""
    return None if axis else Batching((0, *[None] * (len(args) - 1)), None)


def _batch_normalization(terms: Terms, head: Head, args: Args, axis: int) -> Batching | None:
    """BatchNormalization, by what it is given: that of a batch depends on all of it."""
    by_batch = head.opset < 7 and not head.attribute("is_test", 0)
    if by_batch or head.attribute("training_mode", 0):
        return None
    return _first_only(terms, head, args, axis)


def _concat(terms: Terms, head: Head, args: Args, axis: int) -> Batching | None:
    own = head.attribute("axis")
    return None if own == axis else Batching((axis,) * len(args), {"axis": own - 1})


def _cum_sum(terms: Terms, head: Head, args: Args, axis: int) -> Batching | None:
    rank, own = _rank(args[0]), terms.numbers(args[1])
    if rank is None or not own or own[0] % rank == axis:
        return None
    return Batching((axis, None), None)


def _rank(term: Term | None) -> int | None:
    return None if term is None or term.fact.shape is None else len(term.fact.shape)


_FAMILIES: dict[str, Family] = {
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Gather": _gather,
    "BatchNormalization": _batch_normalization,
    "Concat": _concat,
    "CumSum": _cum_sum,
    "LayerNormalization": _normalization,
    "RMSNormalization": _normalization,
    "TopK": _top_k,
    "ArgMax": _arg_reduction,
    "ArgMin": _arg_reduction,
    "Softmax": _along("axis", -1),
    "LogSoftmax": _along("axis", -1),
    "Hardmax": _along("axis", -1),
    **dict.fromkeys(REDUCTIONS, _reduction),
    **dict.fromkeys(
        [
            "AveragePool",
            "Conv",
            "ConvTranspose",
            "DepthToSpace",
            "GlobalAveragePool",
            "GlobalMaxPool",
            "InstanceNormalization",
            "LRN",
            "MaxPool",
            "SpaceToDepth",
        ],
        _first_only,
    ),
}
