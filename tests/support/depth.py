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


def deselect_all_but_samples(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep of a test with the mark `sample(count)` as many of its cases, unless all are to run.

    The same ones each time; as many values of each parameter as can be are among them.
    """
    families: dict[str, list[pytest.Item]] = {}
    for item in [] if DEEP else items:
        if item.get_closest_marker("sample"):
            families.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out: set[pytest.Item] = set()
    for name, family in families.items():
        mark = family[0].get_closest_marker("sample")
        assert mark is not None
        random.Random(name).shuffle(family)
        left_out.update(_varied(family)[mark.args[0] :])
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


def _varied(family: list[pytest.Item]) -> list[pytest.Item]:
    """Cases of a test, first those that have values of parameters which none before them has."""
    first, others, seen = list[pytest.Item](), list[pytest.Item](), set[Any]()
    for item in family:
        parameters = getattr(item, "callspec", None)
        values = set(parameters.indices.items()) if parameters else set()
        (first if values - seen else others).append(item)
        seen |= values
    return first + others
