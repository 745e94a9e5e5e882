"""What of the long tests runs in `make test`: few cases, yet each value of each parameter."""

import itertools
from types import SimpleNamespace

import depth
import pytest


def chosen(name, cases, count=None):
    """The cases of a test that run, as pytest has them before they are items."""
    mark = None if count is None else SimpleNamespace(args=(count,))
    definition = SimpleNamespace(nodeid=name, get_closest_marker={"sample": mark}.get)
    calls = [SimpleNamespace(indices=dict(zip("abc", case, strict=True))) for case in cases]
    test = SimpleNamespace(definition=definition, _calls=calls)
    depth.keep_samples(test)
    return [tuple(call.indices.values()) for call in test._calls]


CASES = list(itertools.product(range(5), range(3), range(2)))


def test_a_sample_has_every_value_of_every_parameter(monkeypatch):
    monkeypatch.setattr(depth, "DEEP", False)
    sample = chosen("long", CASES, 10)
    assert len(sample) == 10
    assert [len(set(column)) for column in zip(*sample, strict=True)] == [5, 3, 2]


def test_the_same_cases_are_chosen_each_time_in_their_order(monkeypatch):
    monkeypatch.setattr(depth, "DEEP", False)
    sample = chosen("t", CASES, 7)
    assert sample == chosen("t", CASES, 7) == sorted(sample)


def test_tests_without_the_mark_and_the_longer_run_have_all_cases(monkeypatch):
    monkeypatch.setattr(depth, "DEEP", False)
    assert chosen("short", CASES) == CASES
    assert len(depth.some(CASES, 4)) == 4 and depth.examples(3) == 3
    monkeypatch.setattr(depth, "DEEP", True)
    assert chosen("long", CASES, 10) == CASES
    assert depth.some(CASES, 4) == CASES and depth.examples(3) > 30


@pytest.mark.skipif(depth.DEEP, reason="all cases run")
@pytest.mark.sample(5)
@pytest.mark.parametrize("right", "abcd")
@pytest.mark.parametrize("left", [1, 2])
def test_conftest_keeps_a_sample(left, right, request):
    """Of every value, although pytest numbers the cases, not the values, once they are items."""
    cases = [item.callspec for item in request.session.items if item.function is request.function]
    assert len({case.params["right"] for case in cases}) >= len(cases) - 1 and len(cases) <= 5


@pytest.mark.skipif(depth.DEEP, reason="all cases run")
@pytest.mark.sample(0)
def test_conftest_chooses():
    pytest.fail("left out of make test")
