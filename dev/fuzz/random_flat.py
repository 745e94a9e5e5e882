"""Flat models drawn around the rules of simplifiers: neutral elements, moves, chains, constants.

Axes may have no element, or one; parts of them are cut, beyond their ends too, and reduced.
"""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from flat_families import FAMILIES
from flat_moves import MOVES
from onnx import helper, numpy_helper
from spelled import SPECIAL

STEPS = (*MOVES, *MOVES, *FAMILIES)
SIZES = (0, 1, 1, 2, 2, 3, 3)


class Flat:
    """A flat model that grows by one chain of operators at a time."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.opset = self.dice.choice((9, 11, 13, 17, 21))
        self.shape = [self.dice.choice(SIZES) for _ in range(self.dice.randint(1, 3))]
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.values: list[tuple[str, list[int]]] = [("x", self.shape)]
        self.overridable: set[str] = set()
        steps = self.dice.randint(2, 10)
        while steps > 0 or not self.nodes:
            self.dice.choice(STEPS)(self, *self.dice.choice(self.values[-4:]))
            steps -= 1
        self.model = self._model()

    def constant(self, array: Any) -> str:
        """A constant; now and then one that callers may override."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        if self.dice.random() < 0.05 and np.asarray(array).dtype == np.float32:
            self.overridable.add(name)
        return name

    def emit(self, op_type: str, inputs: list[str], shape: list[int], **attributes: Any) -> str:
        """A node; its output may be read by others."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [name], **attributes))
        self.values.append((name, shape))
        return name

    def hidden(self, op_type: str, inputs: list[str], **attributes: Any) -> str:
        """A node of another type, which only the next nodes read."""
        self.emit(op_type, inputs, [], **attributes)
        return self.values.pop()[0]

    def another(self, shape: list[int]) -> str:
        """A value of a shape."""
        return self.dice.choice([name for name, own in self.values if own == shape])

    def listed(
        self, op_type: str, value: str, axis: int, shape: list[int], since: int = 13, **more: Any
    ) -> str:
        """A node with one axis, which is an input from an opset on."""
        return self.with_lists(op_type, value, {"axes": [axis]}, shape, since, **more)

    def with_lists(
        self,
        op_type: str,
        value: str,
        lists: dict[str, list[int]],
        shape: list[int],
        since: int,
        **more: Any,
    ) -> str:
        """A node with lists of integers: inputs from an opset on, and attributes below."""
        if self.opset < since:
            return self.emit(op_type, [value], shape, **lists, **more)
        held = [self.constant(np.array(numbers, np.int64)) for numbers in lists.values()]
        return self.emit(op_type, [value, *held], shape, **more)

    def _model(self) -> onnx.ModelProto:
        """The model; a size in two is a symbol."""
        sizes = [f"n{i}" if self.dice.random() < 0.5 else n for i, n in enumerate(self.shape)]
        infos = [helper.make_tensor_value_info("x", 1, sizes)]
        for tensor in self.constants:
            if tensor.name in self.overridable:
                infos.append(helper.make_tensor_value_info(tensor.name, 1, tensor.dims))
        names = dict.fromkeys((self.values[-1][0], self.dice.choice(self.values)[0]))
        ranks = {name: len(shape) for name, shape in self.values}
        results = [
            helper.make_tensor_value_info(name, 1, [None] * ranks[name])
            for name in names
            if name != "x"
        ]
        graph = helper.make_graph(self.nodes, "g", infos, results, self.constants)
        imports = [helper.make_opsetid("", self.opset)]
        proto = helper.make_model(graph, opset_imports=imports, ir_version=8)
        return onnx.shape_inference.infer_shapes(proto, strict_mode=True)

    def feeds(self) -> Iterator[dict[str, Any]]:
        """Yield numbers, ordinary and special ones, then arrays of other sizes, if any may be."""
        rng = np.random.default_rng(len(self.nodes))
        (x, *overridable), drawn = self.model.graph.input, rng.standard_normal(self.shape)
        others = {t.name: np.full(t.dims, 7, np.float32) for t in self.constants}
        others = {info.name: others[info.name] for info in overridable}
        yield {"x": drawn.astype(np.float32)}
        yield {"x": rng.choice(np.array(SPECIAL, np.float32), self.shape), **others}
        symbols = [dim.dim_param for dim in x.type.tensor_type.shape.dim]
        for size in (0, 1, 4) if any(symbols) else ():
            shape = [size if s else n for s, n in zip(symbols, self.shape, strict=True)]
            yield {"x": rng.choice(np.array([*SPECIAL, 1, -2], np.float32), shape), **others}
