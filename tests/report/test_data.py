import json

import numpy as np
import straightline as sl
from counting import assert_linear
from reports import DECODER, rewritten
from straightline import report
from straightline.passes import Remark
from straightline.verification.runs.comparison import Difference
from straightline.verification.runs.verdict import OutputDifference, Verdict

FOUND = rewritten()
SMALL = sl.ir.parse("g (float[2] x) => (float[2] y) { y = Abs (x) }")


def test_the_verdict_is_told_for_each_output():
    assert FOUND.verdict.status == "proved"
    assert [(row.name, row.status) for row in FOUND.verdict.outputs] == [
        ("y", "proved"),
        ("q", "proved"),
        ("rows", "proved"),
    ]


def test_remarks_with_hints_as_commands():
    actions = {(row.operator, row.path): row.action for row in FOUND.remarks}
    assert actions["Loop", "decode"] == "rewritten" and actions["Loop", "wait"] == "kept"
    (hint,) = FOUND.hints
    assert hint["command"] == "straightline rewrite decoder.onnx flat.onnx --set n=4"
    assert hint["decides"] == ["Loop 'wait'"]


def test_nodes_are_lists_that_end_where_nothing_more_is():
    data = FOUND.to_dict()
    loop = next(row for row in data["before"]["graphs"][0]["nodes"] if row[1] == "decode")
    assert list(map(list, loop[2:])) == [["steps", "", "h"], ["state"], [1]]
    copy = next(row for row in data["after"]["graphs"][0]["nodes"] if row[1] == "project_2")
    assert copy[5] == ["copy", 1, 1, "_2", 0]
    assert json.loads(json.dumps(data, allow_nan=False))["before"]["name"] == "decoder.onnx"


def gathered(**told):
    return report.gather(SMALL, SMALL, **told)


def test_the_same_remark_is_told_once_with_its_number():
    remark = Remark("unroll-loops", "Loop", "a", "rewritten", "unrolled")
    (row,) = gathered(remarks=[remark] * 3).remarks
    assert row.count == 3 and row.path == "a"


def test_all_kept_and_some_rewritten_remarks():
    done = [Remark("p", "Loop", f"a{i}", "rewritten", "unrolled") for i in range(1500)]
    left = [Remark("p", "Loop", f"b{i}", "kept", "why") for i in range(1500)]
    found = gathered(remarks=[*done, *left])
    assert found.more_remarks == 500
    assert sum(row.action == "kept" for row in found.remarks) == 1500


def test_a_verdict_of_runs_names_what_differs_and_where():
    difference = Difference("values", 1, 2, "first [0]: 1.0 != 2.0", 1.0, 0.5, 7)
    verdict = Verdict(
        "different",
        "output 'y' differs",
        ("onnxruntime",),
        ("sample 0",),
        (OutputDifference("y", "different", difference, "sample 0"),),
        notes=("a note",),
    )
    found = gathered(verdict=verdict).verdict
    assert found.status == "different" and found.ran == "run by onnxruntime on 1 sample"
    assert found.outputs[0].status == "different" and "absolute" in found.outputs[0].detail
    assert found.notes == ("a note",)


def test_models_are_taken_as_everywhere_and_not_changed(tmp_path):
    path = tmp_path / "m.onnx"
    sl.ir.save(SMALL, path)
    content = path.read_bytes()
    found = report.gather(path, content)
    assert found.differences.none and path.read_bytes() == content


def test_weights_are_never_part_of_it():
    secret = np.full((100, 100), 0.12345, np.float32)
    model = sl.ir.parse("g (float[100, 100] x) => (float[100, 100] y) { y = Abs (x) }")
    value = model.graph.add_initializer("w", sl.ir.Tensor(array=secret))
    model.graph.set_input(model.graph.nodes()[0], 0, value)
    text = json.dumps(report.gather(model, model).to_dict())
    assert "0.1234" not in text and "float[100,100]" in text


def chain(count):
    nodes = "\n".join(f"v{i + 1} = Neg (v{i})" for i in range(count))
    return sl.ir.parse(f"g (float[2] v0) => (float[2] v{count}) {{ {nodes} }}")


def test_work_grows_as_the_model_does():
    def work(count):
        model = chain(count)
        return lambda: report.page(report.gather(model, model))

    assert_linear(work, 500, 8)


def test_an_outcome_tells_all_of_it_and_what_is_left_once():
    outcome = sl.transform(sl.ir.parse(DECODER))
    found = report.of_outcome(outcome)
    assert found.verdict.status == "proved" and found.timings == outcome.timings
    left = [row for row in found.remarks if row.action == "kept"]
    assert [(row.operator, row.path) for row in left] == [("Loop", "wait")]
    assert found.hints[0]["command"] == "--set n=4"
    assert found.differences.sizes[0].after == str(outcome.nodes.after)


def test_a_conversion_has_its_opsets_in_it():
    outcome = sl.transform(sl.ir.parse(DECODER), (), opset=13)
    (change,) = [
        row for row in report.of_outcome(outcome).differences.versions if "opset" in row.name
    ]
    assert (change.before, change.after) == ("17", "13")
