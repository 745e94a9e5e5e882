"""Field of real functions: sums of products of atoms with rational exponents.

An atom is a value that nothing more is known of. A sum that is divided by, or whose root is taken,
is an atom as well, with the sum as its `root`: x / (1 + y) is x * f^-1 where f = 1 + y. Sums are in
normal form but for such atoms; `is_zero` decides equality by clearing the denominators (polynomial
identity testing by expansion; Geddes, Czapor and Labahn, Algorithms for Computer Algebra, ch. 3).

Identities hold where all divisors differ from 0 and all roots are defined; `needs` collects these
conditions.
"""

import cmath
import math
import random
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple, final

from ....facts.fact import Shape
from ..terms.budget import Budget

Exponent = Fraction | int
"""Rational exponent: an int if it is whole, whose hash takes no division modulo a prime."""

Monomial = tuple[tuple[int, Exponent], ...]
"""Numbers of atoms with their exponents, in the order of the numbers."""

MOST_MONOMIALS = 2_000
"""Limit of a sum, within the expansion of products."""

LONG = 12
"""A sum of more monomials becomes an atom, so that a power of it stays short."""

_MOST_CONSTANTS = 4
"""Limit of constant monomials beside the abbreviation of a long sum."""
_LARGEST_PRIME = 1_000
_NEAR = 1e-7
"""Relative difference of values at one point up to which an identity is tested exactly."""

_DIGITS = 5
"""Digits of values that are compared."""

HALF = Fraction(1, 2)

DEFINED = "all divisors of the original differ from 0 and its roots and logarithms are defined"
"""Condition of the identities of a field."""

NONZERO, NOT_NEGATIVE, POSITIVE, VALUE = "nonzero", "not negative", "positive", "value"
Condition = tuple[str, int]
"""Kind of a condition, and the number of a function; of an atom for one that must have a value."""


class TooLongError(Exception):
    """Signal that a sum exceeds the limit."""


@final
class Real:
    """Real function: rational coefficients by monomial. Immutable."""

    __slots__ = ("_size", "_value", "monomials")

    def __init__(self, monomials: Mapping[Monomial, Fraction]) -> None:
        self.monomials = monomials
        self._value: _Value | None = None

    @property
    def number(self) -> Fraction | None:
        """The number that it is; None if it holds atoms."""
        if not self.monomials:
            return Fraction(0)
        return self.monomials.get(()) if len(self.monomials) == 1 else None


class _Value(NamedTuple):
    """Value at one random point.

    Attributes:
        number: the value.
        size: sum of the absolute values of the monomials, which its rounding error grows with.
    """

    number: complex
    size: float

    @property
    def bucket(self) -> Hashable:
        """Key that values share only if they are near each other."""
        # Cancellation leaves no digit to compare: all such values share one bucket.
        if not self.size * _NEAR < abs(self.number) < math.inf:
            return 0
        _, exponent = math.frexp(abs(self.number))
        parts = self.number.real, self.number.imag
        return exponent, *[round(math.ldexp(part, -exponent), _DIGITS) for part in parts]


class _Atom:
    """Atom of a field.

    Attributes:
        shape: its shape, which broadcasts to that of any sum; None if unknown.
        key: the operator and operands that it stands for.
        root: the sum that it stands for; None for any other atom.
        is_positive: whether it is more than 0 everywhere, so that all its powers are defined.
        is_name: whether it abbreviates a long sum.
        value: its value at one random point.
    """

    __slots__ = ("is_name", "is_positive", "key", "root", "shape", "value")

    def __init__(self, key: Hashable, shape: Shape | None, value: complex) -> None:
        self.key = key
        self.shape = shape
        self.value = value
        self.root: Real | None = None
        self.is_positive = self.is_name = False


