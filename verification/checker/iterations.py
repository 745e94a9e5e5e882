"""Iterations of a Loop whose number is known, as terms without a loop.

Loop (3, true, x) { s = Tanh (s) }     Tanh (Tanh (Tanh (x)))
"""

# A body is terms over variables. An iteration has values in their place, and what follows from
# constants is computed on the way, since the condition of a Loop and the branches of an If may.

from collections.abc import Sequence

import numpy as np

from ...ir import Array
from .execution import BRANCHES
from .folding import fold, is_real, rounds
from .inference import common, fact_of_output
from .rows import apply, integers
from .terms import ABSENT, Args, Fact, Head, Node, Parts, Terms, parts

MOST = 1 << 8


class _Open(Exception):
    """A term cannot be followed through an iteration."""


def iterations(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Take a Loop that certainly ends as the iterations that it makes."""
    loop, count, own = parts(node), states_of(node) - 1, terms.add(*node[:2], fact, node.output)
    limit, condition = (*loop.operands, ABSENT, ABSENT)[:2]
    limits = terms.numbers(limit) if limit != ABSENT else [MOST + 1]
    # onnxruntime passes vectors of one element where the body declares them, and results follow.
    scalars = terms.fact(loop.variables[0]).shape == () and has_scalar(terms, loop)
    if not scalars or limits is None or len(limits) != 1 or len(loop.variables) != 2 + count:
        return None
    ran, rows, states = set[int](), list[int](), loop.operands[2:]
    going = condition == ABSENT or truth(terms, condition)
    for number in range(limits[0]):
        # By ONNX a Loop without a condition goes on, in onnxruntime 1.32 it ends.
        if going is None or number >= MOST or (not going and condition == ABSENT):
            return None
        if not going:
            break
        first = integers(terms, number), terms.constant(np.array(True))
        inner = _Values(terms, dict(zip(loop.variables, (*first, *states), strict=True)))
        try:
            ran |= inner.ran(loop.outputs)
            again, *results = [inner.into(output) for output in loop.outputs]
        except _Open:
            return None
        going, states = truth(terms, again), tuple(results[:count])
        rows += results[node.output :][:1]
    if node.output >= count and not rows:
        return None  # rows of no iteration have sizes that nothing here computes
    # Where the loop has a value, all its iterations ran: their nodes did not fail.
    terms.implied += [(own, term) for term in sorted(ran)]
    return states[node.output] if node.output < count else stacked(terms, rows, 0)


def stacked(terms: Terms, rows: Sequence[int], axis: int) -> int:
    """Concatenation of terms along a new axis."""
    lines = [apply(terms, "Unsqueeze", row, integers(terms, [axis])) for row in rows]
    return apply(terms, "Concat", *lines, axis=axis) if len(lines) > 1 else lines[0]


def has_scalar(terms: Terms, loop: Parts) -> bool:
    """Test for a condition without axes in each iteration."""
    return len(loop.variables) > 1 and terms.fact(loop.variables[1]).shape == ()


def has_one_reading(terms: Terms, loop: Parts) -> bool:
    """Test that a Loop has a condition, or that its body never ends it.

    By ONNX the body's condition is ignored where the Loop has none; onnxruntime 1.32 obeys it.
    """
    again, condition = loop.outputs[0], (*loop.operands, ABSENT, ABSENT)[1]
    is_kept = terms.find(again) == terms.find(loop.variables[1])
    return condition != ABSENT or is_kept or bool(truth(terms, again))


def truth(terms: Terms, condition: int) -> bool | None:
    """Value of a condition without axes; None if it is unknown."""
    tensor = terms.tensor(condition)
    return None if tensor is None or tensor.dims else bool(tensor.numpy())


class _Values:
    """Values of the variables of a body."""

    def __init__(self, terms: Terms, values: dict[int, int], *, ends: bool = True) -> None:
        self._terms, self._values, self._ends = terms, values, ends
        self.terms_of = {**values, ABSENT: ABSENT}
        self._level = min(terms.nodes[each].head.key[0] for each in values)

    def into(self, term: int) -> int:
        """Term with the values in it."""
        stack, terms = [term], self.terms_of
        while stack:
            at = stack[-1]
            if self._terms.variables(at) and self._terms.is_closed(at, self._level):
                terms[at] = at
            if at in terms:
                stack.pop()
                continue
            node = self._terms.nodes[at]
            waiting = [arg for arg in node.args if arg not in terms]
            stack += waiting
            if not waiting:
                terms[at] = self._built(at, node)
        return terms[term]

    def _built(self, term: int, node: Node) -> int:
        terms, head = self._terms, node.head
        args, fact = tuple([self.terms_of[arg] for arg in node.args]), terms.outside(node.fact)
        if head.name == "variable" and head.key[0] >= self._level:
            # A variable of this body that has no value here, such as the number of the iteration by
            # which draws are told apart.
            if head.key[1] == "iteration" or head.key[0] == self._level:
                raise _Open
            # One loop around it is gone, so bodies inside are one level less deep.
            moved = head._replace(key=(head.key[0] - self._ends, *head.key[1:]))
            return terms.add(moved, fact=fact)
        if not self._values.keys().isdisjoint(terms.variables(term)):
            raise _Open  # its body has variables of the same names
        if args == node.args:
            if head.name == "elements":
                raise _Open
            return term
        if not head.version and head.name != "declared":
            raise _Open
        if head.name == "If":
            if (chosen := chosen_by(terms, head, args, node.output)) is not None:
                return chosen
            fact = common([terms.fact(args[first + node.output]) for _, _, first, _ in head.key])
        elif head.key is None:
            kinds = {terms.fact(arg).elem_type for arg in args if arg != ABSENT}
            is_whole = kinds.isdisjoint((0, 1, 10, 11, 16))
            results = None if rounds(head, is_whole=is_whole) else folded(terms, head, args)
            if results is not None:
                return terms.constant(results[node.output])
            fact = fact_of_output(terms, head, args, node.output)
        return terms.add(head, args, fact, node.output)

    def ran(self, outputs: Args) -> set[int]:
        """Terms that an iteration computes, since its outputs need them, or chosen branches."""
        # Not all nodes of a body: loops with other nodes that nothing reads may have these outputs.
        terms, visited, stack = self._terms, set[int](), [*outputs]
        while stack:
            at = stack.pop()
            if at in visited or self.into(at) == at:
                continue
            visited.add(at)
            head, args, number, _ = terms.nodes[at]
            if head.key is None:
                stack += args
            elif head.name == "If":
                chosen = chosen_by(terms, head, (self.into(args[0]), *args[1:]), number)
                stack += [args[0], *([] if chosen is None else [chosen])]
            elif terms.variables(at):
                stack += parts(terms.nodes[at]).operands
        return {self.into(at) for at in visited}


def chosen_by(terms: Terms, head: Head, args: tuple[int, ...], output: int) -> int | None:
    """Output of the branch of an If that a constant chooses."""
    tensor = terms.tensor(args[0])
    if tensor is None or tensor.size != 1:
        return None
    holds = bool(tensor.numpy().all())
    ((_, _, first, count),) = [mark for mark in head.key if BRANCHES[mark[0]] is holds]
    return args[first + output] if output < count else None


def folded(terms: Terms, head: Head, args: tuple[int, ...]) -> list[Array] | None:
    """Outputs of an operator on constants; over the reals only those that are not rounded."""
    arrays = terms.arrays(args)
    if [array is None for array in arrays] != [arg == ABSENT for arg in args]:
        return None
    results = fold(head, arrays)
    is_exact = not terms.is_real or (results is not None and is_real(head, arrays, results))
    return results if is_exact else None


def values_in(terms: Terms, loop: Parts, ends: Args, new: dict[int, int]) -> list[int] | None:
    """Outputs of a body with other terms in place of known ones; None where a variable has none."""
    inner = _Values(terms, dict.fromkeys(loop.variables, ABSENT), ends=False)
    inner.terms_of = {**new, ABSENT: ABSENT}
    try:
        return [inner.into(output) for output in ends]
    except _Open:
        return None


def states_of(node: Node) -> int:
    """Number of outputs of a body that are states, or the condition of a Loop."""
    count = len(parts(node).operands)
    return count - 1 if node.head.name == "Loop" else count - node.head.integer("num_scan_inputs")


def level_of(terms: Terms, node: Node) -> int:
    """Level of the variables of a loop."""
    return min([terms.nodes[each].head.key[0] for each in parts(node).variables], default=0)
