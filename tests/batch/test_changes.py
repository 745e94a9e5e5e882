import dataclasses
import json

from straightline.batch import Record
from straightline.batch.changes import COLUMNS, Changes
from tables import table

FLAT = Record(
    *("a.onnx", "in/a.onnx", "out/a.onnx", "written"),
    outputs="proved",
    nodes=(5, 8),
    control_flow=(1, 0),
    run_time=(9.5, 6.0),
    size=(254, 300),
    seconds=2.0,
)


def changed(**fields):
    return dataclasses.replace(FLAT, **fields)


@table(
    (changed(), None),
    (changed(status="skipped", size=(254, 301), seconds=2.9), None),
    (changed(seconds=3.1), "worse"),
    (changed(seconds=0.9), "better"),
    (changed(nodes=(5, 9)), "worse"),
    (changed(nodes=(5, 9), seconds=0.1), "worse"),
    (changed(control_flow=(1, 1), nodes=(5, 5)), "worse"),
    (changed(outputs="equal", nodes=(5, 5)), "worse"),
    (changed(run_time=(9.5, 6.05)), None),
    (changed(run_time=(9.5, 5.0)), "better"),
    (changed(status="failed", problem="outputs differ", outputs="different"), "worse"),
    (Record(*("a.onnx", "", "", "failed"), "bad input"), "worse"),
)
def test_the_first_difference_decides(later, change):
    for old, new, wanted in ((FLAT, later, change), (later, FLAT, _turned(change))):
        found = Changes.of([old], [new])
        assert [one.change for one in found.changes] == ([wanted] if wanted else [])
        assert found.same == (not wanted)


def _turned(change):
    return {"worse": "better", "better": "worse"}.get(change)


def test_regressions_come_first():
    names = ("slow", "many", "more", "lost", "good", "gone", "same")
    old = [changed(name=name) for name in names]
    new = [
        changed(name="good", nodes=(5, 2)),
        changed(name="slow", seconds=9.0),
        changed(name="many", nodes=(5, 90)),
        changed(name="more", nodes=(5, 9)),
        changed(name="lost", problem="not verified", status="failed"),
        changed(name="new"),
        changed(name="same"),
    ]
    found = Changes.of(old, new)
    order = [one.name for one in found.changes]
    assert order == ["lost", "many", "more", "slow", "gone", "new", "good"]
    assert found.same == 1 and dict(found.cards())["worse"] == "4"
    rows = {row[0]: row for row in found.sheet("title").rows}
    assert {len(row) for row in rows.values()} == {len(COLUMNS)}
    gone = json.loads(json.dumps(found.to_dict(), allow_nan=False))["changes"][order.index("gone")]
    assert (gone["nodes_old"], gone["nodes_new"]) == (8, None)
