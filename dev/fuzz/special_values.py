"""Each operator as folding and proofs compute it against onnxruntime, on special values.

    PYTHONPATH=tests/support python dev/fuzz/special_values.py --count 50 --seed 0

Where the two disagree, folding has to leave the node alone (`OperatorRules.is_settled`).
"""

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import onnx
from onnx import helper
from operator_cases import Case, cases
from straightline import ir
from straightline.analysis.guarded_evaluation import run_kernel
from straightline.analysis.shapes.onnx_inference_cache import connected_message
from straightline.ir import Operator, Tensor
from straightline.ops import rules_of
from straightline.ops.agreement import is_float
from straightline.ops.rules import Moving
from straightline.reference.errors import EvaluationError
from straightline.reference.interpreter.node_kernels import operator_kernel
from straightline.runtimes.source import Source
from straightline.runtimes.workers import RuntimeFailure, Worker
from straightline.verification.runs.comparison import EXACT, Tolerance, compare

MOST = 1 << 20


def model_of(case: Case) -> onnx.ModelProto:
    """The case as a model whose operands are inputs."""
    inputs = [
        helper.make_tensor_value_info(f"i{n}", Tensor(array=a).elem_type, a.shape)
        for n, a in enumerate(case.operands)
        if a is not None
    ]
    outputs = [onnx.ValueInfoProto(name=name) for name in case.node.output]
    graph = helper.make_graph([case.node], "g", inputs, outputs)
    imports = [helper.make_opsetid("", case.opset)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    model = onnx.shape_inference.infer_shapes(model)
    for info in model.graph.output:
        info.type.tensor_type.ClearField("shape")  # what runs decides
    return model


def folded(case: Case) -> list[Any] | None:
    """The results as folding and proofs compute them; None where they do not."""
    model = ir.load(model_of(case))
    (node,) = model.graph.nodes()
    imports, message = {"": case.opset}, connected_message(node.op, node)
    try:
        kernel = operator_kernel(message, imports)
    except EvaluationError:
        return None
    return run_kernel(node, list(case.operands), MOST, kernel, lambda: (message, imports))


def difference(ours: Any, theirs: Any, case: Case) -> str:
    """How two results differ by more than rounding; empty where they do not. -0 is not 0."""
    rules = rules_of(Operator(case.node.op_type))
    exact = rules.exact
    tolerance = EXACT if exact else Tolerance(slack=_slack(case.operands))
    found = compare(theirs, ours, tolerance)
    if found.kind:
        return f"{found.kind} {found.first}"
    if exact and ours.dtype.kind == "f":
        zeros = (ours == 0) & (theirs == 0) & (np.signbit(ours) != np.signbit(theirs))
        if zeros.any():
            return "a zero has another sign"
    # Of float16 onnxruntime moves some as float32, which makes a signalling NaN a quiet one.
    if (
        isinstance(rules, Moving)
        and ours.dtype.kind in "fiu"
        and ours.dtype != np.float16
        and ours.tobytes() != theirs.tobytes()
    ):
        return "a NaN has other bits"
    return ""


def _slack(operands: Iterable[Any]) -> float:
    """How far sums of floats may be off that cancel to nearly nothing."""
    floats = [a for a in operands if a is not None and is_float(a) and a.size]
    largest = max([1.0, *(float(np.abs(np.nan_to_num(a.astype(float))).max()) for a in floats)])
    narrow = any(a.dtype.itemsize < 4 for a in floats)
    return 32 * largest * (2.0**-8 if narrow else 2.0**-23)


def disagreements(drawn: Iterable[Case], seen: Counter[str]) -> Iterator[tuple[Case, str]]:
    """The cases that are computed otherwise than onnxruntime has it, and how.

    Args:
        drawn: the cases.
        seen: counts them as "drawn", and those that were "computed" and "compared", by operator.
    """
    worker = Worker("onnxruntime", 20)
    try:
        for case in drawn:
            name = case.node.op_type
            seen[f"{name} drawn"] += 1
            ours = folded(case)
            if ours is None:
                continue
            seen[f"{name} computed"] += 1
            source = Source(model_of(case))
            feeds = {f"i{n}": a for n, a in enumerate(case.operands) if a is not None}
            try:
                theirs = worker.run(source, feeds)
                worker.forget(source)
            except RuntimeFailure as failure:
                if failure.reason == "crashed":
                    yield case, str(failure)
                continue  # it lacks a kernel for this type, or refuses what the specification has
            seen[f"{name} compared"] += 1
            if name == "Gather" and ours[0].dtype.hasobject:
                continue  # onnxruntime 1.32 takes the first text of each part, and loses the others
            for one, other in zip(ours, theirs, strict=False):
                text = difference(one, other, case)
                if text:
                    yield case, text
                    break
    finally:
        worker.close()


def main() -> int:
    """Draw, compare, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20, help="of each version and kind of values")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="operators, with commas between them")
    options = parser.parse_args()
    seen: Counter[str] = Counter()
    only = set(filter(None, options.only.split(",")))
    found = 0
    for case, text in disagreements(cases(options.count, options.seed, only), seen):
        found += 1
        print(f"{case}\n    onnxruntime to folded: {text}")
    for kind in ("drawn", "computed", "compared"):
        print(kind, sum(count for name, count in seen.items() if name.endswith(kind)))
    print(f"{found} differ")
    return 1 if found else 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    sys.exit(main())
