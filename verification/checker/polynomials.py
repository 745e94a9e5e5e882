"""Sizes as polynomials over names: sums and products of sizes in one normal form.

    Concat of [p, 8] and [t, 8] along axis 0     p + t

A size is equal to its polynomial, an element of int64 modulo 2^64.
"""

from __future__ import annotations

Monomial = tuple[str, ...]
Dim = int | str | tuple[tuple[Monomial, int], ...] | None
"""Number, name, sum of products of names with their factors, or unknown."""
LIMIT = 1 << 63
OWN = "?"
"""Beginning of the names of sizes that no input names."""
_SMALLER = f"{OWN}smaller of "
_MOST_PRODUCTS, _MOST_NAMES = 16, 8


def _parts(dim: Dim) -> dict[Monomial, int]:
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
    parts = _parts(one)
    for names, number in _parts(other).items():
        parts[names] = parts.get(names, 0) + factor * number
    return _normal(parts)


def multiply(*dims: Dim) -> Dim:
    """Product of polynomials."""
    if 0 in dims:
        return 0
    total: Dim = 1
    for dim in dims:
        if total is None or dim is None:
            return None
        parts = dict[Monomial, int]()
        for names, number in _parts(total).items():
            for more, factor in _parts(dim).items():
                key = tuple(sorted(names + more))
                parts[key] = parts.get(key, 0) + number * factor
        total = _normal(parts)
    return total


def divide(dim: Dim, divisor: Dim) -> Dim:
    """Quotient by a product that is not 0; None if it does not divide each part."""
    factors = [*_parts(divisor).items()]
    if dim is None or len(factors) != 1:
        return None
    ((names, share),) = factors
    quotient = dict[Monomial, int]()
    for each, number in _parts(dim).items():
        rest = list(each)
        for name in names:
            if name not in rest:
                return None
            rest.remove(name)
        if number % share:
            return None
        quotient[tuple(rest)] = number // share
    return _normal(quotient)


def rename(dim: Dim, sizes: dict[Dim, Dim]) -> Dim:
    """Polynomial with other sizes for some of its names; itself if that is too long."""
    if not isinstance(dim, tuple):
        return sizes.get(dim, dim)
    total: Dim = 0
    for names, number in dim:
        total = add(total, multiply(number, *[sizes.get(name, name) for name in names]))
    return dim if total is None else total


def smaller(number: int, dim: Dim) -> str:
    """Name of the smaller one of two sizes, which is the checker's own."""
    return f"{_SMALLER}{number},{text_of(dim)}"


def smaller_of(dim: Dim) -> tuple[int, str | None]:
    """Number and name of which a name is the smaller one; 0 and None for another size."""
    if not isinstance(dim, str) or not dim.startswith(_SMALLER):
        return 0, None
    number, _, name = dim.removeprefix(_SMALLER).partition(",")
    return int(number), name


def names_in(dim: Dim) -> set[str]:
    """Names of a polynomial."""
    return {name for names in _parts(dim) for name in names}


def is_multiple_of_2_64(dim: Dim) -> bool | None:
    """Test whether a polynomial over sizes is 0 modulo 2^64; None if that depends on them."""
    if dim is None or dim == 0:
        return None if dim is None else True
    parts = _parts(dim)
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
