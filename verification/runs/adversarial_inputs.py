"""Adversarial samples: far from zero, of all magnitudes, with special values or infinities.

Near zero many different formulas agree: E[x * x] - E[x] * E[x] is a variance there, and noise at
3000. These samples are additional: one that the original refuses, or is slow on, has no effect.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper

Array = NDArray[Any]
Change = Callable[[Array, "np.random.Generator"], Array]

_WIDE = ("float32", "float64", "complex64", "complex128")
_NARROW = ("float16", "bfloat16")
_SPECIAL = ("float32", "float64", *_NARROW)


def affects(kind: str, elem_type: int) -> bool:
    """Test whether an adversarial kind changes tensors of an element type."""
    if elem_type in (TensorProto.UNDEFINED, TensorProto.STRING, TensorProto.BOOL):
        return False
    dtype = helper.tensor_dtype_to_np_dtype(elem_type)
    if KINDS[kind] is _special:
        return dtype.kind in "iu" or dtype.name in _SPECIAL
    if KINDS[kind] is _infinite:
        return dtype.name in _SPECIAL
    return dtype.name in (*_WIDE, *_NARROW)


def make_adversarial(
    feeds: Mapping[str, Any], kind: str, names: Collection[str], seed: Sequence[int]
) -> dict[str, Any]:
    """Change the values of some inputs in one of the ways of `KINDS`.

    Args:
        feeds: values by input: tensors, sequences or None.
        kind: the way.
        names: the inputs to change.
        seed: the seed of random changes.
    """
    rng = np.random.default_rng(list(seed))
    change = KINDS[kind]
    if change is _infinite:
        by_size = sorted(names, key=lambda name: (-getattr(feeds[name], "size", 0), name))
        names = by_size[seed[0] % len(by_size) :][:1]
    return {n: _changed(v, change, rng) if n in names else v for n, v in feeds.items()}


def perturb(feeds: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Replace each float by the next one above or below, at random."""
    rng = np.random.default_rng(seed)
    return {name: _changed(value, _nudged, rng) for name, value in feeds.items()}


def _changed(value: Any, change: Change, rng: np.random.Generator) -> Any:
    if isinstance(value, (list, tuple)):
        return [_changed(element, change, rng) for element in value]
    if not isinstance(value, np.ndarray) or not value.size:
        return value
    with np.errstate(all="ignore"):
        changed = np.asarray(change(value, rng)).astype(value.dtype)
    return changed


def _far(array: Array, rng: np.random.Generator) -> Array:
    """Shift values to a mean far from zero."""
    offset = {**dict.fromkeys(_WIDE, 3000), **dict.fromkeys(_NARROW, 24)}.get(array.dtype.name, 0)
    return array if not offset else np.asarray(_real_or_complex(array) + offset)


def _scaled(array: Array, rng: np.random.Generator) -> Array:
    """Scale rows to magnitudes of their own, large and tiny."""
    most = {**dict.fromkeys(_WIDE, 6), **dict.fromkeys(_NARROW, 2)}.get(array.dtype.name, 0)
    rows = array.shape[:1] if array.ndim > 1 else array.shape
    scales = 10.0 ** rng.integers(-most, most, size=rows, endpoint=True)
    return array if not most else np.asarray((_real_or_complex(array).T * scales.T).T)


def _special(array: Array, rng: np.random.Generator) -> Array:
    """Replace some values by special ones of the arithmetic."""
    if array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        values = np.array([info.max, info.min, 0, info.max - 1, 1], array.dtype)
    elif array.dtype.name in _SPECIAL:
        limits: Any = ml_dtypes.finfo(array.dtype)  # type: ignore[no-untyped-call]
        tiny, most = float(limits.smallest_subnormal), float(limits.max)
        listed = [np.nan, np.inf, -np.inf, -0.0, tiny, most, -tiny]
        values = np.array(listed, np.float64).astype(array.dtype)
    else:
        return array
    # All of them at least once, while every second value stays an ordinary one.
    count = max(min(array.size // 2, len(values)), array.size // 4)
    changed = array.copy().reshape(-1)
    places = rng.permutation(array.size)[: max(count, 1)]
    first = int(rng.integers(len(values))) if array.size == 1 else 0
    changed[places] = np.resize(np.roll(values, -first), len(places))
    return changed.reshape(array.shape)


def _infinite(array: Array, rng: np.random.Generator) -> Array:
    """Insert one infinity. With many special values most results are NaN for any formula; with a
    single infinity most are numbers, which an infinity times 0 would turn into NaN."""
    if array.dtype.name not in _SPECIAL:
        return array
    changed = array.copy().reshape(-1)
    changed[rng.integers(array.size)] = rng.choice((-np.inf, np.inf))
    return changed.reshape(array.shape)


def _nudged(array: Array, rng: np.random.Generator) -> Array:
    """Replace numbers by the next ones above or below; an infinity follows the last finite one."""
    if array.dtype.name not in (*_WIDE, *_NARROW):
        return array
    limits = ml_dtypes.finfo(array.real.dtype)  # type: ignore[no-untyped-call]
    epsilon, limit = float(limits.eps), float(limits.max)
    signs = rng.choice((-1.0, 1.0), size=array.shape)
    signs = np.where(np.abs(_real_or_complex(array)) * (1 + epsilon) > limit, 1.0, signs)
    moved = np.asarray(_real_or_complex(array) * (1 + epsilon * signs)).astype(array.dtype)
    return np.where(np.isfinite(array), moved, array)


def _real_or_complex(array: Array) -> Array:
    return array if array.dtype.kind == "c" else array.astype(np.float64)


KINDS: dict[str, Change] = {
    "values far from zero": _far,
    "large and tiny values": _scaled,
    "special values": _special,
    "a single infinity": _infinite,
}
