"""Conditions under which real functions are defined: divisors, roots and logarithms.

The rewrite may only divide by what the original divides by, or by what is never 0, and so for roots
and logarithms: a quotient that cancels would hide a division by 0. An atom of the rewrite that may
be undefined itself, such as the remainder of a division, must be one of the original.
"""

from collections.abc import Callable, Hashable, Iterable
from enum import IntEnum

import numpy as np

from ....ir import Array
from ..terms.term import Head, Term
from .constant_values import WHOLE, Permutation
from .field import NONZERO, NOT_NEGATIVE, POSITIVE, VALUE, Condition, Field, Monomial, Real

_NOT_NEGATIVE = frozenset(["Abs", "Relu"])
"""Elementwise operators of results that are not negative."""
TOTAL = frozenset([
    "Abs", "Atan", "Asinh", "AveragePool", "Cast", "CastLike", "Ceil", "Celu", "Clip",
    "Compress", "Concat", "Conv", "ConvTranspose", "Cos", "CumSum", "DepthToSpace", "Einsum",
    "Elu", "Erf", "Expand", "EyeLike", "Floor", "GRU", "Gather", "GatherElements", "GatherND",
    "Gelu", "Gemm", "GlobalAveragePool", "GlobalMaxPool", "HardSigmoid", "HardSwish", "Hardmax",
    "Identity", "LSTM", "LeakyRelu", "LogSoftmax", "MatMul", "Max", "MaxPool", "Mean", "Min",
    "Mish", "Mul", "Neg", "OneHot", "PRelu", "Pad", "RNN", "Range", "ReduceL1",
    "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
    "ReduceSumSquare", "Relu", "Reshape", "ReverseSequence", "Round", "Scatter",
    "ScatterElements", "ScatterND", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Slice",
    "Softmax", "Softplus", "Softsign", "SpaceToDepth", "Split", "Squeeze", "Sub", "Sum",
    "Swish", "Tanh", "ThresholdedRelu", "Tile", "TopK", "Transpose", "Trilu", "Unsqueeze",
    "Where", "choose", "narrow", "padded", "reversed", "view",
])  # fmt: skip
"""Operators of which all numbers have a value."""

_MOST_NESTED = 8
"""Limit of the functions within functions whose sign is asked for."""


class Sign(IntEnum):
    """Sign of a function, as far as it is known."""

    ANY = 0
    NOT_NEGATIVE = 1
    POSITIVE = 2


