"""Subsets that delta debugging finds."""

from hypothesis import given
from hypothesis import strategies as st
from straightline.reduction.delta_debugging import removable


@given(st.integers(0, 40).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, 39)))))
def test_what_is_needed_stays_and_all_else_goes(case):
    count, needed = case
    needed = {item for item in needed if item < count}
    removed = removable(count, needed.isdisjoint)
    assert set(removed) == set(range(count)) - needed
    assert removed == sorted(removed)


@given(st.lists(st.sets(st.integers(0, 9), min_size=1), max_size=6))
def test_no_single_item_more_can_go(groups):
    """Items of a group go together or not at all, so the property is not monotone."""

    def holds_without(items):
        return all(group <= set(items) or group.isdisjoint(items) for group in groups)

    removed = set(removable(10, holds_without))
    assert holds_without(removed)
    assert not any(holds_without(removed | {item}) for item in set(range(10)) - removed)


def test_trials_are_few_where_little_is_needed():
    trials = []

    def holds_without(items):
        trials.append(items)
        return 700 not in items

    assert len(removable(1000, holds_without)) == 999
    assert len(trials) < 60
