"""Records of the nodes that may fail, and of what each of them runs under.

A node of the main graph runs whenever its model does; one in a body runs where conditions hold and
loops make iterations. `definedness.py` asks of each such node of the rewrite for its twin in the
original.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

import onnx

from ....facts.polynomial import Dimension
from ....records import record
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms

ENDS, ONE_ELEMENT, SAME_SIZES = "ends", "one element", "same sizes"
IS_SIZE, IS_PART = "is a size", "is a part"
AS_DECLARED, AS_ORIGINAL = "as declared", "as declared in the original"
HAS_RANK, HAS_TYPES, IS_ACCEPTED = "has the rank", "has the types", "is accepted"
"""Names of demands that are no operators."""


@record(eq=False)
class Guard:
    """Condition or loop around a node.

    Attributes:
        key: equal for two guards under which a node runs equally often.
        level: number of loops around the loop; -1 for a condition.
        iterations: trip count of a loop whose first iteration runs if this is 1 or more; None if
            only run time decides on it.
        scan_output: function from a term of the body to its scan output.
        condition: the condition; None for a loop.
        holds: whether the condition holds or its negation.
    """

    key: Hashable
    level: int = -1
    iterations: Dimension | None = None
    scan_output: Callable[[Term], Term] | None = None
    condition: Term | None = None
    holds: bool = True

    @classmethod
    def of_branch(cls, condition: Term, holds: bool) -> Guard:
        """Return the guard of a branch that runs if a condition holds, or does not."""
        return cls(("if", condition, holds), condition=condition, holds=holds)

    @property
    def is_loop(self) -> bool:
        """True for a loop."""
        return self.level >= 0


Guards = tuple[Guard, ...]


def in_both_branches(premises: Sequence[Guards]) -> Iterator[Guards]:
    """Yield the guards of a demand without each condition that it does not need.

    A demand of both branches of an If is one of the If: of `p, c` and `p, not c` remains `p`, and
    so on with the conditions around it.
    """
    present = {frozenset([guard.key for guard in guards]) for guards in premises}
    pending = list(premises) if len(present) > 1 else []
    for guards in pending:  # grows; each addition is shorter
        keys = frozenset([guard.key for guard in guards])
        for guard in guards:
            rest = keys - {guard.key}
            if guard.condition is None or rest in present:
                continue
            if rest | {Guard.of_branch(guard.condition, not guard.holds).key} not in present:
                continue
            present.add(rest)
            pending.append(tuple([each for each in guards if each is not guard]))
            yield pending[-1]


class Obligation(NamedTuple):
    """Operator on operands that may fail.

    Attributes:
        head: the operator, or the name of another demand (`ENDS` and others).
        width: number of outputs of its node.
        guards: conditions and loops around the node.
        result: its first output; None if of no use.
        path: path of the node; empty if not recorded.
    """

    head: Head
    args: Args
    width: int
    guards: Guards
    node: onnx.NodeProto
    result: Term | None = None
    path: str = ""


Log = list[Obligation]


def guards_by_demand(log: Log) -> dict[tuple[Head, Args], list[Guards]]:
    """Guards of nodes that may fail, by operator and operands."""
    groups: dict[tuple[Head, Args], list[Guards]] = {}
    for each in log:
        groups.setdefault((each.head, each.args), []).append(each.guards)
    return groups


def relocate(log: Log, start: int, outer: int, guards: Guards) -> Log:
    """Obligations of a function call, for another call of it.

    Args:
        start: index of the first of them.
        outer: number of guards around the first call.
        guards: guards around the other call.
    """
    return [each._replace(guards=guards + each.guards[outer:]) for each in log[start:]]


def with_operands(log: Log, terms: Terms, operands: Callable[[Head, Args, int], Args]) -> Log:
    """Obligations of a model, with operands that do not change whether its nodes fail.

    Args:
        operands: returns those of an operator, for the type of its first output.
    """

    def changed(obligation: Obligation) -> Obligation:
        head, args, result = obligation.head, obligation.args, obligation.result
        others = operands(head, args, 0 if result is None else result.fact.elem_type)
        if others == args:
            return obligation
        new = None if result is None else terms.apply(head, others, obligation.width)[0]
        return obligation._replace(args=others, result=new)

    return [changed(obligation) for obligation in log]
