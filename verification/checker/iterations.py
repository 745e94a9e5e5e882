"""Iterations of a Loop or Scan whose number is known, as terms without a loop.

    Loop (3, true, x) { s = Tanh (s) }     Tanh (Tanh (Tanh (x)))

A body is terms over variables. An iteration has values in their place, and what follows from
constants is computed on the way, since the condition of a Loop and the branches of an If may.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...ir import Array
from .execution import BRANCHES
from .folding import fold, is_real, rounds
from .inference import common, fact_of_output
from .rows import apply
from .terms import ABSENT, Fact, Head, Node, Terms

_MOST = 1 << 8
OF_INPUTS = ("scan_input_axes", "scan_input_directions")
OF_ROWS = ("scan_output_axes", "scan_output_directions")


class _Open(Exception):
    """A term cannot be followed through an iteration."""


class Parts(NamedTuple):
    """Parts of the node of a loop."""

    operands: tuple[int, ...]
    variables: tuple[int, ...]
    outputs: tuple[int, ...]


def parts(node: Node) -> Parts:
    """Operands of a loop, and the variables and outputs of its body."""
    _, count, first, _, *_ = node.head.key[-1]
    last = first + count
    args = node.args
    return Parts(args[:first], args[first:last], args[last:])


def iterations(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Take a Loop or Scan that certainly ends as the iterations that it makes."""
    own, head = terms.add(node.head, node.args, fact, node.output), node.head
    count, ran, each = states_of(node) - (head.name == "Loop"), list[int](), list[int]()
    steps = (_looped if head.name == "Loop" else _scanned)(terms, node, ran)
    rows, states = list[int](), parts(node).operands[2 * (head.name == "Loop") :]
    try:
        for each in steps:
            states, number = tuple(each[:count]), node.output
            rows += each[number : number + 1]
    except _Open:
        return None
    number = node.output - count
    if number < 0:
        derived = states[node.output]
    else:
        axis, is_back = ((head.integers(name) or [0] * (number + 1))[number] for name in OF_ROWS)
        # Rows of no iteration have sizes that nothing here computes.
        if not rows or axis < 0:
            return None
        derived = stacked(terms, rows[::-1] if is_back else rows, axis)
    # Where the loop has a value, all its iterations ran: their nodes did not fail.
    terms.implied += [(own, term) for term in ran]
    return derived


def stacked(terms: Terms, rows: Sequence[int], axis: int) -> int:
    """Concatenation of terms along a new axis."""
    place = terms.constant(np.array([axis], np.int64))
    lines = [apply(terms, "Unsqueeze", row, place) for row in rows]
    return apply(terms, "Concat", *lines, axis=axis) if len(lines) > 1 else lines[0]


def _looped(terms: Terms, node: Node, ran: list[int]) -> Iterator[list[int]]:
    """States and rows of each iteration of a Loop."""
    loop = parts(node)
    limit, condition = (*loop.operands, ABSENT, ABSENT)[:2]
    limits = terms.numbers(limit) if limit != ABSENT else [_MOST + 1]
    # onnxruntime passes vectors of one element where the body declares them, and results follow.
    scalars = terms.fact(loop.variables[0]).shape == () and _has_scalar(terms, loop)
    if not scalars or limits is None or len(limits) != 1:
        raise _Open
    states, going = loop.operands[2:], condition == ABSENT or _truth(terms, condition)
    for number in range(limits[0]):
        if not going and condition == ABSENT:
            raise _Open  # by ONNX the Loop goes on, in onnxruntime 1.32 it ends
        if not going:
            break
        first = terms.constant(np.array(number, np.int64)), terms.constant(np.array(True))
        again, *results = _iteration(terms, node, (*first, *states), number, ran)
        going, states = _truth(terms, again), tuple(results[: len(states)])
        yield results


def _has_scalar(terms: Terms, loop: Parts) -> bool:
    """Test for a condition without axes in each iteration."""
    return len(loop.variables) > 1 and terms.fact(loop.variables[1]).shape == ()


