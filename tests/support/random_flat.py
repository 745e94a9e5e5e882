"""Flat models drawn around the rules of simplifiers: neutral elements, moves, chains, constants.

Axes may have no element, or one; parts of them are cut, beyond their ends too, and reduced.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from spelled import SPECIAL
from straightline.reference.overrides.slicing import taken

NUMBERS = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5)
UNARY = ("Neg", "Abs", "Relu", "Exp", "Tanh", "Sqrt", "Reciprocal", "Floor", "Sigmoid", "Identity")
REDUCTIONS = ("Sum", "Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSumExp")
SIZES = (0, 1, 1, 2, 2, 3, 3)
FAR = 2**63 - 1


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


def arithmetic(flat: Flat, value: str, shape: list[int]) -> None:
    """An operator with a constant, or with another value."""
    dice, number = flat.dice, flat.dice.choice(NUMBERS)
    own = dice.choice(([], [1], shape[-1:], shape, [1] * (len(shape) + 1)))
    array = np.full(own, number, np.float32)
    if dice.random() < 0.3 and array.size:
        array.reshape(-1)[0] = dice.choice(NUMBERS)
    other = flat.another(shape) if dice.random() < 0.25 else flat.constant(array)
    result = shape if other[0] != "c" else [*np.broadcast_shapes(tuple(shape), tuple(own))]
    operands = [value, other] if dice.random() < 0.6 else [other, value]
    flat.emit(dice.choice(("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min")), operands, result)


def unary(flat: Flat, value: str, shape: list[int]) -> None:
    """An elementwise operator."""
    flat.emit(flat.dice.choice(UNARY), [value], shape)


def transposed(flat: Flat, value: str, shape: list[int]) -> None:
    """A Transpose, now and then around an elementwise operator."""
    perm = flat.dice.sample(range(len(shape)), len(shape))
    if not perm:
        return
    turned = flat.emit("Transpose", [value], [shape[axis] for axis in perm], perm=perm)
    if flat.dice.random() < 0.5:
        inner = flat.emit("Neg", [turned], flat.values[-1][1])
        back = [perm.index(axis) for axis in range(len(perm))]
        flat.emit("Transpose", [inner], shape, perm=back)


def squeezed(flat: Flat, value: str, shape: list[int]) -> None:
    """An axis that is inserted, and one that is removed."""
    axis = flat.dice.randint(0, len(shape))
    longer = [*shape[:axis], 1, *shape[axis:]]
    name = flat.listed("Unsqueeze", value, axis, longer)
    axis = flat.dice.choice([i for i, size in enumerate(longer) if size == 1])
    flat.listed("Squeeze", name, axis, [*longer[:axis], *longer[axis + 1 :]])


def gathered(flat: Flat, value: str, shape: list[int]) -> None:
    """One index along an axis, which comes back."""
    if 0 not in shape and shape:
        axis = flat.dice.randrange(len(shape))
        index = flat.constant(np.array(flat.dice.randrange(shape[axis])))
        rest = [*shape[:axis], *shape[axis + 1 :]]
        name = flat.emit("Gather", [value, index], rest, axis=axis)
        flat.listed("Unsqueeze", name, axis, [*rest[:axis], 1, *rest[axis:]])


def joined(flat: Flat, value: str, shape: list[int]) -> None:
    """A Concat of one to three operands."""
    if shape:
        axis, count = flat.dice.randrange(len(shape)), flat.dice.randint(1, 3)
        result = [size * count if i == axis else size for i, size in enumerate(shape)]
        flat.emit("Concat", [value] * count, result, axis=axis)


def reshaped(flat: Flat, value: str, shape: list[int]) -> None:
    """A Reshape or an Expand by constants."""
    sizes = flat.dice.choice((shape, [0] * len(shape), [-1]))
    if flat.dice.random() < 0.5:
        target = [int(np.prod(shape))] if sizes == [-1] else shape
        flat.emit("Reshape", [value, flat.constant(np.array(sizes, np.int64))], target)
    else:
        flat.emit("Expand", [value, flat.constant(np.ones(len(shape), np.int64))], shape)


def chosen(flat: Flat, value: str, shape: list[int]) -> None:
    """A choice by a comparison, perhaps negated."""
    other = flat.another(shape)
    flat.emit("Less", [value, other], shape)
    condition = flat.values.pop()[0]
    for _ in range(flat.dice.randint(0, 2)):
        flat.emit("Not", [condition], shape)
        condition = flat.values.pop()[0]
    flat.emit("Where", [condition, value, other], shape)


def multiplied(flat: Flat, value: str, shape: list[int]) -> None:
    """A product with constant weights, a bias and a factor."""
    if len(shape) >= 2:
        weights = np.array([flat.dice.choice(NUMBERS) for _ in range(shape[-1] * 2)], np.float32)
        result = [*shape[:-1], 2]
        matrix = flat.constant(weights.reshape(shape[-1], 2))
        name = flat.emit("MatMul", [value, matrix], result)
        for op_type in flat.dice.sample(("Add", "Mul"), flat.dice.randint(0, 2)):
            numbers = [flat.dice.choice(NUMBERS) for _ in range(2)]
            name = flat.emit(op_type, [name, flat.constant(np.array(numbers, np.float32))], result)


def cut(flat: Flat, value: str, shape: list[int]) -> None:
    """A part of an axis, whose start and end may lie beyond it."""
    if shape:
        axis = flat.dice.randrange(len(shape))
        step = flat.dice.choice((1, 1, 1, 2, -1)) if flat.opset >= 10 else 1
        begin = flat.dice.choice((-FAR, -2, -1, 0, 1, 2, FAR))
        # onnxruntime departs where a slice goes backward from the last number.
        end = flat.dice.choice((-FAR, -2, -1, 0, 1, 2, FAR if step > 0 else 3))
        lists = {"starts": [begin], "ends": [end], "axes": [axis]}
        size = len(taken(shape[axis], begin, end, step))
        lists |= {"steps": [step]} if step != 1 else {}
        flat.with_lists("Slice", value, lists, [*shape[:axis], size, *shape[axis + 1 :]], 10)


def reduced(flat: Flat, value: str, shape: list[int]) -> None:
    """A reduction of an axis, which may have no element."""
    if shape:
        axis, kept = flat.dice.randrange(len(shape)), flat.dice.randrange(2)
        kind = flat.dice.choice(REDUCTIONS)
        result = [*shape[:axis], *[1] * kept, *shape[axis + 1 :]]
        since = 13 if kind == "Sum" else 18
        flat.listed(f"Reduce{kind}", value, axis, result, since, keepdims=kept)


def windowed(flat: Flat, value: str, shape: list[int]) -> None:
    """The reduction of a part."""
    cut(flat, value, shape)
    reduced(flat, *flat.values[-1])


def padded(flat: Flat, value: str, shape: list[int]) -> None:
    """More elements at the ends of axes, or fewer."""
    if shape:
        axis, rank = flat.dice.randrange(len(shape)), len(shape)
        pads = [0] * (2 * rank)
        pads[axis], pads[axis + rank] = flat.dice.choice((0, 1, 2)), flat.dice.choice((0, 1, -1))
        result = [n + pads[i] + pads[i + rank] for i, n in enumerate(shape)]
        if min(result) >= 0:
            flat.with_lists("Pad", value, {"pads": pads}, result, 11)


def parted(flat: Flat, value: str, shape: list[int]) -> None:
    """Two parts of an axis, which are joined again in some order."""
    if shape:
        axis = flat.dice.randrange(len(shape))
        first = flat.dice.randint(0, shape[axis])
        sizes = [first, shape[axis] - first]
        shapes = [[*shape[:axis], size, *shape[axis + 1 :]] for size in sizes]
        flat.with_lists("Split", value, {"split": sizes}, shapes[0], 13, axis=axis)
        parts = [flat.values[-1][0], f"{flat.values[-1][0]}b"]
        flat.nodes[-1].output.append(parts[1])
        flat.values.append((parts[1], shapes[1]))
        flat.emit("Concat", flat.dice.sample(parts, 2), shape, axis=axis)


def shaped(flat: Flat, value: str, shape: list[int]) -> None:
    """An Expand or a Reshape by the sizes of another value."""
    other, sizes = flat.dice.choice(flat.values)
    flat.emit("Shape", [other], sizes)
    numbers = flat.values.pop()[0]
    if sizes == shape and flat.dice.random() < 0.5:
        flat.emit("Reshape", [value, numbers], shape)
    elif flat.dice.random() < 0.3:
        flat.emit("ConstantOfShape", [numbers], sizes)
    elif _broadcast(shape, sizes) is not None:
        flat.emit("Expand", [value, numbers], [*(_broadcast(shape, sizes) or ())])


def _broadcast(one: list[int], other: list[int]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(tuple(one), tuple(other))
    except ValueError:
        return None


Step = Callable[[Flat, str, list[int]], None]
STEPS: tuple[Step, ...] = (
    *(arithmetic, arithmetic, arithmetic, unary, unary, transposed, squeezed, gathered),
    *(joined, reshaped, chosen, multiplied, cut, cut, windowed, reduced, padded, parted, shaped),
)
