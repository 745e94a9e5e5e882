"""How many of the long tests run: a sample in `make test`, all of them in `make fuzz`."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from typing import Any

import pytest

DEEP = os.environ.get("STRAIGHTLINE_TESTS") == "all"
_TIMES = 20


def examples(count: int) -> int:
    """Give a number of random examples: `count`, or many times that in the longer run."""
    return count * _TIMES if DEEP else count


def sample(cases: Iterable[Any], count: int) -> list[Any]:
    """Give `count` of the cases, the same ones each time; in the longer run all of them."""
    return _chosen(list(cases), count, "")


def deselect_all_but_samples(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep of a test with the mark `sample(count)` as many of its cases, unless all are to run."""
    families: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sample"):
            families.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out: set[pytest.Item] = set()
    for name, family in families.items():
        mark = family[0].get_closest_marker("sample")
        assert mark is not None
        left_out.update(set(family) - set(_chosen(family, mark.args[0], name)))
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


def _chosen(cases: list[Any], count: int, seed: str) -> list[Any]:
    if DEEP or len(cases) <= count:
        return cases
    places = random.Random(seed).sample(range(len(cases)), count)
    return [cases[place] for place in sorted(places)]
