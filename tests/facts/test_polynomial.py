import functools
import math
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from straightline.facts.polynomial import Dimension, product
from tables import table

SYMBOLS = ("K", "M", "N")
SIZES = st.fixed_dictionaries({name: st.integers(0, 5) for name in SYMBOLS})

monomials = st.lists(st.sampled_from(SYMBOLS), max_size=3).map(lambda names: tuple(sorted(names)))
dimensions = st.dictionaries(monomials, st.integers(-4, 4), max_size=4).map(Dimension)


def at(dim: Dimension, sizes: dict[str, int]) -> int:
    """The number that a dimension is for these sizes."""
    total = 0
    for monomial, factor in dim.terms.items():
        for name in monomial:
            factor *= sizes[name]
        total += factor
    return total


@given(dimensions, dimensions, SIZES)
def test_arithmetic(a, b, sizes):
    x, y = at(a, sizes), at(b, sizes)
    assert at(a + b, sizes) == x + y
    assert at(a - b, sizes) == x - y
    assert at(a * b, sizes) == x * y
    assert at(-a, sizes) == -x
    assert at(3 - a, sizes) == 3 - x
    assert at(3 + a * 2, sizes) == 3 + x * 2


@given(dimensions, dimensions, SIZES)
def test_comparisons_hold_for_all_sizes(a, b, sizes):
    x, y = at(a, sizes), at(b, sizes)
    assert a.equals(b) in (None, x == y)
    assert a.less(b) in (None, x < y)
    assert a.less(2) in (None, x < 2)
    assert a.at_least is None or a.at_least <= x
    assert a.at_most is None or a.at_most >= x
    assert a.value in (None, x)


@given(dimensions, dimensions, SIZES)
def test_a_quotient_is_exact(a, b, sizes):
    quotient = a.divided_by(b)
    if quotient is not None and at(b, sizes):
        assert at(quotient, sizes) * at(b, sizes) == at(a, sizes)


@given(dimensions, dimensions, SIZES)
def test_a_polynomial_that_vanishes_with_another_is_zero(a, b, sizes):
    if a.vanishes_with(b) and at(b, sizes) == 0:
        assert at(a, sizes) == 0


def test_multiples_of_each_factor_vanish_with_a_product():
    n, m = Dimension.symbol("n"), Dimension.symbol("m")
    assert n.vanishes_with(n * 4) and (n * n * m).vanishes_with(n * m * m)
    assert (n + m).vanishes_with(n + m) and (n * 2).vanishes_with(n * m + n)
    assert not n.vanishes_with(n * m) and not (n + 1).vanishes_with(n)
    assert not n.vanishes_with(n - 1) and not (n - m).vanishes_with(n - m)


@given(dimensions, dimensions)
def test_a_product_can_be_divided_by_a_term(a, b):
    if a.terms and len(b.terms) == 1:
        assert (a * b).divided_by(b) == a


@given(dimensions, dimensions)
def test_a_product_can_be_divided_by_a_sum_that_is_never_zero(a, b):
    divisor = b * b + 1 if b.value is None and all(f > 0 for f in b.terms.values()) else None
    if divisor is not None and len(a.terms) <= 4:
        assert (a * divisor).divided_by(divisor) == a
        assert (a * divisor + 1).divided_by(divisor) is None


def test_division_by_a_sum():
    n, k = Dimension.symbol("N"), Dimension.symbol("K")
    assert (n * k * 16 + k * 16).divided_by(n * 2 + 2) == k * 8
    assert (n * n + n * 2 + 1).divided_by(n + 1) == n + 1
    assert (n * k).divided_by(n + 1) is None
    assert (n * 3 + 3).divided_by(n * 2 + 2) is None
    assert (n * k + n).divided_by(n + k) is None  # which may be 0
    assert (n * n - k * k).divided_by(n - k) is None


@given(dimensions)
def test_equal_dimensions_hash_alike(a):
    other = Dimension({**a.terms, ("N", "N", "N", "N"): 0})
    assert a == other
    assert hash(a) == hash(other)
    assert a != a + 1
    assert a.equals(a + 1) is False


@table(
    (Dimension({}), "0"),
    (Dimension.symbol("N") + 5, "N + 5"),
    (Dimension.symbol("N") - 1, "N - 1"),
    (5 - Dimension.symbol("N"), "-N + 5"),
    ((Dimension.symbol("N") + 2) * Dimension.symbol("N"), "N*N + 2*N"),
    (Dimension.symbol("N") * 2 * Dimension.symbol("K"), "2*K*N"),
)
def test_text(dim, text):
    assert str(dim) == text


