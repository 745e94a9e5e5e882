"""Sizes as polynomials over names: sums and products of sizes in one normal form."""

#     Concat of [p, 8] and [t, 8] along axis 0     p + t
#
# A size is equal to its polynomial, an element of int64 modulo 2^64.

import functools
import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

Monomial = tuple[str, ...]
# Number, name, sum of products of names with their factors, or unknown.
Dim = int | str | tuple[tuple[Monomial, int], ...] | None
LIMIT = 1 << 63
# Beginning of the names of sizes that no input names.
OWN = "?"
_WIDER = f"{OWN}wider of "
_MOST_PRODUCTS, _MOST_NAMES = 16, 8


def products_of(dim: Dim) -> dict[Monomial, int]:
    """Products of names with their factors; none for an unknown polynomial."""
    if isinstance(dim, tuple):
        return dict(dim)
    return {(dim,): 1} if isinstance(dim, str) else {(): dim} if dim else {}


def _normal(parts: dict[Monomial, int]) -> Dim:
    """Polynomial in its normal form; None for long ones, and for numbers beyond int64."""
    products = tuple(sorted((names, number) for names, number in parts.items() if number))
    is_long = any(len(names) > _MOST_NAMES for names, _ in products)
    is_long |= len(products) > _MOST_PRODUCTS
    if is_long or not all(-LIMIT <= number < LIMIT for _, number in products):
        return None
    if len(products) != 1:
        return products or 0
    ((names, number),) = products
    return number if not names else names[0] if len(names) == number == 1 else products


def add(one: Dim, other: Dim, factor: int = 1) -> Dim:
    """Sum of a polynomial and another one times a factor."""
    if one is None or other is None:
        return None
    parts = products_of(one)
    for names, number in products_of(other).items():
        parts[names] = parts.get(names, 0) + factor * number
    return _normal(parts)


def is_at_least(number: int, dim: Dim) -> bool:
    """Test for a polynomial that is at least a number for all sizes."""
    parts = products_of(dim)
    is_above = dim is not None and parts.pop((), 0) >= number
    return is_above and all(factor > 0 for factor in parts.values())


def multiply(*dims: Dim) -> Dim:
    """Product of polynomials."""
    if 0 in dims:
        return 0
    total: Dim = 1
    for dim in dims:
        if total is None or dim is None:
            return None
        parts = dict[Monomial, int]()
        for names, number in products_of(total).items():
            for more, factor in products_of(dim).items():
                key = tuple(sorted(names + more))
                parts[key] = parts.get(key, 0) + number * factor
        total = _normal(parts)
    return total


def divide(dim: Dim, divisor: Dim) -> Dim:
    """Quotient by a size that is not 0; None if it is another sum, or does not divide each part."""
    factors = [*products_of(divisor).items()]
    if dim is None or len(factors) != 1:
        return None if dim is None or dim != divisor else 1
    ((names, share),) = factors
    quotient = dict[Monomial, int]()
    for each, number in products_of(dim).items():
        rest = Counter(each)
        rest.subtract(names)
        if number % share or min(rest.values(), default=0) < 0:
            return None
        quotient[tuple(sorted(rest.elements()))] = number // share
    return _normal(quotient)


def rename(dim: Dim, sizes: dict[Dim, Dim]) -> Dim:
    """Polynomial with other sizes for some of its names; itself if that is too long."""
    if not isinstance(dim, tuple):
        if dim in sizes or not isinstance(dim, str) or not dim.startswith(_WIDER):
            return sizes.get(dim, dim)
        return wider([smaller(most, rename(name, sizes)) for most, name in _parts_of(dim)])
    total: Dim = 0
    for names, number in dim:
        total = add(total, multiply(number, *[rename(name, sizes) for name in names]))
    return dim if total is None else total


def wider(dims: Iterable[Dim]) -> Dim:
    """Size of an axis of operands that broadcast: the one that is not 1, or 1."""
    #     [n] + ([n] + [m])     the wider one of m and n
    #
    # It is a name of the checker's own where that depends on the sizes, and unknown for sums.
    sizes = {*dims} - {1}
    if len(sizes) < 2:
        return sizes.pop() if sizes else 1
    return _widest({part for dim in sizes for part in _parts_of(dim)})


def smaller(number: int, dim: Dim) -> Dim:
    """Smaller one of a number and a size."""
    if not isinstance(dim, str):
        return dim if number == LIMIT else min(number, dim) if isinstance(dim, int) else None
    return _widest({(min(number, most), name) for most, name in _parts_of(dim)})


def _widest(parts: set[tuple[int, Any]]) -> Dim:
    parts = parts - {(LIMIT, 1)}
    parts -= {(most, dim) for most, dim in parts if 1 < most < LIMIT and (LIMIT, dim) in parts}
    numbers, names = ([n for _, n in parts if isinstance(n, kind)] for kind in (int, str))
    ((most, dim), *more) = [*parts] or [(LIMIT, 1)]
    if numbers or (most == LIMIT and not more):
        return None if numbers[1:] else (*numbers, dim)[0]  # others are that number or 1
    is_short = len(names) == len(parts) <= _MOST_NAMES
    return f"{_WIDER}{json.dumps(sorted(parts))}" if is_short else None


@functools.lru_cache(1 << 12)
def _parts_of(dim: Dim) -> tuple[tuple[int, Any], ...]:
    """Sizes of which a size is the wider one, each at most a number; itself for another one."""
    if not isinstance(dim, str) or not dim.startswith(_WIDER):
        return ((LIMIT, dim),)
    return tuple([(most, name) for most, name in json.loads(dim.removeprefix(_WIDER))])


def names_in(dim: Dim) -> set[str]:
    """Names in a polynomial, those of which others are the smaller or wider one."""
    parts = [part for names in products_of(dim) for name in names for part in _parts_of(name)]
    return {name for _, name in parts}


def is_multiple_of_2_64(dim: Dim) -> bool | None:
    """Test whether a polynomial over sizes is 0 modulo 2^64; None if that depends on them."""
    if dim is None or dim == 0:
        return None if dim is None else True
    parts = products_of(dim)
    least = most = parts.pop((), 0)
    for names, number in parts.items():
        if len(names) > 1:
            return None
        least += min(number, 0) * (LIMIT - 1)
        most += max(number, 0) * (LIMIT - 1)
    return None if -(-least // (2 * LIMIT)) * 2 * LIMIT <= most else False


def text_of(dim: Dim) -> str:
    """Text of a polynomial in a certificate."""
    if not isinstance(dim, tuple):
        return "?" if dim is None else str(dim)
    products = ["*".join([*([] if n == 1 and names else [str(n)]), *names]) for names, n in dim]
    return "+".join(products)
