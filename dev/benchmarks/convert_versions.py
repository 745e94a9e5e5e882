"""Time of whole-model conversion against `onnx.version_converter`, by the number of nodes.

    python dev/benchmarks/convert_versions.py [--largest 20000]

The model is a chain of blocks such as exporters write: Gemm, Softmax, Unsqueeze, Squeeze, ReduceSum
and so on. Each size is converted from opset 13 to 21 and to 11.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import onnx
import onnx.version_converter
from onnx import TensorProto, helper, numpy_helper
from straightline import convert_version

BLOCK = 10


def chain(count: int, opset: int = 13) -> onnx.ModelProto:
    """A model of about `count` nodes on a [4, 8] tensor."""
    constants = {
        "w": np.eye(8, dtype=np.float32),
        "axis": np.array([1], np.int64),
        "zero": np.array([0], np.int64),
        "end": np.array([1 << 31], np.int64),
        "low": np.array(-1, np.float32),
        "high": np.array(1, np.float32),
        "shape": np.array([4, 8], np.int64),
    }
    nodes = []
    last = "x"

    def add(op_type: str, *inputs: str, **attributes: object) -> str:
        name = f"v{len(nodes)}"
        nodes.append(helper.make_node(op_type, inputs, [name], name=f"n{len(nodes)}", **attributes))
        return name

    for _ in range(max(count // BLOCK, 1)):
        last = add("Gemm", last, "w")
        last = add("Softmax", last, axis=-1)
        last = add("Unsqueeze", last, "axis")
        last = add("Squeeze", last, "axis")
        total = add("ReduceSum", last, "axis", keepdims=1)
        last = add("Slice", last, "zero", "end", "axis")
        last = add("Clip", last, "low", "high")
        last = add("Add", last, total)
        last = add("Relu", last)
        last = add("Reshape", last, "shape")
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 8])],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, [4, 8])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def seconds(
    convert: Callable[[onnx.ModelProto, int], object], count: int, target: int
) -> float | None:
    model = chain(count)
    start = time.perf_counter()
    try:
        convert(model, target)
    except (onnx.version_converter.ConvertError, RuntimeError):
        return None
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=20_000)
    options = parser.parse_args()
    bare = partial(convert_version, verify=False)
    seconds(convert_version, 10, 21)  # imports
    print("| nodes | target | unverified s | proved s | us per node | onnx.version_converter s |")
    print("|---|---|---|---|---|---|")
    for target in (21, 11):
        for count in (100, 1_000, 5_000, 10_000, 20_000):
            if count > options.largest:
                continue
            fast, ours = (seconds(each, count, target) for each in (bare, convert_version))
            theirs = seconds(onnx.version_converter.convert_version, count, target)
            if ours is None or fast is None:
                raise SystemExit(f"{count} nodes to opset {target}: refused")
            shown = "refused" if theirs is None else f"{theirs:.2f}"
            times = f"{fast:.2f} | {ours:.2f} | {1e6 * ours / count:.0f}"
            print(f"| {count} | {target} | {times} | {shown} |")


if __name__ == "__main__":
    main()
