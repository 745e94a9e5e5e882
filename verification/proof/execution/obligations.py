"""Records of the nodes that may fail, and of what each of them runs under.

A node of the main graph runs whenever its model does; one in a body runs where conditions hold and
loops make trips. `definedness.py` asks of each such node of the rewrite for its twin in the
original.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable
from typing import NamedTuple

import onnx

from ....facts.polynomial import Dimension
from ..terms.term import Args, Head, Term

ENDS, ONE_ELEMENT, SAME_SIZES = "ends", "one element", "same sizes"
IS_SIZE, IS_PART, AS_DECLARED = "is a size", "is a part", "as declared"
HAS_RANK = "has the rank"
"""The names of demands that are no operators."""


@dataclasses.dataclass(eq=False)
class Guard:
    """A condition or a loop around a node.

    Attributes:
        key: the same for two guards under which a node runs as often.
        level: how many loops are around the loop; -1 for a condition.
        trips: the trips of a loop that makes its first one if this is 1 or more; None where run
            time decides on the first trip.
        collected: makes of a term of the body the tensor of it from all trips.
        condition: the condition; None for a loop.
        holds: whether it holds or its opposite does.
    """

    key: Hashable
    level: int = -1
    trips: Dimension | None = None
    collected: Callable[[Term], Term] | None = None
    condition: Term | None = None
    holds: bool = True

    @property
    def is_loop(self) -> bool:
        """Whether it is a loop."""
        return self.level >= 0


Guards = tuple[Guard, ...]


class Obligation(NamedTuple):
    """An operator on operands that may fail.

    Attributes:
        head: the operator, or the name of another demand (`ENDS` and the like).
        args: its operands.
        width: how many outputs its node has.
        guards: what is around it.
        node: the node.
        result: its first output; None where it is not of use.
        path: where the node stands, in words; empty unless that is traced.
    """

    head: Head
    args: Args
    width: int
    guards: Guards
    node: onnx.NodeProto
    result: Term | None = None
    path: str = ""


Log = list[Obligation]


def moved(log: Log, start: int, outer: int, guards: Guards) -> Log:
    """Obligations of a call of a function, for another call of it.

    Args:
        log: the obligations.
        start: the first of them.
        outer: how many guards were around the first call.
        guards: what is around the other call.
    """
    return [each._replace(guards=guards + each.guards[outer:]) for each in log[start:]]