def _has_one_reading(terms: Terms, loop: Parts) -> bool:
    """Test that a Loop has a condition, or that its body never ends it.

    By ONNX the body's condition is ignored where the Loop has none; onnxruntime 1.32 obeys it.
    """
    again = loop.outputs[0]
    tensor = terms.tensor(again)
    return (
        (*loop.operands, ABSENT, ABSENT)[1] != ABSENT
        or terms.find(again) == terms.find(loop.variables[1])
        or (tensor is not None and bool(tensor.numpy().all()))
    )


def _truth(terms: Terms, condition: int) -> bool:
    """Value of a condition that is known."""
    tensor = terms.tensor(condition)
    if tensor is None or tensor.dims:
        raise _Open
    return bool(tensor.numpy())


def _scanned(terms: Terms, node: Node, ran: list[int]) -> Iterator[list[int]]:
    """States and rows of each iteration of a Scan."""
    count, operands = states_of(node), parts(node).operands
    states, inputs = operands[:count], operands[count:]
    axes, flags = (node.head.integers(name) or [0] * len(inputs) for name in OF_INPUTS)
    shapes = [terms.fact(each).shape or () for each in inputs]
    sizes = [s[k] if 0 <= k < len(s) else None for s, k in zip(shapes, axes, strict=True)]
    size = sizes[0] if sizes else None
    # Scan 8 has another batch of rows; scan inputs of different lengths fail at run time.
    if node.head.version < 9 or not isinstance(size, int) or {*sizes} != {size}:
        raise _Open
    for number in range(size):
        places = [size - 1 - number if flag else number for flag in flags]
        indices = [terms.constant(np.array(place, np.int64)) for place in places]
        rows = zip(inputs, indices, axes, strict=True)
        elements = [apply(terms, "Gather", each, k, axis=axis) for each, k, axis in rows]
        results = _iteration(terms, node, (*states, *elements), number, ran)
        states = tuple(results[:count])
        yield results


def _iteration(
    terms: Terms, node: Node, values: Sequence[int], number: int, ran: list[int]
) -> list[int]:
    """Outputs of one iteration. Each node of the body runs in it."""
    loop = parts(node)
    if number >= _MOST or not values or len(values) != len(loop.variables):
        raise _Open
    inner = _Values(terms, dict(zip(loop.variables, values, strict=True)))
    ran += inner.ran((*loop.variables, *loop.outputs))
    return [inner.into(output) for output in loop.outputs]


class _Values:
    """Values of the variables of a body."""

    def __init__(self, terms: Terms, values: dict[int, int], *, ends: bool = True) -> None:
        self._terms, self._values, self.terms_of, self._ends = terms, values, dict(values), ends
        self._level = min(terms.nodes[each].head.key[0] for each in values)

    def into(self, term: int) -> int:
        """Term with the values in it."""
        stack, terms = [term], self.terms_of
        while stack:
            at = stack[-1]
            node = self._terms.nodes[at] if at != ABSENT else None
            waiting = [a for a in (node.args if node else ()) if a not in terms and a != ABSENT]
            if at in terms or at == ABSENT or waiting:
                stack += waiting
                if at in terms or at == ABSENT:
                    stack.pop()
                continue
            assert node is not None
            terms[at] = self._built(at, node)
            stack.pop()
        return ABSENT if term == ABSENT else terms[term]

    def _built(self, term: int, node: Node) -> int:
        terms, head = self._terms, node.head
        args = tuple([a if a == ABSENT else self.terms_of[a] for a in node.args])
        if head.name == "variable" and head.key[0] >= self._level:
            # A variable of this body that has no value here, such as the number of the iteration by
            # which draws are told apart.
            if head.key[1] == "iteration" or head.key[0] == self._level:
                raise _Open
            # One loop around it is gone, so bodies inside are one level less deep.
            moved = head._replace(key=(head.key[0] - self._ends, *head.key[1:]))
            return terms.add(moved, fact=terms.outside(node.fact))
        if head.name in ("Loop", "Scan") and not self._values.keys().isdisjoint(
            parts(node).variables
        ):
            raise _Open  # its body has variables of the same names
        if args == node.args:
            if head.name == "elements":
                raise _Open
            return term
        if not head.version and head.name != "declared":
            raise _Open
        if head.name == "If":
            chosen = chosen_by(terms, head, args, node.output)
            if chosen is not None:
                return chosen
            outcomes = [args[first + node.output] for _, _, first, _ in head.key]
            return terms.add(
                head, args, common([terms.fact(each) for each in outcomes]), node.output
            )
        if head.key is not None:
            return terms.add(head, args, terms.outside(node.fact), node.output)
        present = [a for a in args if a != ABSENT]
        whole = all(terms.fact(a).elem_type not in (0, 1, 10, 11, 16) for a in present)
        results = None if rounds(head, is_whole=whole) else folded(terms, head, args)
        if results is not None:
            return terms.constant(results[node.output])
        return terms.add(head, args, fact_of_output(terms, head, args, node.output), node.output)

    def ran(self, body: tuple[int, ...]) -> Iterator[int]:
        """Nodes of the original that run in an iteration of a body."""
        for term, branches in self._terms.ran.get(body, ()):
            for condition, name in branches:
                value = self._terms.tensor(self.into(condition)) if name in BRANCHES else None
                if value is None or bool(value.numpy().all()) is not BRANCHES[name]:
                    break
            else:
                yield self.into(term)


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


