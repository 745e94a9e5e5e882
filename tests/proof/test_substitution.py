"""Terms with other terms and sizes put in."""

from straightline.facts.dimension import Dimension
from straightline.facts.fact import Fact
from straightline.proof.algebra import Terms
from straightline.proof.budget import Budget
from straightline.proof.substitution import Substitution

THREE = Fact(1, (Dimension.constant(3),))


def test_variables_and_numbers_of_trips_are_put_in_everywhere():
    terms = Terms(Budget())
    s, x = terms.leaf("bound", (0, "0.1", 0, 0), THREE), terms.leaf("input", "x", THREE)
    index = terms.symbols.trip("?trip0:3", 0)
    put = Substitution(terms, {s: x}, {"?trip0:3": Dimension.constant(1)})
    assert put.of(terms.narrow(s, 0, index, 1)) is terms.narrow(x, 0, 1, 1)
    assert put.of(s) is x
    assert put.of(x) is x


def test_a_size_that_varies_is_another_one_in_each_substitution():
    terms = Terms(Budget())
    terms.symbols.depth += 1
    size = terms.size(terms.symbols.fresh())
    index = {"?trip0:3": Dimension.constant(1)}
    one, other = Substitution(terms, {}, index), Substitution(terms, {}, index)
    assert one.of(size) is one.of(size)
    assert one.of(size) is not other.of(size)
    assert one.of(size) is not size


def test_sizes_from_outside_stay():
    terms = Terms(Budget())
    size = terms.size(terms.symbols.named("n"))
    assert Substitution(terms, {}, {"?trip0:3": Dimension.constant(1)}).of(size) is size
