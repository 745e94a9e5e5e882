import pytest
from straightline.facts.polynomial import Dimension
from straightline.ir import Value
from straightline.passes.simplify.raising.algebra import ONE, Algebra, Unreadable, equal, number_of

N, FOUR, SINGLE = Dimension.symbol("N"), Dimension.constant(4), Dimension.constant(1)
SHAPE = (N, FOUR)


@pytest.fixture
def algebra():
    return Algebra()


@pytest.fixture
def x(algebra):
    return algebra.of_value(Value("x"), SHAPE)


def test_quotients_and_powers_are_products(algebra, x):
    square = algebra.multiply(x, x)
    assert equal(square, algebra.power(x, 2.0))
    assert equal(algebra.multiply(square, algebra.power(x, -1.0)), x)
    assert number_of(algebra.subtract(algebra.scale(x, 1 / 3), algebra.scale(x, 1 / 3 + 1e-9))) == 0
    assert number_of(ONE) == 1 and number_of(x) is None


def test_a_root_of_a_square_is_no_product(algebra, x):
    """The root of x^2 is |x|, that of a sum of squares squared is the sum."""
    assert not equal(algebra.power(algebra.power(x, 2.0), 0.5), x)
    total = algebra.sum_along(algebra.multiply(x, x), SHAPE, [1])
    assert equal(algebra.power(algebra.power(total, 2.0), 0.5), total)


def test_sums_along_axes_are_linear(algebra, x):
    mean = algebra.mean_along(x, SHAPE, [1])
    deviation = algebra.subtract(x, mean)
    variance = algebra.mean_along(algebra.multiply(deviation, deviation), SHAPE, [1])
    squares = algebra.mean_along(algebra.multiply(x, x), SHAPE, [1])
    assert equal(variance, algebra.subtract(squares, algebra.multiply(mean, mean)))
    assert number_of(algebra.mean_along(deviation, SHAPE, [1])) == 0
    assert not equal(mean, algebra.mean_along(x, SHAPE, [0]))


def test_exponentials_of_sums_are_products(algebra, x):
    power = algebra.exp(algebra.subtract(x, algebra.function("max", [x], (N, SINGLE), 1)))
    total = algebra.sum_along(power, SHAPE, [1])
    plain = algebra.sum_along(algebra.exp(x), SHAPE, [1])
    one = algebra.multiply(power, algebra.power(total, -1.0))
    assert equal(one, algebra.multiply(algebra.exp(x), algebra.power(plain, -1.0)))


def test_functions_of_nearly_equal_sums_are_one(algebra, x):
    one, other, third = (
        algebra.function("erf", [algebra.scale(x, factor)], SHAPE)
        for factor in (0.70710678, 1 / 1.4142135, 0.7072)
    )
    assert equal(one, other) and not equal(one, third)


def test_long_sums_and_unknown_shapes_are_refused(algebra, x):
    others = [algebra.of_value(Value(f"v{index}"), SHAPE) for index in range(30)]
    with pytest.raises(Unreadable):
        algebra.add(*others)
    with pytest.raises(Unreadable):
        algebra.sum_along(algebra.of_value(Value("u"), None), SHAPE, [1])
    with pytest.raises(Unreadable):
        algebra.power({}, -1.0)
