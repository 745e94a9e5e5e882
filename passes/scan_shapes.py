"""What is known about the sizes of a Scan: its batch, its length, and the elements it collects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..ir import Node, Value
from .analysis.dimension import Dimension
from .analysis.facts import Fact, Shape
from .analysis.shape_inference import ShapeInference
from .scan_layout import ScanLayout, read_scan


class Axis(NamedTuple):
    """The size of one axis of a value, which only run time tells."""

    value: Value
    axis: int


Size = int | Axis


class ScanShapes:
    """The sizes of one Scan.

    What is known is found when it is first asked for; `survey` asks for everything, after which it
    may be used while the nodes around the Scan and inside its body are on the way to another opset.

    Args:
        node: the Scan.
        version: the opset that it is written for; in version 8 a batch axis and the length come
            before what the body sees.
        inference: tells what is known about the values around it.
    """

    def __init__(self, node: Node, version: int, inference: ShapeInference) -> None:
        self.node = node
        self.version = version
        self.inference = inference
        self._before = 1 if version == 8 else 0
        self._elements: list[Fact] | None = None
        self._body_inputs: list[Fact] = []

    @property
    def scan(self) -> ScanLayout:
        """The Scan as it is now."""
        return read_scan(self.node, self.version)

    def survey(self) -> None:
        """Find all that can be asked for.

        In version 8 the inference also learns what the body takes in and what the Scan gives out;
        from version 9 on it finds that by itself.
        """
        self._infer()
        if self.version == 8:
            self._teach()
        for value in (*self.node.inputs, *self.node.outputs, *self.scan.body.captures()):
            if value is not None:
                self.inference.fact(value)

    def fact(self, value: Value) -> Fact:
        """What is inferred about a value; what is declared where no shape could be inferred."""
        fact = self.inference.fact(value)
        if fact.shape is not None:
            return fact
        declared = self.inference.symbols.fact(value.type)
        return Fact(fact.elem_type or declared.elem_type, declared.shape, None, fact.other)

    def input_rank(self, index: int) -> int | None:
        """The rank of a scan input; None where it is not known."""
        scan = self.scan
        shape = self.fact(scan.scanned[index]).shape
        if shape is not None:
            return len(shape)
        inside = scan.body.inputs[len(scan.states) + index].shape
        return None if inside is None else len(inside) + 1 + self._before

    def output_rank(self, index: int) -> int | None:
        """The rank of a scan output; None where it is not known."""
        shape = self.element(index).shape
        if shape is not None:
            return len(shape) + 1 + self._before
        output = self.scan.scan_outputs[index]
        declared = None if output is None else output.shape
        return None if declared is None else len(declared)

    def batch(self) -> int | None:
        """The batch of a Scan 8, where it is known before run time."""
        scan = self.scan
        given = [*scan.scanned, *scan.states]
        if scan.sequence_lens is not None:
            given.append(scan.sequence_lens)
        return _first_known([_size(self.fact(value), 0) for value in given])

    def length(self) -> int | None:
        """The length of the longest row, where it is known before run time."""
        scan = self.scan
        pairs = zip(scan.scanned, scan.input_axes, strict=True)
        sizes = [_size(self.fact(v), self._before + axis) for v, axis in pairs]
        return _first_known(sizes)

    def element(self, index: int) -> Fact:
        """What is known about one element of a scan output, as the body gives it out."""
        return self._infer()[index]

    def element_sizes(self, index: int) -> list[Size] | None:
        """The shape of an element of a scan output: numbers, or axes of values around the Scan;
        None where its sizes are not known before the body runs."""
        shape = self._infer()[index].shape
        if shape is None:
            return None
        sizes: list[Size] = []
        for dim in shape:
            size = dim.value if dim.value is not None else self._axis_of(dim)
            if size is None:
                return None
            sizes.append(size)
        return sizes

    def _teach(self) -> None:
        scan, fact = self.scan, self.fact(self.scan.scanned[0])
        elements = self._infer()
        for value, given in zip(scan.body.inputs, self._body_inputs, strict=True):
            self.inference.assume(value, given)
        for state, final in zip(scan.states, scan.final_states, strict=False):
            if final is not None:
                self.inference.assume(final, self.fact(state).without_content())
        around = None if fact.shape is None else fact.shape[:2]
        for element, output in zip(elements, scan.scan_outputs, strict=False):
            if output is not None:
                shape = None
                if around is not None and element.shape is not None:
                    shape = (*around, *element.shape)
                self.inference.assume(output, Fact(element.elem_type, shape))

    def _infer(self) -> list[Fact]:
        """Infer the body once, from what it is given."""
        if self._elements is None:
            scan, body = self.scan, self.scan.body
            inside = ShapeInference(self.inference.model)
            inside.symbols = self.inference.symbols
            for value in body.captures():
                inside.assume(value, self.fact(value))
            self._body_inputs = list(self._given())
            for value, fact in zip(body.inputs, self._body_inputs, strict=True):
                inside.assume(value, fact)
            collected = range(len(scan.states), len(body.outputs))
            self._elements = [self._with_declared(inside, index) for index in collected]
        return self._elements

    def _given(self) -> Iterator[Fact]:
        """What the body's inputs are on every trip: a state keeps its shape (operator
        specification, Scan)."""
        scan, states = self.scan, len(self.scan.states)
        outer = [*scan.states, *scan.scanned]
        for index, (inner, value) in enumerate(zip(scan.body.inputs, outer, strict=True)):
            fact = self.fact(value)
            declared = self.inference.symbols.fact(inner.type)
            shape = fact.shape
            for axis in [0] * self._before:
                shape = _without(shape, axis)
            if index >= states:
                shape = _without(shape, scan.input_axes[index - states])
            yield Fact(fact.elem_type or declared.elem_type, shape or declared.shape)

    def _with_declared(self, inside: ShapeInference, index: int) -> Fact:
        body = self.node.body("body")
        value = body.outputs[index]
        fact = inside.fact(value)
        for info in (body.output_infos[index], value.info):
            if info is not None and info.HasField("type"):
                declared = self.inference.symbols.fact(info.type)
                fact = Fact(fact.elem_type or declared.elem_type, _better(fact, declared))
        return fact

    def _axis_of(self, dim: Dimension) -> Axis | None:
        """Where a size can be read from around the Scan."""
        scan = self.scan
        outer = [*scan.states, *scan.scanned]
        for index, fact in enumerate(self._body_inputs):
            for axis, known in enumerate(fact.shape or ()):
                if known == dim:
                    shift = self._before
                    if index >= len(scan.states):
                        scanned = scan.input_axes[index - len(scan.states)]
                        shift += axis >= scanned % (len(fact.shape or ()) + 1)
                    return Axis(outer[index], axis + shift)
        for value in scan.body.captures():
            for axis, known in enumerate(self.fact(value).shape or ()):
                if known == dim:
                    return Axis(value, axis)
        return None


def _first_known(sizes: list[int | None]) -> int | None:
    return next((size for size in sizes if size is not None), None)


def _size(fact: Fact, axis: int) -> int | None:
    shape = fact.shape
    if shape is None or not -len(shape) <= axis < len(shape):
        return None
    return shape[axis].value


def _without(shape: Shape | None, axis: int) -> Shape | None:
    if shape is None or not -len(shape) <= axis < len(shape):
        return None
    axis %= len(shape)
    return shape[:axis] + shape[axis + 1 :]


def _better(fact: Fact, declared: Fact) -> Shape | None:
    """The inferred shape, with declared numbers where it has none."""
    if fact.shape is None or declared.shape is None or len(fact.shape) != len(declared.shape):
        return fact.shape or declared.shape
    pairs = zip(fact.shape, declared.shape, strict=True)
    return tuple([b if a.value is None and b.value is not None else a for a, b in pairs])
