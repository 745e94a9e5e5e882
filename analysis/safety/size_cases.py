"""Cases of sizes in which a condition holds, or does not.

    c = Greater (n, one)     # n: the size N
    c holds: N is 2 and a symbol for the rest; c does not hold: N is 0, or N is 1

A branch that fails exactly where the other one is taken may run in all cases of its own condition.
What cannot be told of a condition makes no case smaller, so the cases always cover every run.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import onnx

from ...facts.bounds import Bounds, Known, known
from ...facts.fact import PRIVATE, Content, Fact
from ...facts.polynomial import Dimension
from ...ir import Graph, Node, Value
from ..shapes.inference import ShapeInference

Sizes = Mapping[str, Dimension]
"""Sizes by symbol."""

NO_CASE: Sizes = {}
"""The case of all runs."""

_MOST_CASES = 8
"""Limit of cases of one condition; it makes none beyond."""
_MOST_STEPS = 256
"""Limit of nodes that are read for a condition; what lies beyond makes no cases."""
_ZERO = Dimension.constant(0)
_SAME = ("Identity", "Squeeze", "Unsqueeze", "Reshape")
"""Operators that move the one element of a condition."""


def size_cases(
    conditions: Iterable[tuple[Value, bool]], inference: ShapeInference
) -> Sequence[Sizes]:
    """Cases that cover all runs in which conditions have truth values; none if they never have.

    Args:
        conditions: tensors of one element, each with its truth value.
    """
    reader, cases = _Reader(inference), [NO_CASE]
    for condition, holds in conditions:
        cases = [case for own in cases for case in reader.cases(condition, holds, own)]
        cases = cases if len(cases) <= _MOST_CASES else [NO_CASE]
    return cases


def conditions_around(graph: Graph) -> Iterator[tuple[Value, bool]]:
    """Yield the conditions of the Ifs around a graph, with their truth values there."""
    holder = graph.holder
    while holder is not None and holder.graph is not None:
        condition = holder.input(0)
        if holder.is_op("If") and condition is not None:
            yield condition, graph is holder.body("then_branch")
        graph, holder = holder.graph, holder.graph.holder


def replaced(value: Known, sizes: Sizes) -> Known:
    """Facts in one case."""
    fact, bounds = value.fact, value.bounds
    shape = None if fact.shape is None else tuple([dim.replaced(sizes) for dim in fact.shape])
    content = None if fact.content is None else _content(fact.content, sizes)
    if bounds is not None:
        bounds = Bounds(bounds.low.replaced(sizes), bounds.high.replaced(sizes))
    return known(Fact(fact.elem_type, shape, content, fact.other, fact.count), bounds)


def _content(content: Content, sizes: Sizes) -> Content:
    result = content.copy()
    flat = result.reshape(-1)
    for index, part in enumerate(flat):
        if isinstance(part, Dimension):
            flat[index] = part.replaced(sizes)
    return result


class _Reader:
    """Reader of the conditions of one model."""

    def __init__(self, inference: ShapeInference) -> None:
        self._inference = inference
        self._steps = 0

    def cases(self, value: Value, holds: bool, sizes: Sizes) -> Sequence[Sizes]:
        """Cases within one case."""
        node, content = value.producer, self._inference.fact(value).content
        truth = None if content is None or content.size != 1 else content.reshape(-1)[0]
        if isinstance(truth, bool):
            # A condition that never has this truth value makes no case.
            return [sizes] if truth is holds else []
        self._steps += 1
        if node is None or self._steps > _MOST_STEPS:
            return [sizes]
        operands = [operand for operand in node.inputs if operand is not None]
        if node.is_op(*_SAME) or (node.is_op("Cast") and self._is_truth(operands[0])):
            return self.cases(operands[0], holds, sizes)
        if node.is_op("Not"):
            return self.cases(operands[0], not holds, sizes)
        # And holds only if both operands hold, Or fails only if both fail.
        if node.is_op("And", "Or"):
            return self._joined(operands, holds, node.is_op("And") is holds, sizes)
        return self._compared(node, holds, sizes)

    def _is_truth(self, value: Value) -> bool:
        return self._inference.fact(value).elem_type == onnx.TensorProto.BOOL

    def _joined(
        self, operands: Iterable[Value], holds: bool, together: bool, sizes: Sizes
    ) -> Sequence[Sizes]:
        """Cases of operands that have a truth value together, or one of which has it."""
        if not together:
            every = [case for each in operands for case in self.cases(each, holds, sizes)]
            # One operand that tells nothing makes the cases of the others useless.
            return [sizes] if sizes in every else _few(every, sizes)
        cases: Sequence[Sizes] = [sizes]
        for each in operands:
            cases = _few([case for own in cases for case in self.cases(each, holds, own)], sizes)
        return cases

    def _compared(self, node: Node, holds: bool, sizes: Sizes) -> Sequence[Sizes]:
        """Cases of a comparison of two numbers, or of a number with 0."""
        numbers = list(map(self._inference.number, node.inputs))
        # Cast to bool tests for a number other than 0.
        if node.is_op("Cast"):
            numbers.append(_ZERO)
        if len(numbers) != 2 or None in numbers:
            return [sizes]
        one, other = (number.replaced(sizes) for number in numbers if number is not None)
        if node.is_op("Equal", "Cast"):
            equal = node.is_op("Equal") is holds
            return _few(_equal(one - other) if equal else _unequal(one - other), sizes)
        if node.is_op("Less", "GreaterOrEqual"):
            one, other = other, one
        elif not node.is_op("Greater", "LessOrEqual"):
            return [sizes]
        # Now it is whether the first number is greater, or else not.
        greater = node.is_op("Greater", "Less") is holds
        return _few(_not_negative(one - other - 1 if greater else other - one), sizes)


def _few(cases: Sequence[Sizes], sizes: Sizes) -> Sequence[Sizes]:
    """Cases within one case, or that one if there are too many."""
    if len(cases) > _MOST_CASES:
        return [sizes]
    # Sizes of the outer case must be those of the inner one, too.
    inside = [{name: size.replaced(case) for name, size in sizes.items()} for case in cases]
    return [{**case, **own} for case, own in zip(cases, inside, strict=True)]


def _equal(number: Dimension) -> Sequence[Sizes]:
    """Cases in which a number is 0."""
    if number.equals(0) is False:
        return []
    for name, factor, rest in _linear(number):
        # factor * N + rest is 0 for one size at most, as rest is a number.
        if rest.value is not None:
            fits = rest.value % factor == 0 and -rest.value // factor >= 0
            return [{name: Dimension.constant(-rest.value // factor)}] if fits else []
        size = rest * -factor
        if abs(factor) == 1 and size.less(0) is False:
            return [{name: size}]
    return _not_negative(number if number.at_most == 0 else -number)


def _unequal(number: Dimension) -> Sequence[Sizes]:
    """Cases in which a number is not 0."""
    return [*_not_negative(number - 1), *_not_negative(-number - 1)]


def _not_negative(number: Dimension) -> Sequence[Sizes]:
    """Cases in which a number is 0 or more."""
    negative = number.less(0)
    if negative is not None:
        return [] if negative else [{}]
    for name, factor, rest in _linear(number):
        # N is at least -rest / factor, rounded up.
        if rest.value is not None and factor > 0:
            return [{name: Dimension.symbol(name, -(rest.value // factor))}]
        # Here N has an upper bound: each size up to it is a case.
        if rest.value is not None and rest.value // -factor < _MOST_CASES:
            return [{name: Dimension.constant(n)} for n in range(rest.value // -factor + 1)]
        if factor == 1 and (-rest).less(0) is False:
            beyond = Dimension.symbol(f"{PRIVATE}{name} beyond {-rest}")
            return [{name: beyond - rest}]
    return _none_of(number) or [{}]


def _none_of(number: Dimension) -> Sequence[Sizes]:
    """Cases in which a sum of products of sizes is 0, or more than 0."""
    constant, products = number.terms.get((), 0), [m for m in number.terms if m]
    factors = {number.terms[m] for m in products}
    if max(factors) < 0 and constant < -max(factors):
        cases: list[Sizes] = [{}]
        for names in products:
            cases = [{**case, name: _ZERO} for case in cases for name in dict.fromkeys(names)]
        return cases
    if min(factors) > 0 and -min(factors) <= constant < 0:
        return [{name: Dimension.symbol(name, 1) for name in names} for names in products]
    return []


def _linear(number: Dimension) -> Iterable[tuple[str, int, Dimension]]:
    """Yield symbols of which a number is a multiple and a rest without them."""
    for names, factor in number.terms.items():
        if len(names) == 1:
            rest = number - Dimension({names: factor})
            # A rest with the same symbol, as in N + N*M, cannot be solved for it.
            if names[0] not in rest.symbols:
                yield names[0], factor, rest
