import numpy as np
from straightline.facts.fact import Fact
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.term_manager import Terms


def test_a_size_that_is_new_inside_a_loop_varies():
    sizes = Terms(Budget()).symbols
    outside = sizes.fresh()
    sizes.depth += 1
    inside = sizes.fresh()
    assert not outside.symbols & sizes.varying
    assert inside.symbols <= sizes.varying
    assert sizes.named("n").symbols <= sizes.varying
    assert not sizes.steady("n").symbols & sizes.varying


def test_a_term_over_a_variable_is_free_at_the_level_of_its_loop():
    terms = Terms(Budget())
    one = terms.leaf("bound", (1, "1.1", 0, 0), Fact(1))
    x = terms.leaf("input", "x", Fact(1))
    assert terms.symbols.free(terms.keep(terms.heads.own("pair"), (one, x), Fact(1))) == {1}
    assert terms.symbols.free(x) == frozenset()
    assert terms.symbols.free(terms.constant(np.array(3))) == frozenset()


def test_the_number_of_an_iteration_is_free_and_a_size_that_varies_is():
    terms = Terms(Budget())
    terms.symbols.depth += 1
    assert terms.symbols.free(terms.size(terms.symbols.iteration("?iteration2:n", 2) + 1)) == {2}
    assert terms.symbols.free(terms.size(terms.symbols.fresh()))
