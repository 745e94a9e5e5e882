import itertools
import math

import pytest
from straightline.verification.checker.polynomials import (
    LIMIT,
    add,
    divide,
    is_at_least,
    is_multiple_of_2_64,
    multiply,
    names_in,
    rename,
    smaller,
    text_of,
    wider,
)

DIMS = [0, 1, -1, 5, "n", "m", add("n", "m"), add("n", 3), multiply(2, "n"), multiply("n", "m")]
DIMS += [add(multiply("n", "m"), "n", -4), multiply(add("n", 1), add("n", -1))]


def number_of(dim, sizes):
    if not isinstance(dim, tuple):
        return sizes.get(dim, dim)
    return sum(factor * math.prod(sizes[name] for name in product) for product, factor in dim)


@pytest.mark.parametrize("one", DIMS, ids=text_of)
def test_arithmetic_is_that_of_integers(one):
    for other, n, m in itertools.product(DIMS, (0, 1, 7, 2**63 - 1), (0, 3)):
        sizes = {"n": n, "m": m}
        a, b = number_of(one, sizes), number_of(other, sizes)
        assert all(a >= least or not is_at_least(least, one) for least in (0, 1))
        assert number_of(add(one, other, -3), sizes) == a - 3 * b
        assert number_of(multiply(one, other), sizes) == a * b
        share = divide(multiply(one, other), other)
        assert isinstance(other, tuple) or not other or share == one
        quotient = divide(one, other)
        assert quotient is None or number_of(quotient, sizes) * b == a
        assert is_multiple_of_2_64(add(one, other, -1)) in (None, (a - b) % 2**64 == 0)
        assert number_of(rename(one, {"n": other}), sizes) == number_of(one, {**sizes, "n": b})


SIZES = [0, 1, 3, "n", "m", smaller(2, "n"), smaller(1, "m"), wider(["n", "m"])]


def test_the_wider_one_is_the_size_of_a_broadcast():
    """Where the operands broadcast; the name of a size is renamed as the size itself."""
    every = itertools.product(itertools.combinations_with_replacement(SIZES, 3), range(4), range(4))
    for dims, n, m in every:
        sizes = [rename(dim, {"n": n, "m": m}) for dim in dims]
        if None in sizes or len({*sizes} - {1}) > 1:
            continue
        size = max({*sizes} - {1}, default=1)
        whole = wider(dims)
        assert rename(whole, {"n": n, "m": m}) == size
        for one in ({"n": "m"}, {"n": smaller(2, "m")}, {"n": wider(["m", "k"])}):
            if n == rename(one["n"], {"m": m, "k": 1}):
                assert rename(rename(whole, one), {"m": m, "k": 1}) == size


def test_the_wider_one_has_one_form():
    assert wider(["n", wider(["m", "n"])]) == wider(["m", "n"]) == wider(["m", 1, "n"])
    assert wider(["n", 3]) == 3 and wider([2, 3]) is None and wider([add("n", 1), "n"]) is None
    assert wider([smaller(2, "n"), "n"]) == "n" != wider([smaller(1, "n"), "n"])
    assert smaller(2, smaller(3, "n")) == smaller(2, "n") and smaller(2, add("n", 1)) is None
    assert names_in(wider(["n", smaller(2, "m")])) == {"n", "m"}
    assert wider([f"n{k}" for k in range(9)]) is None


def test_equal_polynomials_have_one_form():
    assert add(add("p", "t"), "p", -1) == "t"
    assert multiply(add("n", 1), add("n", -1)) == add(multiply("n", "n"), -1)
    assert multiply(3, 4) == 12 and add("n", "n", -1) == 0 and names_in(add("n", 2)) == {"n"}
    assert text_of(add("n", multiply(2, "m"))) == "2*m+n" and text_of(None) == "?"


@pytest.mark.parametrize("dim", [add("n", "m"), add("n", 1), multiply(2, "n")])
def test_a_sum_that_cannot_wrap_to_minus_one(dim):
    assert is_multiple_of_2_64(add(dim, 1)) is False


def test_open_multiples():
    assert is_multiple_of_2_64(add(multiply(3, "n"), 1)) is None  # 3 n = 2^64 - 1 has a solution
    assert is_multiple_of_2_64(add("n", "m", -1)) is None
    assert is_multiple_of_2_64(add(multiply("n", "m"), 1)) is None
    assert divide("n", add("n", 1)) is None and divide("n", 2) is None and divide("n", 0) is None


def test_long_polynomials_and_large_numbers_are_unknown():
    assert add(LIMIT - 1, 1) is None and multiply(LIMIT - 1, 2) is None
    assert multiply(*["n"] * 9) is None and multiply(0, None) == 0
    total = "n0"
    for k in range(1, 17):
        total = add(total, f"n{k}")
    assert total is None and add(None, 1) is None and divide(None, 1) is None