@table(
    ("N+5", 0, False),
    ("N+5", 5, None),
    ("2N", 3, False),
    ("2N", 4, None),
    ("N*K", 1, None),
    ("N", "N", True),
    ("N", "K", None),
    ("N+1", "N", False),
)
def test_equality_is_decided_only_for_all_sizes(a, b, equal):
    n, k = Dimension.symbol("N"), Dimension.symbol("K")
    known = {"N+5": n + 5, "2N": n * 2, "N*K": n * k, "N": n, "K": k, "N+1": n + 1}
    assert known[a].equals(known.get(b, b)) is equal


def test_a_number_equals_a_constant():
    assert Dimension.constant(4) == 4
    assert Dimension.symbol("N") != 4
    assert Dimension.constant(0).value == 0
    assert (Dimension.symbol("N") - Dimension.symbol("N")).value == 0


def test_division_by_zero_is_no_number():
    assert Dimension.symbol("N").divided_by(0) is None
    assert Dimension.constant(0).divided_by(Dimension.symbol("N")) is None


@given(st.integers(-(2**70), 2**70))
def test_a_number_is_equal_to_itself_in_sets_too(number):
    dim = Dimension.constant(number)
    assert dim == number and number == dim
    assert hash(dim) == hash(number)
    assert {dim, number} == {number} and dim in {number: 1}


@given(dimensions, dimensions)
def test_equal_dimensions_have_equal_hashes(a, b):
    assert a == a + b - b and hash(a) == hash(a + b - b)
    assert (a == b) == (not (a - b).terms)
    if a.value is not None:
        assert hash(a) == hash(a.value)


# At the edge of what is certain ---------------------------------------------------------------

N, M = Dimension.symbol("N"), Dimension.symbol("M")
ZERO = Dimension.constant(0)


def test_equality_that_holds_for_some_sizes_only():
    assert N.equals(0) is None and ZERO.equals(N) is None
    assert (ZERO - N).equals(0) is None
    assert (N * 2).equals(M * 2) is None
    assert (N * 2).equals(M * 4) is None
    assert (N * 2).equals(4) is None


def test_equality_that_holds_for_none():
    assert (N + 1).equals(0) is False
    assert (ZERO - N).equals(1) is False
    assert (N * 2).equals(M * 2 + 1) is False
    assert (N * 6).equals(M * 4 + 3) is False


def test_order_at_the_edge():
    assert N.less(0) is False and (ZERO - N).less(1) is True
    assert N.less(1) is None and (ZERO - N).less(0) is None
    assert N.less(N + 1) is True and N.less(N) is False


def test_a_least_size_is_a_number_and_a_symbol_of_the_rest():
    size = Dimension.symbol("N", 2)
    assert size.at_least == 2 and size.equals(1) is False and size.less(2) is False
    assert size.equals(2) is None and (size * M).equals(0) is None
    assert str(size) == "N" and str(size * M - 1) == "M*N - 1" and str(size - 2) == "N - 2"
    assert size != N and (size * 4).divided_by(size) == 4


def test_text_of_terms():
    assert str(ZERO) == "0" and str(N - 1) == "N - 1" and str(1 - N) == "-N + 1"
    assert str(N * M * 2 - N * 3 + 4) == "2*M*N - 3*N + 4"


@given(st.lists(dimensions, max_size=5), SIZES)
def test_a_product_is_that_of_one_after_the_other(dims, sizes):
    whole = product(dims)
    assert at(whole, sizes) == math.prod(at(dim, sizes) for dim in dims)
    assert whole == functools.reduce(operator.mul, dims, Dimension.constant(1))


@pytest.mark.parametrize("count", [31, 32, 33, 100])
def test_a_product_of_very_many_symbols_is_abbreviated(count):
    dims = [Dimension.symbol(f"S{i}") for i in range(count)]
    whole = product([*dims, Dimension.constant(3)])
    assert whole.symbols >= {f"S{i}" for i in range(count)}
    assert whole == product([*dims, Dimension.constant(3)]) and whole.at_least == 0


def test_products():
    assert product([]) == 1
    assert product([N, Dimension.constant(0), M]) == 0
    assert product([N, Dimension.constant(2), N + 1]) == N * N * 2 + N * 2
