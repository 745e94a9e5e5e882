"""Sizes of a Scan: its batch, its length, and its collected elements."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import UNKNOWN, Fact, Shape
from ...facts.obstacle import Obstacle
from ...facts.polynomial import Dimension
from ...ir import Node, Value
from ...ir.lazy import lazy_property
from ...ops.builder import Builder
from ...ops.schema_queries import NEGATIVE_AXES
from ..iteration.loop_view import ScanLayout, read_scan


class ValueAxis(NamedTuple):
    """The size of one axis of a value, known only at run time."""

    value: Value
    axis: int


Size = int | ValueAxis


class _ReadAxis(NamedTuple):
    """The size of one axis of the operand at a position, even after its replacement."""

    position: int
    axis: int


class ScanShapes:
    """The sizes of one Scan.

    Facts are inferred on first use. After `survey` all are there, and stay valid while the nodes
    around the Scan and in its body are converted to another opset.

    Args:
        node, inference: the Scan, and the facts of the values around it.
        version: the opset of its model; in version 8 the batch axis and the length precede the axes
            that the body sees.
    """

    def __init__(self, node: Node, version: int, inference: ShapeInference) -> None:
        self.node = node
        self.version = version
        self.inference = inference
        self._before = 1 if version == 8 else 0

    @property
    def scan(self) -> ScanLayout:
        """The Scan as it is now."""
        return read_scan(self.node, self.version)

    def survey(self) -> None:
        """Infer all facts."""
        _ = self._sizes, self.input_facts

    @lazy_property
    def input_facts(self) -> list[Fact]:
        """The facts of the node's inputs, by position."""
        return [UNKNOWN if v is None else self._look(v) for v in self.node.inputs]

    def _look(self, value: Value) -> Fact:
        """The inferred fact of a value; the declared one without an inferred shape."""
        fact = self.inference.fact(value)
        if fact.shape is not None:
            return fact
        declared = self.inference.symbols.fact(value.type)
        return Fact(fact.elem_type or declared.elem_type, declared.shape, None, fact.other)

    def _scan_facts(self) -> list[Fact]:
        return self.input_facts[-len(self.scan.scan_inputs) :]

    def batch(self) -> int | None:
        """The batch of a Scan 8; None if known only at run time."""
        return _first_known([_size(fact, 0) for fact in reversed(self.input_facts)])

    def length(self) -> int | None:
        """The length of the longest row; None if known only at run time."""
        pairs = zip(self._scan_facts(), self.scan.input_axes, strict=True)
        return _first_known([_size(fact, self._before + axis) for fact, axis in pairs])

    def require_axes(self) -> None:
        """Raise the obstacle of a scan input without its scanned axis."""
        axes = self.scan.input_axes
        for value, fact, axis in zip(self.scan.scan_inputs, self._scan_facts(), axes, strict=True):
            place, rank = self._before + axis, None if fact.shape is None else len(fact.shape)
            if rank is not None and not -rank <= place < rank:
                raise Obstacle(
                    f"its scan input '{value.name}' has rank {rank}, which has no axis {place}, so"
                    " it fails at run time"
                )

    def with_writable_axes(self) -> ScanLayout:
        """The Scan with axes that its opset's operators accept.

        Raises:
            Obstacle: an axis of unknown position.
        """
        scan = self.scan
        if self.version >= NEGATIVE_AXES:
            return scan
        inputs = [_from_front(a, self.input_rank, i) for i, a in enumerate(scan.input_axes)]
        outputs = [_from_front(a, self.output_rank, i) for i, a in enumerate(scan.output_axes)]
        values = (*scan.scan_inputs, *scan.scan_outputs)
        for value, axis in zip(values, (*inputs, *outputs), strict=True):
            if value is not None and axis < 0:
                raise Obstacle(
                    f"axis {axis} of '{value.name}' counts from the end, which operators of opset"
                    f" {self.version} cannot, and its rank is not known; declare its shape"
                )
        return dataclasses.replace(scan, input_axes=tuple(inputs), output_axes=tuple(outputs))

    def input_rank(self, index: int) -> int | None:
        """The rank of a scan input; None if unknown."""
        shape = self._scan_facts()[index].shape
        if shape is not None:
            return len(shape)
        scan = self.scan
        inside = scan.body.inputs[len(scan.states) + index].shape
        return None if inside is None else len(inside) + 1 + self._before

    def output_rank(self, index: int) -> int | None:
        """The rank of a scan output; None if unknown."""
        shape = self.element(index).shape
        if shape is not None:
            return len(shape) + 1 + self._before
        output = self.scan.scan_outputs[index]
        declared = None if output is None else output.shape
        return None if declared is None else len(declared)

    def element(self, index: int) -> Fact:
        """The fact of one element of a scan output, as the body emits it."""
        return self._elements[index]

    def element_sizes(self, index: int) -> list[Size] | None:
        """The shape of an element of a scan output: numbers, or axes of values around the Scan.

        None where only the body knows the sizes.
        """
        located, sizes = self._sizes[index], list[Size]()
        for size in located or ():
            if isinstance(size, _ReadAxis):
                size = ValueAxis(self.node.operand(size.position), size.axis)
            if size is None or (isinstance(size, ValueAxis) and size.value.graph is None):
                return None  # unknown, or a captured value that something else has replaced
            sizes.append(size)
        return None if located is None else sizes

    @lazy_property
    def _elements(self) -> list[Fact]:
        body = self.node.body("body")
        inside = self.inference.within(body, list(map(self._look, body.inputs)))
        for value in body.captures():
            inside.assume(value, self._look(value))
        outputs = range(len(self.scan.states), len(body.outputs))
        return [self._with_declared(inside, index) for index in outputs]

    def _with_declared(self, inside: ShapeInference, index: int) -> Fact:
        body = self.node.body("body")
        value = body.outputs[index]
        fact = inside.fact(value)
        for info in (body.output_infos[index], value.info):
            if info is not None and info.HasField("type"):
                declared = self.inference.symbols.fact(info.type)
                fact = Fact(fact.elem_type or declared.elem_type, _better(fact, declared))
        return fact

    @lazy_property
    def _sizes(self) -> list[list[int | ValueAxis | _ReadAxis | None] | None]:
        """The values that hold the sizes of the elements."""
        shapes = [element.shape for element in self._elements]
        return [
            None if shape is None else [self._size_of(dim) for dim in shape] for shape in shapes
        ]

    def _size_of(self, dim: Dimension) -> int | ValueAxis | _ReadAxis | None:
        if dim.value is not None:
            return dim.value
        scan = self.scan
        for index, fact in enumerate(map(self._look, scan.body.inputs)):
            for axis, other in enumerate(fact.shape or ()):
                if other == dim:
                    shift = self._before
                    if index >= len(scan.states):
                        scanned = scan.input_axes[index - len(scan.states)]
                        shift += axis >= scanned % (len(fact.shape or ()) + 1)
                    return _ReadAxis(self._before + index, axis + shift)
        for value in scan.body.captures():
            for axis, other in enumerate(self._look(value).shape or ()):
                if other == dim:
                    return ValueAxis(value, axis)
        return None


