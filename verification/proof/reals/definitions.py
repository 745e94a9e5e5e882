"""Operators over the reals, by the formulas of the operator specification.

Operators that ONNX defines by others stand in `definitions/`, but for those with a shorter formula.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import onnx

from ....facts.fact import Shape
from ....facts.polynomial import Dimension, product
from ....ops.axes import ONE
from ..terms.term import Term
from .constants import pi, simplest
from .field import HALF, Exponent, Monomial, Real, broadcast_shape
from .indicators import truth_of
from .real_terms import DEFINITIONS, FLOATS, RealTerms, defined, strip

_MINUS = Fraction(-1)
_BOOL = onnx.TensorProto.BOOL


@defined("Pow")
def _pow(reals: RealTerms, term: Term, args: Sequence[Real]) -> Real | None:
    """A constant exponent that is a multiple of a half."""
    exponent = args[1].number if len(args) == 2 else _whole(reals, term.args[1])
    if exponent is None or (2 * exponent).denominator != 1:
        return None
    return reals.field.power(args[0], exponent)


def _whole(reals: RealTerms, term: Term | None) -> Fraction | None:
    """The number that an integer constant of one element is."""
    numbers = reals.terms.numbers(term)
    return Fraction(numbers[0]) if numbers is not None and len(numbers) == 1 else None


@defined("Identity", "Cast", "CastLike")
def _cast(reals: RealTerms, term: Term, args: Sequence[Real]) -> Real | None:
    """A float as the same real number in every float type; a truth value as 1 or 0."""
    first = term.args[0]
    if first is not None and first.fact.elem_type == _BOOL and term.head.name != "Identity":
        return truth_of(reals, first)
    return args[0] if first is not None and first.fact.elem_type in FLOATS and args else None


def sigmoid(reals: RealTerms, x: Real) -> Real:
    """1 / (1 + exp(-x))."""
    field = reals.field
    return field.power(field.add(field.one, field.exp(field.scale(x, _MINUS))), _MINUS)


def tanh(reals: RealTerms, x: Real) -> Real:
    """2 * sigmoid(2 * x) - 1."""
    field, two = reals.field, Fraction(2)
    return field.subtract(field.scale(sigmoid(reals, field.scale(x, two)), two), field.one)


@defined("Sinh", "Cosh")
def _hyperbolic(reals: RealTerms, term: Term, args: Sequence[Real]) -> Real | None:
    """(exp(x) - exp(-x)) / 2, or their sum."""
    field, sign = reals.field, Fraction(1 if term.head.name == "Cosh" else -1)
    other = field.scale(field.exp(field.scale(args[0], _MINUS)), sign)
    return field.scale(field.add(field.exp(args[0]), other), HALF)


@defined("HardSigmoid")
def _hard_sigmoid(reals: RealTerms, term: Term, args: Sequence[Real]) -> Real | None:
    """alpha * x + beta between 0 and 1."""
    field, (alpha, beta) = reals.field, (_attribute(reals, term, *a) for a in _OF_HARD_SIGMOID)
    line = field.add(field.multiply(alpha, args[0]), beta)
    return reals.between(line, Fraction(0), Fraction(1))


_OF_HARD_SIGMOID = (("alpha", 0.2), ("beta", 0.5))


@defined("Clip")
def _clip(reals: RealTerms, term: Term, args: Sequence[Real]) -> Real | None:
    """Function between two numbers."""
    is_whole = len(term.args) == 3 and all(a is not None for a in term.args)
    numbers = [bound.number for bound in args[1:]]
    # An absent bound is none in the specification, and the largest finite number in onnxruntime.
    if not is_whole or len(numbers) != 2 or None in numbers:
        return None
    return reals.between(args[0], *numbers)


@defined("Max", "Min")
def _extreme(reals: RealTerms, term: Term, args: Sequence[Real]) -> Real | None:
    """A function and numbers that bound it."""
    numbers = [each.number for each in args if each.number is not None]
    others = [each for each in args if each.number is None]
    if len(others) != 1 or not numbers or len(args) != len(term.args):
        return None
    if term.head.name == "Max":
        return reals.between(others[0], max(numbers), None)
    return reals.between(others[0], None, min(numbers))


@defined("ReduceSum", "ReduceMean")
def _reduce(reals: RealTerms, term: Term, args: Sequence[Real]) -> Real | None:
    shape, axes = _operand_shape(term), _axes(term)
    if axes is None:
        return None
    over = reals.mean_over if term.head.name == "ReduceMean" else reals.sum_over
    total = over(args[0], shape, axes)
    return None if total is None else _without_axes(reals, term, total, shape, axes)


def _without_axes(
    reals: RealTerms, term: Term, real: Real, shape: Shape, axes: Sequence[int]
) -> Real | None:
    """Result of a reduction, without the axes if keepdims is 0."""
    if term.head.attribute("keepdims", 1):
        return real
    reduced = tuple([ONE if axis in axes else dim for axis, dim in enumerate(shape)])
    return reals.reshaped(real, reduced, term.shape)


def _axes(term: Term) -> list[int] | None:
    """Reduced axes, counted from the front; None if only run time determines them."""
    rank = len(_operand_shape(term))
    if len(term.args) > 1:
        return None
    axes = term.head.attribute("axes")
    if axes is None:
        return None if term.head.attribute("noop_with_empty_axes") else list(range(rank))
    return sorted({axis % rank for axis in axes})


def _operand_shape(term: Term) -> Shape:
    first = term.args[0]
    assert first is not None
    return first.shape


def _attribute(reals: RealTerms, term: Term, name: str, default: float) -> Real:
    """Float attribute as the simplest number that rounds to it."""
    return simplest(reals.field, np.float32(term.head.attribute(name, default)))


@defined("Gelu")
def _gelu(reals: RealTerms, term: Term, args: Sequence[Real]) -> Real | None:
    """Gelu: x / 2 * (1 + erf(x / sqrt(2))).

    Approximation by tanh: erf(x / sqrt(2)) is tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)).
    """
    field, x = reals.field, args[0]
    root = field.power(field.number(2), HALF)
    inner: Real | None
    if term.head.text("approximate") == "tanh":
        cube = field.scale(field.power(x, Fraction(3)), Fraction("0.044715"))
        factor = field.multiply(root, field.power(pi(field), -HALF))
        inner = tanh(reals, field.multiply(factor, field.add(x, cube)))
    else:
        inner = reals.apply("Erf", term.head, field.divide(x, root))
    if inner is None:
        return None
    return field.scale(field.multiply(x, field.add(field.one, inner)), HALF)


@defined("MatMul")
def _matmul(reals: RealTerms, term: Term, args: Sequence[Real]) -> Real | None:
    """Bilinear; factors that vary along the rows of the result only leave the product, and those
    that vary along the contracted axis only are factors of the second operand."""
    a, b = term.args
    assert a is not None and b is not None
    if len(a.shape) < 2 or len(b.shape) < 2:
        return None
    field, size = reals.field, a.shape[-1]
    first, vectors = _without_constants(reals, args[0], args[1], size)
    sides = [_split(reals, first, a.shape, 1), _split(reals, args[1], b.shape, 2)]
    operands = [(*each, a.shape, term.shape) for each in sides[0]]
    of_vectors = (ONE, size), (*b.shape[:-2], ONE, b.shape[-1])
    parts = []
    for vector in vectors:
        if all(field.shape_of(monomial) == (size,) for monomial in vector.monomials):
            operands.append((field.one, vector, *of_vectors))
            continue
        total = reals.sum_over(args[1], b.shape, [len(b.shape) - 2])
        if total is None:
            return None
        parts.append(field.multiply(vector, total))
    for rows, one, shape, of_product in operands:
        one, scales = _contracted(reals, one, shape, len(b.shape))
        for columns, other in sides[1]:
            other = field.multiply(scales, other)
            reals.observe(other)
            result = _of_rows(reals, term, (one, shape), other, of_product)
            parts.append(field.multiply(field.multiply(rows, columns), result))
    return field.add(*parts) if parts else field.zero


def _of_rows(
    reals: RealTerms, term: Term, first: tuple[Real, Shape], other: Real, target: Shape
) -> Real:
    """Product as an atom; the rows that a matrix multiplies are one axis of it."""
    field, (one, shape), second = reals.field, first, term.args[1]
    assert second is not None
    own = target
    if len(second.shape) == 2 and len(shape) > 2:
        rows = product(shape[:-1])
        one, shape = reals.reshaped(one, shape, (rows, shape[-1])), (rows, shape[-1])
        own = rows, target[-1]
    key = term.head, field.identify(one), shape, field.identify(other), second.shape
    return reals.reshaped(field.atom(key, own), own, target)


def _without_constants(
    reals: RealTerms, one: Real, other: Real, size: Dimension
) -> tuple[Real, list[Real]]:
    """First operand of MatMul without its constant summands, and these summands.

    They are numbers or vectors along the last axis. Where the second operand is constant, their
    products are constant, too; otherwise they stay."""
    field, values = reals.field, reals.values
    if not all(map(values.are_constant, other.monomials)):
        return one, []
    rest = dict(field.without_name(one).monomials)
    vectors = []
    for monomial, coefficient in list(rest.items()):
        if field.shape_of(monomial) in ((), (size,)) and values.are_constant(monomial):
            vectors.append(Real({monomial: coefficient}))
            del rest[monomial]
    return (field.add(Real(rest)), vectors) if rest and vectors else (one, [])


def _split(reals: RealTerms, real: Real, shape: Shape, back: int) -> list[tuple[Real, Real]]:
    """Summands of an operand of MatMul, each as two factors.

    The first factor does not vary along the contracted axis. Where a summand is smaller than the
    operand, the operand is returned as a whole, without a factor of all summands.
    """
    field = reals.field
    parts: list[tuple[Real, Real]] = []
    for monomial, coefficient in real.monomials.items():
        inside: list[tuple[int, Exponent]] = []
        for number, exponent in monomial:
            own = field.atoms[number].shape
            if own is None or (len(own) >= back and own[-back].value != 1):
                inside.append((number, exponent))
        rest: Monomial = tuple(inside)
        outside = tuple([each for each in monomial if each not in inside])
        if not _has_shape(reals, rest, shape):
            factor = _common_number(reals, real)
            return [(factor, field.divide(real, factor))]
        parts.append((Real({outside: coefficient}), Real({rest: Fraction(1)})))
    return parts


def _has_shape(reals: RealTerms, monomial: Monomial, shape: Shape) -> bool:
    """Test whether a product has a shape, but for axes of size 1 before it."""
    own = reals.field.shape_of(monomial)
    return own is not None and strip(own) == strip(shape)


def _contracted(reals: RealTerms, real: Real, shape: Shape, rank: int) -> tuple[Real, Real]:
    """First operand of MatMul without factors along its last axis, and these factors.

    The factors vary along that axis only, and have the shape that the second operand needs."""
    field = reals.field
    whole = field.without_name(real)
    first, *others = whole.monomials
    common = set(first).intersection(*others)
    scales: list[tuple[int, Exponent]] = []
    for number, exponent in first:
        own = field.atoms[number].shape
        if own and own[-1] == shape[-1] and all(dim.value == 1 for dim in own[:-1]):
            scales += [(number, exponent)] if (number, exponent) in common else []
    rest = {
        tuple([each for each in monomial if each not in scales]): coefficient
        for monomial, coefficient in whole.monomials.items()
    }
    own = broadcast_shape([field.shape_of(monomial) for monomial in rest])
    if not scales or own is None or strip(own) != strip(shape):
        return real, field.one
    target = (*[ONE] * (rank - 2), shape[-1], ONE)
    factor = reals.reshaped(Real({tuple(scales): Fraction(1)}), shape[-1:], target)
    return field.add(Real(rest)), factor


def _common_number(reals: RealTerms, real: Real) -> Real:
    """Number that is a factor of all summands: a coefficient, and powers of constants."""
    field, (first, *others) = reals.field, real.monomials
    common = set(first).intersection(*others)
    constants = [(n, e) for n, e in first if (n, e) in common and not field.atoms[n].shape]
    constants = [(n, e) for n, e in constants if field.atoms[n].root is not None]
    return Real({tuple(constants): field.leading(real)})


@defined("Conv", "ConvTranspose")
def _conv(reals: RealTerms, term: Term, args: Sequence[Real]) -> Real | None:
    """Bilinear; numbers, and factors of weights that vary along output channels, leave."""
    if len(term.args) != 2 or len(args) != 2 or term.args[1] is None or term.args[0] is None:
        return None
    image, shape, field = args[0], term.args[1].shape, reals.field
    if not image.monomials:
        return field.zero
    image, scales = _of_channels_before(reals, term, image)
    filters = field.multiply(args[1], scales)
    reals.observe(filters)
    number = _common_number(reals, image)
    whole = field.identify(field.divide(image, number)), term.args[0].shape
    axes = _channel_axes(term, shape)
    count = product(shape[axis] for axis in axes)
    source = tuple([size if axis in axes else ONE for axis, size in enumerate(shape)])
    target = (count, *[ONE] * (len(shape) - 2))
    parts = []
    for factor, weights in _of_filters(reals, filters, shape, axes):
        filtered = field.atom((term.head, whole, field.identify(weights), shape), term.shape)
        outside = reals.reshaped(factor, source, target)
        parts.append(field.multiply(field.multiply(number, outside), filtered))
    return field.add(*parts) if parts else field.zero


def _of_channels_before(reals: RealTerms, term: Term, image: Real) -> tuple[Real, Real]:
    """Image of a convolution without factors by channel, and these in the shape of weights.

    They are those of all summands that vary along the channels at most."""
    field, shape = reals.field, _operand_shape(term)
    # The weights of a Conv hold the channels of one group: factors of all channels fit one
    # group only, while a ConvTranspose lists all channels along axis 0.
    one_group = term.head.attribute("group", 1) == 1
    axes = (1,) if one_group or term.is_op("ConvTranspose") else ()
    first, *others = field.without_name(image).monomials
    scales = [
        (number, exponent)
        for number, exponent in first
        if all((number, exponent) in other for other in others)
        and (own := field.atoms[number].shape) is not None
        and field.atoms[number].root is None
        and _varies_along(own, len(shape), axes)
    ]
    rest = {
        tuple([each for each in monomial if each not in scales]): coefficient
        for monomial, coefficient in field.without_name(image).monomials.items()
    }
    own = broadcast_shape([field.shape_of(monomial) for monomial in rest])
    if not scales or own is None or strip(own) != strip(shape):
        return image, field.one
    factor = Real({tuple(scales): Fraction(1)})
    if term.is_op("ConvTranspose"):
        channels = (shape[1], *[ONE] * (len(shape) - 2))
        factor = reals.reshaped(factor, channels, (shape[1], ONE, *channels[1:]))
    return field.add(Real(rest)), factor


def _channel_axes(term: Term, shape: Shape) -> tuple[int, ...]:
    """Axes of the weights that together are the output channels."""
    if term.is_op("Conv"):
        return (0,)
    group = term.head.attribute("group", 1)
    if group == 1:
        return (1,)
    # With one input channel a group, output channel c * (M / group) + m reads W[c, m] alone.
    return (0, 1) if shape[0].value == group else ()


def _of_filters(
    reals: RealTerms, real: Real, shape: Shape, axes: Sequence[int]
) -> list[tuple[Real, Real]]:
    """Summands of weights as two factors each; the first varies along some axes only."""
    field, parts = reals.field, list[tuple[Real, Real]]()
    for monomial, coefficient in real.monomials.items():
        outside: list[tuple[int, Exponent]] = []
        for number, exponent in monomial:
            own = field.atoms[number].shape
            if own is not None and _varies_along(own, len(shape), axes):
                outside.append((number, exponent))
        rest: Monomial = tuple([each for each in monomial if each not in outside])
        if field.shape_of(rest) != shape:
            factor = _common_number(reals, real)
            return [(factor, field.divide(real, factor))]
        parts.append((Real({tuple(outside): coefficient}), Real({rest: Fraction(1)})))
    return parts


def _varies_along(own: Shape, rank: int, axes: Sequence[int]) -> bool:
    """Require size 1 of all other axes, in a shape aligned at its end."""
    start = rank - len(own)
    return all(size.value == 1 or start + axis in axes for axis, size in enumerate(own))


@defined("Transpose")
def _transpose(reals: RealTerms, term: Term, args: Sequence[Real]) -> Real | None:
    shape = _operand_shape(term)
    perm = list(term.head.attribute("perm") or range(len(shape))[::-1])
    return reals.transposed(args[0], shape, perm)


DEFINITIONS |= {
    "Add": lambda reals, term, args: reals.field.add(*args),
    "Sum": lambda reals, term, args: reals.field.add(*args),
    "Sub": lambda reals, term, args: reals.field.subtract(*args),
    "Mean": lambda reals, term, args: reals.field.scale(
        reals.field.add(*args), Fraction(1, len(args))
    ),
    "Mul": lambda reals, term, args: reals.field.multiply(*args),
    "Div": lambda reals, term, args: reals.field.divide(*args),
    "Neg": lambda reals, term, args: reals.field.scale(args[0], _MINUS),
    "Reciprocal": lambda reals, term, args: reals.field.power(args[0], _MINUS),
    "Sqrt": lambda reals, term, args: reals.field.power(args[0], HALF),
    "Exp": lambda reals, term, args: reals.field.exp(args[0]),
    "Log": lambda reals, term, args: reals.field.log(args[0]),
    "Sigmoid": lambda reals, term, args: sigmoid(reals, args[0]),
    "Tanh": lambda reals, term, args: tanh(reals, args[0]),
    "Relu": lambda reals, term, args: reals.between(args[0], Fraction(0), None),
    "Expand": lambda reals, term, args: args[0],  # atoms broadcast
    "narrow": lambda reals, term, args: reals.narrowed(args[0], term),
    "view": lambda reals, term, args: reals.reshaped(args[0], _operand_shape(term), term.shape),
}
