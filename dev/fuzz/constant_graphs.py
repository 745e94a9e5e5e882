"""Random graphs of constants with special values, folded and run by onnxruntime before and after.

PYTHONPATH=tests/support python dev/fuzz/constant_graphs.py --graphs 1000 --seed 0
"""

import argparse
import sys
import warnings
from typing import Any

import numpy as np
import onnx
import straightline as sl
from onnx import TensorProto, helper, numpy_helper
from straightline.runtimes.source import Source
from straightline.runtimes.workers import RuntimeFailure, Worker
from straightline.verification.runs.comparison import Tolerance, compare

F, N, L, B = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL
NUMBERS = (F, N, L)
FLOATS = [0.0, -0.0, 1, -1, 0.5, 2, np.nan, np.inf, -np.inf, 3e38, 1e-42, 127.5, -2.5]
INTEGERS = [0, 1, -1, 2, 3, 2**31 - 1, -(2**31), 5]
TO_FLOAT = (
    "Abs Neg Floor Ceil Round Sqrt Reciprocal Relu Exp Log Tanh Sigmoid Erf Sign Softplus Cos Sin"
    " Softmax LogSoftmax Hardmax Identity Transpose Flatten"
)
TO_OTHERS = {"IsNaN": B, "IsInf": B, "NonZero": L, "ArgMax": L, "ArgMin": L, "Shape": L, "Size": L}
OF_TWO = "Add Sub Mul Div Max Min Pow Mod Concat Equal Less Greater LessOrEqual"
OF_TWO_FLOATS = "MatMul PRelu Clip"
COMPARING = ("Equal", "Less", "Greater", "LessOrEqual")
REDUCING = "Sum Max Min Mean Prod LogSumExp L1 L2 SumSquare LogSum"


class Graph:
    """A graph in the making.

    Args:
        seed: of its choices.
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.values: list[tuple[str, int]] = []
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        for _ in range(3):
            sizes = tuple(int(n) for n in self.rng.integers(self.rng.random() > 0.1, 4, size=2))
            self.hold(self.rng.choice(FLOATS, size=sizes).astype(np.float32), F)
        self.hold(self.rng.choice(INTEGERS, size=(2, 3)).astype(np.int32), N)
        self.hold(self.rng.choice([0, 1, -1, 2, 2**63 - 1, -(2**63)], size=3), L)
        self.hold(np.array([[True, False, True]]), B)
        for _ in range(int(self.rng.integers(2, 8))):
            self.grow()

    def hold(self, array: Any, elem_type: int) -> None:
        self.constants.append(numpy_helper.from_array(array, f"c{len(self.constants)}"))
        self.values.append((self.constants[-1].name, elem_type))

    def one_of(self, options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def pick(self, *types: int) -> tuple[str, int]:
        return self.one_of([value for value in self.values if value[1] in types])

    def add(self, op_type: str, operands: list[str], elem_type: int, **attributes: Any) -> None:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, operands, [name], **attributes))
        self.values.append((name, elem_type))

    def grow(self) -> None:
        """Add a node."""
        kind = self.one_of(("one", "one", "two", "two", "floats", "reduce", "cast", "where"))
        if kind == "one":
            name = self.one_of([*TO_FLOAT.split(), *TO_OTHERS])
            self.add(name, [self.pick(F)[0]], TO_OTHERS.get(name, F))
        elif kind == "two":
            name, (one, elem_type) = self.one_of(OF_TWO.split()), self.pick(*NUMBERS)
            options = {"Concat": {"axis": 0}, "Mod": {"fmod": int(elem_type == F)}}.get(name, {})
            result = B if name in COMPARING else elem_type
            self.add(name, [one, self.pick(elem_type)[0]], result, **options)
        elif kind == "floats":
            self.add(self.one_of(OF_TWO_FLOATS.split()), [self.pick(F)[0], self.pick(F)[0]], F)
        elif kind == "reduce":
            name = self.one_of(REDUCING.split())
            value, elem_type = self.pick(*(NUMBERS if name in ("Sum", "Max", "Prod") else (F,)))
            self.add(f"Reduce{name}", [value], elem_type, keepdims=self.one_of((0, 1)))
        elif kind == "cast":
            to = self.one_of((*NUMBERS, B))
            self.add("Cast", [self.pick(*NUMBERS, B)[0]], to, to=to)
        else:
            self.add("Where", [self.pick(B)[0], self.pick(F)[0], self.pick(F)[0]], F)

    def model(self) -> onnx.ModelProto:
        """The model, which gives out its last value."""
        name, elem_type = self.values[-1]
        outputs = [helper.make_tensor_value_info(name, elem_type, None)]
        graph = helper.make_graph(self.nodes, "g", [], outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def main() -> int:
    """Draw graphs, fold and run them, and print those whose results differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    worker, ran, wrong = Worker("onnxruntime", 20), 0, 0
    for seed in range(options.seed, options.seed + options.graphs):
        model = Graph(seed).model()
        try:
            (before,) = worker.run(Source(model), {})
        except RuntimeFailure:
            continue  # shapes that do not fit, or a division that ends the process
        ran += 1
        try:
            (after,) = worker.run(Source(sl.rewrite(model, "fold-constants", verify=False)), {})
            found = compare(before, after, Tolerance(factor=8))
            text = f"{found.kind} {found.first}" if found.kind else ""
        except (RuntimeFailure, sl.Error) as error:
            text = str(error)
        if text:
            wrong += 1
            print(f"seed {seed}: {text}\n{onnx.printer.to_text(model)}")
        if ran % 500 == 0:
            worker.close()  # it holds all models that it has run
    worker.close()
    print(f"{ran} of {options.graphs} graphs ran, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    sys.exit(main())
