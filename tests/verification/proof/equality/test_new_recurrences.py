from straightline.facts.polynomial import Dimension
from straightline.verification.proof.equality.new_recurrences import new_recurrence
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.term_manager import Terms


def test_states_before_an_iteration_and_after_the_last_one():
    terms, length = Terms(Budget()), Dimension.constant(3)
    start, rows = terms.size(2), terms.sizes([5, 6, 7])

    def update(states, index):
        row = terms.view(terms.narrow(rows, 0, index, 1), ())
        return [terms.op("Add", 13, states[0], row)]

    recurrence = new_recurrence(terms, length, [start], update, [rows])
    assert recurrence.before(0, length) is recurrence.final(0)
    one = Dimension.constant(1)
    assert recurrence.before(0, one).args == (recurrence.term, terms.size(one))
    assert recurrence.stacked(0).shape == (length,)
    assert recurrence.updates[0].args[0] is recurrence.states[0]


def test_two_recurrences_have_variables_of_their_own():
    terms, length = Terms(Budget()), Dimension.constant(3)
    made = [
        new_recurrence(terms, length, [terms.size(0)], lambda states, index: states)
        for _ in range(2)
    ]
    assert made[0].states[0] is not made[1].states[0]
    assert made[0].term is not made[1].term


def test_a_recurrence_within_the_iterations_of_another_one_has_its_own_number():
    terms, length = Terms(Budget()), Dimension.constant(3)
    inner = terms.size(terms.symbols.iteration("t", 0))
    names = [
        new_recurrence(terms, length, [start], lambda states, index: states).name
        for start in (terms.size(0), inner)
    ]
    assert names[0] != names[1]