def known_variables(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Write what variables of a body are in each iteration in their place.

    An iteration of a Loop runs where its condition holds. What keeps its value has the first one.
    """
    loop, first = parts(node), int(node.head.name == "Loop")
    values = {each: each for each in loop.variables}
    if first and _has_scalar(terms, loop) and _has_one_reading(terms, loop):
        values[loop.variables[1]] = terms.constant(np.array(True))
    count = states_of(node) - first
    ends = (each[2 * first :][:count] for each in (loop.operands, loop.variables))
    for operand, variable, output in zip(*ends, loop.outputs[first:], strict=False):
        if terms.find(variable) == terms.find(output):
            values[variable] = operand
    outputs = values_in(terms, loop, loop.outputs, values)
    if outputs is None:
        return None
    args = (*loop.operands, *loop.variables, *outputs)
    derived = terms.add(node.head, args, fact, node.output)
    if args != node.args:
        terms.written[terms.add(*node[:2], fact, node.output)] = derived
    return derived


def values_in(
    terms: Terms, loop: Parts, outputs: Sequence[int], replaced: dict[int, int]
) -> list[int] | None:
    """Outputs of a body with other terms in place of known ones; None where a variable has none."""
    inner = _Values(terms, dict.fromkeys(loop.variables, ABSENT), ends=False)
    inner.terms_of = dict(replaced)
    try:
        return [inner.into(output) for output in outputs]
    except _Open:
        return None


def states_of(node: Node) -> int:
    """Number of outputs of a body that are states, or the condition of a Loop."""
    count = len(parts(node).operands)
    return count - 1 if node.head.name == "Loop" else count - node.head.integer("num_scan_inputs")


def elements_of_list(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Take what reads a sequence as what reads its elements."""
    elements, inserted, at = list[int](), list[int](), node.args[0]
    while at != ABSENT:
        (each,) = [*terms.operators(at, *_SEQUENCES), None][:1]
        is_insert = each is not None and each.head.name == "SequenceInsert"
        if each is None or len(inserted) > _MOST or (is_insert and len(each.args) > 2):
            return None
        at = ABSENT
        if is_insert:
            at, element = each.args
            inserted.append(element)
        elements = [*each.args] if each.head.name == "SequenceConstruct" else []
    elements += inserted[::-1]
    axis, head = node.head.integer("axis"), node.head
    if head.name == "SequenceAt":
        places = terms.numbers(node.args[1])
        fits = places is not None and -len(elements) <= places[0] < len(elements)
        return elements[places[0]] if places and fits else None
    if not elements or axis < 0:
        return None
    if head.integer("new_axis"):
        return stacked(terms, elements, axis)
    return apply(terms, "Concat", *elements, axis=axis)


_SEQUENCES = ("SequenceConstruct", "SequenceEmpty", "SequenceInsert")


def level_of(terms: Terms, node: Node) -> int:
    """Level of the variables of a loop."""
    return min([terms.nodes[each].head.key[0] for each in parts(node).variables], default=0)
