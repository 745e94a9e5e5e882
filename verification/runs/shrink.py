"""Shrinking of an input: small sizes, few numbers other than 0, small ones, as in QuickCheck."""

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...facts.named_dimensions import Minima
from ...ir.errors import Signal
from ...reference.signature import Signature, dims_of
from ...runtimes.session import Feeds
from .comparison import is_float

Array = NDArray[Any]

MOST_TRIALS = 150
"""Limit of inputs that are tried."""

_MOST_SINGLE = 12
"""Limit of elements that shrink one by one."""


class _Axis(NamedTuple):
    """One axis of an input."""

    name: str
    axis: int


def shrunk(
    feeds: Feeds,
    is_telling: Callable[[Feeds], bool],
    before: Signature,
    after: Signature,
    fixed: Collection[str] = (),
    most: int = MOST_TRIALS,
    minima: Minima = MappingProxyType({}),
) -> Feeds:
    """Shrink an input as long as it stays telling.

    Args:
        feeds: an input that is telling.
        is_telling: tests an input.
        after: that of the rewrite, which may fix sizes.
        fixed: inputs whose values must stay.
        most: limit of calls of `is_telling`.
        minima: minimum sizes of named dimensions.
    """
    search = _Search(feeds, is_telling, most)
    free = [name for name in feeds if name not in fixed]
    with contextlib.suppress(_EndError):
        for name in free:
            # An input with a default may be left out.
            if name in before.defaults:
                search.accepts({n: value for n, value in search.feeds.items() if n != name})
        # Sizes come before elements: fewer elements take fewer trials.
        for key, axes in _open_axes(before, after, free).items():
            search.cut(axes, minima.get(key, 1) if isinstance(key, str) else 1)
        for name in free:
            search.shorten(name)
            search.simplify(name)
    return search.feeds


class _EndError(Signal):
    """Signal that no further input may be tried."""


