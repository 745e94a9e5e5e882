"""The default pipeline on flat models, where it finds nothing to do: what looking costs.

Run: python dev/benchmarks/flat_pipeline.py
"""

from typing import Any

import numpy as np
import onnx
import straightline as sl
from onnx import TensorProto, helper, numpy_helper
from straightline.dev.benchmarks.timing import timed

SIZES = (2_000, 20_000)
ACTIVATIONS = ("Relu", "Sigmoid", "Tanh")


def flat_model(size: int) -> onnx.ModelProto:
    """A chain of Add and activation nodes, with a bias for each Add."""
    nodes, biases = [], []
    value = "x"
    for number in range(size // 2):
        bias = numpy_helper.from_array(np.full(4, 0.01, np.float32), f"b{number}")
        biases.append(bias)
        nodes.append(helper.make_node("Add", [value, bias.name], [f"a{number}"]))
        value = "y" if number == size // 2 - 1 else f"r{number}"
        kind = ACTIVATIONS[number % len(ACTIVATIONS)]
        nodes.append(helper.make_node(kind, [f"a{number}"], [value]))
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["N", 4]) for n in "xy"]
    graph = helper.make_graph(nodes, "flat", info[:1], info[1:], biases)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def seconds(model: onnx.ModelProto, **options: Any) -> float:
    """The least processor time of five rewrites."""
    spent, result = timed(lambda: sl.rewrite(model, **options), runs=5)
    assert len(result.graph.node) == len(model.graph.node)
    return spent


def main() -> None:
    print("   nodes   us a node (processor time, best of 5): unverified   proved")
    for size in SIZES:
        model = flat_model(size)
        each = [seconds(model, **options) / size * 1e6 for options in ({"verify": False}, {})]
        print(f"{size:8,}{each[0]:48.1f}{each[1]:9.1f}")


if __name__ == "__main__":
    main()
