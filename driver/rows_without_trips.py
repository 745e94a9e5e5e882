"""Sizes of scan outputs of Loops without an iteration, kept while inputs are bound.

Without an iteration a size that a runtime does not infer is 0 (`analysis/trips/zero_trips.py`), and
of a bound input it infers more:

z = Loop (n, yes) <... r = Neg (x)>        r = Loop (n, yes) <... r = Neg (x)>
x of [N]: z is [0, 0] for n = 0      ->    z = Slice (r, 0, size * Min (count, 1), 1)
"""

from __future__ import annotations

import onnx

from ..analysis.shapes.inference import ShapeInference
from ..analysis.trips.zero_trips import ScanElements
from ..ir import Graph, Model, Node, Value
from ..ops.builder import Builder

_OLDEST = 12
"""The first opset whose Min takes integers."""

Axes = dict[tuple[Node, int], list[int]]
"""The axes of size 0 of each scan output of a Loop that may make no iteration."""


class RowsWithoutTrips:
    """The sizes of scan outputs before inputs are bound.

    Args:
        model: the model, whose inputs are bound afterwards.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._axes = {} if model.opset() < _OLDEST else _empty_axes(model)

    def keep(self) -> None:
        """Cut rows of bound sizes to nothing where a Loop makes no iteration."""
        after = _empty_axes(self._model) if self._axes else {}
        for (loop, place), axes in self._axes.items():
            output, still = loop.outputs[place], after.get((loop, place), axes)
            lost = [axis for axis in axes if axis not in still]
            if lost and output is not None and loop.graph is not None:
                _cut(loop.graph, output, lost)


def _empty_axes(model: Model) -> Axes:
    loops = [node for graph in model.graph.walk() for node in graph.nodes_of("Loop")]
    inference, result = ShapeInference(model) if loops else None, Axes()
    for loop in loops:
        elements, first = ScanElements(loop, model, inference), len(loop.inputs) - 2
        rows = [at for at in range(first, len(loop.outputs)) if loop.outputs[at] is not None]
        if not rows or elements.has_trip():
            continue
        for place in rows:
            element = elements.of(place + 1)
            shape = () if element is None else element.shape
            result[loop, place] = [1 + axis for axis, size in enumerate(shape) if not size]
    return result


def _cut(graph: Graph, rows: Value, axes: list[int]) -> None:
    """Cut axes of rows to size 0 if there is no row."""
    emit = Builder(graph)
    shape = emit.add("Shape", [rows], "shape")
    count = emit.add("Gather", [shape, emit.vector((0,), "first")], "count")
    some = emit.add("Min", [count, emit.vector((1,), "one")], "some")
    places = emit.vector(tuple(axes), "axes")
    sizes = emit.add("Gather", [shape, places], "sizes")
    ends = emit.add("Mul", [sizes, some], "ends")
    starts = emit.vector((0,) * len(axes), "starts")
    result = emit.add("Slice", [rows, starts, ends, places], rows.name)
    graph.supersede(rows, result)
    for reader in (shape.producer, result.producer):
        assert reader is not None
        graph.set_input(reader, 0, rows)
    _open_sizes(graph, rows, result, axes)


def _open_sizes(graph: Graph, rows: Value, result: Value, axes: list[int]) -> None:
    """Declare no size that is 0 without rows."""
    rows.info = result.info = None
    infos = []
    for value, info in zip(graph.outputs, graph.output_infos, strict=True):
        own = onnx.ValueInfoProto()
        own.CopyFrom(info)
        dims = own.type.tensor_type.shape.dim
        for axis in axes:
            if value is result and axis < len(dims):
                dims[axis].Clear()
        infos.append(own)
    graph.set_outputs(graph.outputs, infos)
