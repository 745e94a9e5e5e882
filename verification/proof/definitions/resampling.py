"""Resize by neighbours: Gather, weights and sums, along one axis after the other."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ....facts.polynomial import Dimension
from .functions import DOUBLE, FLOAT, Application, defined

Numbers = npt.NDArray[Any]

_LONGEST = 1 << 14
"""Limit of the length of an axis whose neighbours are listed."""

_TYPES: dict[int, tuple[str, type[Any]]] = {
    FLOAT: ("float", np.float32),
    DOUBLE: ("double", np.float64),
}

_PLAIN = {
    "antialias": (0,),
    "exclude_outside": (0,),
    "keep_aspect_ratio_policy": (b"stretch", "stretch"),
}
"""Attributes with the values for which the definition holds."""


class _Axis(NamedTuple):
    """Axis of another length, or with a scale other than 1.

    Attributes:
        before: its length.
        after: its length in the output.
        scale: the divisor of positions.
    """

    axis: int
    before: int
    after: int
    scale: np.float32


@defined(
    "Resize",
    types=None,
    attributes=(
        *("axes", "coordinate_transformation_mode", "cubic_coeff_a", "extrapolation_value"),
        *("mode", "nearest_mode", *_PLAIN),
    ),
    broadcasts=True,
)
def resize(application: Application) -> str | None:
    """Neighbours of each position, weighted by their distance. Where both neighbours of a linear
    interpolation are one pixel, at the border, kernels take half of it twice."""
    if any(application.attribute(name, n[0]) not in n for name, n in _PLAIN.items()):
        return None
    axes, mode = _changed_axes(application), application.head.text("mode")
    if axes is None or (mode != "nearest" and not _interpolates(application, axes)):
        return None
    nodes, value = "", "X"
    for axis in axes:
        text = _nearest(application, axis, value) if mode == "nearest" else None
        text = text if mode == "nearest" else _weighted(application, axis, value)
        if text is None:
            return None
        nodes, value = nodes + text, f"Y{axis.axis}"
    return f"(X, Region, Scales, Lengths) => (Y) {{ {nodes} Y = Identity ({value}) }}"


def _interpolates(application: Application, axes: Sequence[_Axis]) -> bool:
    """Test for a type with an interpolation. Kernels interpolate images along both axes or none,
    which makes NaN of infinities along an axis of scale 1 with several pixels. Sums of four pixels
    have no negative zero."""
    shape = application.args[0].fact.shape if application.args[0] is not None else None
    if shape is None or application.elem_type() not in _TYPES:
        return False
    both = {axis.axis for axis in axes} | {
        n for n, dim in enumerate(shape) if n > 1 and dim.value == 1
    }
    is_image = len(shape) == 4 and both == {2, 3} and application.elem_type() == FLOAT
    is_linear = application.head.text("mode") == "linear"
    return application.over_reals or (is_image and is_linear)


def _changed_axes(application: Application) -> list[_Axis] | None:
    """Axes that Resize changes; None if their lengths or scales are unknown."""
    data = application.args[0]
    shape = None if data is None else data.fact.shape
    factors = _factors(application)
    if shape is None or factors is None:
        return None
    places = application.attribute("axes") or list(range(len(shape)))
    if len(places) != len(factors) or not all(-len(shape) <= n < len(shape) for n in places):
        return None
    changed = []
    for place, factor in zip(places, factors, strict=True):
        axis = place % len(shape)
        if factor == (shape[axis] if isinstance(factor, Dimension) else 1):
            continue
        resized = _axis_of(axis, shape[axis].value, factor)
        if resized is None:
            return None
        changed.append(resized)
    return sorted(changed) if len({n % len(shape) for n in places}) == len(places) else None


def _factors(application: Application) -> list[Any] | None:
    """Scales as numbers, or lengths as sizes; None if they are unknown."""
    if application.has(2) and not application.has(3):
        tensor = application.tensor(2)
        return None if tensor is None else [np.float32(n) for n in tensor.numpy().reshape(-1)]
    lengths = application.args[3] if application.has(3) and not application.has(2) else None
    content = None if lengths is None else lengths.fact.content
    return None if content is None or None in list(content.flat) else list(content.flat)


def _axis_of(axis: int, before: int | None, factor: Any) -> _Axis | None:
    if isinstance(factor, Dimension):
        after = factor.value
        scale = np.float32(after or 0) / np.float32(before or 1)
    else:
        after = int(np.float32(before or 0) * factor) if 0 < factor < _LONGEST else None
        scale = factor
    if not before or after is None or not 0 < after <= _LONGEST or before > _LONGEST:
        return None
    return _Axis(axis, before, after, scale)


def _positions(application: Application, axis: _Axis, kind: type[Any]) -> Numbers | None:
    """Position of each output pixel among the input pixels; None for a mode without a formula."""
    mode = application.head.text("coordinate_transformation_mode")
    x, scale, half = np.arange(axis.after, dtype=kind), kind(axis.scale), kind(0.5)
    if mode == "asymmetric":
        return x / scale
    # One output pixel is the first one of the input (Resize); the formulas would differ, or
    # divide by 0.
    if axis.after == 1 and mode in ("align_corners", "pytorch_half_pixel"):
        return x
    if mode == "align_corners":
        return x * kind(axis.before - 1) / kind(axis.after - 1)
    if mode in ("half_pixel", "pytorch_half_pixel"):
        return (x + half) / scale - half
    return None


_ROUNDINGS: dict[str, Any] = {
    "round_prefer_floor": lambda x: np.ceil(x - x.dtype.type(0.5)),
    "round_prefer_ceil": lambda x: np.floor(x + x.dtype.type(0.5)),
    "floor": np.floor,
    "ceil": np.ceil,
}


def _nearest(application: Application, axis: _Axis, value: str) -> str | None:
    """Node of the nearest pixels, if these do not depend on the precision of positions."""
    rounded = _ROUNDINGS.get(application.head.text("nearest_mode"))
    positions = [_positions(application, axis, kind) for kind in (np.float32, np.float64)]
    if rounded is None or positions[0] is None or positions[1] is None:
        return None
    one, other = (np.clip(rounded(place), 0, axis.before - 1) for place in positions)
    return _pixels(f"Y{axis.axis}", value, axis, one) if (one == other).all() else None


def _weighted(application: Application, axis: _Axis, value: str) -> str | None:
    """Nodes of the sum of weighted neighbours."""
    positions = _positions(application, axis, np.float32)
    if positions is None:
        return None
    if application.head.text("mode") == "linear":
        taps = _linear(axis, positions)
    elif application.head.text("mode") == "cubic":
        taps = _cubic(positions, float(application.attribute("cubic_coeff_a", -0.75)))
    else:
        return None
    element, kind = _TYPES[application.elem_type()]
    rank = application.rank() or 0
    sizes = [axis.after, *[1] * (rank - 1 - axis.axis)]
    nodes, number = "", axis.axis
    for n, (pixels, weights) in enumerate(taps):
        listed = ", ".join(repr(float(kind(weight))) for weight in weights)
        nodes += _pixels(f"P{number}_{n}", value, axis, np.clip(pixels, 0, axis.before - 1))
        nodes += f"""
        W{number}_{n} = Constant <value = {element}{sizes} {{{listed}}}> ()
        Q{number}_{n} = Mul (P{number}_{n}, W{number}_{n})"""
        first = f"S{number}_{n - 1}" if n else ""
        nodes += f" S{number}_{n} = " + (
            f"Add ({first}, Q{number}_{n})" if n else f"Identity (Q{number}_{n})"
        )
    return f"{nodes} Y{number} = Identity (S{number}_{len(taps) - 1})"


def _linear(axis: _Axis, positions: Numbers) -> list[tuple[Numbers, Numbers]]:
    """Pixels below and above each position within the image."""
    inside = np.clip(positions, 0, np.float32(axis.before - 1))
    low = np.floor(inside)
    part = (inside - low).astype(np.float64)
    both = low + 1 > axis.before - 1
    weights = np.where(both, 0.5, 1 - part), np.where(both, 0.5, part)
    return [(low, weights[0]), (low + 1, weights[1])]


def _cubic(positions: Numbers, a: float) -> list[tuple[Numbers, Numbers]]:
    """Four pixels around each position, weighted by the convolution of Keys."""
    low = np.floor(positions)
    taps = []
    for offset in (-1, 0, 1, 2):
        d = np.abs((positions - low).astype(np.float64) - offset)
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        taps.append((low + offset, near if offset in (0, 1) else far))
    return taps


def _pixels(result: str, value: str, axis: _Axis, places: Numbers) -> str:
    """Node of pixels along an axis."""
    listed = ", ".join(str(int(place)) for place in places)
    return f"""
        {result}At = Constant <value_ints = [{listed}]> ()
        {result} = Gather <axis = {axis.axis}> ({value}, {result}At)"""
