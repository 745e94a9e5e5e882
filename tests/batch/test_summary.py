import dataclasses
from pathlib import Path

from straightline.batch import Record
from straightline.batch.summary import KEYS, summary, why

LEFT = {"op_type": "Loop", "path": "y", "reason": "all of it", "brief": "n decides"}
FLAT = Record(
    *("a.onnx", "in/a.onnx", "out/a.onnx", "written"),
    outputs="proved",
    nodes=(5, 8),
    control_flow=(1, 0),
    run_time=(9.5, 6.0),
    size=(254, 300),
    opset=(17, 18),
    seconds=0.5,
)
KEPT = Record(
    *("b.onnx", "in/b.onnx", "out/b.onnx", "written"),
    messages=("control flow left: 1", "not verified: no samples"),
    outputs="not verified",
    nodes=(4, 4),
    control_flow=(1, 1),
    size=(224, 224),
    left=(LEFT,),
    seconds=1.0,
)
BAD = Record("c.onnx", "in/c.onnx", "out/c.onnx", "failed", "bad input", ("it is no model",))


def cells(row):
    return dict(zip(KEYS, row, strict=True))


def test_a_row_has_the_numbers_before_and_after():
    flat, kept, bad = map(cells, summary([FLAT, KEPT, BAD], "title").rows)
    assert (flat["nodes_before"], flat["nodes_after"], flat["control_flow_after"]) == (5, 8, 0)
    assert (flat["run_time_before"], flat["size_after"], flat["opset_after"]) == (9.5, 300, 18)
    assert kept["run_time_after"] is None and kept["left"] == (
        "not verified: no samples; Loop 'y': n decides"
    )
    assert (bad["status"], bad["problem"], bad["nodes_after"]) == ("failed", "bad input", None)
    assert why(FLAT) == ""


def test_totals_add_models_with_both_numbers():
    sheet = summary([FLAT, KEPT, BAD], "title")
    totals = cells(sheet.totals)
    assert (totals["name"], totals["nodes_before"], totals["nodes_after"]) == ("3 models", 9, 12)
    assert (totals["control_flow_after"], totals["run_time_before"]) == (1, 9.5)
    assert totals["seconds"] == 1.5
    cards = dict(sheet.cards)
    assert cards["status"] == "2 written, 1 failed"
    assert cards["outputs"] == "1 proved, 1 not verified"
    assert cards["without control flow"] == "1"
    assert cards["nodes"] == "9 → 12"


def test_a_batch_of_failures_has_no_sums():
    (link,) = summary([dataclasses.replace(BAD, report="pages/a b.html")], "t", Path("sums")).links
    assert link == "../pages/a%20b.html"
    sheet = summary([BAD], "title")
    assert cells(sheet.totals)["nodes_after"] is None
    assert "nodes" not in dict(sheet.cards)
