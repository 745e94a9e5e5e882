"""Symbolic rules of the operators in cells, over rows of sums."""

import functools
import itertools
from collections.abc import Callable

from ....facts.fact import Shape
from ....facts.magnitudes import LAST_OF_32_BITS
from ....ir import Node, Value
from ....ops.composite import PARAMETERS
from ..layers import required_input
from ..weights import Unfit
from .column_sums import Row, cut, is_broad, map_parts
from .polynomials import Activation, Sum, number
from .symbolic_cell import Interpretation, Rule


def _rows(of: Interpretation, node: Node) -> list[Row]:
    return [of.row(required_input(node, index)) for index in range(len(node.inputs))]


def _identity(of: Interpretation, node: Node) -> list[Row]:
    return [of.row(required_input(node, 0))]


def _cast(of: Interpretation, node: Node) -> list[Row]:
    """Pass on an operand of the type that the Cast gives."""
    if of.recurrence.fact(required_input(node, 0)).elem_type != node.attribute("to"):
        raise Unfit(f"is converted to another type by {node}")
    return _identity(of, node)


def _elementwise(make: Callable[[Sum, Sum], Sum]) -> Rule:
    def rule(of: Interpretation, node: Node) -> list[Row]:
        return [functools.reduce(lambda one, other: of.combine(make, one, other), _rows(of, node))]

    return rule


def _negate(of: Interpretation, node: Node) -> list[Row]:
    return [map_parts(of.row(required_input(node, 0)), lambda total: total.times(-1.0))]


def _divide(of: Interpretation, node: Node) -> list[Row]:
    def quotient(one: Sum, other: Sum) -> Sum:
        divisor = other.number
        return one.times(1.0 / divisor) if divisor else one * _inverse(of, other, node)

    return [of.combine(quotient, *_rows(of, node))]


def _reciprocal(of: Interpretation, node: Node) -> list[Row]:
    return [map_parts(of.row(required_input(node, 0)), lambda total: _inverse(of, total, node))]


def _inverse(of: Interpretation, total: Sum, node: Node) -> Sum:
    """Match 1 / (1 + exp(x)), which is the sigmoid of -x."""
    rest = total - number(1.0)
    if len(rest.terms) == 1:
        ((monomial, factor),) = rest.terms.items()
        atom = of.atoms.alone(monomial)
        if factor == 1.0 and isinstance(atom, Activation) and atom.kind == "Exp":
            return of.atoms.of(Activation("Sigmoid", 0.0, 0.0, atom.argument.times(-1.0)))
    raise Unfit(f"divides by a value other than 1 + exp(x): it holds {node}")


def _activation(kind: str) -> Rule:
    """The rule of an activation whose parameters are attributes."""
    defaults = dict(zip(("alpha", "beta"), PARAMETERS.get(kind, ()), strict=False))

    def rule(of: Interpretation, node: Node) -> list[Row]:
        values = [float(node.attribute(name, default)) for name, default in defaults.items()]
        return [of.apply(of.row(required_input(node, 0)), kind, *values)]

    return rule


def _clip(of: Interpretation, node: Node) -> list[Row]:
    """Match a Clip from 0 to 1 as HardSigmoid, from 0 on as Relu."""
    bounds = [_bound(of, node, name, index) for name, index in (("min", 1), ("max", 2))]
    row = of.row(required_input(node, 0))
    if bounds == [0.0, None]:
        return [of.apply(row, "Relu")]
    if bounds != [0.0, 1.0]:
        raise Unfit(f"holds {node}, whose bounds are not 0 and 1")

    def hard(total: Sum) -> Sum:
        shift = total.terms.get((), 0.0)
        return of.atoms.of(Activation("HardSigmoid", 1.0, shift, total - number(shift)))

    return [map_parts(row, hard)]


def _bound(of: Interpretation, node: Node, name: str, index: int) -> float | None:
    attribute = node.attribute(name)
    if attribute is not None:
        return float(attribute)
    value = node.input(index)
    if value is None:
        return None
    row = of.row(value)
    if not is_broad(row) or row[0][0].number is None:
        raise Unfit(f"holds {node}, whose bounds are known only at run time")
    return row[0][0].number


def _max(of: Interpretation, node: Node) -> list[Row]:
    """Match a Max with 0 as Relu."""
    if len(node.inputs) == 2:
        rows = _rows(of, node)
        for row, other in (rows, rows[::-1]):
            if is_broad(other) and other[0][0].number == 0.0:
                return [of.apply(row, "Relu")]
    raise Unfit(f"is not an activation of an affine form: it holds {node}")


def _select(of: Interpretation, node: Node) -> list[Row]:
    """Pass on the operand of a masked Where in live iterations."""
    value = None if of.mask is None else of.mask.operand(node)
    if value is None:
        raise Unfit(f"is chosen by {node}, which is not a mask that keeps it")
    return [of.row(value)]


# Products ----------------------------------------------------------------------------------------


def _matmul(of: Interpretation, node: Node) -> list[Row]:
    one, other = required_input(node, 0), required_input(node, 1)
    column = of.transposed or (len(of.shape(other)) == 1 and len(of.shape(one)) == 2)
    if column:
        return [of.multiply(of.row(other), of.matrix(one).transpose())]
    return [of.multiply(of.row(one), of.matrix(other))]


