"""The table of tools: how a result counts. The tools themselves are run by `make bench`."""

import numpy as np
import onnx
from straightline.dev.tools.tool_table import SIMPLIFIERS, Cell, _cell, row
from tables import table
from texts import HEADER

MODEL = onnx.parser.parse_model(HEADER + "g (float[2] x) => (float[2] y) { y = Abs (x) }")
OTHER = onnx.parser.parse_model(HEADER + "g (float[2] x) => (float[2] y) { y = Neg (x) }")
FEEDS = {"x": np.array([1, -2], np.float32)}


def fails(model):
    raise ValueError("no")


@table(
    (lambda model: (model, False), "right"),
    (lambda model: (OTHER, False), "wrong"),
    (lambda model: (onnx.ModelProto(), False), "failed"),
    (fails, "failed"),
    (SIMPLIFIERS["`straightline rewrite`"][1], "right"),
    (SIMPLIFIERS["onnxruntime, basic level"][1], "right"),
)
def test_a_result_is_compared(tool, outcome):
    cell = _cell(tool, MODEL, FEEDS)
    assert (cell.outcome, cell.left) == (outcome, 0)


def test_a_model_that_does_not_run_is_left_out():
    assert _cell(fails, onnx.ModelProto(), FEEDS) is None


def test_a_row_counts_right_results_only():
    cells = [
        Cell("right", 0, 0.5, 2.0, True),
        Cell("right", 1, 2.0, 2.0),
        Cell("wrong"),
        Cell("failed"),
    ]
    assert row("tool", cells) == ["tool", "2", "1", "1", "1", "1.00", "2.00", "1"]
    assert row("tool", cells[1:], is_converter=True) == ["tool", "1", "1", "1", "none"]
