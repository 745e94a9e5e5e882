"""What stands inside a loop on one of its trips."""

import pytest
from proofs import assert_open, assert_proved, model
from straightline.verification.proof.instantiate_trip import on_trip, stacked_on_trip
from term_values import terms_of

RUNNING = """g (float[n, 2] x, float[2] a, float[2] w) => (float[n, 2] z) {
    f, z = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] e) => (float[2] t, float[2] o)
        { t = Add (s, e) v = Exp (w) o = Mul (%s, v) }> (a, x) }"""


def test_a_row_of_what_is_stacked_is_what_that_trip_makes():
    each = """g (float[n, 2] x, float[2] a, float[2] w) => (float[n, 2] z) {
        v = Exp (w) z = Mul (x, v) }"""
    assert_proved(RUNNING % "e", each)
    assert_open(RUNNING % "s", each)


@pytest.fixture
def stacked():
    """Where the terms were made, and the rows: on each trip the state times Exp (w)."""
    terms, (output,) = terms_of(model(RUNNING % "s"))
    assert output.head.name == "stacked"
    return terms, output


def test_states_are_those_before_the_trip_and_what_is_outside_stays(stacked):
    terms, rows = stacked
    row = stacked_on_trip(terms, rows, terms.symbols.trip("?any"))
    state, outside = row.args
    assert row.is_op("Mul") and outside.is_op("Exp")
    assert outside is rows.head.parts[0].args[1]
    assert state.head.name == "state" and state.head.key == 0
    assert state.args == (rows.args[0], terms.size(terms.symbols.trip("?any")))
    assert state.fact.shape == row.fact.shape


def test_each_trip_has_states_of_its_own(stacked):
    terms, rows = stacked
    index = terms.symbols.trip("?any")
    one, same, next_one = (stacked_on_trip(terms, rows, i) for i in (index, index, index + 1))
    assert one is same
    assert one is not next_one


def test_what_is_read_by_the_number_of_the_trip_is_read_at_that_trip(stacked):
    terms, rows = stacked
    recurrence, index = rows.args[0], terms.symbols.trip("?any")
    made = on_trip(terms, recurrence, recurrence.head.parts[0], index)
    row = stacked_on_trip(terms, rows, index)
    assert made.is_op("Add") and row.args[0] in made.args
    (read,) = [arg for arg in made.args if arg is not row.args[0]]
    assert read.head.name == "view" and read.args[0].head.name == "narrow"
    assert read.args[0].args[0].head.key == "x"
    assert read.args[0].args[1] is terms.size(index)
