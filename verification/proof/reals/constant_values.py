"""Values of functions of constants, with bounds of the rounding of their computation.

The bound is that of a running error analysis, in units of the roundoff of the type: each operation
adds the size of its result, and a sum of n numbers adds the sum of their sizes for each of log2 n
levels, as pairwise summation does (Higham, Accuracy and Stability of Numerical Algorithms, 3.1 and
4.2). Values are doubles, whose own rounding is far below it.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....facts.fact import Shape
from ....ir import Array
from ..terms.term import Head, Term
from .field import Exponent, Field, Monomial, Real

MOST_ELEMENTS = 1 << 20
"""Limit of elements of a constant that is read or computed."""
ELEMENTS_OF_STEP = 256
"""Elements of constants that are computed in a step."""
_MOST_PRODUCTS = 1 << 28
"""Limit of products of elements in one product of matrices."""
_MOST_SUMMANDS = 5
"""Limit of constant summands of which each choice may be folded."""
_FEWEST_PARTIAL_SUMS = 3
"""Fewest summands of which a sum of some precedes the last addition."""
_BITS = 53
"""Bits of a double."""
_DEEPEST = 32
"""Limit of functions within each other."""

WHOLE = "view of a whole"
"""Kind of the key of an atom that is a view of a function, not of each atom of it."""


class Permutation(tuple[int, ...]):
    """Movement of an atom: a permutation of the last axes of the tensor that it broadcasts to."""

    __slots__ = ()

    @classmethod
    def of(cls, perm: Sequence[int]) -> "Permutation":
        """Permutation of all axes, without the first ones that stay; empty if all stay."""
        start = next((axis for axis, other in enumerate(perm) if axis != other), len(perm))
        return cls([axis - start for axis in perm[start:]])

    def after(self, other: "Permutation") -> "Permutation":
        """Permutation after another one."""
        rank = max(len(self), len(other))
        one, two = (
            [*range(rank - len(p)), *(axis + rank - len(p) for axis in p)] for p in (self, other)
        )
        return Permutation.of([two[axis] for axis in one])

    def of_array(self, array: Array) -> Array:
        """Array with its axes in this order."""
        ones = max(0, len(self) - array.ndim)
        whole = array.reshape((1,) * ones + array.shape)
        start = whole.ndim - len(self)
        return whole.transpose([*range(start), *(start + axis for axis in self)])


class Value(NamedTuple):
    """Value of a constant function.

    Attributes:
        array: the elements, as doubles.
        error: bound of the rounding of each element where the function is computed, in units of
            the roundoff of the type.
    """

    array: Array
    error: Array


class ConstantValues:
    """Functions of constants only, and their values.

    Args:
        array_of: the elements of a term if it is a constant; otherwise None.
    """

    def __init__(self, field: Field, array_of: Callable[[Term], Array | None]) -> None:
        self.field = field
        self._array_of = array_of
        self._are_constant: list[bool] = []
        self._depth = 0

    def is_constant(self, number: int) -> bool:
        """Test whether an atom is a function of constants. Atoms rest on earlier ones only."""
        for each in range(len(self._are_constant), number + 1):
            self._are_constant.append(self._rests_on_constants(each))
        return self._are_constant[number]

    def are_constant(self, monomial: Monomial) -> bool:
        """Test whether a product is a function of constants."""
        return all(self.is_constant(number) for number, _ in monomial)

    def of(self, real: Real) -> Value | None:
        """Value of a function of constants; None if it is large, or no finite number."""
        if self._depth >= _DEEPEST:
            return None
        self._depth += 1
        try:
            with np.errstate(all="ignore"):
                value = self._sum(real)
        finally:
            self._depth -= 1
        if value is None or not (np.isfinite(value.array) & np.isfinite(value.error)).all():
            return None
        return value

    def _rests_on_constants(self, number: int) -> bool:
        atom = self.field.atoms[number]
        if atom.shape is None or any(dim.value is None for dim in atom.shape):
            return False
        if atom.root is not None:
            return self._holds_constants(atom.root, number)
        key: Any = atom.key
        if isinstance(key, Term):
            return self._array_of(key) is not None
        if not isinstance(key, tuple) or len(key) < 2:
            return bool(key == "pi")
        if key[0] == "view" or isinstance(key[0], Permutation):
            return self._are_constant[key[1]]
        if key[0] == WHOLE:
            return self._holds_constants(self.field.functions[key[1]], number)
        if key[0] == "sum":
            return all(each < number and self._are_constant[each] for each, _ in key[2])
        if len(key) == 5 and isinstance(key[0], Head) and key[0].name == "MatMul":
            return all(self._holds_constants(self.field.functions[key[n]], number) for n in (1, 3))
        return False

    def _holds_constants(self, real: Real, before: int) -> bool:
        numbers = [number for monomial in real.monomials for number, _ in monomial]
        return all(number < before and self._are_constant[number] for number in numbers)

    def _sum(self, real: Real) -> Value | None:
        values = []
        for monomial, coefficient in real.monomials.items():
            value = self._product(monomial, float(coefficient))
            if value is None:
                return None
            values.append(value)
        if len(values) < 2:
            return values[0] if values else None
        if not self._may_hold(np.broadcast_shapes(*[value.array.shape for value in values])):
            return None
        total, sizes, error = np.zeros(()), np.zeros(()), np.zeros(())
        for array, bound in values:
            total, sizes, error = total + array, sizes + np.abs(array), error + bound
        return Value(total, error + math.ceil(math.log2(len(values))) * sizes)

    def rounded_sums(self, real: Real, roundoff: float) -> Array | None:
        """Elements of a sum of constants that some order of the additions may round.

        Partial sums are multiples of the last bits of the summands. They are floats if they are
        not larger than the sum of the sizes, and this is small enough. None for two summands, which
        no addition precedes, and for other functions.
        """
        items = real.monomials.items()
        parts = [self._product(monomial, float(c)) for monomial, c in items]
        exact = [part.array for part in parts if part is not None and not part.error.any()]
        if len(items) < _FEWEST_PARTIAL_SUMS or len(exact) < len(items):
            return None
        sizes, last = np.zeros(()), np.full((), np.inf)
        for array in exact:
            sizes, last = sizes + np.abs(array), np.minimum(last, _last_bit(array))
        return np.asarray(sizes * roundoff > last)

    def _product(self, monomial: Monomial, coefficient: float) -> Value | None:
        array, error = np.array(coefficient), np.zeros(())
        # Nothing rounds a product with a power of two.
        is_exact = math.frexp(abs(coefficient))[0] == 0.5
        for number, exponent in monomial:
            value = self._power(number, exponent)
            if value is None:
                return None
            shape = np.broadcast_shapes(array.shape, value.array.shape)
            if not self._may_hold(shape):
                return None
            error = np.abs(array) * value.error + error * np.abs(value.array)
            array = array * value.array
            error = error if is_exact else error + np.abs(array)
            is_exact = False
        return Value(array, error)

    def _power(self, number: int, exponent: Exponent) -> Value | None:
        value = self._atom(number)
        if value is None or exponent == 1:
            return value
        power = value.array ** float(exponent)
        # A reciprocal or a square rounds once.
        operations = 1 if exponent in (-1, 2) else 2
        relative = abs(float(exponent)) * value.error / np.abs(value.array) + operations
        return Value(power, np.abs(power) * relative)

    def _atom(self, number: int) -> Value | None:
        if not self.is_constant(number):
            return None
        atom = self.field.atoms[number]
        shape = tuple([dim.value or 0 for dim in atom.shape or ()])
        if not self._may_hold(shape):
            return None
        value = self.of(atom.root) if atom.root is not None else self._of_key(atom.key, atom.shape)
        if value is None or value.array.size != math.prod(shape):
            return value if atom.root is not None else None
        return Value(value.array.reshape(shape), value.error.reshape(shape))

    def _of_key(self, key: Any, shape: Shape | None) -> Value | None:
        if isinstance(key, Term):
            array = self._array_of(key)
            return None if array is None else _exact(array.astype(np.float64))
        if not isinstance(key, tuple):
            return _exact(np.array(math.pi))
        if key[0] == "view":
            return self._atom(key[1])
        if isinstance(key[0], Permutation):
            value = self._atom(key[1])
            return value and Value(*[key[0].of_array(each) for each in value])
        if key[0] == WHOLE:
            value = self.of(self.field.functions[key[1]])
            return value and _broadcast(value, key[2])
        if key[0] == "sum":
            return self._sum_of(key[1], key[2])
        return self._matrices(key)

    def _sum_of(self, varying: tuple[int, ...], inside: Monomial) -> Value | None:
        """Sum along axes, counted from the back."""
        value = self._product(inside, 1.0)
        if value is None or value.array.ndim < max(varying):
            return None
        axes = tuple([-back for back in varying])
        sizes = np.abs(value.array).sum(axes, keepdims=True)
        count = value.array.size / max(sizes.size, 1)
        error = value.error.sum(axes, keepdims=True) + _levels(count) * sizes
        return Value(value.array.sum(axes, keepdims=True), error)

    def _matrices(self, key: Any) -> Value | None:
        values = []
        for number, shape in ((key[1], key[2]), (key[3], key[4])):
            value = self.of(self.field.functions[number])
            whole = value and _broadcast(value, shape)
            if whole is None or not self._may_hold(whole.array.shape):
                return None
            values.append(whole)
        (a, of_a), (b, of_b) = values
        products = a.size * b.shape[-1] if b.ndim == 2 else a.size * b.size
        if products > _MOST_PRODUCTS or a.shape[-1] != b.shape[-2]:
            return None
        self.field.budget.step(1 + products // (ELEMENTS_OF_STEP * 64))
        sizes = np.abs(a), np.abs(b)
        error = (1 + _levels(a.shape[-1])) * (sizes[0] @ sizes[1])
        # An error of 0 spares a product of matrices.
        if of_a.any():
            error = error + of_a @ sizes[1]
        if of_b.any():
            error = error + sizes[0] @ of_b
        return Value(a @ b, error)

    def _moves_constant(self, number: int, exponent: Exponent) -> bool:
        """Test for an atom that is a constant, or a view of it."""
        key: Any = self.field.atoms[number].key
        if isinstance(key, tuple) and key[0] == "view":
            key = self.field.atoms[key[1]].key
        return exponent == 1 and isinstance(key, Term)

    def _may_hold(self, shape: tuple[int, ...]) -> bool:
        """Test whether an array is small enough, and count its elements."""
        size = math.prod(shape)
        self.field.budget.step(1 + size // ELEMENTS_OF_STEP)
        return size <= MOST_ELEMENTS

    def parts(self, real: Real) -> Iterator[Real]:
        """Functions of constants that a rewrite may fold: factors of a monomial, and sums of
        constant monomials."""
        constant = {}
        for monomial, coefficient in real.monomials.items():
            factors = tuple([each for each in monomial if self.is_constant(each[0])])
            if len(factors) == len(monomial):
                constant[monomial] = coefficient
            arrays = tuple([each for each in factors if self.field.atoms[each[0]].shape])
            if len(arrays) < len(factors) or coefficient not in (1, -1):
                numbers = tuple([each for each in factors if each not in arrays])
                yield Real({numbers: abs(coefficient)})
            if len(arrays) > 1 or (arrays and not self._moves_constant(*arrays[0])):
                yield Real({arrays: self.field.one.monomials[()]})
        least = 2 if len(constant) <= _MOST_SUMMANDS else len(constant)
        for count in range(least, len(constant) + 1):
            for summands in itertools.combinations(constant.items(), count):
                yield Real(dict(summands))


def _exact(array: Array) -> Value:
    return Value(array, np.zeros(array.shape))


def _broadcast(value: Value, shape: Shape) -> Value | None:
    """Value in a shape of known sizes."""
    sizes: list[int] = [dim.value for dim in shape if dim.value is not None]
    if len(sizes) != len(shape):
        return None
    try:
        return Value(*[np.broadcast_to(each, sizes) for each in value])
    except ValueError:
        return None


def _last_bit(array: Array) -> Array:
    """Largest powers of two of which doubles are multiples; infinity for 0."""
    fractions, exponents = np.frexp(array)
    whole = np.ldexp(fractions, _BITS).astype(np.int64)
    bits = np.ldexp((whole & -whole).astype(np.float64), exponents - _BITS)
    return np.where(array == 0, np.inf, bits)


def _levels(count: float) -> int:
    """Additions on the longest path of a pairwise sum."""
    return math.ceil(math.log2(max(count, 1)))
