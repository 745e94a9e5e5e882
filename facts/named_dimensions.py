"""Sizes of named dimensions: numbers for the shapes of inputs, and minimum sizes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from ..ir import ModelSource, Value, instead, to_proto
from ..ir.errors import BindingError

Shapes = Mapping[str, Sequence[int | None]]
Dims = Mapping[str, int | str]
"""Sizes by name: a number, or a text such as ">=1" for a minimum size."""
Minima = Mapping[str, int]
"""Least sizes by name, which a caller assumes."""

_LEAST = re.compile(r">=\s*(\d{1,18})", re.ASCII)


def inputs_of(model: ModelSource) -> list[Value]:
    """The inputs of a model as it declares them."""
    return [Value(info.name, info) for info in to_proto(model).graph.input]


def minima_of(dims: Dims) -> Minima:
    """The minimum sizes among sizes of named dimensions; 0 says nothing.

    Raises:
        BindingError: what is given is no size.
    """
    _check_sizes(dims)
    texts = {name: size for name, size in dims.items() if isinstance(size, str)}
    matches = {name: _LEAST.fullmatch(text) for name, text in texts.items()}
    return {name: int(match[1]) for name, match in matches.items() if match and int(match[1])}


def dimension_text(name: str, size: int | str) -> str:
    """A named dimension with its size, as the command line has it."""
    return f"{name}{size}" if isinstance(size, str) else f"{name}={size}"


def with_dimensions(inputs: Iterable[Value], shapes: Shapes, dims: Dims) -> Shapes:
    """Input shapes with the numbers among sizes of named dimensions.

    Raises:
        BindingError: no tensor among the inputs has such a dimension, a shape gives it another
            size, or what is given is no size.
    """
    if not dims:
        return shapes
    minima, sizes = minima_of(dims), {n: d for n, d in dims.items() if not isinstance(d, str)}
    declared = {value.name: value.shape for value in inputs if value.shape is not None}
    symbols = dict.fromkeys(
        dim for shape in declared.values() for dim in shape if isinstance(dim, str)
    )
    for symbol in dims:
        if symbol not in symbols:
            offered = instead(symbol, symbols, are="there are")
            raise BindingError(f"no input has a dimension named '{symbol}'; {offered}")
    result = dict(shapes)
    for name, shape in declared.items():
        for label, dim in zip(shape, shapes.get(name, ()), strict=False):
            if dim is not None and isinstance(label, str) and dim < minima.get(label, 0):
                raise BindingError(
                    f"input '{name}': dimension '{label}' cannot be {dim} and at least"
                    f" {minima[label]}"
                )
        if not sizes.keys().isdisjoint(shape):
            result[name] = _with_sizes(name, shape, shapes.get(name, (None,) * len(shape)), sizes)
    return result


def _check_sizes(sizes: Any) -> None:
    if not isinstance(sizes, Mapping):
        raise BindingError(f'dims must be a mapping by name, such as {{"T": 6}}, not {sizes!r}')
    for symbol, size in sizes.items():
        if not is_size(size) and not (isinstance(size, str) and _LEAST.fullmatch(size)):
            expected = "a size, such as 6, or a minimum, such as '>=1'"
            raise BindingError(f"dims: '{symbol}' must be {expected}, not {size!r}")


def is_size(size: Any) -> bool:
    """Test for a whole number that a dimension of a file may have."""
    whole = isinstance(size, int | np.integer) and not isinstance(size, bool)
    return whole and bool(0 <= size < 1 << 63)


def _with_sizes(
    name: str, declared: Sequence[int | str | None], shape: Sequence[int | None], sizes: Minima
) -> Sequence[int | None]:
    if len(shape) != len(declared):
        return shape  # which is refused for its rank
    result = []
    for symbol, dim in zip(declared, shape, strict=True):
        size = sizes.get(symbol, dim) if isinstance(symbol, str) else dim
        if dim is not None and size != dim:
            raise BindingError(
                f"input '{name}': dimension '{symbol}' cannot be both {size} and {dim}"
            )
        result.append(size)
    return result


def with_sizes(proto: onnx.TypeProto, sizes: Sequence[int | None]) -> onnx.TypeProto:
    """The type of a tensor with these sizes, where they are not None."""
    fixed = onnx.TypeProto()
    fixed.CopyFrom(proto)
    shape = fixed.tensor_type.shape
    # A shape without dimensions is a scalar's, a missing one has an unknown rank.
    shape.SetInParent()
    while len(shape.dim) < len(sizes):
        shape.dim.add()
    for dim, size in zip(shape.dim, sizes, strict=False):
        if size is not None:
            dim.dim_value = int(size)
    return fixed
