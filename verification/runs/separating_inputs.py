"""Separating inputs: values that tell models apart, in sizes that do.

Element by element the values of `Separators` go through all inputs, sample after sample. A model
refuses some: a size, a count or a position out of its range. So the candidates of a sample become
tamer one by one, down to the values and sizes of a plain sample that the original accepted. A
kind of candidate that it refused several times is not tried again.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, NamedTuple

import ml_dtypes
import numpy as np
import onnx
from numpy.typing import NDArray

from ...facts.named_dimensions import Minima
from ...records import record
from ...reference.signature import Dim
from ...runtimes.session import Feeds
from .comparison import is_float
from .separators import Separators

Array = NDArray[Any]


class Way(NamedTuple):
    """Kind of a candidate.

    Attributes:
        resized: true with sizes of its own.
        tame: the inputs of which the values are restricted: none, those that steer the model, or
            all integers.
        restriction: the restriction: "positive", "inside" the range of one of the sizes or ranks of
            the inputs, or both; "plain" for the values of a plain sample.
    """

    resized: bool
    tame: Literal["none", "steering", "integers"] = "none"
    restriction: str = ""


_MOST_ELEMENTS = 1 << 14
"""Limit of elements of an input with sizes of its own."""
_LARGEST_STEERING = 64
_OFTEN = 3
"""How often the ends of a range are drawn, relative to other places."""
_MOST_REFUSALS = 4
_RESTRICTIONS = ("positive", "inside", "positive inside", "plain")
_WAYS: tuple[Way, ...] = tuple(
    way
    for resized in (True, False)
    for way in (
        Way(resized),
        *(Way(resized, "steering", how) for how in _RESTRICTIONS),
        *(Way(resized, "integers", how) for how in _RESTRICTIONS[1:]),
    )
)
_WHOLE = (np.int32, np.int64)
"""The types of sizes, counts and positions."""
_KINDS = ("near", "near", "ties", "extreme")
"""The kinds of samples in turn: values beside constants, ties, and special values."""
_TIES = (1, 0, -1, 2)


@record
class SeparatingInputs:
    """Generator of separating inputs of one model and its rewrite.

    Attributes:
        types: the inputs with their types.
        dims: the dimensions of inputs that are tensors, as far as the models fix them.
        pins: the sizes of some symbols.
        minima: the minimum sizes of others.
        bound: values of inputs.
        steering: inputs whose values may be sizes, counts or positions.
        ids: for some of them, the number of entries that they name.
        extremes: draw special values, too.
    """

    types: Mapping[str, onnx.TypeProto]
    dims: Mapping[str, list[Dim] | None]
    pins: Mapping[str, int]
    minima: Minima
    bound: Feeds
    steering: Collection[str]
    ids: Mapping[str, int]
    separators: Separators
    seed: int
    extremes: bool = True
    _refusals: Counter[Way] = field(default_factory=Counter, init=False)
    _accepted: set[Way] = field(default_factory=set, init=False)
    _used: Counter[tuple[str, str]] = field(default_factory=Counter, init=False)
    """Number of values of a kind that an input has had."""
    _last: Counter[tuple[str, str]] = field(default_factory=Counter, init=False)
    """Number of values of a kind in the last candidate alone."""

    def used(self, key: tuple[str, str]) -> int:
        """The number of values of a kind that an input has had in samples before."""
        return self._used[key]

    def candidates(self, number: int, base: Feeds) -> Iterator[Feeds]:
        """The candidates of a sample, from wild to tame.

        Args:
            number: the number of the sample.
            base: inputs that the original accepts.
        """
        self._used += self._last
        for way in _WAYS:
            # A way that the original refused several times needs a restriction that it lacks.
            if way not in self._accepted and self._refusals[way] >= _MOST_REFUSALS:
                continue
            feeds = self._feeds(number, base, way)
            if feeds is None:
                continue
            fits = way in self._accepted
            self._accepted.add(way)  # unless the next one is asked for
            yield feeds
            if not fits:
                self._accepted.discard(way)
            self._refusals[way] += 1
        self._last = Counter()

    def _feeds(self, number: int, base: Feeds, way: Way) -> Feeds | None:
        """A candidate; None if it equals another one."""
        shapes = self._shapes(number) if way.resized else {}
        tame = self._tame(base, way)
        if (way.resized and not shapes) or (way.tame != "none" and not tame):
            return None
        every = [*shapes.values(), *(getattr(value, "shape", ()) for value in base.values())]
        sizes = {size for shape in every for size in (*shape, len(shape))}
        draw = _Draw(self, number, tame, way.restriction, sorted(sizes))
        feeds: dict[str, Any] = {}
        for place, name in enumerate(self.types):
            value = base.get(name)
            if name in shapes and isinstance(value, np.ndarray):
                value = np.resize(value, shapes[name])
            if name not in tame or way.restriction != "plain":
                value = draw.changed(name, value, place)
            feeds[name] = value
        self._last = draw.used
        return {**base, **feeds, **self.bound}

    def _tame(self, base: Feeds, way: Way) -> set[str]:
        """The inputs with restricted values."""
        if way.tame == "steering":
            return {name for name in self.types if name in self.steering}
        if way.tame == "none":
            return set()
        return {name for name in self.types if getattr(base[name], "dtype", None) in _WHOLE}

    def _shapes(self, number: int) -> dict[str, tuple[int, ...]]:
        """Shapes for the inputs with open dimensions; none if no input has any."""
        sizes, rng = self.separators.sizes(), np.random.default_rng([self.seed, number, 1])
        # Every second sample has one size for all dimensions: many models relate sizes that they
        # name differently.
        common = sizes[number // 2 % len(sizes)] if number % 2 == 0 else None
        chosen: dict[str, int] = dict(self.pins)

        def size_of(dim: Dim) -> int:
            if isinstance(dim, int):
                return dim
            size = int(rng.choice(sizes)) if common is None else common
            if dim is None:
                return size
            return chosen.setdefault(dim, max(size, self.minima.get(dim, 0)))

        shapes: dict[str, tuple[int, ...]] = {}
        for name, dims in self.dims.items():
            if dims is None or all(isinstance(dim, int) or dim in self.pins for dim in dims):
                continue
            shape = tuple([size_of(dim) for dim in dims])
            if math.prod(filter(None, shape)) > _MOST_ELEMENTS:  # also of numpy, beside a 0
                return {}
            shapes[name] = shape
        return shapes


class _Draw:
    """Values of one candidate."""

    def __init__(
        self,
        inputs: SeparatingInputs,
        number: int,
        tame: Collection[str],
        restriction: str,
        sizes: Sequence[int],
    ) -> None:
        self._inputs = inputs
        self._number = number
        kinds = _KINDS if inputs.extremes else _KINDS[:-1]
        self._kind = kinds[number % len(kinds)]
        self.used: Counter[tuple[str, str]] = Counter()
        self._restriction = restriction
        self._steering = {*inputs.steering, *tame}
        self._rng = np.random.default_rng([inputs.seed, number, 2])
        largest = bool(self._rng.integers(2))
        self._size = max(sizes, default=1) if largest else int(self._rng.choice(sizes or [1]))
        self._switches = 0

    def changed(self, name: str, value: Any, place: int) -> Any:
        """The value of an input with other elements."""
        if isinstance(value, (list, tuple)):
            return [self.changed(name, element, place) for element in value]
        if not isinstance(value, np.ndarray):
            return value
        if value.dtype == np.bool_:
            return self._booleans(value, place)
        # Equal positions would only test that one position.
        if self._kind == "ties" and name not in self._steering:
            return self._tied(value, place)
        values = self._values(name, value.dtype)
        return self._filled(name, value, values, place) if len(values) else value

    def _booleans(self, value: Array, place: int) -> Array:
        """Random booleans; single ones go through all combinations."""
        if value.size == 1:
            bit, self._switches = self._switches, self._switches + 1
            return np.full(value.shape, bool(self._number >> bit & 1))
        rng = np.random.default_rng([self._inputs.seed, self._number, place])
        return rng.integers(2, size=value.shape) > 0

    def _tied(self, value: Array, place: int) -> Array:
        """Random elements of few values, so that many are equal."""
        if value.dtype.kind in "OSUc":
            return value
        pool = _TIES if is_float(value.dtype) else _of_type(_TIES, value.dtype)
        rng = np.random.default_rng([self._inputs.seed, self._number, place])
        return _converted(rng.choice(pool, value.shape), value.dtype)

    def _values(self, name: str, dtype: np.dtype[Any]) -> Sequence[Any]:
        """The values for elements of an input."""
        separators = self._inputs.separators
        if dtype.kind in "OSU":
            return separators.texts()
        if dtype.kind == "c":
            return ()
        steers = name in self._steering
        if is_float(dtype):
            return self._moderate(separators.floats(dtype)) if steers else self._floats(dtype)
        if steers:
            return _of_type(self._moderate(self._places(name)), dtype)
        return separators.integers(dtype)

    def _floats(self, dtype: np.dtype[Any]) -> Sequence[float]:
        separators = self._inputs.separators
        return separators.extremes(dtype) if self._kind == "extreme" else separators.floats(dtype)

    def _places(self, name: str) -> list[int]:
        """Sizes, counts or positions, in the range of ids where that is known."""
        values, count = self._inputs.separators.steering(), self._inputs.ids.get(name)
        if count is None:
            return [*values, *_OFTEN * [self._size, self._size - 1, -self._size]]
        inside = [n for n in values if -count <= n < count]
        return list(dict.fromkeys([-1, count - 1, 0, -count, *inside]))

    def _moderate(self, values: Sequence[Any]) -> list[Any]:
        most = self._size if "inside" in self._restriction else _LARGEST_STEERING
        least = 0 if "positive" in self._restriction else -most
        usable = [n for n in values if least <= n <= most]
        # The others keep their turn, so that each value has its own in samples of any restriction.
        return [n if least <= n <= most else self._rng.choice(usable) for n in values]

    def _filled(self, name: str, array: Array, values: Sequence[Any], place: int) -> Array:
        """An array of values in turn, in an order of each input's own; then of random ones."""
        pool = _converted(values, array.dtype)
        if place:
            pool = pool[np.random.default_rng([self._inputs.seed, place]).permutation(len(pool))]
        rng = np.random.default_rng([self._inputs.seed, self._number, place, 3])
        key = name, self._kind if is_float(array.dtype) else ""
        in_turn = self._inputs.used(key) + self.used[key] + np.arange(array.size)
        self.used[key] += array.size
        others = rng.integers(len(pool), size=array.size)
        indices = np.where(in_turn < len(pool), in_turn, others)
        return np.asarray(pool[indices]).reshape(array.shape)


def _converted(values: Sequence[Any] | Array, dtype: np.dtype[Any]) -> Array:
    if dtype.kind in "OSU":
        return np.array(values, dtype)
    wide = np.float64 if is_float(dtype) else np.uint64 if dtype == np.uint64 else np.int64
    with np.errstate(all="ignore"):
        return np.array(values, wide).astype(dtype)


def _of_type(values: Sequence[int], dtype: np.dtype[Any]) -> list[int]:
    info: Any = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
    return [n for n in values if int(info.min) <= n <= int(info.max)]
