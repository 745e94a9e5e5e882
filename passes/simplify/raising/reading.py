"""Read values as sums: what a chain of elementwise operators and reductions computes.

m = ReduceMean <axes = [-1]> (x)
d = Sub (x, m)                     ->   x^2 - 2 * x * sum(x) / n + sum(x)^2 / n^2
y = Mul (d, d)
"""

import functools
import math
from collections.abc import Callable, Container

from ....analysis.shapes.inference import ShapeInference
from ....facts.attribute_or_input import listed_numbers
from ....facts.fact import Fact, Shape
from ....facts.types import IEEE_FLOATS
from ....ir import Node, Value
from ....ops.axes import reduced
from ....ops.schema_queries import version_of_root
from ....records import entry
from .algebra import ONE, Algebra, Sum, Unreadable

_LARGEST = 1 << 16
"""Most elements of a constant that is tested for equal ones."""

_MOST_PARTS = 16
"""Limit of operands of a Sum: no form has more, and each of them may be a seed that reads all."""

Rule = Callable[["Reading", Node], "Sum | None"]
"""Sum of a node's output; None for one that no sum describes."""

_RULES: dict[str, Rule] = {}
_reads = functools.partial(entry, _RULES)


class Reading:
    """Sums of values that depend on one value, in terms of it and of others.

    Args:
        nodes: the nodes that are read; the outputs of others are atoms.

    Attributes:
        source: the sum of the value.
    """

    def __init__(self, source: Value, nodes: Container[Node], inference: ShapeInference) -> None:
        self.algebra = Algebra()
        self.nodes = nodes
        self._inference = inference
        self.source = self.algebra.of_value(source, self.shape(source))
        self._sums: dict[Value, Sum] = {source: self.source}

    def fact(self, value: Value) -> Fact:
        """The facts about a value."""
        return self._inference.fact(value)

    def shape(self, value: Value) -> Shape | None:
        """The shape of a value; None if its rank is not known."""
        return self._inference.fact(value).shape

    def known_shape(self, value: Value) -> Shape:
        """The shape of a value whose rank must be known."""
        shape = self.shape(value)
        if shape is None:
            raise Unreadable
        return shape

    def of(self, value: Value) -> Sum:
        """Sum of a float tensor."""
        result = self._sums.get(value)
        if result is None:
            result = self._sums[value] = self._read(value)
        return result

    def operand(self, node: Node, index: int) -> Sum:
        """Sum of an operand."""
        value = node.input(index)
        if value is None:
            raise Unreadable
        return self.of(value)

    def axes(self, node: Node) -> tuple[int, ...]:
        """Axes of a reduction, counted from the front."""
        axes = reduced_axes(self._inference, node)
        if axes is None:
            raise Unreadable
        return axes

    def _read(self, value: Value) -> Sum:
        number = uniform_number(value)
        if number is not None:
            # 0 is the sum of no products.
            return {(): number} if number else {}
        node = value.producer
        if node is not None and node in self.nodes:
            try:
                result = _RULES[node.op.qualname](self, node)
            except Unreadable:
                result = None
            if result is not None:
                return result
        return self.algebra.of_value(value, self.shape(value))


def reduced_axes(inference: ShapeInference, node: Node) -> tuple[int, ...] | None:
    """Axes of a reduction, counted from the front; None if unknown, or if there are none."""
    facts = [inference.fact(value) for value in node.inputs if value is not None]
    shape = facts[0].shape if facts else None
    axes = listed_numbers(node, facts, "axes", 1)
    if shape is None or (axes is None and (len(facts) > 1 or "axes" in node.op.attributes)):
        return None
    rank = len(shape)
    if not axes and not node.attribute("noop_with_empty_axes", 0):
        axes = list(range(rank))
    if not axes or not all(-rank <= axis < rank for axis in axes):
        return None
    return tuple(sorted({axis % rank for axis in axes}))


def uniform_number(value: Value) -> float | None:
    """The number that all elements of a float constant equal; None for other values."""
    tensor = value.constant
    if tensor is None or tensor.elem_type not in IEEE_FLOATS:
        return None
    if not 0 < tensor.size <= _LARGEST or not tensor.is_readable:
        return None
    array = tensor.numpy().reshape(-1)
    first = float(array[0])
    # Two elements tell most constants apart before all are compared.
    if not math.isfinite(first) or array[-1] != array[0]:
        return None
    return first if array.size == 1 or not (array != array[0]).any() else None


