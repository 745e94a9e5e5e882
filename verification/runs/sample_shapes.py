"""Shapes of random samples from the caller."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnx

from ...facts.named_dimensions import Minima, is_size, with_sizes
from ...ir import instead
from ...ir.errors import BindingError
from ...ir.option_names import by
from ...reference.signature import Signature, dims_of
from ...runtimes.feeds import FeedError
from ...runtimes.session import Feeds

SampleShapes = Mapping[str, Sequence[int | None]]


class SampleShapeError(BindingError):
    """A shape for samples does not fit its input."""


def narrow_signature(before: Signature, after: Signature, shapes: SampleShapes | None) -> Signature:
    """The signature of a rewrite with sizes for its open dimensions.

    Args:
        after: that of the rewrite.
        shapes: by input name, with None for open dimensions.

    Raises:
        SampleShapeError: there is no such input, or the shape contradicts its type.
    """
    inputs = dict(after.inputs)
    require_drawn(before, shapes or {})
    for name, dims in (shapes or {}).items():
        if name in inputs:
            inputs[name] = sized(name, inputs[name], dims)
    return replace(after, inputs=inputs)


def require_drawn(
    signature: Signature,
    shapes: SampleShapes,
    bound: Collection[str] = (),
    *,
    are_given: bool = False,
) -> None:
    """Check shapes for samples before any is generated.

    Args:
        signature: that of the original.
        shapes: by input name.
        bound: the inputs that have a value.
        are_given: true if the caller passes all inputs.

    Raises:
        SampleShapeError: there is no such input, the shape contradicts its type, or it is not
            random.
    """
    if are_given:
        raise SampleShapeError(
            f"inputs were passed, so none is drawn; omit {by('--inputs')} or the sizes"
        )
    for name, dims in shapes.items():
        if name not in signature.inputs:
            choices = instead(name, signature.inputs, are="those that are:")
            raise SampleShapeError(f"no input '{name}' is drawn; {choices}")
        if name in bound:
            raise SampleShapeError(f"input '{name}' is set; no values are drawn for it")
        sized(name, signature.inputs[name], dims)


def require_minima(signature: Signature, feeds: Sequence[Feeds], minima: Minima) -> None:
    """Check that inputs of the caller have the minimum sizes that are assumed.

    Raises:
        FeedError: one has not.
    """
    shapes = {name: dims_of(proto.tensor_type) or () for name, proto in signature.inputs.items()}
    for name, dims in shapes.items():
        sizes = [getattr(sample.get(name), "shape", ()) for sample in feeds]
        for dim, size in (pair for shape in sizes for pair in zip(dims, shape, strict=False)):
            if isinstance(dim, str) and size < minima.get(dim, 0):
                least = f"{dim} is assumed to be at least {minima[dim]}"
                raise FeedError(f"input '{name}' has {size} for {dim}, but {least}")


def sized(name: str, declared: onnx.TypeProto, dims: Any) -> onnx.TypeProto:
    """Return the type of an input with the sizes of a shape.

    Raises:
        SampleShapeError: the shape is none, or contradicts the type.
    """
    if not declared.HasField("tensor_type"):
        raise SampleShapeError(f"input '{name}' is not a tensor; it has no shape to draw")
    if isinstance(dims, str | bytes) or not isinstance(dims, Sequence | np.ndarray):
        raise SampleShapeError(f"a shape of '{name}' has dimensions such as (1, 512)")
    old = dims_of(declared.tensor_type)
    if old is not None and len(old) != len(dims):
        raise SampleShapeError(f"input '{name}' has rank {len(old)}, not {len(dims)}")
    for axis, size in enumerate(dims):
        length = None if old is None else old[axis]
        if size is None:
            continue
        if not is_size(size):
            raise SampleShapeError(f"input '{name}': {size!r} is not a dimension")
        if isinstance(length, int) and length != size:
            raise SampleShapeError(f"input '{name}': dimension {axis} is {length}, not {size}")
    return with_sizes(declared, list(dims))
