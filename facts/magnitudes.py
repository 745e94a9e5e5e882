"""Bounds of sizes: integers made of sizes that certainly do not wrap.

No process addresses 2^47 elements, so all sizes of one tensor but 0 multiply to less than that; the
product of sizes of several tensors may be as large as it likes. In 32 bits a size is taken to be
less than 2^30, which whoever relies on it has to say.
"""

import functools
from collections import Counter

import numpy as np
import onnx

from .polynomial import Dimension, product
from .polynomial_size_limit import Abbreviation, Monomial

MOST_ELEMENTS = (1 << 47) - 1
"""More elements than these, sizes of 0 not counted, are in no tensor."""

MOST_IN_32_BITS = (1 << 30) - 1
"""Larger sizes are not expected where a model computes sizes in 32 bits."""

LAST_OF_32_BITS = (1 << 31) - 1
"""The bound of a Slice that exporters write for the end of an axis."""

LAST_OF_64_BITS = (1 << 63) - 1
FAR_ENDS = (LAST_OF_32_BITS, LAST_OF_64_BITS)
"""The ends of a Slice backward that onnxruntime takes for the place before the first element."""

MOST_AXES = 32
"""The product of more open sizes than these is not made: a tensor has fewer axes."""

_NUMBERS = ("?least0", "?if")
"""Symbols of the proof for numbers that are no sizes: any integer of 64 bits that is at least 0."""


class Magnitudes:
    """Bounds of the sizes of one model.

    Attributes:
        narrow: whether a size was taken to be small since it is computed in 32 bits.
        ends: whether an axis was taken to end before the bound of a Slice of 32 bits.
    """

    def __init__(self) -> None:
        self.narrow = False
        self.ends = False
        self._together: set[Monomial] = set()
        self._shapes: set[tuple[Dimension, ...]] = set()
        self._numbers: dict[str, int] = {}

    def is_end(self, bound: int) -> bool:
        """Test whether a Slice up to a bound reaches the end of any axis; note an assumption."""
        self.ends |= LAST_OF_32_BITS <= bound <= MOST_ELEMENTS
        return bound >= LAST_OF_32_BITS

    def exists(self, shape: tuple[Dimension, ...] | None) -> None:
        """Record that a tensor of a shape, or a loop of so many iterations, exists."""
        if shape is None or shape in self._shapes:
            return
        self._shapes.add(shape)
        sizes = [dim for dim in shape if dim.value is None]
        if len(sizes) > MOST_AXES:
            return
        # Only where all factors are positive is each term no larger than the whole product.
        if sizes and (whole := product(sizes).terms) and min(whole.values()) > 0:
            self._together.update(whole)

    def bound(self, name: str, most: int) -> None:
        """Record the largest number that a symbol may be, which need be no size."""
        if most <= MOST_ELEMENTS:
            self._numbers[name] = min(most, self._numbers.get(name, most))

    def hold(self, element: Dimension, elem_type: int) -> bool:
        """Test whether an integer type holds a polynomial of sizes for all sizes."""
        least, greatest, bits = _range_of(elem_type)
        if element.value is not None:
            return least <= element.value <= greatest
        if bits < 32:
            return False
        most = MOST_ELEMENTS if bits == 64 else MOST_IN_32_BITS
        low = high = element.terms.get((), 0)
        for monomial, factor in element.terms.items():
            if monomial:
                largest = self._largest(monomial, most) * factor
                # Each product lies between 0 and its largest, so it widens one end.
                low, high = min(low, low + largest), max(high, high + largest)
        fits = least <= low and high <= greatest
        self.narrow |= fits and bits == 32
        return fits

    def _largest(self, monomial: Monomial, most: int) -> int:
        """The largest number that a product of symbols may be."""
        # Sizes of one tensor multiply to less than those of several.
        if len(monomial) > 1 and any(_divides(monomial, other) for other in self._together):
            return MOST_ELEMENTS
        largest = 1
        for name in monomial:
            if isinstance(name, Abbreviation):
                return _UNBOUNDED
            # A number of 32 bits is not small for being no size.
            is_number = name.startswith(_NUMBERS) and (name,) not in self._together
            largest *= self._numbers.get(name, (1 << 63) - 1) if is_number else most
        return largest

    def is_size(self, name: str) -> bool:
        """Test whether a symbol is no larger than a tensor may be."""
        is_number = name.startswith(_NUMBERS) and name not in self._numbers
        return not is_number or (name,) in self._together


def most_of(size: Dimension) -> int:
    """The largest number that a size may be, whatever tensors exist."""
    total = size.terms.get((), 0)
    for monomial, factor in size.terms.items():
        if monomial and factor > 0:
            if any(
                isinstance(name, Abbreviation) or name.startswith(_NUMBERS) for name in monomial
            ):
                return _UNBOUNDED
            total += factor * MOST_ELEMENTS ** len(monomial)
    return total


_UNBOUNDED = 1 << 300


@functools.cache
def _range_of(elem_type: int) -> tuple[int, int, int]:
    """The least and the greatest number of an integer type, and its bits."""
    info = np.iinfo(onnx.helper.tensor_dtype_to_np_dtype(elem_type))
    return int(info.min), int(info.max), int(info.bits)


def _divides(monomial: Monomial, other: Monomial) -> bool:
    return len(monomial) <= len(other) and Counter(monomial) <= Counter(other)
