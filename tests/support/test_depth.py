"""What of the long tests runs in `make test`: few cases, yet each value of each parameter."""

import itertools
from types import SimpleNamespace

import depth
import pytest


class Item:
    """A case of a test, as far as the choice looks at it."""

    def __init__(self, name, indices, count=None):
        self.nodeid = f"{name}[{indices}]"
        self.callspec = SimpleNamespace(indices=dict(zip("abc", indices, strict=True)))
        self.count = count

    def get_closest_marker(self, name):
        assert name == "sample"
        return None if self.count is None else SimpleNamespace(args=(self.count,))


def chosen(items):
    dropped, kept = [], list(items)

    def pytest_deselected(items):
        dropped.extend(items)

    hook = SimpleNamespace(pytest_deselected=pytest_deselected)
    depth.deselect_all_but_samples(SimpleNamespace(hook=hook), kept)
    assert sorted(map(id, kept + dropped)) == sorted(map(id, items))
    return kept


CASES = list(itertools.product(range(5), range(3), range(2)))


def test_a_sample_has_every_value_of_every_parameter(monkeypatch):
    monkeypatch.setattr(depth, "DEEP", False)
    items = [Item("long", indices, 10) for indices in CASES]
    found = [item.callspec.indices for item in chosen(items)]
    assert len(found) == 10
    assert [len({indices[name] for indices in found}) for name in "abc"] == [5, 3, 2]


def test_the_same_cases_are_chosen_each_time_in_their_order(monkeypatch):
    monkeypatch.setattr(depth, "DEEP", False)
    found = [[i.nodeid for i in chosen([Item("t", c, 7) for c in CASES])] for _ in range(2)]
    assert found[0] == found[1]
    assert found[0] == sorted(found[0], key=[Item("t", c).nodeid for c in CASES].index)


def test_tests_without_the_mark_and_the_longer_run_have_all_cases(monkeypatch):
    monkeypatch.setattr(depth, "DEEP", False)
    assert len(chosen([Item("short", indices) for indices in CASES])) == len(CASES)
    assert chosen([Item("never", CASES[0], 0)]) == []
    assert len(depth.some(CASES, 4)) == 4 and depth.examples(3) == 3
    monkeypatch.setattr(depth, "DEEP", True)
    assert len(chosen([Item("long", indices, 10) for indices in CASES])) == len(CASES)
    assert depth.some(CASES, 4) == CASES and depth.examples(3) > 30


@pytest.mark.skipif(depth.DEEP, reason="all cases run")
@pytest.mark.sample(0)
def test_conftest_chooses():
    pytest.fail("left out of make test")