class Conditions:
    """Conditions of the original, and those that follow from them.

    Args:
        array_of: function that returns the elements of a constant, None for other terms.
    """

    def __init__(self, field: Field, array_of: Callable[[Term], Array | None]) -> None:
        self.field = field
        self._array_of = array_of
        self._granted: set[Condition] = set()

    def grant(self, conditions: Iterable[Condition]) -> None:
        """Add conditions of the original."""
        for kind, number in conditions:
            self._granted.add((kind, number))
            if kind != VALUE:
                form = self._unmoved(self.field.functions[number], False)
                self._granted.add((kind, self.field.identify(form)))

    def imply(self, condition: Condition) -> bool:
        """Test whether a condition follows from those of the original."""
        if condition in self._granted:
            return True
        kind, number = condition
        if kind == VALUE:
            return False
        real = self.field.without_name(self.field.functions[number])
        if kind == NONZERO:
            return self._is_nonzero(real)
        sign = self._sign(real, 0)
        if kind == POSITIVE and sign != Sign.POSITIVE:
            allowed = sign or self._has(NOT_NEGATIVE, real)
            return bool(allowed) and self._is_nonzero(real)
        return bool(sign) or self._has(POSITIVE, real)

    def _has(self, kind: str, real: Real) -> bool:
        """Test whether the original has a condition on a function, or its positive multiples."""
        real = self.field.scale(real, 1 / abs(self.field.leading(real)))
        forms = real, self._unmoved(real, False), self._unmoved(real, True)
        return any((kind, self.field.identify(form)) in self._granted for form in forms)

    def _unmoved(self, real: Real, with_parts: bool) -> Real:
        """Function before the movement of its elements, which has the same conditions.

        Args:
            with_parts: look beyond slices, too; the function then has more elements.
        """
        while True:
            bases = self._bases(real, with_parts)
            if not bases:
                return real
            monomials = {
                tuple(sorted([(bases.get(n, n), e) for n, e in monomial])): coefficient
                for monomial, coefficient in real.monomials.items()
            }
            real = Real(monomials)

    def _bases(self, real: Real, with_parts: bool) -> dict[int, int]:
        """Atoms by the atoms that they are movements of; empty unless all move alike."""
        atoms, bases, kinds = self.field.atoms, dict[int, int](), set[Hashable]()
        for number in {number for monomial in real.monomials for number, _ in monomial}:
            atom = atoms[number]
            if atom.shape is not None and all(dim.value == 1 for dim in atom.shape):
                continue
            key = atom.key
            if not isinstance(key, tuple) or len(key) != 2 or not _moves(key[0]):
                return {}
            if isinstance(key[0], tuple) and not (with_parts or isinstance(key[0], Permutation)):
                return {}
            bases[number] = key[1]
            kinds.add((key[0], atom.shape, atoms[key[1]].shape))
        return bases if len(kinds) == 1 else {}

    def _is_nonzero(self, real: Real) -> bool:
        """Test whether a function is a product of factors that are not 0."""
        if real.number is not None:
            return real.number != 0
        factors = self.field.factors(real)
        return all(self._is_nonzero_factor(factor) for factor in factors)

    def _is_nonzero_factor(self, real: Real) -> bool:
        negative = self.field.subtract(self.field.zero, real)
        if any(self._sign(each, 0) == Sign.POSITIVE for each in (real, negative)):
            return True
        if self._has(NONZERO, real) or self._has(NONZERO, negative):
            return True
        if self._has(POSITIVE, real) or self._has(POSITIVE, negative):
            return True
        array = self._constant(real)
        return array is not None and bool((array != 0).all())

    def _constant(self, real: Real) -> Array | None:
        """Elements of a constant that an atom moves; None for any other function."""
        if len(real.monomials) != 1:
            return None
        (monomial,) = real.monomials
        if len(monomial) != 1:
            return None
        key = self.field.atoms[monomial[0][0]].key
        while isinstance(key, tuple) and len(key) == 2 and _moves(key[0]):
            key = self.field.atoms[key[1]].key
        return self._array_of(key) if isinstance(key, Term) else None

    def _sign(self, real: Real, depth: int) -> Sign:
        """Sign of a sum of products."""
        if depth > _MOST_NESTED or not real.monomials:
            return Sign.NOT_NEGATIVE if not real.monomials else Sign.ANY
        if any(coefficient < 0 for coefficient in real.monomials.values()):
            return Sign.ANY
        signs = [self._sign_of_product(monomial, depth) for monomial in real.monomials]
        # One positive summand makes a sum positive if none is negative.
        return Sign.ANY if Sign.ANY in signs else max(signs)

    def _sign_of_product(self, monomial: Monomial, depth: int) -> Sign:
        signs = [Sign.POSITIVE]
        for number, exponent in monomial:
            sign = self._sign_of_atom(number, depth + 1)
            # An even power, or an even root where it is defined, is not negative.
            if sign == Sign.ANY and exponent.numerator % 2 and exponent.denominator % 2:
                return Sign.ANY
            signs.append(max(sign, Sign.NOT_NEGATIVE))
        return min(signs)

    def _sign_of_atom(self, number: int, depth: int) -> Sign:
        atom = self.field.atoms[number]
        if atom.root is not None:
            return self._sign(atom.root, depth)
        key = atom.key
        if isinstance(key, Term):
            array = self._array_of(key)
            return Sign.ANY if array is None else _sign_of_constant(array)
        if not isinstance(key, tuple):
            return Sign.POSITIVE if atom.is_positive else Sign.ANY
        if key[0] == "between" and key[2] is not None and key[2] >= 0:
            return Sign.POSITIVE if key[2] else Sign.NOT_NEGATIVE
        if key[0] in ("size", "truth"):  # which may be 0
            return Sign.NOT_NEGATIVE
        if key[0] == "sum":
            return self._sign_of_sum(key[1], key[2], depth)
        # Before `is_positive`, which a moved sum has from the sum: that of an empty axis is 0.
        if len(key) == 2 and _moves(key[0]):
            return self._sign_of_atom(key[1], depth)
        if atom.is_positive:
            return Sign.POSITIVE
        if key[0] == WHOLE:
            return self._sign(self.field.functions[key[1]], depth)
        if isinstance(key[0], Head) and key[0].op is not None and len(key) == 3:
            return self._sign_of_operator(key[0], key[2], depth)
        return Sign.ANY

    def _sign_of_sum(self, axes: Iterable[int], inside: Monomial, depth: int) -> Sign:
        """Sign of a sum along axes, counted from the end, which may have no element."""
        sign, shape = self._sign_of_product(inside, depth), self.field.shape_of(inside)
        has_elements = shape is not None and all(shape[-axis].less(1) is False for axis in axes)
        return sign if has_elements else min(sign, Sign.NOT_NEGATIVE)

    def _sign_of_operator(self, head: Head, operands: object, depth: int) -> Sign:
        if head.name in _NOT_NEGATIVE:
            return Sign.NOT_NEGATIVE
        if head.name != "Max" or not isinstance(operands, tuple):
            return Sign.ANY
        # A maximum is at least each of its operands: the best sign counts.
        functions = [self.field.functions[each] for each in operands if isinstance(each, int)]
        return max([self._sign(each, depth) for each in functions], default=Sign.ANY)


def _moves(kind: object) -> bool:
    """Test for the kind of a movement, whose elements are some of those before it."""
    return (
        kind == "view"
        or isinstance(kind, Permutation)
        or (isinstance(kind, tuple) and kind[:1] == ("narrow",))
    )


def _sign_of_constant(array: Array) -> Sign:
    if not np.isfinite(array).all():
        return Sign.ANY
    return Sign.POSITIVE if (array > 0).all() else Sign(int((array >= 0).all()))
