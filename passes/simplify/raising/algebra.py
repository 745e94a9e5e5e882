"""Real functions of tensors in a normal form: sums of products of powers of atoms.

x / sqrt(v), x * v^-0.5 and x * reciprocal(sqrt(v)) are one sum, as are x * x and x^2. An atom is a
tensor that nothing more is read of, or a function of a sum: a sum along axes, an exponential, the
base of a power. Sums along axes are linear, and what does not vary along the axes leaves them.

    x * reciprocal (sqrt (v))    {x * v^-0.5: 1}
    (x - m)^2                    {x^2: 1, x * m: -2, m^2: 1}
    mean of n elements of 3 * x  {sum (x): 3 / n}
"""

from collections.abc import Iterable, Mapping, Sequence

from ....facts.fact import Shape
from ....facts.polynomial import Dimension
from ....ir import Value
from ....ops.axes import ONE as SINGLE
from ....records import record

TOLERANCE = 3e-7
"""Relative difference of constants that are one number after rounding to float32."""

_LONGEST = 24
"""Most products in a sum."""

_HIGHEST = 4
"""Highest power of a sum that is multiplied out."""

Factors = tuple[tuple[int, float], ...]
"""Product of powers: atoms by number with their exponents, in the order of the numbers."""

Sum = Mapping[Factors, float]
"""Coefficients by product. Immutable."""

ONE: Sum = {(): 1.0}
ZERO: Sum = {}


class Unreadable(Exception):
    """Signal that a value has no short normal form."""


@record(frozen=True, eq=False)
class Atom:
    """Atom of sums.

    Attributes:
        kind: "value", "size", "base" of a power, "sum" along axes, or a function of sums.
        parts: the sums that it is a function of.
        extra: what else it depends on, such as axes.
        shape: its shape, aligned with others from the last axis on; None if unknown.
        value: the tensor that it is; None for a function.
    """

    number: int
    kind: str
    parts: tuple[Sum, ...]
    extra: tuple[object, ...]
    shape: Shape | None
    value: Value | None = None


def close(one: float, other: float) -> bool:
    """Test two constants for equality but for rounding."""
    return abs(one - other) <= TOLERANCE * max(abs(one), abs(other))


def equal(one: Sum, other: Sum) -> bool:
    """Test two sums for equality but for rounding of their constants."""
    if len(one) != len(other):
        return False
    return all(key in other and close(number, other[key]) for key, number in one.items())


def number_of(one: Sum) -> float | None:
    """Number that a sum is; None if it holds atoms."""
    if not one:
        return 0.0
    return one.get(()) if len(one) == 1 else None


