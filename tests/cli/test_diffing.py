"""The command diff."""

import json
import re

import onnx
import pytest
from reports import DECODER


@pytest.fixture
def run(folder, run):
    onnx.save(onnx.parser.parse_model(DECODER), "a.onnx")
    assert run("rewrite", "a.onnx", "b.onnx", "--set", "n=2", "--no-verify").exit_code == 0
    return run


def test_it_shows_what_differs(run):
    result = run("diff", "a.onnx", "b.onnx")
    assert result.exit_code == 0
    rows = [line.split() for line in result.output.splitlines() if line.strip()]
    assert ["Loop", "2", "0"] in rows and ["MatMul", "1", "4"] in rows
    assert ["n", "int64", "-"] in rows
    assert "control flow: none is left in B" in result.output
    assert ["Erf", "1", "1"] not in rows


def test_a_model_and_itself(run):
    result = run("diff", "a.onnx", "a.onnx")
    assert result.exit_code == 0 and "no difference in operators" in result.output


def test_control_flow_that_is_left_is_counted(run):
    run("rewrite", "a.onnx", "c.onnx", "--no-verify")
    assert "control flow: 2 Loop in A, 1 in B" in run("diff", "a.onnx", "c.onnx").output


def test_for_scripts(run):
    told = json.loads(run("diff", "a.onnx", "b.onnx", "--json").stdout)
    assert (told["before"], told["after"], told["none"]) == ("a.onnx", "b.onnx", False)
    assert {"name": "If", "before": "2", "after": "0"} in told["control_flow"]


def test_it_writes_a_page(run, tmp_path):
    result = run("diff", "a.onnx", "b.onnx", "--report", "d.html")
    assert result.exit_code == 0 and "report: d.html" in result.output
    assert "straightline report" in (tmp_path / "d.html").read_text(encoding="utf-8")
    assert run("diff", "a.onnx", "b.onnx", "--report", "b.onnx").exit_code == 1


def test_the_page_matches_nodes_and_names_changed_attributes(run, tmp_path):
    text = (
        '<ir_version: 10, opset_import: ["" : 21]> g (float[2, 3] x) => (float[2, 3] y)'
        " { a = Neg (x) y = Softmax <axis = 1> (a) }"
    )
    for name, content in (("v1.onnx", text), ("v2.onnx", text.replace("= 1>", "= 0>"))):
        onnx.save(onnx.parser.parse_model(content), name)
    assert run("diff", "v1.onnx", "v2.onnx", "--report", "d.html").exit_code == 0
    (data,) = re.findall(r'id="data">(.*?)</script>', (tmp_path / "d.html").read_text())
    found = json.loads(data)["changes"]
    assert found["counts"] == {"equal": 1, "changed": 1, "added": 0, "removed": 0}
    assert found["graphs"][0][2][1][4] == [["axis", "1", "0"]]


def test_a_model_that_is_not_there(run):
    result = run("diff", "a.onnx", "none.onnx")
    assert result.exit_code == 1 and result.stderr.startswith("error: ")
