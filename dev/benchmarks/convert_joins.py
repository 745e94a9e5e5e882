"""Time of whole-model conversion, by the number of nodes, most often of graphs that join again.

    python dev/benchmarks/convert_joins.py [--largest 3000]

Ladders, in which two paths lead from each join to the next, and blocks of real networks: residual,
inception, feature pyramid, attention. A walk that goes along every path never ends on these. The
chain holds operators that change their form.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import onnx
import onnx.version_converter
from onnx import helper, numpy_helper
from straightline import convert_version
from straightline.version_converter import ConversionError

OPSET = 17
CONSTANTS = {
    "weight": np.eye(8, dtype=np.float32),
    "bias": np.zeros(8, np.float32),
    "kernel": np.ones((4, 4, 1, 1), np.float32),
    "narrow": np.ones((1, 4, 1, 1), np.float32),
    "twice": np.array([1, 1, 2, 2], np.float32),
    "heads": np.array([4, 2, 4], np.int64),
    "flat": np.array([4, 8], np.int64),
    "scale": np.array(2, np.float32),
    "pair": np.ones(2, np.int64),
    "axis": np.array([1], np.int64),
    "zero": np.array([0], np.int64),
    "end": np.array([1 << 31], np.int64),
    "low": np.array(-1, np.float32),
    "high": np.array(1, np.float32),
}


class Writer:
    """Writes nodes one after another."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []

    def add(self, op_type: str, *inputs: str, **attributes: object) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [name], name=f"n{name}", **attributes))
        return name


Block = Callable[[Writer, str], str]


def ladder(to: Writer, x: str) -> str:
    return to.add("Mul", to.add("Relu", x), to.add("Neg", x))


def ladder_of_shapes(to: Writer, x: str) -> str:
    sizes = to.add("Concat", to.add("Shape", x), axis=0)
    return to.add("Add", to.add("Relu", x), to.add("Reshape", x, sizes))


def ladder_of_constants(to: Writer, x: str) -> str:
    """A bound of Clip that constants decide, over many joins."""
    pair = "pair"
    for _ in range(20):
        pair = to.add("Mul", to.add("Add", pair, "pair"), to.add("Sub", pair, "pair"))
    return to.add("Add", x, to.add("Pad", x, to.add("Concat", pair, pair, axis=0)))


def residual(to: Writer, x: str) -> str:
    return to.add("Add", x, to.add("Conv", to.add("Relu", to.add("Conv", x, "kernel")), "kernel"))


def inception(to: Writer, x: str) -> str:
    paths = [to.add("Relu", to.add("Conv", x, "narrow")) for _ in range(2)]
    pooled = to.add("MaxPool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    last = to.add("AveragePool", to.add("Conv", x, "narrow"), kernel_shape=[1, 1])
    return to.add("Concat", *paths, to.add("Conv", pooled, "narrow"), last, axis=1)


def pyramid(to: Writer, x: str) -> str:
    top = to.add("Relu", to.add("Conv", x, "kernel"))
    middle = to.add("MaxPool", top, kernel_shape=[2, 2], strides=[2, 2])
    low = to.add("MaxPool", middle, kernel_shape=[2, 2], strides=[2, 2])
    for higher in (middle, top):
        places = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        low = to.add("Add", higher, to.add("Resize", low, "", "twice", **places))
    return low


def attention(to: Writer, x: str) -> str:
    query, key, value = (
        to.add("Transpose", to.add("Reshape", to.add("MatMul", x, "weight"), "heads"), perm=perm)
        for perm in ([1, 0, 2], [1, 2, 0], [1, 0, 2])
    )
    score = to.add("Softmax", to.add("Div", to.add("MatMul", query, key), "scale"), axis=-1)
    read = to.add("Transpose", to.add("MatMul", score, value), perm=[1, 0, 2])
    return to.add("Add", x, to.add("Reshape", read, "flat"))


def layer(to: Writer, x: str) -> str:
    return to.add("Relu", to.add("Gemm", x, "weight", "bias", alpha=0.5))


def chain(to: Writer, x: str) -> str:
    """Operators that change between opsets 11 and 21."""
    x = to.add("Softmax", to.add("Gemm", x, "weight"), axis=-1)
    x = to.add("Squeeze", to.add("Unsqueeze", x, "axis"), "axis")
    total = to.add("ReduceSum", x, "axis", keepdims=1)
    x = to.add("Clip", to.add("Slice", x, "zero", "end", "axis"), "low", "high")
    return to.add("Reshape", to.add("Relu", to.add("Add", x, total)), "flat")


FLAT, IMAGE = [4, 8], [1, 4, 8, 8]
BLOCKS: dict[str, tuple[Block, list[int]]] = {
    "ladder": (ladder, FLAT),
    "ladder of shapes": (ladder_of_shapes, FLAT),
    "ladder of constants": (ladder_of_constants, FLAT),
    "residual": (residual, IMAGE),
    "inception": (inception, IMAGE),
    "feature pyramid": (pyramid, IMAGE),
    "attention": (attention, FLAT),
    "layers": (layer, FLAT),
    "chain": (chain, FLAT),
}


def model_of(name: str, count: int, opset: int = OPSET) -> onnx.ModelProto:
    """A model of about so many nodes."""
    block, shape = BLOCKS[name]
    writer, last = Writer(), "x"
    while len(writer.nodes) < count:
        last = block(writer, last)
    read = {source for node in writer.nodes for source in node.input}
    graph = helper.make_graph(
        writer.nodes,
        "joins",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(last, onnx.TensorProto.FLOAT, [None] * len(shape))],
        [numpy_helper.from_array(a, label) for label, a in CONSTANTS.items() if label in read],
    )
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def seconds(
    convert: Callable[[onnx.ModelProto, int], object], proto: onnx.ModelProto, to: int
) -> str:
    start = time.perf_counter()
    try:
        convert(proto, to)
    except (ConversionError, onnx.version_converter.ConvertError, RuntimeError):
        return "refused"
    return f"{time.perf_counter() - start:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=3_000)
    options = parser.parse_args()
    bare = partial(convert_version, verify=False)
    seconds(convert_version, model_of("layers", 10), 21)  # imports
    print("| blocks | nodes | target | unverified, s | proved, s | us a node | onnx, s |")
    print("|---|---|---|---|---|---|---|")
    for name in BLOCKS:
        for target in (21, 11):
            for count in (300, 3_000, 30_000):
                if count > options.largest:
                    continue
                proto = model_of(name, count)
                nodes = len(proto.graph.node)
                fast, ours = (seconds(each, proto, target) for each in (bare, convert_version))
                each = "" if ours == "refused" else f"{1e6 * float(ours) / nodes:.0f}"
                theirs = seconds(onnx.version_converter.convert_version, proto, target)
                row = [name, nodes, target, fast, ours, each, theirs]
                print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
