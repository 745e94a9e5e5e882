"""Signatures of nodes from facts and arrays."""

from collections.abc import Callable, Sequence

from ..facts.fact import Fact
from ..ir import Array, Operator
from .case import Signature


def signature_of(
    op: Operator,
    present: Sequence[object | None],
    facts: Sequence[Fact],
    outputs: Sequence[object | None],
    constant: Callable[[int], Array | None],
) -> Signature:
    """The signature of an operator on values of which facts are known.

    Args:
        present: its inputs; None for an absent one.
        outputs: its outputs; None for an absent one.
        constant: returns the elements of a constant input; None for any other.
    """
    elem_types = [
        None if value is None else fact.elem_type
        for value, fact in zip(present, facts, strict=True)
    ]
    shapes = [None if fact.shape is None else [dim.value for dim in fact.shape] for fact in facts]
    return Signature(op, elem_types, shapes, [v is not None for v in outputs], constant)
