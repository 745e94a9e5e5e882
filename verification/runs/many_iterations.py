"""Inputs for long-running loops, to find violations of assumed trip count bounds."""

from collections.abc import Collection, Iterator

import ml_dtypes
import numpy as np

from ...ir import Array
from ...runtimes.session import Feeds
from .input_generator import Drawer

_FACTORS = (0.0, 1e-6, -1e-6, 1e6, -1e6)
"""Factors of floats: a loop may wait for them to grow or to shrink."""


def long_running(drawer: Drawer, steering: Collection[str], most: int) -> Iterator[Feeds]:
    """Yield inputs on which a loop may exceed a trip count.

    Args:
        drawer: the generator of inputs that the model may accept.
        steering: the inputs that decide trip counts; only they get other numbers.
        most: the trip count to exceed.
    """
    base = list(drawer.tame())
    yield from base
    for feeds in base:
        yield from _with_larger_numbers(feeds, steering, most + 1)
        yield from _with_other_floats(feeds, steering)
    yield from drawer.tame(most + 1)


def _with_larger_numbers(feeds: Feeds, steering: Collection[str], number: int) -> Iterator[Feeds]:
    """Change all steering integers, then each of them alone: another may be an index."""
    integers = [name for name in steering if _is_of(feeds.get(name), "iu")]
    for names in [integers, *([name] for name in integers)] if integers else ():
        yield {**feeds, **{name: _filled(feeds[name], number) for name in names}}


def _with_other_floats(feeds: Feeds, steering: Collection[str]) -> Iterator[Feeds]:
    floats = [name for name in steering if _is_of(feeds.get(name), "f")]
    for factor in _FACTORS if floats else ():
        yield {**feeds, **{n: np.asarray(feeds[n] * feeds[n].dtype.type(factor)) for n in floats}}


def _is_of(value: object, kinds: str) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in kinds


def _filled(value: Array, number: int) -> Array:
    """An array filled with one number, clipped to its type."""
    largest: int = ml_dtypes.iinfo(value.dtype).max  # type: ignore[no-untyped-call]
    return np.full_like(value, min(number, largest))
