"""What each operator makes of sums of products: a rule for each that may stand in a cell."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from ....ir import Node, Value
from ..weights import Unfit
from .column_sums import Row, is_broad, map_parts
from .polynomials import Activation, Sum, number
from .symbolic_cell import Interpretation, Rule


def _given(node: Node, index: int) -> Value:
    value = node.input(index)
    if value is None:
        raise Unfit(f"holds {node} without its input {index}")
    return value


def _identity(of: Interpretation, node: Node) -> list[Row]:
    return [of.row(_given(node, 0))]


def _elementwise(make: Callable[[Sum, Sum], Sum]) -> Rule:
    def rule(of: Interpretation, node: Node) -> list[Row]:
        pairs = of.pair(_given(node, 0), _given(node, 1))
        return [tuple([(make(one, other), width) for one, other, width in pairs])]

    return rule


def _sum(of: Interpretation, node: Node) -> list[Row]:
    row = of.row(_given(node, 0))
    for index in range(1, len(node.inputs)):
        pairs = of.align(row, of.row(_given(node, index)))
        row = tuple([(one + other, width) for one, other, width in pairs])
    return [row]


def _negated(of: Interpretation, node: Node) -> list[Row]:
    return [map_parts(of.row(_given(node, 0)), lambda total: total.times(-1.0))]


def _divided(of: Interpretation, node: Node) -> list[Row]:
    pairs = of.pair(_given(node, 0), _given(node, 1))
    return [tuple([(_quotient(of, one, other, node), width) for one, other, width in pairs])]


def _quotient(of: Interpretation, one: Sum, other: Sum, node: Node) -> Sum:
    divisor = other.number
    if divisor:
        return one.times(1.0 / divisor)
    return one * _inverse(of, other, node)


def _reciprocal(of: Interpretation, node: Node) -> list[Row]:
    return [map_parts(of.row(_given(node, 0)), lambda total: _inverse(of, total, node))]


def _inverse(of: Interpretation, total: Sum, node: Node) -> Sum:
    """1 / (1 + exp(x)), which is the sigmoid of -x."""
    rest = total - number(1.0)
    if len(rest.terms) == 1:
        ((monomial, factor),) = rest.terms.items()
        atom = of.atoms.alone(monomial)
        if factor == 1.0 and isinstance(atom, Activation) and atom.kind == "Exp":
            return of.atoms.of(Activation("Sigmoid", 0.0, 0.0, atom.argument.times(-1.0)))
    raise Unfit(f"divides by what is not 1 + exp(x): it holds {node}")


def _activated(kind: str, *parameters: tuple[str, float]) -> Rule:
    """An activation whose parameters are attributes with these defaults."""

    def rule(of: Interpretation, node: Node) -> list[Row]:
        values = [float(node.attribute(name, default)) for name, default in parameters]
        return [of.apply(of.row(_given(node, 0)), kind, *values)]

    return rule


def _clipped(of: Interpretation, node: Node) -> list[Row]:
    """Between 0 and 1 it is a HardSigmoid, from 0 on a Relu."""
    bounds = [_bound(of, node, name, index) for name, index in (("min", 1), ("max", 2))]
    row = of.row(_given(node, 0))
    if bounds == [0.0, None]:
        return [of.apply(row, "Relu")]
    if bounds != [0.0, 1.0]:
        raise Unfit(f"holds {node}, whose bounds are not 0 and 1")
    return [map_parts(row, lambda total: _hard(of, total))]


def _hard(of: Interpretation, total: Sum) -> Sum:
    shift = total.terms.get((), 0.0)
    return of.atoms.of(Activation("HardSigmoid", 1.0, shift, total - number(shift)))


def _bound(of: Interpretation, node: Node, name: str, index: int) -> float | None:
    given = node.attribute(name)
    if given is not None:
        return float(given)
    value = node.input(index)
    if value is None:
        return None
    row = of.row(value)
    if not is_broad(row) or row[0][0].number is None:
        raise Unfit(f"holds {node}, whose bounds only run time tells")
    return row[0][0].number


def _largest(of: Interpretation, node: Node) -> list[Row]:
    """Max with 0 is a Relu."""
    if len(node.inputs) == 2:
        rows = [of.row(_given(node, index)) for index in (0, 1)]
        for row, other in (rows, rows[::-1]):
            if is_broad(other) and other[0][0].number == 0.0:
                return [of.apply(row, "Relu")]
    raise Unfit(f"is not an activation of an affine form: it holds {node}")


def _chosen(of: Interpretation, node: Node) -> list[Row]:
    """Where by the mask of the states gives one of its branches on the trips that count."""
    taken = None if of.mask is None else of.mask.operand(node)
    if taken is None:
        raise Unfit(f"is chosen by {node}, which is no mask that keeps it")
    return [of.row(taken)]


# Products ----------------------------------------------------------------------------------------


def _matmul(of: Interpretation, node: Node) -> list[Row]:
    left, right = _given(node, 0), _given(node, 1)
    column = of.transposed or (len(of.shape(right)) == 1 and len(of.shape(left)) == 2)
    if column:
        return [of.multiply(of.row(right), of.matrix(left).transpose())]
    return [of.multiply(of.row(left), of.matrix(right))]


def _gemm(of: Interpretation, node: Node) -> list[Row]:
    flips = [bool(node.attribute(name, 0)) for name in ("transA", "transB")]
    source, weight = (1, 0) if of.transposed else (0, 1)
    if flips[source]:
        raise Unfit(f"holds {node}, which turns what is no weight")
    matrix = of.matrix(_given(node, weight))
    matrix = matrix.transpose() if flips[weight] != of.transposed else matrix
    product = of.multiply(of.row(_given(node, source)), matrix)
    alpha, beta = (float(node.attribute(name, 1.0)) for name in ("alpha", "beta"))
    row = map_parts(product, lambda total: total.times(alpha))
    addend = node.input(2)
    if addend is None:
        return [row]
    pairs = of.align(row, of.row(addend))
    return [tuple([(one + other.times(beta), width) for one, other, width in pairs])]


# Movement ----------------------------------------------------------------------------------------


def _along(of: Interpretation, node: Node, axis: int, value: Value) -> None:
    """Require that an axis is that of the elements."""
    rank = len(of.shape(value))
    if axis % rank != of.axis(rank):
        raise Unfit(f"is cut or joined along its batch by {node}")


def _split(of: Interpretation, node: Node) -> list[Row]:
    value = _given(node, 0)
    _along(of, node, node.attribute("axis", 0), value)
    sizes = node.attribute("split")
    if sizes is None and node.input(1) is not None:
        sizes = of.numbers(node.input(1))
    if sizes is None:
        width, count = of.width(value), len(node.outputs)
        each = -(-width // count)
        sizes = [each] * (count - 1) + [width - each * (count - 1)]
    row = of.row(value)
    ends = list(itertools.accumulate(sizes, initial=0))
    return [of.cut(row, start, stop) for start, stop in itertools.pairwise(ends)]


def _slice(of: Interpretation, node: Node) -> list[Row]:
    value = _given(node, 0)
    if node.attribute("starts") is not None:
        bounds = [node.attribute(name) for name in ("starts", "ends", "axes")]
    else:
        given = [node.input(index) for index in (1, 2, 3, 4)]
        bounds = [None if v is None else of.numbers(v) for v in given]
    starts, ends, axes, *steps = bounds
    if len(starts) != 1 or (steps and steps[0] not in (None, [1])):
        raise Unfit(f"is cut by {node} along several axes or in steps")
    _along(of, node, axes[0] if axes else 0, value)
    width = of.width(value)
    start, stop, _ = slice(starts[0], ends[0]).indices(width)
    return [of.cut(of.row(value), start, stop)]


def _concat(of: Interpretation, node: Node) -> list[Row]:
    parts: list[tuple[Sum, int]] = []
    for index in range(len(node.inputs)):
        value = _given(node, index)
        _along(of, node, node.attribute("axis"), value)
        row, width = of.row(value), of.width(value)
        parts += [(row[0][0], width)] if is_broad(row) else row
    return [tuple(parts)]


def _reshaped(of: Interpretation, node: Node) -> list[Row]:
    """Axes of size 1 come and go; that the batch stays is looked at for what depends on states."""
    value = _given(node, 0)
    one, other = of.shape(value), of.shape(node.output())
    if not one or not other or of.lead_of(one) != of.lead_of(other):
        raise Unfit(f"is given another shape by {node}")
    if of.width(value) != of.width(node.output()):
        raise Unfit(f"is given another shape by {node}")
    return [of.row(value)]


RULES: dict[str, Rule] = {
    "Identity": _identity,
    "Add": _elementwise(Sum.__add__),
    "Sub": _elementwise(Sum.__sub__),
    "Mul": _elementwise(Sum.__mul__),
    "Div": _divided,
    "Reciprocal": _reciprocal,
    "Sum": _sum,
    "Neg": _negated,
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Split": _split,
    "Slice": _slice,
    "Concat": _concat,
    "Squeeze": _reshaped,
    "Unsqueeze": _reshaped,
    "Reshape": _reshaped,
    "Sigmoid": _activated("Sigmoid"),
    "Tanh": _activated("Tanh"),
    "Relu": _activated("Relu"),
    "Exp": _activated("Exp"),
    "Softsign": _activated("Softsign"),
    "Softplus": _activated("Softplus"),
    "LeakyRelu": _activated("LeakyRelu", ("alpha", 0.01)),
    "ThresholdedRelu": _activated("ThresholdedRelu", ("alpha", 1.0)),
    "Elu": _activated("Elu", ("alpha", 1.0)),
    "HardSigmoid": _activated("HardSigmoid", ("alpha", 0.2), ("beta", 0.5)),
    "Clip": _clipped,
    "Max": _largest,
    "Where": _chosen,
}
"""By the name of the operator; what has no rule is no part of a cell."""
