"""Flat models drawn around the rules of simplifiers: neutral elements, moves, chains, constants.

    python tests/support/random_flat.py --models 1000 --seed 0

Each model is simplified in each class of exactness, proved, and run on ordinary and special
numbers.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import straightline as sl
from onnx import helper, numpy_helper
from sessions import outputs
from spelled import SPECIAL
from straightline import reference
from straightline.facts.notions import NOTIONS

NUMBERS = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5)
UNARY = ("Neg", "Abs", "Relu", "Exp", "Tanh", "Sqrt", "Reciprocal", "Floor", "Sigmoid", "Identity")


class Flat:
    """A flat model that grows by one chain of operators at a time."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.opset = self.dice.choice((9, 11, 13, 17, 21))
        self.shape = [self.dice.choice((1, 2, 3)) for _ in range(self.dice.randint(1, 3))]
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.values: list[tuple[str, list[int]]] = [("x", self.shape)]
        self.overridable: set[str] = set()
        for _ in range(self.dice.randint(2, 10)):
            self.dice.choice(STEPS)(self, *self.dice.choice(self.values[-4:]))

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

    def listed(self, op_type: str, value: str, axis: int, shape: list[int]) -> str:
        """Squeeze or Unsqueeze in the form of the opset."""
        if self.opset < 13:
            return self.emit(op_type, [value], shape, axes=[axis])
        return self.emit(op_type, [value, self.constant(np.array([axis]))], shape)

    def model(self) -> onnx.ModelProto:
        """The model; a size in two is a symbol."""
        sizes = [f"n{i}" if self.dice.random() < 0.5 else n for i, n in enumerate(self.shape)]
        infos = [helper.make_tensor_value_info("x", 1, sizes)]
        for tensor in self.constants:
            if tensor.name in self.overridable:
                infos.append(helper.make_tensor_value_info(tensor.name, 1, tensor.dims))
        names = dict.fromkeys((self.values[-1][0], self.dice.choice(self.values)[0]))
        results = [helper.make_empty_tensor_value_info(n) for n in names if n != "x"]
        graph = helper.make_graph(self.nodes, "g", infos, results, self.constants)
        imports = [helper.make_opsetid("", self.opset)]
        proto = helper.make_model(graph, opset_imports=imports, ir_version=8)
        return onnx.shape_inference.infer_shapes(proto, strict_mode=True)

    def feeds(self, proto: onnx.ModelProto, special: bool) -> dict[str, Any]:
        """Numbers for every input; those that may be overridden are, now and then."""
        rng = np.random.default_rng(len(self.nodes))
        feeds = {"x": rng.standard_normal(self.shape).astype(np.float32)}
        if special:
            feeds["x"] = rng.choice(np.array(SPECIAL, np.float32), self.shape)
        for info in proto.graph.input[1:] if special else ():
            shape = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
            feeds[info.name] = np.full(shape, 7, np.float32)
        return feeds


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
    if shape:
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


Step = Callable[[Flat, str, list[int]], None]
STEPS: tuple[Step, ...] = (
    *(arithmetic, arithmetic, arithmetic, unary, unary, transposed, squeezed, gathered),
    *(joined, reshaped, chosen, multiplied),
)


def check(seed: int) -> list[str]:
    """Simplify a model in each class; return the statuses of the proofs.

    Raises:
        AssertionError: outputs differ, or a second run changes the model.
    """
    flat = Flat(seed)
    before, statuses = flat.model(), []
    for exactness in NOTIONS if before.graph.output else ():
        after = sl.rewrite(before, "simplify", exactness=exactness, verify=False)
        again = sl.rewrite(after, "simplify", exactness=exactness, verify=False)
        assert len(again.graph.node) == len(after.graph.node), (seed, exactness)
        statuses.append(sl.prove(before, after, equality=exactness, search=False).status)
        for special in (False, True) if exactness != "reals" else (False,):
            feeds = flat.feeds(before, special)
            # Where of onnxruntime 1.32 turns -0.0 into 0.0.
            is_exact = not (special and any(node.op_type == "Where" for node in before.graph.node))
            for run in (reference.run, *([_by_onnxruntime] if is_exact else [])):
                pairs = zip(run(before, feeds), run(after, feeds), strict=True)
                assert all(_alike(*pair, exactness) for pair in pairs), (seed, exactness, feeds)
    return statuses


def _by_onnxruntime(model: onnx.ModelProto, feeds: dict[str, Any]) -> list[Any]:
    return outputs(model, feeds, optimized=False)


def _alike(one: Any, other: Any, exactness: str) -> bool:
    """Compare two outputs, but for signs of zeros."""
    if exactness == "reals":
        return one.shape == other.shape and np.allclose(one, other, 1e-4, 1e-5, equal_nan=True)
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True)


def main() -> None:
    """Check many models; count the statuses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found: dict[str, int] = {}
    for seed in range(options.seed, options.seed + options.models):
        for status in check(seed):
            found[status] = found.get(status, 0) + 1
    print(found)


if __name__ == "__main__":
    main()
