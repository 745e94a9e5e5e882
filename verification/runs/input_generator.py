"""Generator of random inputs from declared types and shapes, deterministic by seed.

Requirements of a model on its inputs are not declared: an integer may be an index, a length or a
shape, two unknown dimensions may have to be equal. So a sample is a list of candidates, from varied
to tame. The first one that the original model accepts is used.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from ...facts.named_dimensions import Minima
from ...ir.errors import Signal
from ...ir.option_names import by
from ...records import record
from ...reference.signature import Dim, Signature, dims_of, type_text
from ...runtimes.session import Feeds
from .adversarial_inputs import KINDS, affects, make_adversarial
from .separating_inputs import SeparatingInputs
from .separators import Separators
from .verdict import PLAIN_SAMPLE

Array = NDArray[Any]

_WORDS = ("straight", "line", "", "a", "Zürich", "two words")
_MOST_DEFAULTS = 16  # limit of integer defaults that are overridden one by one


class DrawError(Signal):
    """No value can be drawn for the type of an input; the caller must give feeds."""


@record(frozen=True)
class Sample:
    """A sample: candidates in order, of which the first one counts that the original accepts.

    Attributes:
        label: a description for messages.
        candidates: the feeds, generated lazily.
        essential: true if there is no verdict without a working candidate.
        adversarial: true for additional samples. One that the original refuses, or is slow on, has
            no effect, and where the original itself is sensitive, a rewrite may round differently.
        exact: true for values of a meaning: where the original is sensitive to its inputs only, and
            not to the rounding of results, a rewrite may not differ.
    """

    label: str
    candidates: Iterator[Feeds]
    essential: bool = False
    adversarial: bool = False
    exact: bool = False


@record(frozen=True)
class _Strategy:
    """Strategy to fill open dimensions and values of a type.

    Attributes:
        sizes: the choices of unknown dimensions and lengths.
        common: true if all of them are the same one.
        integers: the lowest and highest integer; None stands for the common size.
        positive: true if floats are in (0, 1] instead of normally distributed.
        leading: true if unknown dimensions in front of others are 1, as batches often must be.
        digits: true if strings hold numbers instead of words.
        distinct: true if integers of a list differ, as axes must.
    """

    sizes: tuple[int, ...]
    common: bool
    integers: tuple[int | None, int | None]
    positive: bool = False
    digits: bool = False
    leading: bool = False
    distinct: bool = False


_STRATEGIES = (
    _Strategy((2, 3, 4, 1), False, (0, 3)),
    _Strategy((2, 3, 4), False, (0, 1)),
    _Strategy((2, 3, 4), False, (0, 1), distinct=True),
    _Strategy((2, 3, 4), True, (0, 1), digits=True),
    _Strategy((3, 4), True, (1, 1), positive=True),
    _Strategy((1,), True, (0, 0)),
    _Strategy((1,), True, (0, 0), distinct=True),
    _Strategy((1,), True, (1, 1), positive=True, digits=True),
    _Strategy((2, 3), True, (None, None)),
    _Strategy((8,), True, (1, 4), digits=True),
    _Strategy((16,), True, (0, 1)),
    _Strategy((64,), True, (0, 1), positive=True),
)
_GROWING = tuple(
    _Strategy((size,), True, (0, 1), leading=leading)
    for size in (128, 256, 512, 1024, 2048, 4096, 8192, 16384)
    for leading in (True, False)
)
"""The last strategies: a model may need windows, frames or lengths of some hundreds."""
_TAME: tuple[_Strategy, ...] = _STRATEGIES[0], _STRATEGIES[3], _STRATEGIES[5]
_ROUNDS = 2  # the second time with all conditions true and optionals present
_MOST_AXES = 64

_LARGEST = 1 << 28
"""Limit in bytes of all inputs together."""
_STRING_BYTES = 64
"""Bytes of a short string and its reference."""
_MOST_ELEMENTS = 1 << 22  # limit of elements; strategies with larger tensors are skipped


@record
class _Draw:
    """Generation of one candidate, with the sizes chosen so far."""

    rng: np.random.Generator
    strategy: _Strategy
    sample: int
    tame: bool
    sizes: dict[str, int]
    minima: Minima
    switches: int = 0  # one-element booleans and optionals met so far
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = int(self.rng.choice(self.strategy.sizes))

    def length(self) -> int:
        """A size for an unknown dimension or sequence."""
        # The second sample is of size 1 wherever it can: the case that broadcasting hides.
        if self.sample == 1 and 1 in self.strategy.sizes:
            return 1
        return self.size if self.strategy.common else int(self.rng.choice(self.strategy.sizes))

    def dim(self, dim: Dim, leading: bool = False) -> int:
        """The size of a dimension; a symbol has one size throughout."""
        if isinstance(dim, int):
            return dim
        one = leading and self.strategy.leading
        if dim is None:
            return 1 if one else self.length()
        if dim not in self.sizes:
            self.sizes[dim] = max(1 if one else self.length(), self.minima.get(dim, 0))
        return self.sizes[dim]

    def switch(self) -> bool:
        """Choose whether a condition holds or an optional is present.

        The samples go through all combinations of the first two switches.
        """
        if self.tame:
            return True
        bit, self.switches = self.switches, self.switches + 1
        return bool(self.rng.integers(2)) if bit > 1 else not self.sample >> bit & 1


class Drawer:
    """Generator of inputs for the original that also fit the rewrite.

    Args:
        after: the signature of the rewrite, which may fix dimensions of the original.
        bound: fixed values of inputs.
        steering: the inputs whose values adversarial samples do not change.
        minima: minimum sizes of named dimensions.

    Raises:
        DrawError: an input has a type without random values.
    """

    def __init__(
        self,
        before: Signature,
        after: Signature,
        bound: Mapping[str, Any],
        seed: int,
        steering: Collection[str] = (),
        minima: Minima = MappingProxyType({}),
    ) -> None:
        self._types = {name: t for name, t in before.inputs.items() if name not in bound}
        self._bound = dict(bound)
        self._base: Feeds | None = None
        self._steering = steering
        self._minima = minima
        self._defaults = {
            name: default
            for name, default in before.defaults.items()
            if name in after.defaults and name not in bound
        }
        self._seed = seed
        self._free = {name for name in self._types if name not in steering}
        self._narrowed = {name: after.inputs[name] for name in self._types if name in after.inputs}
        self._pinned = self._pins(before)
        narrowed = [self._narrowed.get(name, proto) for name, proto in self._types.items()]
        self._extents = [(self._open_dims(proto), _bytes(proto)) for proto in narrowed]
        total = 0
        for name, proto in self._types.items():
            total += _bytes(proto)
            _require_drawable(name, proto, total)

    def samples(self, count: int) -> Iterator[Sample]:
        """`count` plain samples, then the overridable initializers with other values."""
        for number in range(count):
            yield Sample(f"{PLAIN_SAMPLE} {number}", self._remembered(self._candidates(number)))
        # Float defaults (weights) change together in one sample. Others steer shapes and branches,
        # so each has a sample of its own.
        floats: list[str] = []
        others: list[str] = []
        for name, default in self._defaults.items():
            if isinstance(default, TensorProto):
                (floats if _is_float(default.data_type) else others).append(name)
        if floats:
            label = f"other values for {_listed(floats)}"
            yield Sample(label, self._override(count, floats))
        for name in others[:_MOST_DEFAULTS]:
            label = f"another value for initializer '{name}'"
            yield Sample(label, self._override(count, [name]))

    def adversarial(self, count: int) -> Iterator[Sample]:
        """Adversarial samples, one of each kind with inputs for it: at most `count` + 1, and none
        for 0."""
        for number, kind in enumerate(list(KINDS)[: count + 1] if count else ()):
            names = [
                n for n in sorted(self._free) if affects(kind, _innermost(self._types[n]).elem_type)
            ]
            if names:
                yield Sample(kind, self._changed(number, kind, names), adversarial=True)

    def separating(
        self, count: int, separators: Separators, ids: Mapping[str, int], exact: bool = True
    ) -> Iterator[Sample]:
        """Samples that tell models apart; none before a plain sample that the original accepts.

        Args:
            count: the number of samples.
            separators: the constants of both models.
            ids: the numbers of entries that the values of some inputs name.
            exact: the samples are exact, and hold special values.
        """
        if self._base is None or not self._types:
            return
        dims = {n: self._dims_of(n) for n, proto in self._types.items() if _is_tensor(proto)}
        inputs = SeparatingInputs(
            self._types,
            dims,
            self._pinned,
            self._minima,
            self._bound,
            self._steering,
            ids,
            separators,
            self._seed,
            extremes=exact,
        )
        for number in range(count):
            candidates = inputs.candidates(number, self._base)
            label = f"separating sample {number}"
            yield Sample(label, candidates, adversarial=True, exact=exact)

    def tame(self, size: int | None = None) -> Iterator[Feeds]:
        """Small inputs that most models accept, or inputs with all open sizes and lengths equal."""
        chosen = _TAME
        if size is not None:
            low_and_leading = ((0, True), (1, True), (0, False), (1, False))
            chosen = tuple(
                _Strategy((size,), True, (n, n), leading=one) for n, one in low_and_leading
            )
        yield from self._turn(0, 1, chosen)

    def _remembered(self, candidates: Iterator[Feeds]) -> Iterator[Feeds]:
        """The candidates; the last one is kept, as nobody asks for more after an accepted one."""
        for feeds in candidates:
            self._base = feeds
            yield feeds
            self._base = None

    def _dims_of(self, name: str) -> list[Dim] | None:
        """The dimensions of a tensor, as far as one of the models fixes them."""
        types = self._types[name], self._narrowed.get(name, self._types[name])
        before, after = (dims_of(proto.tensor_type) for proto in types)
        return _merged(before, after)

    def _changed(self, number: int, kind: str, names: list[str]) -> Iterator[Feeds]:
        """The candidates of the first sample with adversarial values, as their sizes are
        accepted."""
        floats = [name for name in names if _is_float(_innermost(self._types[name]).elem_type)]
        for turn, feeds in enumerate(self._candidates(0)):
            seed = [self._seed, number, turn]
            yield make_adversarial(feeds, kind, names, seed)
            if 0 < len(floats) < len(names):
                # Extreme integers are refused as indices by most models, and extreme floats alone
                # may pass.
                yield make_adversarial(feeds, kind, floats, seed)

    def _open_dims(self, proto: onnx.TypeProto) -> int:
        """The number of open dimensions of a tensor."""
        dims = dims_of(proto.tensor_type) or []
        return sum(not isinstance(dim, int) and dim not in self._pinned for dim in dims)

    def _candidates(self, sample: int) -> Iterator[Feeds]:
        for turn in range(_ROUNDS):
            yield from self._turn(sample, turn, _STRATEGIES)
        if any(open_ for open_, _ in self._extents):
            yield from self._turn(sample, _ROUNDS, _GROWING)

    def _turn(self, sample: int, turn: int, strategies: Sequence[_Strategy]) -> Iterator[Feeds]:
        for number, strategy in enumerate(strategies):
            if self._is_too_large(strategy):
                continue
            # A generator for each candidate: its values do not depend on which candidates were
            # refused before.
            rng = np.random.default_rng([self._seed, sample, turn, number])
            tame = turn > 0
            yield self._feeds(_Draw(rng, strategy, sample, tame, dict(self._pinned), self._minima))

    def _is_too_large(self, strategy: _Strategy) -> bool:
        """Test whether the inputs would exceed the limits of samples."""
        size = max(strategy.sizes)
        leading = 1 if strategy.leading else math.inf
        chosen = max(size ** min(open_, leading) for open_, _ in [(0, 0), *self._extents])
        total = sum(size ** min(open_, leading) * fixed for open_, fixed in self._extents)
        return (size > 1 and total > _LARGEST) or (size > 4 and chosen > _MOST_ELEMENTS)

    def _override(self, sample: int, names: list[str]) -> Iterator[Feeds]:
        for number, feeds in enumerate(self._candidates(sample)):
            rng = np.random.default_rng([self._seed, sample, number])
            for name in names:
                default = self._defaults[name]
                assert isinstance(default, TensorProto)
                feeds[name] = _other(numpy_helper.to_array(default), number, rng)
            yield feeds

    def _feeds(self, draw: _Draw) -> Feeds:
        feeds = {n: self._value(t, self._narrowed.get(n, t), draw) for n, t in self._types.items()}
        return {**feeds, **self._bound}

    def _value(self, proto: onnx.TypeProto, narrowed: onnx.TypeProto, draw: _Draw) -> Any:
        kind = proto.WhichOneof("value")
        if kind == "optional_type":
            inner = proto.optional_type.elem_type, narrowed.optional_type.elem_type
            return self._value(*inner, draw) if draw.switch() else None
        if kind == "sequence_type":
            inner = proto.sequence_type.elem_type, narrowed.sequence_type.elem_type
            return [self._value(*inner, draw) for _ in range(draw.length())]
        dims = _merged(dims_of(proto.tensor_type), dims_of(narrowed.tensor_type))
        if dims is None:
            dims = [None] * int(draw.rng.integers(3))
        shape = tuple(draw.dim(dim, leading=axis + 1 < len(dims)) for axis, dim in enumerate(dims))
        return _tensor(proto.tensor_type.elem_type, shape, draw)

    def _pins(self, before: Signature) -> dict[str, int]:
        """Symbols of the original that the rewrite, or a bound value, fixes to a size."""
        fixed = {name: dims_of(proto.tensor_type) for name, proto in self._narrowed.items()}
        fixed.update((n, list(v.shape)) for n, v in self._bound.items() if hasattr(v, "shape"))
        pins: dict[str, int] = {}
        for name, sizes in fixed.items():
            proto = before.inputs.get(name)
            dims = None if proto is None else dims_of(proto.tensor_type)
            if dims is not None and sizes is not None:
                for dim, size in zip(dims, sizes, strict=True):
                    if isinstance(dim, str) and isinstance(size, int):
                        pins[dim] = size
        return pins


def _is_tensor(proto: onnx.TypeProto) -> bool:
    return proto.WhichOneof("value") == "tensor_type"


def _merged(before: list[Dim] | None, after: list[Dim] | None) -> list[Dim] | None:
    if before is None or after is None:
        return before if after is None else after
    return [a if isinstance(a, int) else b for b, a in zip(before, after, strict=True)]


def _require_drawable(name: str, proto: onnx.TypeProto, total: int) -> None:
    """Check that an input can be generated, where `total` is its bytes with those before."""
    text, axes = type_text(proto), len(dims_of(_innermost(proto)) or ())
    if axes > _MOST_AXES:
        raise DrawError(f"input '{name}' has {axes} axes, and numpy supports {_MOST_AXES} only")
    if _innermost(proto).elem_type == TensorProto.UNDEFINED:
        fault = " cannot be drawn"
    elif total > _LARGEST:
        with_ = "" if total == _bytes(proto) else ", with the inputs before it,"
        fault = f"{with_} is too large to be drawn"
    else:
        return
    inputs = by("--inputs FILE.npz")
    raise DrawError(f"input '{name}' of type '{text}'{fault}; give inputs with {inputs}")


def _bytes(proto: onnx.TypeProto) -> int:
    """The least bytes of a tensor of a type, with 1 for open dimensions."""
    innermost = _innermost(proto)
    elements = math.prod(dim for dim in dims_of(innermost) or () if isinstance(dim, int))
    elem_type = innermost.elem_type
    if elem_type in (TensorProto.STRING, TensorProto.UNDEFINED):
        return elements * _STRING_BYTES
    return elements * onnx.helper.tensor_dtype_to_np_dtype(elem_type).itemsize


def _innermost(proto: onnx.TypeProto) -> onnx.TypeProto.Tensor:
    """The type of a tensor or of the tensors inside; an empty one where there are none."""
    while (kind := proto.WhichOneof("value")) in ("optional_type", "sequence_type"):
        proto = getattr(proto, kind).elem_type
    return proto.tensor_type


def _tensor(data_type: int, shape: tuple[int, ...], draw: _Draw) -> Array:
    """A tensor of any element type; a large one repeats a part, as random numbers have 64 bits."""
    size = math.prod(shape)
    if size <= _MOST_ELEMENTS:
        return _small_tensor(data_type, shape, draw)
    part = _small_tensor(data_type, (_MOST_ELEMENTS,), draw)
    array = np.empty(size, part.dtype)
    for start in range(0, size, _MOST_ELEMENTS):
        array[start : start + _MOST_ELEMENTS] = part[: size - start]
    return array.reshape(shape)


def _small_tensor(data_type: int, shape: tuple[int, ...], draw: _Draw) -> Array:
    rng, strategy = draw.rng, draw.strategy
    if data_type == TensorProto.STRING:
        words = [str(i) for i in range(10)] if strategy.digits else list(_WORDS)
        choice = rng.integers(len(words), size=int(np.prod(shape)))
        return np.array(words, dtype=object)[choice].reshape(shape)
    dtype = helper.tensor_dtype_to_np_dtype(data_type)
    if data_type == TensorProto.BOOL:
        # One element may be a condition, of which the samples must try both values.
        several = int(np.prod(shape)) > 1
        return rng.integers(2, size=shape) > 0 if several else np.full(shape, draw.switch())
    if not _is_float(data_type):
        # Permutations are what Transpose-like index inputs and scatters without duplicates accept.
        if strategy.distinct and len(shape) == 1:
            return rng.permutation(shape[0]).astype(dtype)
        low, high = (draw.size if bound is None else bound for bound in strategy.integers)
        # 2- and 4-bit integers hold less than the strategies' sizes.
        high = min(high, int(_iinfo(dtype).max))
        return rng.integers(min(low, high), high, size=shape, endpoint=True).astype(dtype)
    # `random` returns [0, 1): subtracted from 1 it is never 0, which Log and Div would turn into
    # infinities.
    values = np.asarray(1.0 - rng.random(shape) if strategy.positive else rng.normal(size=shape))
    if values.size > 1 and not strategy.positive:  # both signs, in the smallest tensor too
        values.flat[0], values.flat[1] = abs(values.flat[0]), -abs(values.flat[1])
    if dtype.kind == "c":
        return np.asarray(values + 1j * rng.normal(size=shape)).astype(dtype)
    if data_type == TensorProto.FLOAT8E8M0:  # has no sign
        values = np.asarray(np.abs(values))
    return values.astype(dtype)


def _other(default: Array, number: int, rng: np.random.Generator) -> Array:
    """Values of a default's type and shape, all different from it."""
    if default.dtype == np.bool_:
        return np.asarray(~default)
    if default.dtype.kind in "OSU":
        texts = [f"{text}*" for text in default.reshape(-1).tolist()]
        return np.array(texts, dtype=object).reshape(default.shape)
    if _is_float(helper.np_dtype_to_tensor_dtype(default.dtype)):
        wide = default.astype(np.complex128 if default.dtype.kind == "c" else np.float64)
        # Toward zero, so a scale or a probability stays in its range; a zero has to move away from
        # it.
        shifted = wide * rng.uniform(0.25, 0.75, size=wide.shape) + np.where(wide == 0, 0.5, 0)
        return np.asarray(shifted).astype(default.dtype)
    # Nearby integers, toward zero first: indices and lengths stay in range.
    step = (1, -1, 2)[number % 3]
    info = _iinfo(default.dtype)
    wide = default.astype(object)
    moved = np.where(wide > 0, wide - step, wide + step)
    inside = (moved >= int(info.min)) & (moved <= int(info.max))
    return np.asarray(np.where(inside, moved, wide)).astype(default.dtype)


def _iinfo(dtype: np.dtype[Any]) -> Any:
    """Machine limits of any integer type; ml_dtypes knows numpy's own too, but is untyped."""
    return ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]


def _is_float(data_type: int) -> bool:
    name: str = TensorProto.DataType.Name(data_type)
    return name.startswith(("FLOAT", "BFLOAT", "DOUBLE", "COMPLEX"))


def _listed(names: list[str]) -> str:
    text = ", ".join(f"'{name}'" for name in names[:3])
    noun = "initializer" if len(names) == 1 else "initializers"
    return f"{noun} {text}" if len(names) <= 3 else f"{noun} {text} and more"
