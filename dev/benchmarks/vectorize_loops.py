"""Time of vectorize-loops for each node of a body, by the number of nodes.

    python dev/benchmarks/vectorize_loops.py [--size 1000] [--only NAME] [--passes straighten]

Bodies are chains of elementwise nodes, of products, or of a mixture such as exporters write, in a
Loop or a Scan, with one output or many, with or without a recurrence beside. What is measured and
aimed at: `node_times.py`.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from straightline.dev.benchmarks.node_times import main

ROUNDS = 3


@dataclasses.dataclass(frozen=True)
class Shape:
    """What a model is like.

    Attributes:
        body: which nodes there are.
        kind: Loop or Scan.
        outputs: how many scan outputs.
        recurrent: whether it carries a state that every iteration makes of that of the one before.
    """

    body: str
    kind: str
    outputs: int
    recurrent: bool

    @property
    def name(self) -> str:
        """How the report calls it."""
        state = ", recurrent" if self.recurrent else ""
        return f"{self.body}, {self.kind}, {self.outputs} outputs{state}"


BLOCKS = {
    "elementwise": ("Neg", "Tanh", "Add", "Mul"),
    "products": ("MatMul",),
    "mixed": (
        *("MatMul", "Add", "Softmax", "Reshape", "Transpose"),
        *("Reshape", "ReduceSum", "Concat", "Slice", "Relu"),
    ),
}
CONSTANTS = {
    "w": np.eye(4, dtype=np.float32),
    "bias": np.zeros(4, np.float32),
    "square": np.array([2, 2], np.int64),
    "flat": np.array([4], np.int64),
    "first": np.array([0], np.int64),
    "end": np.array([4], np.int64),
}


def chain(body: str, count: int) -> tuple[list[onnx.NodeProto], list[str]]:
    """Nodes that each read the one before, beginning with `e`, and those of their results that are
    vectors of 4."""
    nodes: list[onnx.NodeProto] = []
    vectors = ["e"]
    for op_type in itertools.islice(itertools.cycle(BLOCKS[body]), count):
        last, name = (nodes[-1].output[0] if nodes else "e"), f"v{len(nodes)}"
        more: dict[str, list[str]] = {
            "Add": ["bias"],
            "Mul": [vectors[-2] if len(vectors) > 1 else "bias"],
            "MatMul": ["w"],
            "Reshape": ["square" if nodes and nodes[-1].op_type == "Softmax" else "flat"],
            "ReduceSum": ["first"],
            "Concat": ["bias"],
            "Slice": ["first", "end"],
        }
        inputs, given = [last, *more.get(op_type, [])], {}
        if op_type == "Concat":
            given = {"axis": 0}
        nodes.append(helper.make_node(op_type, inputs, [name], **given))
        if body != "mixed" or op_type in ("MatMul", "Add", "Softmax", "Slice", "Relu"):
            vectors.append(name)
    return nodes, vectors


def model(shape: Shape, count: int) -> onnx.ModelProto:
    """A model with a Loop or Scan whose body has about so many nodes."""
    nodes, vectors = chain(shape.body, count)
    chosen = vectors[:: max(len(vectors) // shape.outputs, 1)][: shape.outputs]
    chosen[-1] = vectors[-1]
    row = [
        helper.make_tensor_value_info(f"r{k}", TensorProto.FLOAT, [4]) for k in range(len(chosen))
    ]
    last = [helper.make_node("Identity", [name], [f"r{k}"]) for k, name in enumerate(chosen)]
    state = [helper.make_tensor_value_info("s", TensorProto.FLOAT, [4])] * shape.recurrent
    following = [helper.make_tensor_value_info("t", TensorProto.FLOAT, [4])] * shape.recurrent
    if shape.recurrent:
        last += [helper.make_node("Add", ["s", vectors[-1]], ["u"])]
        last += [helper.make_node("Tanh", ["u"], ["t"])]
    body = [*nodes, *last]
    if shape.kind == "Loop":
        node = _loop(body, state, following, row)
    else:
        element = helper.make_tensor_value_info("e", TensorProto.FLOAT, [4])
        graph = helper.make_graph(body, "b", [*state, element], [*following, *row])
        finals, inputs = ["last"] * shape.recurrent, [*["bias"] * shape.recurrent, "x"]
        results = [*finals, *(f"y{k}" for k in range(len(row)))]
        node = helper.make_node("Scan", inputs, results, num_scan_inputs=1, body=graph)
    outputs = [
        helper.make_tensor_value_info(f"y{k}", TensorProto.FLOAT, [None, 4])
        for k in range(len(row))
    ]
    given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])]
    given.append(helper.make_tensor_value_info("n", TensorProto.INT64, []))
    if shape.recurrent:
        outputs.append(helper.make_tensor_value_info("last", TensorProto.FLOAT, [4]))
    constants = [numpy_helper.from_array(array, name) for name, array in CONSTANTS.items()]
    graph = helper.make_graph([node], "g", given, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _loop(
    body: list[onnx.NodeProto],
    state: list[onnx.ValueInfoProto],
    following: list[onnx.ValueInfoProto],
    row: list[onnx.ValueInfoProto],
) -> onnx.NodeProto:
    read = helper.make_node("Gather", ["x", "i"], ["e"])
    goes_on = helper.make_node("Identity", ["c"], ["c2"])
    inputs = [helper.make_tensor_value_info("i", TensorProto.INT64, [])]
    inputs.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
    again = helper.make_tensor_value_info("c2", TensorProto.BOOL, [])
    nodes = [goes_on, read, *body]
    graph = helper.make_graph(nodes, "b", [*inputs, *state], [again, *following, *row])
    results = [*["last"] * len(state), *(f"y{k}" for k in range(len(row)))]
    return helper.make_node("Loop", ["n", "", *["bias"] * len(state)], results, body=graph)


def shapes() -> Iterator[Shape]:
    """All that are measured."""
    for body, kind, outputs, recurrent in itertools.product(
        BLOCKS, ("Loop", "Scan"), (1, 400), (False, True)
    ):
        yield Shape(body, kind, outputs, recurrent)


def measured(shape: Shape, count: int) -> tuple[onnx.ModelProto, int]:
    """A model of about so many nodes, and how many its body has."""
    made = model(shape, count)
    return made, len(next(a.g for a in made.graph.node[0].attribute if a.name == "body").node)


if __name__ == "__main__":
    size = "size", 1000, "nodes of the smaller body"
    main(__doc__.splitlines()[0], shapes(), measured, size, "vectorize-loops", ROUNDS)
