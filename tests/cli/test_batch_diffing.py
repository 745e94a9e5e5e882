"""Summaries of batches, and what changed between two, as a new user has them."""

import csv
import json
from pathlib import Path

import pytest
from commands import write

LOOP = """g (float[2] x) => (float[2] y) {
    trips = Constant <value_int = 3> ()
    y = Loop (trips, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {
        d = Identity (c) e = Exp (a)
    }>
}"""


@pytest.fixture(autouse=True)
def batches(folder, monkeypatch):
    """Two models and one that is none; what they became twice, once with the Loop kept."""
    monkeypatch.setattr("joblib.cpu_count", lambda: 2)
    Path("models").mkdir()
    for name in ("a", "<b>"):
        write(folder / "models" / f"{name}.onnx", LOOP)
    Path("models/c.onnx").write_bytes(b"no model")


def table(name):
    with Path(name).open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_a_summary_and_the_changes_between_two_batches(run):
    many = ("rewrite", "models", "-o")
    found = run(*many, "one", "--summary", "one.html", "--summary", "one.csv")
    assert found.exit_code == 1
    assert found.stdout.endswith("summary: one.html\nsummary: one.csv\n")
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
        found = run("diff", "one", later, "--json")
        document = json.loads(found.stdout)
        assert (found.exit_code, document["same"]) == (0, 1)
        changes = {one["name"]: one["change"] for one in document["changes"]}
        assert changes == {"<b>.onnx": "worse", "a.onnx": "worse"}
    found = run("diff", "one", "two", "--report", "changes.csv")
    assert "proved to -" in found.stdout and "0 to 1" in found.stdout
    assert found.stdout.endswith("report: changes.csv\n")
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
    found = run(*arguments)
    assert found.exit_code in (1, 2) and message in found.stderr
    assert not Path("out").exists() and not list(Path().glob("*:*"))