def _gemm(of: Interpretation, node: Node) -> list[Row]:
    flips = [bool(node.attribute(name, 0)) for name in ("transA", "transB")]
    source, weight = (1, 0) if of.transposed else (0, 1)
    if flips[source]:
        raise Unfit(f"holds {node}, which transposes a value other than a weight")
    matrix = of.matrix(required_input(node, weight))
    matrix = matrix.transpose() if flips[weight] != of.transposed else matrix
    product = of.multiply(of.row(required_input(node, source)), matrix)
    alpha, beta = (float(node.attribute(name, 1.0)) for name in ("alpha", "beta"))
    row = map_parts(product, lambda total: total.times(alpha))
    addend = node.input(2)
    if addend is None:
        return [row]
    return [of.combine(lambda one, other: one + other.times(beta), row, of.row(addend))]


# Movement ----------------------------------------------------------------------------------------


def _require_elements_axis(of: Interpretation, node: Node, axis: int, value: Value) -> None:
    if not of.is_along_elements(value, axis):
        raise Unfit(f"is cut or joined along its batch by {node}")


def _split(of: Interpretation, node: Node) -> list[Row]:
    value = required_input(node, 0)
    _require_elements_axis(of, node, node.attribute("axis", 0), value)
    sizes = node.attribute("split")
    if sizes is None and node.input(1) is not None:
        sizes = of.numbers(node.input(1))
    if sizes is None:
        width, count = of.width(value), len(node.outputs)
        each = -(-width // count)
        sizes = [each] * (count - 1) + [width - each * (count - 1)]
    row = of.row(value)
    ends = list(itertools.accumulate(sizes, initial=0))
    return [cut(of.atoms, row, start, stop) for start, stop in itertools.pairwise(ends)]


def _slice(of: Interpretation, node: Node) -> list[Row]:
    value = required_input(node, 0)
    if node.attribute("starts") is not None:
        bounds = [node.attribute(name) for name in ("starts", "ends", "axes")]
    else:
        operands = [node.input(index) for index in (1, 2, 3, 4)]
        bounds = [None if v is None else of.numbers(v) for v in operands]
    starts, ends, axes, *more = bounds
    steps = (more[0] if more else None) or [1] * len(starts)
    cuts = zip(axes or range(len(starts)), starts, ends, steps, strict=True)
    shape = of.recurrence.fact(value).shape or ()
    partial = [each for each in cuts if not _is_whole(_size(shape, each[0]), *each[1:])]
    if len(partial) > 1 or any(step != 1 for *_, step in partial):
        raise Unfit(f"is cut by {node} along several axes or in steps")
    row, width = of.row(value), of.width(value)
    for axis, first, last, _ in partial:
        _require_elements_axis(of, node, axis, value)
        start, stop, _ = slice(first, last).indices(width)
        row = cut(of.atoms, row, start, stop)
    return [row]


def _size(shape: Shape, axis: int) -> int | None:
    return shape[axis].value if -len(shape) <= axis < len(shape) else None


def _is_whole(size: int | None, start: int, end: int, step: int) -> bool:
    """Test for bounds that keep an axis; its size is None where it is not known."""
    if size is None:
        return start == 0 and end >= LAST_OF_32_BITS and step == 1
    return slice(start, end, step).indices(size) == (0, size, 1)


def _concat(of: Interpretation, node: Node) -> list[Row]:
    parts: list[tuple[Sum, int]] = []
    for index in range(len(node.inputs)):
        value = required_input(node, index)
        _require_elements_axis(of, node, node.attribute("axis"), value)
        row, width = of.row(value), of.width(value)
        parts += [(row[0][0], width)] if is_broad(row) else row
    return [tuple(parts)]


def _reshape(of: Interpretation, node: Node) -> list[Row]:
    """Match changes of axes of size 1; the batch axes must stay."""
    value = required_input(node, 0)
    one, other = of.shape(value), of.shape(node.output())
    same = one and other and of.lead_of(one) == of.lead_of(other)
    if not same or of.width(value) != of.width(node.output()):
        raise Unfit(f"is reshaped by {node}")
    return [of.row(value)]


RULES: dict[str, Rule] = {
    "Identity": _identity,
    "Cast": _cast,
    "Add": _elementwise(Sum.__add__),
    "Sub": _elementwise(Sum.__sub__),
    "Mul": _elementwise(Sum.__mul__),
    "Div": _divide,
    "Reciprocal": _reciprocal,
    "Sum": _elementwise(Sum.__add__),
    "Neg": _negate,
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Split": _split,
    "Slice": _slice,
    "Concat": _concat,
    "Squeeze": _reshape,
    "Unsqueeze": _reshape,
    "Reshape": _reshape,
    **{
        kind: _activation(kind)
        for kind in (
            *("Sigmoid", "Tanh", "Relu", "Exp", "Softsign", "Softplus"),
            *("LeakyRelu", "ThresholdedRelu", "Elu", "HardSigmoid"),
        )
    },
    "Clip": _clip,
    "Max": _max,
    "Where": _select,
}
"""The rules by operator; an operator without a rule is not a part of a cell."""
