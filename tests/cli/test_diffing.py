import csv
import json
import re
from pathlib import Path

import onnx
import pytest
from commands import succeeded, write
from reports import DECODER


@pytest.fixture
def run(folder, run):
    onnx.save(onnx.parser.parse_model(DECODER), "a.onnx")
    assert run("rewrite", "a.onnx", "b.onnx", "--set", "n=2", "--no-verify").exit_code == 0
    return run


def test_differences_are_shown(run):
    result = succeeded(run("diff", "a.onnx", "b.onnx"))
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


def test_diff_writes_a_page(run, tmp_path):
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
    outcome = json.loads(data)["changes"]
    assert outcome["counts"] == {"equal": 1, "changed": 1, "added": 0, "removed": 0}
    assert outcome["graphs"][0][2][1][4] == [["axis", "1", "0"]]


def test_a_model_that_is_not_there(run):
    result = run("diff", "a.onnx", "none.onnx")
    assert result.exit_code == 1 and result.stderr.startswith("error: ")


@pytest.fixture(autouse=True)
def batches(folder, monkeypatch):
    """Two models and one that is none; what they became twice, once with the Loop kept."""
    monkeypatch.setattr("joblib.cpu_count", lambda: 2)
    Path("models").mkdir()
    loop = """g (float[2] x) => (float[2] y) {
        iterations = Constant <value_int = 3> ()
        y = Loop (iterations, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {
            d = Identity (c) e = Exp (a) }> }"""
    for name in ("a", "<b>"):
        write(folder / "models" / f"{name}.onnx", loop)
    Path("models/c.onnx").write_bytes(b"no model")


def table(name):
    with Path(name).open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_a_summary_and_the_changes_between_two_batches(run):
    many = ("rewrite", "models", "-o")
    outcome = run(*many, "one", "--summary", "one.html", "--summary", "one.csv")
    assert outcome.exit_code == 1
    assert outcome.stdout.endswith("summary: one.html\nsummary: one.csv\n")
    rows = table("one.csv")
    assert [(row["name"], row["control_flow_after"]) for row in rows] == [
        ("<b>.onnx", "0"),
        ("a.onnx", "0"),
        ("c.onnx", ""),
    ]
    assert "&lt;b&gt;.onnx" in Path("one.html").read_text()
    kept = run(*many, "two", "--passes", "fold-constants", "--no-verify", "--json")
    Path("two.jsonl").write_text(kept.stdout)
    for later in ("two", "two.jsonl"):
        outcome = run("diff", "one", later, "--json")
        document = json.loads(outcome.stdout)
        assert (outcome.exit_code, document["same"]) == (0, 1)
        changes = {one["name"]: one["change"] for one in document["changes"]}
        assert changes == {"<b>.onnx": "worse", "a.onnx": "worse"}
    outcome = run("diff", "one", "two", "--report", "changes.csv")
    assert "proved to -" in outcome.stdout and "0 to 1" in outcome.stdout
    assert outcome.stdout.endswith("report: changes.csv\n")
    rows = table("changes.csv")
    assert [row["left_new"] for row in rows] == ["1", "1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["diff", "models", "models"], "'models' holds no batch"),
        (["rewrite", "models", "-o", "out", "--summary", "s.txt"], "FILE.html, or a table"),
        (["rewrite", "models/a.onnx", "b.onnx", "--summary", "s.csv"], "--summary is for many"),
        (["rewrite", "s3://x/a.onnx", "b.onnx"], "an address is for many models"),
        (["rewrite", "models/a.onnx", "s3://x/a.onnx"], "an address is for many models"),
        (["inspect", "s3://x/a.onnx"], "an address is for many models"),
        (["rewrite", "models", "-o", "nothing-such://x"], "Protocol not known"),
        (["diff", "models", "memory://none"], "holds no batch"),
    ],
)
def test_wrong_usage_is_told_before_the_work(arguments, message, run):
    outcome = run(*arguments)
    assert outcome.exit_code in (1, 2) and message in outcome.stderr
    assert not Path("out").exists() and not list(Path().glob("*:*"))
