"""What holds only because of itself does not hold."""

from straightline.verification.proof.well_founded import groundless

A, B, C, D = (("a", "a"), ("b", "b"), ("c", "c"), ("d", "d"))


def test_what_leads_to_nothing_more_is_settled():
    assert groundless({A: [B, C], B: [C], C: []}, set()) is None


def test_what_was_settled_before_is_settled():
    assert groundless({A: [D]}, set()) is None


def test_a_circle_is_not_settled():
    assert groundless({A: [B], B: [C], C: [A], D: []}, set()) in (A, B, C)
    assert groundless({A: [A]}, set()) == A


def test_what_is_needed_twice_counts_twice():
    assert groundless({A: [B, B], B: []}, set()) is None


def test_a_circle_through_the_trip_before_is_an_induction():
    assert groundless({A: [B], B: [C], C: [A]}, {(C, A)}) is None
    assert groundless({A: [B], B: [A, C], C: [A]}, {(C, A)}) in (A, B)
