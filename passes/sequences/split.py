"""SplitToSequence as one Split, emitted when the first part is read."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from ...analysis.constants.provenance import origins
from ...analysis.shapes.inference import ShapeInference
from ...facts.obstacle import Obstacle
from ...facts.reason import Message
from ...ir import Node, Value
from ...ir.lazy import lazy_property
from ...ir.option_names import by
from ...ops.builder import Builder
from .structure import LazyValue

_SPLIT_UNKNOWN = Message("split-unknown", "its split depends on {cause}")
_SPLIT_NOT_CONSTANT = Message(
    "split-not-constant",
    f"{_SPLIT_UNKNOWN.template}, and Split of opset {{opset}} requires constant sizes; convert to"
    " opset {oldest} first",
)
_SIZES_AS_INPUT = 13
"""The opset in which Split takes its sizes as an input."""

_AXIS_OUTSIDE = Message(
    "split-axis-outside", "axis {axis} is outside rank {rank}, so it fails at run time"
)
_PARTS_OF = Message("parts-of-no-size", "it splits into parts of {size}, so it fails at run time")
_LENGTH_UNKNOWN = Message(
    "split-length-unknown",
    "the length of axis {axis} of '{value}' is not known; fix the shapes of the inputs with"
    " {option}",
)
_PARTS_DIFFER = Message(
    "parts-do-not-fit",
    "parts of {sizes} do not make up an axis of {length}, so it fails at run time",
)
_NO_PARTS = Message("no-parts", "it makes no parts of an axis whose length is not known")


def shape_of(value: Value, inference: ShapeInference) -> tuple[int | None, ...] | None:
    """The dimensions of a value as far as they are decided; None for an unknown rank."""
    shape = inference.fact(value).shape
    return None if shape is None else tuple([dim.value for dim in shape])


class Parts:
    """The elements of a SplitToSequence whose number is known (operator specification, 11).

    Attributes:
        sizes: the length of each part along the axis; None if known only at run time.
        count: the number of parts.
        is_emitted: true after a part has been read.

    Raises:
        Obstacle: the parts are not known, or the split fails at run time.
    """

    def __init__(self, node: Node, emitter: Builder, inference: ShapeInference) -> None:
        source = node.inputs[0]
        assert source is not None
        self.node = node
        self.source = source
        self.emitter = emitter
        self.axis: int = node.attribute("axis", 0)
        split = node.input(1)
        # Where sizes are given, keepdims has no meaning.
        self.squeezed = split is None and not node.attribute("keepdims", 1)
        length = _length(shape_of(source, inference), self.axis)
        self.sizes: Sequence[int] | None = None
        if split is not None and split.constant is None:
            self.split = split
            self.split_is_int64 = inference.fact(split).elem_type == onnx.TensorProto.INT64
            self.count = _count_at_run_time(split, inference, emitter.opset)
        else:
            self.sizes = _sizes(split, length, source, self.axis)
            self.count = len(self.sizes)
        self._is_whole = self.sizes is not None and self.count == 1 and length is not None
        self.is_emitted = False

    @property
    def cost(self) -> int:
        """The maximum number of nodes and outputs of the parts."""
        return self.count * (2 if self.squeezed else 1) + (self.sizes is None)

    def elements(self) -> tuple[LazyValue, ...]:
        """The parts, emitted on first use."""
        return tuple([lambda index=index: self._parts[index] for index in range(self.count)])

    @lazy_property
    def _parts(self) -> list[Value]:
        self.is_emitted = True
        label = self.node.output().name
        labels = [f"{label}_{index}" for index in range(self.count)]
        if self._is_whole:
            parts = [self.source]
        elif self.sizes is None:
            parts = self.emitter.split_by(self.source, self._lengths(), self.axis, labels)
        else:
            parts = self.emitter.split(self.source, self.sizes, self.axis, labels)
        if not self.squeezed:
            return parts
        return [
            self.emitter.squeeze(part, self.axis, f"{label}_squeezed")
            for part, label in zip(parts, labels, strict=True)
        ]

    def _lengths(self) -> Value:
        """The run-time sizes, in the type that Split requires."""
        if self.split_is_int64:
            return self.split
        label = f"{self.split.name}_int64"
        return self.emitter.add("Cast", [self.split], label, to=onnx.TensorProto.INT64)


def _length(shape: tuple[int | None, ...] | None, axis: int) -> int | None:
    """The number of elements along the axis; None if unknown."""
    if shape is None:
        return None
    if not -len(shape) <= axis < len(shape):
        raise Obstacle(_AXIS_OUTSIDE(axis=axis, rank=len(shape)))
    return shape[axis]


def _count_at_run_time(split: Value, inference: ShapeInference, opset: int) -> int:
    """The number of sizes in a split that run time computes."""
    shape = shape_of(split, inference)
    if not shape or shape[0] is None:
        raise Obstacle(_SPLIT_UNKNOWN(origins(split)))
    if opset < _SIZES_AS_INPUT:
        raise Obstacle(_SPLIT_NOT_CONSTANT(origins(split), opset=opset, oldest=_SIZES_AS_INPUT))
    return shape[0]


def _sizes(split: Value | None, length: int | None, source: Value, axis: int) -> Sequence[int]:
    numbers = None if split is None or split.constant is None else split.constant.numpy()
    if numbers is not None and numbers.ndim:
        return _check_sizes([int(size) for size in numbers.reshape(-1)], length)
    size = 1 if numbers is None else int(numbers)
    if size < 1:
        raise Obstacle(_PARTS_OF(size=size))
    if length is None:
        raise Obstacle(_LENGTH_UNKNOWN(axis=axis, value=source.name, option=by("--shape")))
    whole, rest = divmod(length, size)
    return [size] * whole + ([rest] if rest else [])


def _check_sizes(sizes: list[int], length: int | None) -> list[int]:
    if any(size < 0 for size in sizes) or (length is not None and sum(sizes) != length):
        raise Obstacle(_PARTS_DIFFER(sizes=list(sizes), length=length))
    if not sizes and length is None:
        raise Obstacle(_NO_PARTS())
    return sizes