def is_readable(node: Node) -> bool:
    """Test for an operator with a sum."""
    return node.op.qualname in _RULES and not node.op.references


def is_plain(node: Node) -> bool:
    """Test for an operator that broadcasts as of opset 7."""
    return "broadcast" not in node.op.attributes


_ARITHMETIC: dict[str, Callable[..., Sum]] = {
    **dict.fromkeys(("Add", "Sum"), lambda algebra, *parts: algebra.add(*parts)),
    **{"Sub": Algebra.subtract, "Mul": Algebra.multiply},
    "Div": lambda algebra, one, other: algebra.multiply(one, algebra.power(other, -1.0)),
}


@_reads(*_ARITHMETIC)
def _arithmetic(reading: Reading, node: Node) -> Sum | None:
    if len(node.inputs) > _MOST_PARTS:
        return None
    parts = [reading.operand(node, index) for index in range(len(node.inputs))]
    return _ARITHMETIC[node.op_type](reading.algebra, *parts) if is_plain(node) else None


@_reads("Pow")
def _power(reading: Reading, node: Node) -> Sum | None:
    exponent = constant_exponent(node)
    if exponent is None or not is_plain(node) or exponent * 2 != int(exponent * 2):
        return None
    return reading.algebra.power(reading.operand(node, 0), exponent)


def constant_exponent(node: Node) -> float | None:
    """The number that the exponent of a Pow is; None for other ones."""
    exponent = node.input(1)
    tensor = None if exponent is None else exponent.constant
    if tensor is None or tensor.size != 1 or not tensor.is_readable:
        return None
    array = tensor.numpy().reshape(-1)
    return float(array[0]) if array.dtype.kind in "fiu" and abs(array[0]) <= 1 << 10 else None


@_reads("Cast", "Identity", "Expand")
def _same(reading: Reading, node: Node) -> Sum | None:
    """The operand: a float is one number in every type, and sums broadcast."""
    source = node.input(0)
    if source is None or reading.fact(source).elem_type not in IEEE_FLOATS:
        return None
    return reading.of(source)


def sigmoid(algebra: Algebra, one: Sum) -> Sum:
    """1 / (1 + exp(-x))."""
    return algebra.power(algebra.add(ONE, algebra.exp(algebra.scale(one, -1.0))), -1.0)


def tanh(algebra: Algebra, one: Sum) -> Sum:
    """2 * sigmoid(2 * x) - 1."""
    twice = algebra.scale(sigmoid(algebra, algebra.scale(one, 2.0)), 2.0)
    return algebra.subtract(twice, ONE)


def softplus(algebra: Algebra, one: Sum) -> Sum:
    """log(1 + exp(x))."""
    return log(algebra, algebra.add(ONE, algebra.exp(one)))


def log(algebra: Algebra, one: Sum) -> Sum:
    """Natural logarithm; that of a product of exponentials and one atom is a sum."""
    if len(one) != 1:
        return algebra.function("log", [one], algebra.shape_of(one))
    ((key, number),) = one.items()
    parts: list[Sum] = []
    rest = []
    for atom, exponent in key:
        if algebra.atoms[atom].kind == "exp":
            parts.append(algebra.scale(algebra.atoms[atom].parts[0], exponent))
        else:
            rest.append((atom, exponent))
    if len(rest) == 1 and number == 1:
        alone: Sum = {((rest[0][0], 1.0),): 1.0}
        one_log = algebra.function("log", [alone], algebra.shape_of(alone))
        parts.append(algebra.scale(one_log, rest[0][1]))
    elif rest or number != 1:
        product: Sum = {tuple(rest): number}
        parts.append(algebra.function("log", [product], algebra.shape_of(product)))
    return algebra.add(*parts) if parts else {}


@_reads("Softmax")
def _softmax(reading: Reading, node: Node) -> Sum | None:
    """exp(x) / sum(exp(x)); before opset 13 along all axes from one on."""
    source = node.input(0)
    if source is None:
        return None
    shape, algebra = reading.known_shape(source), reading.algebra
    since_13 = version_of_root(node) >= 13
    axis = node.attribute("axis", -1 if since_13 else 1)
    if not -len(shape) <= axis < len(shape):
        return None
    axes = [axis % len(shape)] if since_13 else list(range(axis % len(shape), len(shape)))
    power = algebra.exp(reading.of(source))
    total = algebra.sum_along(power, shape, axes)
    return algebra.multiply(power, algebra.power(total, -1.0))