class Field:
    """Arithmetic of real functions over shared atoms.

    Args:
        budget: limit of the work, a step for each product of monomials.

    Attributes:
        floats: float constant that each number stands for, by type.
        is_constant: test for an atom that is a function of constants.
        needs: conditions of the functions that are made; None where they are not collected.
        truths: atoms that are 1 or 0.
    """

    def __init__(self, budget: Budget) -> None:
        self.atoms: list[_Atom] = []
        self.budget = budget
        self._numbers: dict[Hashable, int] = {}
        self.functions: list[Real] = []
        self.floats: dict[Hashable, float] = {}
        self.is_constant: Callable[[int], bool] = lambda number: False
        self.needs: list[Condition] | None = None
        self.truths: set[int] = set()
        self._identified: dict[Hashable, int] = {}
        self._near: dict[Hashable, list[int]] = {}
        # One point for all proofs, so that none of them depends on chance.
        self._random = random.Random(0)
        self.one, self.zero = self.number(1), self.number(0)

    @staticmethod
    def number(value: Fraction | int) -> Real:
        """Constant function."""
        return Real({(): Fraction(value)} if value else {})

    def atom(
        self, key: Hashable, shape: Shape | None, is_positive: bool = False, is_truth: bool = False
    ) -> Real:
        """Atom of a key."""
        number = self._numbers.get((key, shape))
        if number is None:
            # Positive and near 1: powers and logarithms of the value exist, and products of many
            # stay within floats.
            number = self._new(key, shape, complex(self._random.uniform(0.5, 1.5)))
            self.atoms[number].is_positive = is_positive
            if is_truth:
                self.truths.add(number)
        return _alone(number)

    def truth(self, key: Hashable, shape: Shape | None) -> Real:
        """Atom that is 1 or 0."""
        return self.atom(("truth", key), shape, is_truth=True)

    def add(self, *reals: Real) -> Real:
        """Sum; an atom that abbreviates it if it is long."""
        if len(reals) == 2 and not (reals[0].monomials and reals[1].monomials):
            return reals[0] if reals[0].monomials else reals[1]
        return self._short(self._sum(reals))

    def subtract(self, one: Real, other: Real) -> Real:
        """Difference."""
        return self.add(one, self.scale(other, Fraction(-1)))

    @staticmethod
    def scale(real: Real, factor: Fraction) -> Real:
        """Product with a number."""
        if factor == 1:
            return real
        return Real({m: c * factor for m, c in real.monomials.items()} if factor else {})

    def multiply(self, one: Real, other: Real) -> Real:
        """Product; an atom that abbreviates it if it is long."""
        return self._short(self._product(one, other))

    def divide(self, one: Real, other: Real) -> Real:
        """Quotient."""
        return self.multiply(one, self.power(other, Fraction(-1)))

    def power(self, real: Real, exponent: Exponent) -> Real:
        """Power with a rational exponent; of a negative base, the denominator is odd or 1."""
        # Written out, so that (a + b)^2 and a^2 + 2ab + b^2 are one sum of monomials.
        if exponent.denominator == 1 and 0 <= exponent <= LONG:
            result = self.one
            for _ in range(int(exponent)):
                result = self._product(result, real)
            return self._short(result)
        if not real.monomials:
            return self.undefined(("power of zero", exponent))
        coefficient, common, rest = self._content(real, exponent)
        self._need_base(common, rest, exponent)
        result = self._number_power(coefficient, exponent)
        result = self._product(result, self._normal([(n, e * exponent) for n, e in common]))
        if rest is not None:
            result = self._product(result, self._normal([(self._root(rest), exponent)]))
        return result

    def exp(self, real: Real) -> Real:
        """Exponential: exp(a + b) = exp(a) * exp(b), exp(c * a) = exp(a)^c, exp(log(a)) = a."""
        result, exponents = self.one, []
        for monomial, coefficient in sorted(real.monomials.items()):
            key = self._key_of_atom(monomial)
            # exp(c * log(a)) is a^c, in which no exponential is left to compare.
            if key is not None and key[0] == "log":
                power = self.power(self.functions[key[1]], coefficient)
                result = self._product(result, power)
                continue
            factor = self._exp_atom(monomial)
            ((number, _),) = next(iter(factor.monomials))
            exponents.append((number, coefficient))
        return self._product(result, self._normal(exponents))

    def undefined(self, key: Hashable) -> Real:
        """Atom of what is undefined."""
        real = self.atom(key, ())
        self.need_values(real)
        return real

    def need_values(self, real: Real) -> None:
        """Require values of the atoms of a function."""
        if self.needs is not None:
            self.needs += [(VALUE, number) for m in real.monomials for number, _ in m]

    def _need_base(self, common: Monomial, rest: Real | None, exponent: Exponent) -> None:
        """Require that a power of a product is defined."""
        if self.needs is None:
            return
        if exponent < 0:
            factors = [self._base(number) for number, e in common if e > 0]
            self.needs += [(NONZERO, self.identify(factor)) for factor in factors]
        if rest is not None and exponent.denominator != 1:
            kind = NOT_NEGATIVE if exponent > 0 else POSITIVE
            self.needs.append((kind, self.identify(rest)))
        elif rest is not None and exponent < 0:
            self.needs.append((NONZERO, self.identify(rest)))

    def factors(self, real: Real) -> list[Real]:
        """Atoms and a sum whose product is a function, but for a number."""
        _, common, rest = self._content(real, 1)
        return [*[self._base(n) for n, _ in common], *([] if rest is None else [rest])]

    def _base(self, number: int) -> Real:
        """Atom, or the sum that it stands for."""
        return self.atoms[number].root or _alone(number)

    def _exp_atom(self, monomial: Monomial) -> Real:
        """Exponential of a product. Its value is on the unit circle, since powers may be large."""
        result = self.atom(("exp", monomial), self.shape_of(monomial), is_positive=True)
        ((number, _),) = next(iter(result.monomials))
        atom = self.atoms[number]
        if not atom.value.imag:
            atom.value = cmath.rect(1.0, atom.value.real)
        return result

    def log(self, real: Real) -> Real:
        """Natural logarithm: log(exp(a) * b^c) = a + c * log(b) for b > 0."""
        if not real.monomials:
            return self.undefined("logarithm of zero")
        coefficient, common, rest = self._content(real, HALF)
        self._need_base(common, rest, -HALF)
        parts = []
        for number, exponent in common:
            key = self.atoms[number].key
            if isinstance(key, tuple) and key[0] == "exp":
                parts.append(Real({key[1]: Fraction(exponent)}))
            else:
                parts.append(self.scale(self._log_atom(_alone(number)), Fraction(exponent)))
        rest = self.scale(self.one if rest is None else rest, coefficient)
        if rest.number != 1:
            parts.append(self._log_atom(rest))
        return self._sum(parts)

    def _log_atom(self, real: Real) -> Real:
        number = self.identify(real)
        shapes = [self.shape_of(m) for m in self.functions[number].monomials]
        return self.atom(("log", number), broadcast_shape(shapes))

    def without_name(self, real: Real) -> Real:
        """Function that an abbreviation of a long sum stands for; otherwise the function itself."""
        if len(real.monomials) != 1:
            return real
        ((monomial, coefficient),) = real.monomials.items()
        if len(monomial) != 1 or monomial[0][1] != 1:
            return real
        atom = self.atoms[monomial[0][0]]
        return self.scale(atom.root, coefficient) if atom.is_name and atom.root else real

    def _key_of_atom(self, monomial: Monomial) -> tuple[Any, ...] | None:
        """Key of the atom that is a monomial by itself."""
        if len(monomial) != 1 or monomial[0][1] != 1:
            return None
        key = self.atoms[monomial[0][0]].key
        return key if isinstance(key, tuple) else None

    @staticmethod
    def leading(real: Real) -> Fraction:
        """Coefficient of the first monomial; 0 if there is none."""
        return real.monomials[min(real.monomials)] if real.monomials else Fraction(0)

    def shape_of(self, monomial: Monomial) -> Shape | None:
        """Shape of a product, by broadcasting of its atoms; None if unknown."""
        shapes = [self.atoms[number].shape for number, _ in monomial]
        return broadcast_shape(shapes)

    def equal(self, one: Real, other: Real) -> bool:
        """Test two functions for equality, exactly."""
        if one.monomials == other.monomials:
            return True
        a, b = self.value(one), self.value(other)
        # One value at a random point tells most pairs apart, at a fraction of an expansion's cost.
        if abs(a.number - b.number) > _NEAR * max(a.size, b.size):
            return False
        one, other = self.without_name(one), self.without_name(other)
        if one.monomials == other.monomials:
            return True
        try:
            return self.is_zero(self._sum([one, self.scale(other, Fraction(-1))]))
        except TooLongError:
            return False

    def is_zero(self, real: Real) -> bool:
        """Test a function for 0: clear the denominators, and write out the abbreviations."""
        while real.monomials:
            least: dict[int, Exponent] = {}
            names = set()
            for monomial in real.monomials:
                for number, exponent in monomial:
                    atom = self.atoms[number]
                    if atom.root is not None and exponent < 0:
                        least[number] = min(exponent, least.get(number, exponent))
                    elif atom.is_name:
                        names.add(number)
            if least:
                number = max(least)  # the roots of others do not hold it
                # Multiplied by its own denominator: 0 stays 0, and other functions stay what they
                # are, as divisors differ from 0.
                factor = Real({((number, -least[number]),): Fraction(1)})
                real = self._product(real, factor)
            elif names:
                real = self._written_out(real, max(names))
            else:
                return False
        return True

    def identify(self, real: Real) -> int:
        """Number of a function: equal functions have the same. A few equal ones may be missed."""
        items = real.monomials.items()
        exact = frozenset([(m, c.numerator, c.denominator) for m, c in items])
        number = self._identified.get(exact)
        if number is None:
            # Compared with functions of nearly one value only: each exact comparison
            # expands products.
            near = self._near.setdefault(self.value(real).bucket, [])
            number = next((n for n in near if self.equal(self.functions[n], real)), None)
            if number is None:
                number = len(self.functions)
                self.functions.append(real)
                near.append(number)
            self._identified[exact] = number
        return number

    def value(self, real: Real) -> _Value:
        """Value at the random point."""
        if real._value is None:
            total, size = complex(0), 0.0
            for monomial, coefficient in real.monomials.items():
                product = complex(float(coefficient))
                for number, exponent in monomial:
                    try:
                        product *= self.atoms[number].value ** float(exponent)
                    except (ZeroDivisionError, OverflowError):
                        # Any value serves: a wrong one may miss an equality, and proves none.
                        product *= 1.0e300
                total += product
                size += abs(product)
            real._value = _Value(total, size)
        return real._value

    def _new(self, key: Hashable, shape: Shape | None, value: complex) -> int:
        number = self._numbers[key, shape] = len(self.atoms)
        self.atoms.append(_Atom(key, shape, value))
        return number

    def _sum(self, reals: Iterable[Real]) -> Real:
        total: dict[Monomial, Fraction] = {}
        for real in reals:
            for monomial, coefficient in real.monomials.items():
                before = total.get(monomial)
                total[monomial] = coefficient if before is None else before + coefficient
        return self._limited({m: c for m, c in total.items() if c})

    def _limited(self, monomials: Mapping[Monomial, Fraction]) -> Real:
        self.budget.step(1 + len(monomials))
        # A sum of n terms to the power k has n^k monomials: an answer that is open beats one that
        # never comes.
        if len(monomials) > MOST_MONOMIALS:
            raise TooLongError
        return Real(monomials)

    def _product(self, one: Real, other: Real) -> Real:
        parts: list[Real] = []
        plain: dict[Monomial, Fraction] = {}
        for a, c in one.monomials.items():
            self.budget.step(1 + len(other.monomials))
            for b, d in other.monomials.items():
                exponents = dict(a)
                for number, exponent in b:
                    total = exponents.get(number, 0) + exponent
                    # Each positive power of a truth value is that value.
                    is_square = total > 1 and number in self.truths
                    exponents[number] = 1 if is_square else _whole(total)
                if self._needs_expansion(exponents):
                    parts.append(self.scale(self._normal(exponents.items()), c * d))
                else:
                    monomial = tuple(sorted([(n, e) for n, e in exponents.items() if e]))
                    before = plain.get(monomial)
                    plain[monomial] = c * d if before is None else before + c * d
            if len(plain) + len(parts) > MOST_MONOMIALS:
                raise TooLongError
        return self._sum([Real(plain), *parts])

    def _needs_expansion(self, exponents: Mapping[int, Exponent]) -> bool:
        return any(
            not 0 <= exponent < 1
            and (root := self.atoms[number].root) is not None
            and not self.atoms[number].is_name
            and (exponent >= 1 or root.number is not None)
            for number, exponent in exponents.items()
        )

    def _normal(self, exponents: Iterable[tuple[int, Exponent]]) -> Real:
        """Product of powers of atoms, without positive powers of roots.

        Whole powers of a number's root are numbers.
        """
        rest: list[tuple[int, Exponent]] = []
        result = self.one
        for number, exponent in exponents:
            root = self.atoms[number].root
            constant = None if root is None else root.number
            if constant is not None:
                # sqrt(2)^3 is 2 sqrt(2): numbers leave the root, so that equal products have one
                # form.
                whole = math.floor(exponent)
                result = self.scale(result, constant**whole)
                exponent -= whole
            elif root is not None and exponent >= 1 and not self.atoms[number].is_name:
                for _ in range(int(exponent)):
                    result = self._product(result, root)
                exponent -= int(exponent)
            if exponent:
                rest.append((number, _whole(exponent)))
        return self._product(result, Real({tuple(sorted(rest)): Fraction(1)})) if rest else result

    def _short(self, real: Real) -> Real:
        """Abbreviate a long sum by an atom. A few constants stay beside it, since others may be
        added to them."""
        if len(real.monomials) <= LONG:
            return real
        constants = {
            monomial: coefficient
            for monomial, coefficient in real.monomials.items()
            if all(self.is_constant(number) for number, _ in monomial)
        }
        constants = constants if len(constants) <= _MOST_CONSTANTS else {}
        rest = {m: c for m, c in real.monomials.items() if m not in constants}
        if len(rest) <= LONG:
            return real
        # Up to a factor, so that multiples of a sum share its abbreviation.
        coefficient = rest[min(rest)]
        number = self._root(self.scale(Real(rest), 1 / coefficient), is_name=True)
        return Real({((number, 1),): coefficient, **constants})

    def _root(self, real: Real, is_name: bool = False) -> int:
        """Number of the atom that stands for a sum."""
        function = self.identify(real)
        real = self.functions[function]
        key = "name" if is_name else "root", function
        shape = broadcast_shape([self.shape_of(monomial) for monomial in real.monomials])
        number = self._numbers.get((key, shape))
        if number is None:
            number = self._new(key, shape, self.value(real).number)
            self.atoms[number].root, self.atoms[number].is_name = real, is_name
        return number

    def _content(self, real: Real, exponent: Exponent) -> tuple[Fraction, Monomial, Real | None]:
        """Number and product of atoms that all monomials share, and what remains; None for 1. A
        root takes out positive factors only."""
        whole = exponent.denominator == 1
        first = min(real.monomials)
        coefficient = real.monomials[first]
        # A root of a negative number is undefined: the sign stays inside.
        coefficient = coefficient if whole else abs(coefficient)
        common = dict(first)
        for monomial in real.monomials:
            exponents = dict(monomial)
            for number in list(common):
                if number in exponents:
                    common[number] = min(common[number], exponents[number])
                else:
                    del common[number]
        product = tuple(
            (number, e)
            for number, e in sorted(common.items())
            # sqrt(a * b) is sqrt(a) * sqrt(b) for a, b >= 0 only.
            if whole or self.atoms[number].is_positive
        )
        inverse = Real({tuple((n, -e) for n, e in product): 1 / coefficient})
        rest = self._product(real, inverse)
        return coefficient, product, None if rest.number == 1 else rest

    def _number_power(self, base: Fraction, exponent: Exponent) -> Real:
        """Power of a number: that of each prime by itself."""
        if exponent.denominator == 1:
            return self.number(base**exponent.numerator)
        result = self.one
        for number, sign in ((base.numerator, 1), (base.denominator, -1)):
            # Prime by prime, or sqrt(6) and sqrt(2) sqrt(3) would be two atoms.
            for prime, count in _factors(number):
                root = self._root(self.number(prime))
                self.atoms[root].is_positive = True
                result = self._product(result, self._normal([(root, exponent * count * sign)]))
        return result

    def _written_out(self, real: Real, number: int) -> Real:
        """Write out an abbreviation."""
        root = self.atoms[number].root
        assert root is not None
        parts = []
        for monomial, coefficient in real.monomials.items():
            exponents = dict(monomial)
            exponent = exponents.pop(number, 0)
            part = Real({tuple(sorted(exponents.items())): coefficient})
            for _ in range(int(exponent)):
                part = self._product(part, root)
            if exponent.denominator != 1:
                raise TooLongError
            parts.append(part)
        return self._sum(parts)


def _alone(number: int) -> Real:
    return Real({((number, 1),): Fraction(1)})


def _whole(exponent: Exponent) -> Exponent:
    return exponent.numerator if exponent.denominator == 1 else exponent


def broadcast_shape(shapes: Iterable[Shape | None]) -> Shape | None:
    """Shape of an elementwise operation on tensors of these shapes; None if unknown."""
    result: Shape = ()
    for shape in shapes:
        if shape is None:
            return None
        if len(shape) > len(result):
            shape, result = result, shape
        dims = list(result)
        for back, dim in enumerate(reversed(shape), 1):
            if dims[-back].value == 1:
                dims[-back] = dim
            elif dim.value != 1 and dim != dims[-back]:
                return None
        result = tuple(dims)
    return result


def _factors(number: int) -> Iterable[tuple[int, int]]:
    """Prime factors with their counts; what remains after the small ones counts as prime."""
    prime = 2
    while number > 1:
        if prime * prime > number or prime > _LARGEST_PRIME:
            prime = number
        count = 0
        while number % prime == 0:
            number //= prime
            count += 1
        if count:
            yield prime, count
        prime += 1
