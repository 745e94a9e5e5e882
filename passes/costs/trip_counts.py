"""Trip counts of loops, estimated at usual sizes where only run time tells them."""

import itertools
import math

import numpy as np
import onnx

from ...analysis.constants.folding import Folder
from ...analysis.iterations.block_places import computes_blocks
from ...analysis.shapes.inference import ShapeInference
from ...facts.polynomial import Dimension
from ...ir import Graph, Model, Node, Tensor, Value

USUAL = 64
"""The assumed number where a size or a trip count is known only at run time."""
MANY = 512
"""A large number of iterations, and of rows, where only run time tells it."""
_MOST_NODES = 64
"""The limit of nodes from sizes to a trip count."""
_MOST_BYTES = 1 << 16


class TripCounts:
    """The trip counts of the loops of one model.

    Args:
        rows: the number of iterations and first axes that are known only at run time; other axes
            are usual.
    """

    def __init__(self, model: Model, inference: ShapeInference, rows: int = USUAL) -> None:
        self._inference = inference
        self._rows = rows
        self._folder = Folder(model, _MOST_BYTES)
        self._numbers: dict[Value, Tensor] = {}
        self._lengths: dict[Dimension, int] = {}
        self._blocks: dict[Graph, int] = {}
        for graph in list(model.graphs()):
            for node in graph.nodes_of("Loop"):
                if computes_blocks(node.body("body")):
                    self._enter_block(node.body("body"))
            for node in graph.nodes_of("Expand"):
                self._enter_target(node)

    def _enter_target(self, node: Node) -> None:
        """Enter the sizes to which an Expand stretches: not all need be many."""
        shape, target = self._inference.fact(node.output()).shape, node.input(1)
        if not shape or target is None or all(dim.value is not None for dim in shape):
            return
        estimate = self._estimate(target, {})
        if estimate is not None and estimate.size == len(shape):
            sizes = (int(size) for size in estimate.numpy())
            self._lengths |= {
                dim: size
                for dim, size in zip(shape, sizes, strict=True)
                if dim.value is None and size > 1
            }

    def _enter_block(self, body: Graph) -> None:
        """Enter the length of the first block, which has no size that constants decide."""
        self._numbers[body.inputs[0]] = Tensor(array=np.array(0, np.int64))
        for places in body.nodes_of("Range"):
            shape = self._inference.fact(places.output()).shape
            estimate = self._estimate(places.output(), {})
            if shape is not None and estimate is not None:
                self._lengths[shape[0]] = estimate.size
                self._blocks[body] = min(estimate.size, self._rows)

    def _rows_in(self, graph: Graph | None) -> int:
        """The number of unknown rows in a graph: in a block, its length."""
        while graph is not None and self._blocks:
            if graph in self._blocks:
                return self._blocks[graph]
            graph = None if graph.holder is None else graph.holder.graph
        return self._rows

    def of(self, node: Node) -> int:
        """The trip count of a Loop or Scan, at usual sizes where it is unknown."""
        certain = known_iterations(node, self._inference)
        if certain is not None:
            return certain
        if node.is_op("Scan"):
            length = _scanned_length(node, self._inference)
            rows = self._rows_in(node.graph)
            return rows if length is None else self._size(length, rows)
        maximum = node.input(0) if node.is_op("Loop") else None
        visited: dict[Value, Tensor | None] = {}
        estimate = None if maximum is None else self._estimate(maximum, visited)
        if estimate is None or estimate.size != 1:
            return self._rows
        count = int(estimate.numpy().reshape(()))
        numbers = [value for value in visited if self._is_number(value)]
        sizes = [v for v in visited if v.producer is not None and v.producer.is_op("Shape", "Size")]
        # The difference or quotient of two numbers that are assumed says nothing.
        return self._rows if numbers and len(numbers) + len(sizes) > 1 else max(count, 0)

    def sizes(self, value: Value | None) -> tuple[int, ...]:
        """The sizes of a value, usual ones where they are unknown."""
        shape = None if value is None else self._inference.fact(value).shape
        most = itertools.chain([self._rows], itertools.repeat(USUAL))
        return tuple(
            [self._size(dim, usual) for dim, usual in zip(shape or (), most, strict=False)]
        )

    def _size(self, dim: Dimension, usual: int) -> int:
        if dim.value is not None:
            return dim.value
        return self._lengths.get(dim, usual)

    def _estimate(self, value: Value, visited: dict[Value, Tensor | None]) -> Tensor | None:
        """The elements of a value computed from usual sizes; None if it depends on others.

        Args:
            visited: the elements of values on the way.
        """
        if value.constant is not None:
            return value.constant
        if value in self._numbers:
            return self._numbers[value]
        if value not in visited and len(visited) < _MOST_NODES:
            visited[value] = None
            visited[value] = self._compute(value, visited)
        return visited.get(value)

    def _is_number(self, value: Value) -> bool:
        """Test for one integer that only the caller knows."""
        fact = self._inference.fact(value)
        is_input = value.graph is not None and value in value.graph.inputs
        one = fact.shape is not None and all(dim == 1 for dim in fact.shape)
        return is_input and one and fact.elem_type == onnx.TensorProto.INT64

    def _compute(self, value: Value, visited: dict[Value, Tensor | None]) -> Tensor | None:
        node = value.producer
        if self._is_number(value):
            shape = [1] * len(self._inference.fact(value).dims)
            return Tensor(array=np.full(shape, self._rows, np.int64))
        if node is None or value.graph is None:
            return None
        if node.is_op("Shape"):
            part = slice(node.attribute("start", 0), node.attribute("end", None))
            return Tensor(array=np.array(self.sizes(node.input(0))[part], np.int64))
        if node.is_op("Size"):
            return Tensor(array=np.array(math.prod(self.sizes(node.input(0))), np.int64))
        if not self._folder.may_fold(node):
            return None
        inputs = [None if each is None else self._estimate(each, visited) for each in node.inputs]
        if any(e is None for e, each in zip(inputs, node.inputs, strict=True) if each is not None):
            return None
        results = self._folder.fold(node, inputs)
        return None if results is None else results[node.outputs.index(value)]


def known_iterations(node: Node, inference: ShapeInference) -> int | None:
    """The maximum trip count of a Loop, or of a Scan from opset 9 on; None if unknown."""
    if node.is_op("Loop"):
        number = inference.number(node.input(0))
        return None if number is None or number.value is None else max(number.value, 0)
    length = _scanned_length(node, inference)
    return None if length is None else length.value


def _scanned_length(node: Node, inference: ShapeInference) -> Dimension | None:
    """The number of elements that a Scan scans; None if unknown."""
    inputs = node.attribute("num_scan_inputs", 0)
    # All scan inputs have one length, and the last one is found without counting states.
    source = node.inputs[-1] if inputs else None
    shape = None if source is None else inference.fact(source).shape
    axes = node.attribute("scan_input_axes", [0] * inputs)
    if not shape or not axes or not -len(shape) <= axes[-1] < len(shape):
        return None
    return shape[axes[-1]]
