"""How many of the long tests run: a sample in `make test`, all of them in `make fuzz`."""

import os
import random
from collections.abc import Iterable
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")

DEEP = os.environ.get("STRAIGHTLINE_TESTS") == "all"
_TIMES = 20


def examples(count: int) -> int:
    """Give a number of random examples: `count`, or many times that in the longer run."""
    return count * _TIMES if DEEP else count


def some(cases: Iterable[Case], count: int) -> list[Case]:
    """Give `count` of the cases that one test goes through, the same ones each time; in the longer
    run all of them."""
    known = list(cases)
    return known if DEEP or count >= len(known) else random.Random(0).sample(known, count)


def keep_samples(metafunc: pytest.Metafunc) -> None:
    """Keep of a test with the mark `sample(count)` as many of its cases, unless all are to run.

    The same ones each time; as many values of each parameter as can be are among them. Cases are
    left out before they are items: half the time of a collection would go into those.
    """
    mark = metafunc.definition.get_closest_marker("sample")
    if mark is None or mark.args[0] == 0 or DEEP:
        return
    order = {id(call): place for place, call in enumerate(metafunc._calls)}
    calls = list(metafunc._calls)
    random.Random(metafunc.definition.nodeid).shuffle(calls)
    kept = _varied(calls)[: mark.args[0]]
    metafunc._calls[:] = sorted(kept, key=lambda call: order[id(call)])


def is_left_out(item: pytest.Item) -> bool:
    """Test for the mark `sample(0)`: only the longer run has such a test."""
    mark = item.get_closest_marker("sample")
    return mark is not None and mark.args[0] == 0 and not DEEP


def _varied(calls: list[Any]) -> list[Any]:
    """Cases of a test, first those that have values of parameters which none before them has."""
    first, others, seen = list[Any](), list[Any](), set[Any]()
    for call in calls:
        values = set(call.indices.items())
        (first if values - seen else others).append(call)
        seen |= values
    return first + others