class _Search:
    """Greedy search for a smaller input.

    Attributes:
        feeds: the smallest input so far.
    """

    def __init__(self, feeds: Feeds, is_telling: Callable[[Feeds], bool], most: int) -> None:
        self.feeds = feeds
        self._is_telling = is_telling
        self._remaining = most

    def accepts(self, feeds: Feeds) -> bool:
        """Try an input, and keep it if it is telling.

        Raises:
            _EndError: no further input may be tried.
        """
        if not self._remaining:
            raise _EndError("enough inputs were tried")
        self._remaining -= 1
        if not self._is_telling(feeds):
            return False
        self.feeds = feeds
        return True

    def cut(self, axes: Collection[_Axis], least: int = 1) -> None:
        """Cut axes of one size down to some of their first or last positions."""
        arrays = {name: self.feeds.get(name) for name, _ in axes}
        sizes = {
            array.shape[axis]
            for name, axis in axes
            if isinstance(array := arrays[name], np.ndarray) and axis < array.ndim
        }
        size = max(sizes) if len(sizes) == 1 else 0
        while size > least:
            sizes = {max(smaller, least) for smaller in (1, 2, size // 2, size - 1)}
            for smaller in sorted(sizes - {size}):
                ends = (slice(0, smaller), slice(size - smaller, None))
                if any(self.accepts(_sliced(self.feeds, axes, end)) for end in ends):
                    size = smaller
                    break
            else:
                return

    def shorten(self, name: str) -> None:
        """Drop elements of a sequence."""
        while isinstance(value := self.feeds.get(name), list) and value:
            parts = (value[:half] for half in sorted({0, 1, len(value) // 2, len(value) - 1}))
            if not any(self._puts(name, part) for part in parts if len(part) < len(value)):
                return

    def simplify(self, name: str) -> None:
        """Bring the elements of a tensor to 0, and those that matter to small numbers."""
        value = self.feeds.get(name)
        if not isinstance(value, np.ndarray) or not value.size:
            return
        zeros = np.zeros_like(value) if value.dtype.kind != "O" else np.full_like(value, "")
        if not _differing(value, zeros).size or self._puts(name, zeros):
            return
        if value.dtype.kind not in "bO" and self._puts(name, np.ones_like(value)):
            value = self.feeds[name]
        self._clear(name, zeros)
        self._reduce(name, zeros)

    def _clear(self, name: str, zeros: Array) -> None:
        """Set blocks of elements to 0, large ones first."""
        places = _differing(self.feeds[name], zeros)
        size = max(places.size // 2, 1)
        while places.size > 1:
            for start in reversed(range(0, places.size, size)):  # the first ones stay
                self._puts(name, _with(self.feeds[name], places[start : start + size], 0, zeros))
            if size == 1:
                return
            places = _differing(self.feeds[name], zeros)
            size = max(min(size, places.size) // 2, 1)

    def _reduce(self, name: str, zeros: Array) -> None:
        """Replace the remaining elements by smaller ones."""
        places = _differing(self.feeds[name], zeros)
        if places.size > 1 and zeros.dtype.kind not in "bO":
            self._puts(name, _with(self.feeds[name], places, 1, zeros))
        for place in places[:_MOST_SINGLE]:
            element = self.feeds[name].reshape(-1)[place]
            for smaller in _smaller(element):
                if self._puts(name, _with(self.feeds[name], place, smaller, zeros)):
                    break

    def _puts(self, name: str, value: Any) -> bool:
        """Try another value of an input."""
        old = self.feeds[name]
        # An input that is the same is not worth one of the trials.
        if isinstance(value, np.ndarray) and value.tobytes() == old.tobytes():
            return False
        return self.accepts({**self.feeds, name: value})


def _open_axes(
    before: Signature, after: Signature, names: Collection[str]
) -> Mapping[str | _Axis, list[_Axis]]:
    """Axes of open size, those of one symbol together."""
    axes: dict[str | _Axis, list[_Axis]] = {}
    closed: set[str | _Axis] = set()
    for name, proto in before.inputs.items():
        narrowed = after.inputs.get(name, proto)
        dims, others = dims_of(proto.tensor_type), dims_of(narrowed.tensor_type)
        if dims is None or (others is not None and len(others) != len(dims)):
            continue
        for axis, dim in enumerate(dims):
            place = _Axis(name, axis)
            key = dim if isinstance(dim, str) else place
            axes.setdefault(key, []).append(place)
            is_fixed = isinstance(dim, int) or (others and isinstance(others[axis], int))
            if is_fixed or name not in names:
                closed.add(key)
    return {key: places for key, places in axes.items() if key not in closed}


def _sliced(feeds: Feeds, axes: Collection[_Axis], part: slice) -> Feeds:
    result = dict(feeds)
    for name, axis in axes:
        result[name] = np.ascontiguousarray(result[name][(slice(None),) * axis + (part,)])
    return result


def _differing(value: Array, zeros: Array) -> NDArray[np.intp]:
    """Places of the elements other than 0; -0 is one."""
    return np.flatnonzero(value != zeros)


def _with(value: Array, places: Any, element: Any, zeros: Array) -> Array:
    """Copy with another element at some places; 0 stands for that of `zeros`."""
    result = value.copy()
    flat = result.reshape(-1)
    flat[places] = element if element else zeros.reshape(-1)[places]
    return result


def _smaller(element: Any) -> Iterator[Any]:
    """Yield simpler elements than one, the simplest first: integers or tenths for a fraction."""
    kind = np.asarray(element).dtype
    if kind.kind in "bOcSU" or not np.isfinite(np.float64(element)):
        return
    number = float(element) if is_float(kind) else int(element)
    candidates = (1, -1, 2, -2, int(number / 2), int(number))
    simplicity: list[float] = [1, -1, 2, -2]
    rank = simplicity.index(number) if number in simplicity else len(candidates)
    for candidate in dict.fromkeys(candidates[:rank]):
        simpler = np.asarray(candidate).astype(kind)
        # An unsigned or narrow type does not hold every candidate.
        if candidate not in (0, number) and int(simpler) == candidate:
            yield candidate
    if isinstance(number, float) and number != int(number):
        yield from (tenths for tenths in (round(number, 1), round(number, 2)) if tenths)
