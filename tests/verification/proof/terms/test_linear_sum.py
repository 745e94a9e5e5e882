from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.verification.proof.arithmetic.exact_integers import atom
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.linear_sum import ZERO_SUM
from straightline.verification.proof.terms.term_manager import Terms


def test_sums_add_their_forms_and_their_ranges():
    x, y = (Terms(Budget()).leaf("input", name, Fact(7, ())) for name in "xy")
    one, other = atom(x, 0, 5), atom(y, -1, 2)
    rest = one.plus(other, -2).shift(3)
    assert (rest.low, rest.high) == (0 - 4 + 3, 5 + 2 + 3)
    assert one.plus(one, -1).form == ZERO_SUM.form


def test_the_sizes_of_a_sum_stand_apart_from_its_other_terms():
    x = Terms(Budget()).leaf("input", "x", Fact(7, ()))
    number = atom(x, 0, 5).plus(ZERO_SUM._replace(form=Dimension.symbol("n")), 2)
    assert number.parts() == (Dimension.symbol("n") * 2, [(x, 1)])
