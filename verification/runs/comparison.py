"""Comparison of two results of an output: type, shape, then values, with tight tolerances.

A result is a tensor (numpy array), an absent optional (None), a sequence (list) or a map (dict).
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ...records import record

Kind = Literal["", "presence", "type", "shape", "length", "keys", "values"]
Array = NDArray[Any]

# Allowed distance in units of the type's machine epsilon. Rewrites move operators, they do not
# reorder arithmetic, so all that may differ is the rounding of a constant folded by another
# implementation. Where one step is already coarse (8 bits and fewer) nothing may differ.
_EPSILONS = {"float64": 16, "float32": 16, "float16": 2, "bfloat16": 2}

_BLOCK = 1 << 18
"""Number of elements compared at a time; temporaries take 100 bytes for each."""


@record(frozen=True)
class Place:
    """First place of a difference: the path into sequences or maps, the index, both values."""

    path: str
    index: tuple[int, ...] | None
    before: Any
    after: Any

    def __str__(self) -> str:
        index = "" if self.index is None else str(list(self.index))
        where = f"at {self.path}{index}: " if self.path or index else ""
        return f"{where}{self.before} became {self.after}"


@record(frozen=True)
class Difference:
    """Differences between two results. `kind` is empty where they agree.

    `max_abs`, `max_rel` and `max_ulps` are over all elements, also those within tolerance;
    `differing` counts the elements outside it, and `first` is the first of those.
    """

    kind: Kind = ""
    max_abs: float = 0.0
    max_rel: float = 0.0
    max_ulps: int = 0
    differing: int = 0
    total: int = 0
    first: Place | None = None


@record(frozen=True)
class Tolerance:
    """Tolerance of values: `|after - before| <= atol + rtol * |before|`.

    Without numbers: integers, booleans, strings and floats of 8 bits or fewer must be equal;
    float32, float64 and complex may be off by 16 epsilons of their type, float16 and bfloat16 by
    2, relative to the value or, for values that cancelled to nearly zero, to the largest
    magnitude of the output but never more than 1. `factor` widens these defaults, and `slack` is
    added to any atol. Over the `reals`, what overflows or is NaN on adversarial samples stands for
    no number, and is not compared.
    """

    rtol: float | None = None
    atol: float | None = None
    factor: float = 1.0
    slack: float = 0.0
    reals: bool = False

    @property
    def is_exact(self) -> bool:
        """True if nothing may differ."""
        return self.rtol == self.atol == self.slack == 0.0

    def limits(self, dtype: np.dtype[Any], magnitude: float) -> tuple[float, float]:
        """The rtol and atol for a float type and the largest finite magnitude expected."""
        epsilons = _EPSILONS.get(dtype.name, 0)
        default = self.factor * epsilons * float(_finfo(dtype).eps) if epsilons else 0.0
        rtol = default if self.rtol is None else self.rtol
        atol = default * min(1.0, magnitude) if self.atol is None else self.atol
        return rtol, atol + self.slack


EXACT = Tolerance(rtol=0.0, atol=0.0)


def compare(before: Any, after: Any, tolerance: Tolerance, path: str = "") -> Difference:
    """Compare two results of one output."""
    kinds = _kind_of(before), _kind_of(after)
    if kinds[0] != kinds[1]:
        kind: Kind = "presence" if "absent" in kinds else "type"
        return _structural(kind, path, *kinds)
    if before is None:
        return Difference()
    if isinstance(before, dict):
        if list(before) != list(after) and set(before) != set(after):
            return _structural("keys", path, list(before), list(after))
        keys: Iterable[Any] = before
    elif isinstance(before, (list, tuple)):
        if len(before) != len(after):
            return _structural("length", path, len(before), len(after))
        keys = range(len(before))
    else:
        return _compare_tensors(_tensor(before), _tensor(after), tolerance, path)
    return combine(compare(before[k], after[k], tolerance, f"{path}[{k!r}]") for k in keys)


def combine(differences: Iterable[Difference]) -> Difference:
    """Merge the differences of several parts: the first kind and place, the largest figures."""
    total = Difference()
    for part in differences:
        total = Difference(
            total.kind or part.kind,
            max(total.max_abs, part.max_abs),
            max(total.max_rel, part.max_rel),
            max(total.max_ulps, part.max_ulps),
            total.differing + part.differing,
            total.total + part.total,
            total.first if total.kind else part.first,
        )
    return total


def _kind_of(value: Any) -> str:
    if value is None:
        return "absent"
    if isinstance(value, (list, tuple)):
        return "sequence"
    return "map" if isinstance(value, dict) else "tensor"


def _structural(kind: Kind, path: str, before: Any, after: Any) -> Difference:
    return Difference(kind, differing=1, total=1, first=Place(path, None, before, after))


def _tensor(value: Any) -> Array:
    """An array; strings of any numpy flavour become objects of type str."""
    array = np.asarray(value)
    if array.dtype.kind not in "OSU":
        return array
    texts = [
        item.decode("utf-8", "surrogateescape") if isinstance(item, bytes) else str(item)
        for item in array.reshape(-1).tolist()
    ]
    result = np.empty(len(texts), dtype=object)
    result[:] = texts
    return result.reshape(array.shape)


def _compare_tensors(before: Array, after: Array, tolerance: Tolerance, path: str) -> Difference:
    if before.dtype != after.dtype:
        return _structural("type", path, _type_name(before.dtype), _type_name(after.dtype))
    if before.shape != after.shape:
        return _structural("shape", path, list(before.shape), list(after.shape))
    flat = before.reshape(-1), after.reshape(-1)
    largest: float | None = None
    total = Difference()
    for start in range(0, before.size, _BLOCK):
        b, a = (array[start : start + _BLOCK] for array in flat)
        if np.array_equal(b, a):
            total = combine([total, Difference(total=b.size)])
            continue
        # Once, for the first block that differs, since it takes a pass over both arrays.
        if largest is None:
            largest = _magnitude(*flat) if is_float(b.dtype) else 0.0
        if before.dtype.kind == "O":
            wrong, difference = np.asarray(b != a), Difference()
        elif is_float(before.dtype):
            wrong, difference = _compare_floats(b, a, tolerance, largest)
        else:
            wrong, difference = _compare_integers(b, a)
        difference = replace(difference, total=b.size)
        if wrong.any():
            first = int(np.argmax(wrong))
            index = tuple(int(i) for i in np.unravel_index(start + first, before.shape))
            place = Place(path, index, _python(b[first]), _python(a[first]))
            count = int(np.count_nonzero(wrong))
            difference = replace(difference, kind="values", differing=count, first=place)
        total = combine([total, difference])
    return total


def _compare_integers(before: Array, after: Array) -> tuple[NDArray[np.bool_], Difference]:
    """Compare integers and booleans, which must be equal; distances are exact for any width."""
    wrong = np.asarray(before != after)
    if not wrong.any():
        return wrong, Difference()
    wide = np.uint64 if before.dtype == np.uint64 else np.int64
    b, a = before[wrong].astype(wide), after[wrong].astype(wide)
    # In 64 unsigned bits the larger minus the smaller is right even where int64 would overflow.
    ub, ua = b.astype(np.uint64), a.astype(np.uint64)
    delta = np.where(b > a, ub - ua, ua - ub)
    relative = _relative(delta.astype(np.float64), np.abs(b.astype(np.float64)))
    furthest = int(delta.max())
    return wrong, Difference(max_abs=furthest, max_rel=relative, max_ulps=furthest)


def _magnitude(before: Array, after: Array) -> float:
    """The largest magnitude in floats or complex numbers where both are finite."""
    largest = 0.0
    for start in range(0, before.size, _BLOCK):
        parts = (array[start : start + _BLOCK] for array in (before, after))
        b, a = (_components(part).astype(np.float64) for part in parts)
        with np.errstate(all="ignore"):
            numbers = np.hypot.reduce(np.where(np.isfinite(b) & np.isfinite(a), b, 0.0), axis=-1)
        largest = max(largest, float(numbers.max()))
    return min(largest, float(np.finfo(np.float64).max))


def _compare_floats(
    before: Array, after: Array, tolerance: Tolerance, largest: float
) -> tuple[NDArray[np.bool_], Difference]:
    """Compare floats and complex numbers. NaN equals NaN; infinities agree in sign; -0 equals 0."""
    narrow_b, narrow_a = _components(before), _components(after)
    b, a = narrow_b.astype(np.float64), narrow_a.astype(np.float64)
    finite = np.isfinite(b) & np.isfinite(a)
    same = (b == a) | (np.isnan(b) & np.isnan(a))
    with np.errstate(all="ignore"):
        delta = np.where(finite, np.abs(a - b), np.where(same, 0.0, np.inf))
        # A complex number is small or large as a whole, so both components share its magnitude.
        magnitude = np.hypot.reduce(np.where(finite, b, 0.0), axis=-1, keepdims=True)
        magnitude = np.minimum(magnitude, np.finfo(np.float64).max)
        rtol, atol = tolerance.limits(narrow_b.dtype, largest)
        wrong = ~same & ~(finite & (delta <= atol + rtol * magnitude))
        relative = _relative(delta, np.broadcast_to(magnitude, delta.shape))
    ulps = _ulps(narrow_b[finite], narrow_a[finite])
    difference = Difference(max_abs=float(delta.max()), max_rel=relative, max_ulps=ulps)
    return wrong.any(axis=-1), difference


def _components(array: Array) -> Array:
    """The real components of an array, on a new last axis."""
    if array.dtype.kind != "c":
        return array[..., np.newaxis]
    part = np.dtype(np.float32 if array.dtype == np.complex64 else np.float64)
    return np.stack([array.real, array.imag], axis=-1).astype(part, copy=False)


def _relative(delta: NDArray[np.float64], magnitude: NDArray[np.float64]) -> float:
    """The largest delta / magnitude; infinite where the magnitude is 0."""
    with np.errstate(all="ignore"):
        ratio = np.where(delta == 0.0, 0.0, delta / magnitude)
    return float(np.max(np.where(np.isnan(ratio), np.inf, ratio), initial=0.0))


def _ulps(before: Array, after: Array) -> int:
    """The largest number of representable values between two finite arrays of one float type."""
    if before.size == 0:
        return 0
    b, a = _ordered(before), _ordered(after)
    ub, ua = b.astype(np.uint64), a.astype(np.uint64)
    return int(np.where(b > a, ub - ua, ua - ub).max())


def _ordered(array: Array) -> NDArray[np.int64]:
    """Map floats to integers of the same order, with -0 on 0."""
    bits = array.view(f"u{array.dtype.itemsize}").astype(np.uint64)
    if array.dtype == np.dtype(ml_dtypes.float8_e8m0fnu):  # has no sign bit
        return bits.astype(np.int64)
    sign = np.uint64(1 << (int(_finfo(array.dtype).bits) - 1))
    payload = (bits & (sign - np.uint64(1))).astype(np.int64)
    return np.where(bits & sign, -payload, payload)


def is_float(dtype: np.dtype[Any]) -> bool:
    """Test whether a type is a float of any width, or complex."""
    return dtype.kind in "fc" or (dtype.kind == "V" and "float" in dtype.name)


def _finfo(dtype: np.dtype[Any]) -> Any:
    """Machine limits of any float type; ml_dtypes knows numpy's own too, but is untyped."""
    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]


def _type_name(dtype: np.dtype[Any]) -> str:
    return "string" if dtype.kind == "O" else dtype.name


def _python(value: Any) -> Any:
    """A plain Python number or string, for messages and JSON."""
    if isinstance(value, (str, bool, int, float, complex)) and not isinstance(value, np.generic):
        return value
    if is_float(value.dtype):
        return complex(value) if value.dtype.kind == "c" else float(value)
    return bool(value) if value.dtype == np.bool_ else int(value)
