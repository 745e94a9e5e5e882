import gc

import pytest
from straightline.limits import Governor, Limits, current, governed


class Constant:
    pass


def test_work_is_counted_until_nothing_is_left():
    governor = Governor(Limits(max_work=1000))
    assert governor.may_work(150, "a") and governor.may_work(200, "b")
    assert not governor.may_work(201, "c"), "a fifth of all at most"
    for _ in range(4):
        assert governor.may_work(160, "d")
    assert not governor.may_work(11, "e")
    assert governor.may_work(10, "f")
    ((why, (place, count)),) = governor.refused.items()
    assert "max_work=1000" in why and "--max-work" in why
    assert (place, count) == ("c", 2)


@pytest.mark.parametrize("steps", [float("inf"), float("nan"), 1e300])
def test_endless_work_is_refused(steps):
    assert not Governor().may_work(steps, "a")


def test_constants_count_while_they_are_held():
    governor = Governor(Limits(max_memory=10_000))
    one, other = Constant(), Constant()
    for constant in (one, other):
        assert governor.may_hold(4000, constant)
        governor.hold(constant, 4000)
    assert not governor.may_hold(4000, "third")
    assert governor.may_hold(10, "small ones are not counted")
    del one, constant, other
    gc.collect()
    assert governor.held == 0 and governor.computed == 8000
    assert governor.may_hold(4000, "fourth")
    assert any("--max-memory" in why for why in governor.refused)


def test_one_governor_counts_all_that_is_done_inside():
    with governed(Limits(max_work=50)) as outer:
        assert current() is outer
        with governed(Limits(max_work=7)) as inner:
            assert inner is outer
        assert current().limits.max_work == 50
    assert current() is not outer
    with governed() as other:
        assert other is not outer


def test_an_error_restores_the_governor():
    with pytest.raises(KeyError), governed():
        raise KeyError
    assert current() is not current()