def erf(algebra: Algebra, one: Sum) -> Sum:
    """Error function, which is odd."""
    # The sign of one product decides, so that erf(x) and erf(-x) are one atom.
    sign = -1.0 if one and one[min(one)] < 0 else 1.0
    argument = algebra.scale(one, sign)
    return algebra.scale(algebra.function("erf", [argument], algebra.shape_of(one)), sign)


@_reads("Clip", "HardSigmoid", "Relu")
def _clip(reading: Reading, node: Node) -> Sum | None:
    """A function between two bounds; Relu has one."""
    one, algebra = reading.operand(node, 0), reading.algebra
    bounds: tuple[float | None, float | None]
    if node.is_op("HardSigmoid"):
        alpha, beta = node.attribute("alpha", 0.2), node.attribute("beta", 0.5)
        one = algebra.add(algebra.scale(one, alpha), {(): beta} if beta else {})
        bounds = 0.0, 1.0
    elif node.is_op("Relu"):
        bounds = 0.0, None
    else:
        bounds = _bound(node, 1, "min"), _bound(node, 2, "max")
    return clip(algebra, one, *bounds)


def _bound(node: Node, index: int, name: str) -> float | None:
    value = node.input(index)
    if value is None:
        bound = node.attribute(name)
        return None if bound is None else float(bound)
    number = uniform_number(value)
    if number is None:
        raise Unreadable
    return number


def clip(algebra: Algebra, one: Sum, low: float | None, high: float | None) -> Sum:
    """min(max(x, low), high) with x of leading coefficient 1: clip(c * x) is c * clip(x)."""
    factor = abs(one[max(one)]) if one else 1.0
    bounds = [None if each is None else float(f"{each / factor:.6g}") for each in (low, high)]
    argument = algebra.scale(one, 1 / factor)
    atom = algebra.function("clip", [argument], algebra.shape_of(one), *bounds)
    return algebra.scale(atom, factor)


@_reads("ReduceMean", "ReduceSum", "ReduceSumSquare", "ReduceL2", "ReduceLogSumExp", "ReduceMax")
def _reduce(reading: Reading, node: Node) -> Sum | None:
    """A reduction that keeps its axes."""
    # Without its axes the result broadcasts otherwise; `_restore` reads it where they come back.
    if not node.attribute("keepdims", 1):
        return None
    return reduction(reading, node)


def reduction(reading: Reading, node: Node) -> Sum | None:
    """Result of a reduction as if it kept its axes."""
    source = node.input(0)
    if source is None:
        return None
    shape, algebra, name = reading.known_shape(source), reading.algebra, node.op_type
    axes, one = reading.axes(node), reading.of(source)
    if name == "ReduceMean":
        return algebra.mean_along(one, shape, axes)
    if name == "ReduceMax":
        target = reduced(shape, axes, keeps_axes=True)
        return algebra.function("max", [one], target, *[len(shape) - axis for axis in axes])
    if name in ("ReduceSumSquare", "ReduceL2"):
        one = algebra.multiply(one, one)
    if name == "ReduceLogSumExp":
        one = algebra.exp(one)
    total = algebra.sum_along(one, shape, axes)
    if name == "ReduceL2":
        return algebra.power(total, 0.5)
    return log(algebra, total) if name == "ReduceLogSumExp" else total


@_reads("Unsqueeze", "Reshape")
def _restore(reading: Reading, node: Node) -> Sum | None:
    """The axes that a reduction dropped, put back."""
    source = node.input(0)
    below = None if source is None else source.producer
    if below is None or below not in reading.nodes or below.attribute("keepdims", 1):
        return None
    if _RULES.get(below.op.qualname) is not _reduce:
        return None
    operand = below.input(0)
    if operand is None:
        return None
    shape, target = reading.known_shape(operand), reading.known_shape(node.output())
    whole = reduced(shape, reading.axes(below), keeps_axes=True)
    return reduction(reading, below) if target == whole else None


_OF_ONE: dict[str, Callable[[Algebra, Sum], Sum]] = {
    "Neg": lambda algebra, one: algebra.scale(one, -1.0),
    "Reciprocal": lambda algebra, one: algebra.power(one, -1.0),
    "Sqrt": lambda algebra, one: algebra.power(one, 0.5),
    "Exp": lambda algebra, one: algebra.exp(one),
    **{"Sigmoid": sigmoid, "Tanh": tanh, "Softplus": softplus, "Log": log, "Erf": erf},
}
"""Functions of one operand."""
_reads(*_OF_ONE)(
    lambda reading, node: _OF_ONE[node.op_type](reading.algebra, reading.operand(node, 0))
)
