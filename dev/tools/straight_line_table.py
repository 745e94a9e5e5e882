"""Write docs/data/straight-line.csv: onnx's backend tests with control flow, rewritten.

    python dev/tools/straight_line_table.py

Each model is rewritten by the default pipeline, checked, and run on the test's own inputs.
"""

import warnings
from typing import Any

import numpy as np
import onnx
import onnx.checker
from straightline import ir, reference
from straightline.dev.tools import data_files
from straightline.driver.inspect import control_flow
from straightline.facts.reason import Reason
from straightline.passes import straighten

CONSTRUCTS = ("Loop", "Scan", "If", "SequenceMap")

HEAD = ("test", "nodes before", "after", "left", "outputs", "why it is kept")


def main() -> None:
    """Rewrite every model and write the table."""
    rows = [row(case) for case in cases()]
    data_files.write("straight-line", HEAD, rows)
    straight = sum(left == "none" for _, _, _, left, _, _ in rows)
    print(f"{straight} of {len(rows)} models have no control flow after the rewrite")


def cases() -> list[Any]:
    """The tests whose model holds control flow."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import onnx.backend.test.loader

        found = onnx.backend.test.loader.load_model_tests(kind="node")
    return [case for case in found if constructs(case.model)]


def constructs(model: onnx.ModelProto) -> list[str]:
    """The operators of control flow in a model."""
    return [n.op_type for n in control_flow(ir.load(model)) if n.op_type in CONSTRUCTS]


def row(case: Any) -> tuple[str, int, int, str, str, str]:
    """One line of the table."""
    result = straighten().run(case.model)
    onnx.checker.check_model(result.model, full_check=True)
    left = ", ".join(sorted(set(constructs(result.model)))) or "none"
    kept = [remark for remark in result.kept if remark.op_type in CONSTRUCTS]
    why = Reason.rank(remark.reason for remark in kept).brief if kept else ""
    before, after = count(case.model), count(result.model)
    right = all(equal(case.model, result.model, data) for data in case.data_sets)
    outputs = "equal" if right else "WRONG"
    return case.name, before, after, left, outputs, why


def count(model: onnx.ModelProto) -> int:
    """The number of nodes in all graphs."""
    return sum(len(graph) for graph in ir.load(model).graphs())


def equal(before: onnx.ModelProto, after: onnx.ModelProto, data: Any) -> bool:
    """Whether the rewrite gives what the test expects."""
    inputs, expected = data
    feeds = dict(zip([value.name for value in before.graph.input], inputs, strict=True))
    results = reference.run(after, feeds)
    return all(same(got, wanted) for got, wanted in zip(results, expected, strict=True))


def same(got: Any, wanted: Any) -> bool:
    """Whether two results are the same but for rounding."""
    if isinstance(wanted, list):
        return len(got) == len(wanted) and all(map(same, got, wanted))
    if wanted is None:
        return got is None
    got, wanted = np.asarray(got), np.asarray(wanted)
    return got.shape == wanted.shape and np.allclose(got, wanted, rtol=1e-3, atol=1e-5)


if __name__ == "__main__":
    main()
