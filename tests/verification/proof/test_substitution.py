"""Terms with other terms and sizes put in."""

from onnx.helper import make_sequence_type_proto, make_tensor_type_proto
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.ir import Operator
from straightline.verification.proof.budget import Budget
from straightline.verification.proof.substitution import Substitution
from straightline.verification.proof.term_manager import Terms

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


def test_a_size_of_a_term_is_that_of_the_term_with_what_is_put_in():
    terms = Terms(Budget())
    terms.symbols.depth += 1
    sequence = make_sequence_type_proto(make_tensor_type_proto(1, ["h", "w"]))
    listed = terms.leaf("input", "s", Fact(other=sequence))
    index = terms.symbols.trip("?trip0:3", 0)
    at = terms.heads.of(Operator("SequenceAt"), {"": 18})

    def shape(place):
        element = terms.apply(at, (listed, terms.size(place)))[0]
        return terms.sizes(element.fact.shape)

    put = {"?trip0:3": Dimension.constant(1)}
    one, other = Substitution(terms, {}, put), Substitution(terms, {}, put)
    assert one.of(shape(index)) is other.of(shape(index)) is shape(1)
    assert one.of(shape(index)) is not shape(2)


def test_each_output_of_a_node_that_is_not_known_stays_itself():
    terms = Terms(Budget())
    s, x = terms.leaf("bound", (0, "0.1", 0, 0), THREE), terms.leaf("input", "x", THREE)
    drawn = terms.raw(terms.heads.own("drawn", ("before", 1, None)), (s,), [THREE, THREE])
    put = Substitution(terms, {s: x}, {})
    first, second = (put.of(term) for term in drawn)
    assert (first.index, second.index) == (0, 1)
    assert first.args == second.args == (x,)
    assert first is not second
    assert Substitution(terms, {s: x}, {}).of(drawn[1]) is second
