"""Sizes of named dimensions, written into the shapes of inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from ..ir import Error, ModelSource, Value, instead, to_proto

Shapes = Mapping[str, Sequence[int | None]]
Dims = Mapping[str, int]


class BindingError(Error):
    """A value or shape does not fit its input."""


def inputs_of(model: ModelSource) -> list[Value]:
    """The inputs of a model as it declares them."""
    return [Value(info.name, info) for info in to_proto(model).graph.input]


def with_dimensions(inputs: Iterable[Value], shapes: Shapes, sizes: Dims) -> Shapes:
    """Input shapes with sizes for named dimensions.

    Raises:
        BindingError: no tensor among the inputs has such a dimension, a shape gives it another
            size, or what is given is no size.
    """
    if not sizes:
        return shapes
    _check_sizes(sizes)
    declared = {value.name: value.shape for value in inputs if value.shape is not None}
    symbols = dict.fromkeys(
        dim for dims in declared.values() for dim in dims if isinstance(dim, str)
    )
    for symbol in sizes:
        if symbol not in symbols:
            offered = instead(symbol, symbols, are="there are")
            raise BindingError(f"no input has a dimension named '{symbol}'; {offered}")
    result = dict(shapes)
    for name, dims in declared.items():
        if not sizes.keys().isdisjoint(dims):
            result[name] = _with_sizes(name, dims, shapes.get(name, (None,) * len(dims)), sizes)
    return result


def _check_sizes(sizes: Any) -> None:
    if not isinstance(sizes, Mapping):
        raise BindingError(f'dims are a mapping by name, such as {{"T": 6}}, not {sizes!r}')
    for symbol, size in sizes.items():
        if not is_size(size):
            raise BindingError(f"dims: '{symbol}' has a size, such as 6, not {size!r}")


def is_size(size: Any) -> bool:
    """Test for a whole number that a dimension may have."""
    whole = isinstance(size, int | np.integer) and not isinstance(size, bool)
    return whole and bool(size >= 0)


def _with_sizes(
    name: str, declared: Sequence[int | str | None], shape: Sequence[int | None], sizes: Dims
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
    shape.SetInParent()
    while len(shape.dim) < len(sizes):
        shape.dim.add()
    for dim, size in zip(shape.dim, sizes, strict=False):
        if size is not None:
            dim.dim_value = int(size)
    return fixed
