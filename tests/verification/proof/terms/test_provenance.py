from straightline.facts.fact import Fact
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.provenance import Trace
from straightline.verification.proof.terms.term_manager import Terms


def test_a_term_has_the_path_of_the_node_that_gave_it_first():
    trace, terms = Trace(), Terms(Budget())
    x = terms.leaf("input", "x", Fact(1))
    made, part = (
        terms.keep(terms.heads.own(name), (x,), Fact(1)) for name in ("applications", "narrow")
    )
    trace.gave("before", made, "Neg 'a'")
    trace.gave("before", made, "Neg 'b'")
    assert trace.path("before", made) == "Neg 'a'"
    assert trace.path("after", made) == ""
    assert trace.path("after", part) == trace.path("after", x) == "input 'x'"


def test_a_term_without_a_node_has_the_path_of_its_source():
    trace, terms = Trace(), Terms(Budget())
    one, other = (terms.keep(terms.heads.own(name), (), Fact(1)) for name in ("one", "other"))
    trace.gave("after", one, "Neg 'a'")
    trace.came(other, one)
    assert trace.path("after", other) == "Neg 'a'"
