import pytest
from onnx.helper import make_sequence_type_proto, make_tensor_type_proto
from proofs import assert_open, assert_proved, model
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.ir import Operator
from straightline.verification.proof.equality.substitution import (
    Substitution,
    instantiate_iteration,
    instantiate_scan_output,
    unrolled,
)
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.term import Term, descendants
from straightline.verification.proof.terms.term_manager import Terms
from term_values import terms_of

THREE = Fact(1, (Dimension.constant(3),))


def test_variables_and_numbers_of_iterations_are_put_in_everywhere():
    terms = Terms(Budget())
    s, x = terms.leaf("bound", (0, "0.1", 0, 0), THREE), terms.leaf("input", "x", THREE)
    index = terms.symbols.iteration("?iteration0:3", 0)
    put = Substitution(terms, {s: x}, {"?iteration0:3": Dimension.constant(1)})
    assert put.of(terms.narrow(s, 0, index, 1)) is terms.narrow(x, 0, 1, 1)
    assert put.of(s) is x
    assert put.of(x) is x


def test_a_size_that_varies_is_another_one_in_each_substitution():
    terms = Terms(Budget())
    terms.symbols.depth += 1
    size = terms.size(terms.symbols.fresh())
    index = {"?iteration0:3": Dimension.constant(1)}
    one, other = Substitution(terms, {}, index), Substitution(terms, {}, index)
    assert one.of(size) is one.of(size)
    assert one.of(size) is not other.of(size)
    assert one.of(size) is not size


def test_sizes_from_outside_stay():
    terms = Terms(Budget())
    size = terms.size(terms.symbols.named("n"))
    assert Substitution(terms, {}, {"?iteration0:3": Dimension.constant(1)}).of(size) is size


def test_a_size_of_a_term_is_that_of_the_term_with_what_is_put_in():
    terms = Terms(Budget())
    terms.symbols.depth += 1
    sequence = make_sequence_type_proto(make_tensor_type_proto(1, ["h", "w"]))
    listed = terms.leaf("input", "s", Fact(other=sequence))
    index = terms.symbols.iteration("?iteration0:3", 0)
    at = terms.heads.of(Operator("SequenceAt"), {"": 18})

    def shape(place):
        return terms.sizes(terms.apply(at, (listed, terms.size(place)))[0].fact.shape)

    put = {"?iteration0:3": Dimension.constant(1)}
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


RUNNING = """g (float[n, 2] x, float[2] a, float[2] w) => (float[n, 2] z) {
    f, z = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] e) => (float[2] t, float[2] o)
        { t = Add (s, e) v = Exp (w) o = Mul (%s, v) }> (a, x) }"""


def test_a_row_of_what_is_stacked_is_what_that_iteration_makes():
    each = """g (float[n, 2] x, float[2] a, float[2] w) => (float[n, 2] z) {
        v = Exp (w) z = Mul (x, v) }"""
    assert_proved(RUNNING % "e", each)
    assert_open(RUNNING % "s", each)


@pytest.fixture
def stacked():
    """Where the terms were made, and the rows: on each iteration the state times Exp (w)."""
    terms, (output,) = terms_of(model(RUNNING % "s"))
    assert output.head.name == "stacked"
    return terms, output


def test_states_are_those_before_the_iteration_and_what_is_outside_stays(stacked):
    terms, rows = stacked
    row = instantiate_scan_output(terms, rows, terms.symbols.iteration("?any"))
    state, outside = row.args
    assert row.is_op("Mul") and outside.is_op("Exp")
    assert outside is rows.head.parts[0].args[1]
    assert state.head.name == "state" and state.head.key == 0
    assert state.args == (rows.args[0], terms.size(terms.symbols.iteration("?any")))
    assert state.fact.shape == row.fact.shape


def test_each_iteration_has_states_of_its_own(stacked):
    terms, rows = stacked
    index = terms.symbols.iteration("?any")
    one, same, next_one = (
        instantiate_scan_output(terms, rows, i) for i in (index, index, index + 1)
    )
    assert one is same
    assert one is not next_one


def test_a_row_read_by_the_iteration_number(stacked):
    terms, rows = stacked
    recurrence, index = rows.args[0], terms.symbols.iteration("?any")
    made = instantiate_iteration(terms, recurrence, recurrence.head.parts[0], index)
    row = instantiate_scan_output(terms, rows, index)
    assert made.is_op("Add") and row.args[0] in made.args
    (read,) = [arg for arg in made.args if arg is not row.args[0]]
    assert read.head.name == "view" and read.args[0].head.name == "narrow"
    assert read.args[0].args[0].head.key == "x"
    assert read.args[0].args[1] is terms.size(index)


def test_states_before_a_known_iteration_are_written_out(stacked):
    """Over the state before them at first, and then over the initial one."""
    terms, rows = stacked
    recurrence = rows.args[0]

    def state(number: int) -> Term:
        head = terms.heads.own("state", 0)
        return terms.keep(head, (recurrence, terms.size(number)), recurrence.args[2].fact)

    assert unrolled(terms, state(0)) is recurrence.args[2]
    last = unrolled(terms, state(100))
    assert last.is_op("Add") and state(99) in last.args
    for number in range(99, 85, -1):
        earlier = unrolled(terms, state(number))
    assert {term.head.name for term in descendants([earlier])}.isdisjoint(("state", "recurrence"))
    assert earlier.is_op("Add") and unrolled(terms, state(85)) in earlier.args
    first = unrolled(terms, state(1))
    assert first.is_op("Add") and recurrence.args[2] in first.args
    far = state(1 << 20)
    assert unrolled(terms, far) is far
    unknown = (recurrence, terms.size(terms.symbols.iteration("?any")))
    some = terms.keep(terms.heads.own("state", 0), unknown, THREE)
    assert unrolled(terms, some) is some
