import math

from straightline.facts.fact import Symbols
from straightline.facts.polynomial import Dimension, product
from straightline.facts.polynomial_size_limit import LARGEST, MOST_TERMS, Abbreviation

N, M = Dimension.symbol("N"), Dimension.symbol("M")


def long_product(start=0, count=24, more=1):
    return product(Dimension.symbol(f"s{k}") + more for k in range(start, start + count))


def test_a_product_of_many_sums_has_few_terms():
    dim = long_product()
    assert len(dim.terms) <= MOST_TERMS
    assert dim.value is None
    assert dim.symbols >= {f"s{k}" for k in range(24)}


def test_equal_ones_stay_equal_and_others_are_not():
    assert long_product() == long_product()
    assert (long_product() - long_product()).value == 0
    assert long_product() != long_product(1)
    assert long_product(more=2) != long_product(more=1)
    assert long_product().equals(long_product(1)) is None


def test_a_long_product_of_sizes_is_a_size():
    assert long_product().less(0) is False
    assert (long_product() + 5).equals(0) is False
    # What has negative factors may be less than 0.
    assert (long_product() * (N - M)).less(0) is None
    assert (Dimension.constant(0) - long_product()).less(1) is True


def test_sums_of_many_are_short_too():
    total = sum((Dimension.symbol(f"s{k}") for k in range(10_000)), Dimension.constant(3))
    assert len(total.terms) <= MOST_TERMS
    assert total.less(3) is None or total.less(3) is False
    assert "s9999" in total.symbols and "s0" in total.symbols


def test_powers_and_numbers_without_end():
    power, number = N, Dimension.constant(3)
    for _ in range(60):
        power, number = power * power, number * number
    assert power.less(0) is False and number.less(0) is False
    assert power.symbols >= {"N"} and len(str(power)) < 2000
    assert number.value is None  # no size is so large
    assert Dimension.constant(LARGEST - 1).value == LARGEST - 1


def test_hidden_terms_can_be_replaced():
    dim = long_product()
    three = dim.replaced({"s0": Dimension.constant(3)})
    assert three != dim
    assert three == dim.replaced({"s0": Dimension.constant(3)})
    assert three != dim.replaced({"s0": Dimension.constant(4)})
    assert "s0" not in three.symbols and "s1" in three.symbols
    assert "N" in dim.replaced({"s0": N + 1}).symbols
    assert dim.replaced({"other": N}) is dim


def test_an_abbreviation_can_be_replaced_itself():
    dim = long_product()
    own = {s: M for s in dim.symbols if isinstance(s, Abbreviation)}
    assert own and "M" in dim.replaced(own).symbols


def test_a_name_that_went_through_text_still_knows_what_it_hides():
    dim = long_product()
    (name,) = [s for monomial in dim.terms for s in monomial if isinstance(s, Abbreviation)][:1]
    again = Symbols().named(str(name) + "")
    assert "s0" in again.symbols
    assert again == Dimension.symbol(name)


def test_short_ones_are_written_out():
    dim = product(Dimension.symbol(f"s{k}") + 1 for k in range(9))
    assert len(dim.terms) == MOST_TERMS == 2**9
    sizes = {f"s{k}": Dimension.constant(k) for k in range(9)}
    assert dim.replaced(sizes).value == math.factorial(9)
