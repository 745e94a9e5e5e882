import pytest
from straightline.passes.utils.costs import (
    MOST_ADDED,
    MOST_NUMBERS,
    PACKED,
    operator_pays,
    unrolling_pays,
)


@pytest.mark.parametrize("trips", [0, 1])
def test_a_single_trip_always_pays(trips):
    assert unrolling_pays(trips, 1000, 10, 1 << 20)


def test_what_the_copies_weigh_decides():
    assert unrolling_pays(2, MOST_ADDED)
    assert not unrolling_pays(2, MOST_ADDED + 1)
    assert unrolling_pays(MOST_ADDED + 1, 1)
    assert not unrolling_pays(MOST_ADDED + 2, 1)


def test_rows_and_large_matrices_weigh_more():
    assert unrolling_pays(2, 1)
    assert not unrolling_pays(2, 1, rows=1)
    assert unrolling_pays(2, MOST_ADDED, packed=PACKED - 1)
    assert not unrolling_pays(2, MOST_ADDED, packed=PACKED)


@pytest.mark.parametrize(("kind", "most"), MOST_NUMBERS.items())
def test_an_operator_pays_while_its_state_is_small(kind, most):
    op_type, activation = kind
    assert operator_pays(op_type, [activation, "Tanh"], most)
    assert not operator_pays(op_type, [activation, "Tanh"], most + 1)
    assert not operator_pays(op_type, [activation, "Tanh"], None)


def test_what_was_not_measured_does_not_pay():
    assert not operator_pays("RNN", ["Softsign"], 1)
