import json
import re

import numpy as np
import onnx
import onnx_ir
import pytest
import straightline as sl
from harness import as_model, op_types
from texts import LOOP_AND_IF


@pytest.fixture
def model():
    return as_model(LOOP_AND_IF)


@pytest.fixture
def path(model, tmp_path):
    onnx.save(model, tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


def test_all_is_told_together(model):
    outcome = sl.transform(model, values={"n": 2})
    assert isinstance(outcome, sl.Outcome)
    assert isinstance(outcome.model, onnx.ModelProto)
    assert outcome.model is outcome.model
    assert outcome.changed and (outcome.nodes.before, outcome.nodes.after) == (6, 5)
    assert outcome.opset == (17, 17)
    assert {timing.pass_name for timing in outcome.timings} >= {"unroll-loops", "inline-ifs"}
    first = outcome.remarks[0]
    assert (first.op_type, first.action) == ("Loop", "rewritten")
    assert [remark.op_type for remark in outcome.left] == ["If"]
    assert [hint.arguments for hint in outcome.hints] == [{"values": {"c": True}}]
    assert outcome.proved and outcome.equal
    assert outcome.bound["n"] == 2


def test_a_hint_can_be_given_back(model):
    (hint,) = sl.transform(model, values={"n": 2}).hints
    assert hint.call == "values={'c': True}"
    second = sl.transform(model, values={"n": 2, **hint.arguments["values"]})
    assert not second.left and not second.hints


def test_the_model_is_of_the_kind_that_was_given(model, path):
    for source, kind in (
        (model, onnx.ModelProto),
        (path, onnx.ModelProto),
        (sl.load(path), sl.ir.Model),
        (onnx_ir.from_proto(model), onnx_ir.Model),
    ):
        assert isinstance(sl.transform(source, verify=False).model, kind)


def test_rewriting_and_conversion_in_one_go(model):
    outcome = sl.transform(model, opset=10, values={"n": 2, "c": True})
    assert outcome.opset == (17, 10) and outcome.ir.opset() == 10
    assert {node.op_type for node in outcome.model.graph.node} == {"Add", "Relu"}
    assert outcome.timings[-1].pass_name == "convert"
    assert outcome.equal
    assert "opset 17 became 10" in str(outcome)
    (y,) = sl.reference.run(outcome.model, {"x": np.float32([1, -1])})
    np.testing.assert_array_equal(y, [4, 0])


def test_a_conversion_alone(model):
    outcome = sl.transform(model, (), opset=13)
    assert (outcome.opset, outcome.left, outcome.hints) == ((17, 13), (), ())
    assert op_types(outcome.model) == ["Loop", "If"]
    assert str(outcome).startswith("opset 17 became 13; no node changed\nproved")


# Saving


def test_results_are_saved(model, tmp_path):
    target = tmp_path / "out.onnx"
    outcome = sl.transform(model, values={"n": 2, "c": False})
    outcome.save(target)
    assert onnx.load(target) == outcome.model
    sl.save(outcome.ir, target)
    assert onnx.load(target) == outcome.model


def test_sources_are_not_replaced_unasked(path, tmp_path):
    content = path.read_bytes()
    outcome = sl.transform(path, values={"n": 2})
    link = tmp_path / "link.onnx"
    link.symlink_to(path)
    for own in (path, str(path), link):
        with pytest.raises(sl.SaveError, match=r"the original was read from it.*replace=True"):
            outcome.save(own)
        with pytest.raises(sl.SaveError):
            outcome.save(own, force=True)
    assert path.read_bytes() == content
    outcome.save(path, replace=True)
    assert onnx.load(path) == outcome.model


def test_a_foreign_file_is_not_overwritten(model, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    outcome = sl.transform(model)
    with pytest.raises(sl.SaveError):
        outcome.save(tmp_path / "notes.txt")
    with pytest.raises(sl.SaveError, match=r"make the folder .* first"):
        outcome.save(tmp_path / "none" / "m.onnx")
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


# Showing


def test_results_print_as_the_command_does(path, tmp_path):
    from straightline.cli.commands import app
    from typer.testing import CliRunner

    command = ["rewrite", str(path), str(tmp_path / "out.onnx"), "--set", "n=2"]
    told = CliRunner().invoke(app, command).stdout
    text = re.sub(r" \([\w=, ]+ in Python\)", "", str(sl.transform(path, values={"n": 2})))
    assert "\x1b" not in text
    words = [word for word in text.split() if set(word) != {"-"} and not re.search(r"\d", word)]
    shown = iter(told.split())
    mine = {"values={'c':", "True}"}
    assert [word for word in words if word not in mine and word not in shown] == []


def test_json_has_all_of_it(model):
    found = json.loads(json.dumps(sl.transform(model, values={"n": 2}).to_dict()))
    assert found["nodes"] == {"before": 6, "after": 5}
    assert found["opset"] == {"before": 17, "after": 17}
    assert found["left"][0]["op_type"] == "If"
    assert found["hints"][0]["arguments"] == {"values": {"c": True}}
    assert found["verification"]["proved"] is True
    assert {"changed", "remarks", "seconds", "passes"} <= found.keys()


def test_everything_shows_itself_in_a_notebook(model):
    outcome = sl.transform(model, values={"n": 2})
    verdict = sl.verify(model, model, runtime="reference")
    for found in (outcome, sl.inspect(model), verdict, sl.prove(model, model)):
        page = found._repr_html_()
        assert page.startswith('<div class="straightline">') and page.endswith("</div>")
        assert "prefers-color-scheme" in page
    page = outcome._repr_html_()
    assert page.index("proved") < page.index("<td>Loop</td>") < page.index("control flow before")
    assert page.count('<img alt="control flow ') == 2 and "<svg" not in page
    assert "<pre>values={&#x27;c&#x27;: True}</pre>" in outcome._repr_html_()


def test_a_model_cannot_write_html(model):
    name = "<img src=x onerror=alert(1)>"
    model.graph.node[1].name = model.graph.node[1].input[0] = model.graph.input[2].name = name
    for found in (sl.transform(model), sl.inspect(model)):
        assert "<img src=x" not in found._repr_html_()
        assert "&lt;img" in found._repr_html_()


def test_differences_are_shown():
    different = [
        as_model(
            '<ir_version: 8, opset_import: ["" : 17]> g (float x) => (float y) { y = '
            + op
            + " (x) }"
        )
        for op in ("Neg", "Abs")
    ]
    page = sl.verify(*different)._repr_html_()
    assert '<span class="bad">different</span>' in page and "<table>" in page
    proof = sl.prove(*different)
    assert proof.status == "refuted" and "refuted" in proof._repr_html_()


# Comparing later


def test_verification_on_request(model):
    outcome = sl.transform(model, values={"n": 2}, verify=False)
    assert (
        outcome.verdict is None
        and not outcome.equal
        and not outcome.proved
        and "verification" in outcome.to_dict()
    )
    later = outcome.verified(runtime="reference", samples=1)
    assert later.verdict.equal and later.verdict.runtimes == ("reference",)
    assert later.ir is outcome.ir


def test_a_model_of_other_domains_has_no_opset_that_changes():
    model = as_model("""<ir_version: 8, opset_import: ["ai.onnx.ml": 3]>
        g (float[2] x) => (float[2] y) {
            y = ai.onnx.ml.Scaler <offset = [0.0], scale = [1.0]> (x) }""")
    told = str(sl.transform(model, (), opset=13, verify=False, hints=False))
    assert "opset 0" not in told and "imports no opset of ONNX's own operators" in told
