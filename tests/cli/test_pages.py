import importlib.util
import json
import re

import onnx
import pytest
from commands import succeeded, write
from reports import DECODER
from straightline.cli.pages import bytes_of_files, viewers
from straightline.passes import PASSES
from texts import LOOP
from wrong_passes import Breaking


@pytest.fixture
def run(folder, run):
    onnx.save(onnx.parser.parse_model(DECODER), "in.onnx")
    return run


def data_in(path):
    (text,) = re.findall(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"))
    return json.loads(text)


def test_rewrite_writes_a_page_with_the_commands_that_help(run, tmp_path):
    result = run("rewrite", "in.onnx", "out.onnx", "--report", "r.html")
    assert result.exit_code == 0 and "report: r.html" in result.output
    data = data_in(tmp_path / "r.html")
    assert (data["before"]["name"], data["after"]["name"]) == ("in.onnx", "out.onnx")
    assert data["verdict"]["status"] == "proved"
    assert "rewrite in.onnx out.onnx --report r.html --set n=4" in data["hints"][0]["command"]
    assert data["differences"]["sizes"][-1]["name"] == "size of files"


def test_convert_writes_a_page(run, tmp_path):
    succeeded(run("convert", "in.onnx", "out.onnx", "--opset", "13", "--report", "r.html"))
    versions = data_in(tmp_path / "r.html")["differences"]["versions"]
    assert {"name": "opset ai.onnx", "before": "17", "after": "13"} in versions


def test_with_json_the_output_is_one_document(run, tmp_path):
    result = run("rewrite", "in.onnx", "out.onnx", "--report", "r.html", "--json")
    assert json.loads(result.stdout)["written"] == "out.onnx"
    assert (tmp_path / "r.html").exists()


def test_the_page_explains_a_result_that_is_withheld(run, tmp_path):
    result = run("rewrite", "in.onnx", "out.onnx", "--require-straight-line", "--report", "r.html")
    assert result.exit_code == 4 and not (tmp_path / "out.onnx").exists()
    data = data_in(tmp_path / "r.html")
    assert data["after"]["name"] == "not written" and data["verdict"] is None
    assert [row["path"] for row in data["remarks"] if row["action"] == "kept"] == ["wait"]


def test_a_wrong_rewrite_has_a_page_with_the_pass_and_the_first_values(run, tmp_path, monkeypatch):
    kinds = (*PASSES, Breaking)
    monkeypatch.setattr("straightline.passes.manager.registry.PASSES", kinds)
    write(tmp_path / "loop.onnx", LOOP)
    passes = ("--passes", "unroll-loops,breaking", "--report", "r.html")
    result = run("rewrite", "loop.onnx", "out.onnx", *passes)
    assert result.exit_code == 3, result.stderr
    verdict = data_in(tmp_path / "r.html")["verdict"]
    assert verdict["fault"].startswith("The outputs differ after the pass breaking, where it ")
    assert (verdict["difference"]["name"], verdict["difference"]["iteration"]) == ("e_0", [0])


@pytest.mark.parametrize("page", ["in.onnx", "out.onnx", "notes.txt", "no/r.html"])
def test_a_page_overwrites_nothing_and_that_is_found_out_first(run, tmp_path, page):
    (tmp_path / "notes.txt").write_text("mine")
    before = (tmp_path / "in.onnx").read_bytes()
    result = run("rewrite", "in.onnx", "out.onnx", "--report", page)
    assert result.exit_code == 1 and result.stderr.startswith(f"error: cannot write '{page}'")
    assert (tmp_path / "in.onnx").read_bytes() == before and not (tmp_path / "out.onnx").exists()
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_inspect_draws_the_control_flow(run, tmp_path):
    assert run("inspect", "in.onnx", "--svg", "flow.svg").exit_code == 0
    assert "Loop decode" in (tmp_path / "flow.svg").read_text(encoding="utf-8")
    assert run("inspect", "in.onnx", "--svg", "in.onnx").exit_code == 1


def test_both_files_open_in_netron_where_it_is_installed(tmp_path, monkeypatch):
    one, other = tmp_path / "a b.onnx", tmp_path / "c.onnx"
    one.touch()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    assert viewers(one, other) == () == viewers(one, None)
    other.touch()
    assert viewers(one, other) == (f"netron '{one}'", f"netron {other}")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert viewers(one, other) == ()


def test_bytes_of_what_is_a_file(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"abc")
    assert bytes_of_files(path) == 3
    assert bytes_of_files(tmp_path) is None and bytes_of_files(None) is None
