"""Form of a node: enough to skip most nodes that a step does not change."""

from collections.abc import Callable
from typing import NamedTuple

from ..ir import Node


class OperatorForm(NamedTuple):
    """Operator and arity of a node, without types and values.

    Attributes:
        op_type: their operator.
        attributes: the names of their attributes.
        inputs: the number of inputs written out.
        outputs: the number of outputs written out.
        absent: the positions of absent inputs.
    """

    op_type: str
    attributes: tuple[str, ...]
    inputs: int
    outputs: int
    absent: tuple[int, ...] = ()

    @classmethod
    def of(cls, node: Node) -> "OperatorForm":
        """The form of a node."""
        op, inputs = node.op, node.inputs
        absent = [i for i, v in enumerate(inputs) if v is None] if None in inputs else ()
        return cls(op.op_type, tuple(op.attributes), len(inputs), len(node.outputs), tuple(absent))


class Concern(NamedTuple):
    """Predicate of the nodes that an adapter must visit.

    Attributes:
        where: the test of a node's form.
        kinds: the kinds of numbers that input 0 holds there, as numpy names them; empty for all.
    """

    where: Callable[[OperatorForm], bool]
    kinds: str = ""


def always(_: OperatorForm) -> bool:
    """Accept all forms."""
    return True


def writes(*attributes: str) -> Callable[[OperatorForm], bool]:
    """Accept forms with one of some attributes."""
    return lambda form: any(name in form.attributes for name in attributes)