class Algebra:
    """Arithmetic over shared atoms."""

    def __init__(self) -> None:
        self.atoms: list[Atom] = []
        self._of_kind: dict[tuple[object, ...], list[Atom]] = {}

    def of_value(self, value: Value, shape: Shape | None) -> Sum:
        """Atom of a tensor."""
        return self._atom("value", (), (value,), shape, value)

    def function(self, kind: str, parts: Sequence[Sum], shape: Shape | None, *extra: object) -> Sum:
        """Atom of a function of sums."""
        return self._atom(kind, tuple(parts), extra, shape)

    def size(self, dim: Dimension) -> Sum:
        """Size of an axis."""
        if dim.value is not None:
            return {(): float(dim.value)} if dim.value else ZERO
        return self._atom("size", (), (dim,), ())

    @staticmethod
    def add(*sums: Sum) -> Sum:
        """Sum of sums; a rest that rounding leaves is 0."""
        total: dict[Factors, float] = {}
        largest: dict[Factors, float] = {}
        for one in sums:
            for key, number in one.items():
                total[key] = total.get(key, 0.0) + number
                largest[key] = max(largest.get(key, 0.0), abs(number))
        result = {k: n for k, n in total.items() if abs(n) > TOLERANCE * largest[k]}
        if len(result) > _LONGEST:
            raise Unreadable
        return result

    @staticmethod
    def scale(one: Sum, factor: float) -> Sum:
        """Product with a number."""
        return {key: number * factor for key, number in one.items()} if factor else ZERO

    def subtract(self, one: Sum, other: Sum) -> Sum:
        """Difference."""
        return self.add(one, self.scale(other, -1.0))

    def multiply(self, one: Sum, other: Sum) -> Sum:
        """Product."""
        if len(one) * len(other) > _LONGEST:
            raise Unreadable
        parts: list[Sum] = []
        for a, x in one.items():
            for b, y in other.items():
                parts.append({self._product(a, b): x * y})
        return parts[0] if len(parts) == 1 else self.add(*parts)

    @staticmethod
    def _product(a: Factors, b: Factors) -> Factors:
        if not a or not b:
            return a or b
        exponents = dict(a)
        for number, exponent in b:
            exponents[number] = exponents.get(number, 0.0) + exponent
        return tuple(sorted([(n, e) for n, e in exponents.items() if e]))

    def power(self, one: Sum, exponent: float) -> Sum:
        """Power with a constant exponent; of a sum with several products, an atom's."""
        if not one or exponent == 0:
            raise Unreadable
        if len(one) > 1:
            return self._power_of_sum(one, exponent)
        ((key, number),) = one.items()
        is_whole = exponent == int(exponent)
        # (a * b)^0.5 is a^0.5 * b^0.5 for positive factors only.
        if not is_whole and (number < 0 or any(not self._is_positive(n) for n, _ in key)):
            if key:
                return self._power_of_base(one, exponent)
            raise Unreadable
        return {tuple([(n, e * exponent) for n, e in key]): number**exponent}

    def _is_positive(self, number: int) -> bool:
        """Test for an atom that is more than 0, so that (a^2)^0.5 is a."""
        atom = self.atoms[number]
        if atom.kind == "sum":
            ((key, factor),) = atom.parts[0].items()
            return factor > 0 and all(e % 2 == 0 or self._is_positive(n) for n, e in key)
        return atom.kind in ("exp", "size", "base")

    def _power_of_sum(self, one: Sum, exponent: float) -> Sum:
        if exponent == int(exponent) and 0 < exponent <= _HIGHEST:
            result = one
            for _ in range(int(exponent) - 1):
                result = self.multiply(result, one)
            return result
        return self._power_of_base(one, exponent)

    def _power_of_base(self, one: Sum, exponent: float) -> Sum:
        base = self.function("base", [one], self.shape_of(one))
        ((((number, _),), _),) = base.items()
        return {((number, exponent),): 1.0}

    def exp(self, one: Sum) -> Sum:
        """Exponential: that of a sum is a product, and exp(-x) is 1 / exp(x)."""
        result: Sum = ONE
        for key, number in one.items():
            factor = self.function("exp", [{key: abs(number)}], self._shape_of(key))
            result = self.multiply(result, self.power(factor, 1.0 if number > 0 else -1.0))
        return result

    def sum_along(self, one: Sum, shape: Shape, axes: Iterable[int]) -> Sum:
        """Sum along axes of a tensor, which stay with size 1.

        Args:
            one: the tensor.
            axes: the axes, counted from the front.
        """
        back = [len(shape) - axis for axis in axes]
        parts = [self._sum_product(key, number, shape, back) for key, number in one.items()]
        return self.add(*parts) if parts else ZERO

    def _sum_product(self, key: Factors, number: float, shape: Shape, back: Sequence[int]) -> Sum:
        inside, varying = [], set()
        for atom, exponent in key:
            own = self.atoms[atom].shape
            if own is None:
                raise Unreadable
            along = {b for b in back if b <= len(own) and own[-b] != 1}
            if along:
                inside.append((atom, exponent))
                varying |= along
        outside = tuple([each for each in key if each not in inside])
        result: Sum = {outside: number}
        for b in back:
            if b not in varying:
                result = self.multiply(result, self.size(shape[-b]))
        if not inside:
            return result
        product = tuple(inside)
        own = self._shape_of(product)
        if own is None:
            raise Unreadable
        reduced = tuple(
            [SINGLE if len(own) - axis in varying else dim for axis, dim in enumerate(own)]
        )
        total = self.function("sum", [{product: 1.0}], reduced, tuple(sorted(varying)))
        return self.multiply(result, total)

    def mean_along(self, one: Sum, shape: Shape, axes: Sequence[int]) -> Sum:
        """Mean along axes of a tensor, which stay with size 1."""
        total = self.sum_along(one, shape, axes)
        for axis in axes:
            # A mean of nothing is 0 / 0.
            if shape[axis] == 0:
                raise Unreadable
            total = self.multiply(total, self.power(self.size(shape[axis]), -1.0))
        return total

    def shape_of(self, one: Sum) -> Shape | None:
        """Shape to which the atoms of a sum broadcast; None if unknown."""
        return _broadcast([self._shape_of(key) for key in one])

    def _shape_of(self, key: Factors) -> Shape | None:
        return _broadcast([self.atoms[number].shape for number, _ in key])

    def _atom(
        self,
        kind: str,
        parts: tuple[Sum, ...],
        extra: tuple[object, ...],
        shape: Shape | None,
        value: Value | None = None,
    ) -> Sum:
        others = self._of_kind.setdefault((kind, *extra), [])
        for other in others:
            if len(parts) == len(other.parts) and all(map(equal, parts, other.parts)):
                return {((other.number, 1.0),): 1.0}
        atom = Atom(len(self.atoms), kind, parts, extra, shape, value)
        self.atoms.append(atom)
        others.append(atom)
        return {((atom.number, 1.0),): 1.0}


def _broadcast(shapes: Iterable[Shape | None]) -> Shape | None:
    """Shape to which tensors of some shapes broadcast; None if unknown."""
    result: Shape = ()
    for shape in shapes:
        if shape is None:
            return None
        if len(shape) > len(result):
            shape, result = result, shape
        dims = list(result)
        for back, dim in enumerate(reversed(shape), 1):
            if dims[-back] == 1:
                dims[-back] = dim
            elif dim != 1 and dim != dims[-back]:
                return None
        result = tuple(dims)
    return result
