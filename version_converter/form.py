"""What is seen of a node at a glance: enough to know of most that a step changes nothing there."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..ir import Node


class Form(NamedTuple):
    """What many nodes have in common.

    Attributes:
        op_type: their operator.
        attributes: the names of their attributes.
        inputs: how many inputs are written out.
        outputs: how many outputs are written out.
        absent: the positions of inputs that are written out as absent.
    """

    op_type: str
    attributes: tuple[str, ...]
    inputs: int
    outputs: int
    absent: tuple[int, ...] = ()

    @classmethod
    def of(cls, node: Node) -> Form:
        """The form of a node."""
        op, inputs = node.op, node.inputs
        absent = [i for i, v in enumerate(inputs) if v is None] if None in inputs else ()
        return cls(op.op_type, tuple(op.attributes), len(inputs), len(node.outputs), tuple(absent))


class Concern(NamedTuple):
    """The nodes that an adapter has to look at.

    Attributes:
        where: whether it has to look at nodes of a form.
        kinds: the kinds of numbers that input 0 holds there, as numpy names them; empty for all.
    """

    where: Callable[[Form], bool]
    kinds: str = ""


def always(_: Form) -> bool:
    """Of nodes of all forms."""
    return True


def writes(*attributes: str) -> Callable[[Form], bool]:
    """Of nodes that write out one of some attributes."""
    return lambda form: any(name in form.attributes for name in attributes)
