import json

import pytest
import straightline as sl
from straightline.batch import Record


def record(**more):
    return Record("a.onnx", "in/a.onnx", "out/a.onnx", "written", **more)


def test_a_record_survives_json():
    made = record(nodes=(4, 3), opset=(17, 18), messages=("one", "two"), left=({"path": "x"},))
    assert Record.from_dict(json.loads(json.dumps(made.to_dict()))) == made
    assert Record.from_dict(json.loads(json.dumps(record().to_dict()))) == record()


def test_a_record_tells_what_came_out():
    proved = record().describing(sl.transform("models/a.onnx", opset=18))
    assert (proved.outputs, proved.nodes, proved.opset) == ("proved", (4, 3), (17, 18))
    assert proved.control_flow == (1, 0) and 0 < proved.run_time[1] < proved.run_time[0]
    assert proved.ok and proved.messages == () and proved.left == ()
    kept = record().describing(sl.transform("models/a.onnx", "fold-constants", verify=False))
    assert kept.outputs == "" and kept.messages == ("control flow left: 1",)
    assert kept.left[0]["op_type"] == "Loop"
    assert kept.left[0]["brief"] == kept.left[0]["reason"] != ""


def test_a_record_tells_of_faults(monkeypatch):
    monkeypatch.delenv("STRAIGHTLINE_FAULTS")
    monkeypatch.setattr(sl.passes.UnrollLoops, "run", lambda *_: {}["y"])
    with pytest.warns(sl.FaultWarning):
        description = record().describing(sl.transform("models/a.onnx", hints=False))
    assert description.messages[-1].startswith(
        "internal error in unroll-loops; the pass is left out"
    )
    assert description.ok and description.outputs == "proved"