def _first_known(sizes: list[int | None]) -> int | None:
    return next((size for size in sizes if size is not None), None)


def _from_front(axis: int, rank_of: Callable[[int], int | None], index: int) -> int:
    """An axis counted from the front; unchanged for an unknown rank."""
    rank = rank_of(index) if axis < 0 else None
    return axis if rank is None else axis % rank


def _size(fact: Fact, axis: int) -> int | None:
    shape = fact.shape
    if shape is None or not -len(shape) <= axis < len(shape):
        return None
    return shape[axis].value


def _better(fact: Fact, declared: Fact) -> Shape | None:
    """The inferred shape, with declared numbers for its unknown sizes."""
    if fact.shape is None or declared.shape is None or len(fact.shape) != len(declared.shape):
        return declared.shape if fact.shape is None else fact.shape
    pairs = zip(fact.shape, declared.shape, strict=True)
    return tuple([b if a.value is None and b.value is not None else a for a, b in pairs])


def emit_sizes(emitter: Builder, sizes: Sequence[Size], label: str) -> Value:
    """Emit an int64 vector of sizes, read from values where they are not numbers."""
    numbers = [size for size in sizes if isinstance(size, int)]
    if len(numbers) == len(sizes):
        return emitter.vector(tuple(numbers), label)
    parts = []
    for size in sizes:
        if isinstance(size, int):
            parts.append(emitter.constant(np.array([size], np.int64), "size"))
        else:
            shape = emitter.add("Shape", [size.value], f"{size.value.name}_shape")
            name = f"{size.value.name}_{label}"
            parts.append(emitter.slice(shape, size.axis, size.axis + 1, name))
    return emitter.concat(parts, 0, label)
