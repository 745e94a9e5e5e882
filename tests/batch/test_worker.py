import dataclasses
import os
from pathlib import Path
from typing import ClassVar

import numpy as np
import onnx
import pytest
from straightline import ir
from straightline.batch import worker as module
from straightline.batch.job_config import JobConfig
from straightline.batch.sources import jobs_of
from straightline.batch.worker import failed, work
from straightline.driver.options import RewriteOptions
from straightline.ir import Operator
from straightline.passes import Pass
from straightline.verification.runs.options import VerifyOptions
from straightline.verification.runs.verdict import Verdict
from tables import table

from targets import lacking


@pytest.fixture
def job():
    Path("made").mkdir()
    (found,) = jobs_of(["models/deep/w.onnx"], Path("out"))
    return dataclasses.replace(found, staging=Path("made").absolute(), owns_data=True)


def test_the_result_takes_its_place_whole(job):
    done = work(job, JobConfig(), "key")
    assert done.record.status == "written" and done.record.seconds > 0
    assert {*done.entry["read"]} == {"w.onnx", "w.weights"}
    assert {*done.entry["written"]} == {"w.onnx", "w.onnx.data"}
    files = [Path("models/deep", name) for name in ("w.onnx", "w.weights")]
    results = [Path("out", name) for name in ("w.onnx", "w.onnx.data")]
    sizes = [sum(file.stat().st_size for file in each) for each in (files, results)]
    assert done.record.size == tuple(sizes)
    onnx.checker.check_model("out/w.onnx", full_check=True)
    assert not list(Path("made").iterdir())


def test_finished_work_is_recognized(job):
    done = work(job, JobConfig(), "key")
    known = dataclasses.replace(job, earlier=done.entry)
    assert work(known, JobConfig(), "key").record == dataclasses.replace(
        done.record, status="skipped"
    )
    assert work(known, JobConfig(), "other").record.status == "written"


def test_a_report_stands_in_its_folder(job):
    how = JobConfig(reports=Path("pages"))
    done = work(job, how, "key")
    page = Path("pages", "w.html")
    assert done.record.report == str(page) and "straightline report" in page.read_text()
    assert "<title>w.onnx: before → after<" in page.read_text(), "tabs have names"
    known = dataclasses.replace(job, earlier=done.entry)
    assert work(known, how, "key").record == dataclasses.replace(done.record, status="skipped")
    failed_one = work(
        job, dataclasses.replace(how, rewriting=RewriteOptions(Wrong())), "key"
    ).record
    assert failed_one.problem == "outputs differ" and failed_one.report == str(page)
    assert '"status":"different"' in page.read_text()
    page.write_text("precious")
    record = work(job, how, "key").record
    assert record.problem == "bad input" and page.read_text() == "precious"


def test_an_unsupported_operator_withholds_the_result_on_request(job):
    options = RewriteOptions((), target=lacking("Add", opsets=(7, 28)))
    done = work(job, JobConfig(options, verify=None, whole_target=True), "key")
    assert (done.record.status, done.record.problem) == ("failed", "not taken")
    assert done.record.messages[-1].startswith("npu does not support 1: Add 1")
    assert work(job, JobConfig(options, verify=None), "key").record.ok


def test_a_failed_second_file_does_not_block_a_new_try(job, monkeypatch):
    put = module._put
    monkeypatch.setattr(module, "_put", lambda made, place: put(made, _only_data(place)))
    assert "no space left" in work(job, JobConfig(), "key").record.messages[0]
    assert [path.name for path in Path("out").iterdir()] == ["w.onnx.data"]
    monkeypatch.setattr(module, "_put", put)
    assert work(job, JobConfig(), "key").record.ok


def test_data_is_linked_where_that_is_asked_for(job):
    mode = os.stat("models/deep/w.weights").st_mode
    for _ in range(2):
        done = work(job, JobConfig(link_data=True), "key")
        assert done.record.status == "written", done.record
        assert {*done.entry["written"]} == {"w.onnx", "w.onnx.data"}
        assert os.path.samefile("out/w.onnx.data", "models/deep/w.weights")
        assert not list(Path("made").iterdir())
    assert os.stat("models/deep/w.weights").st_mode == mode
    known = dataclasses.replace(job, earlier=done.entry)
    assert work(known, JobConfig(link_data=True), "key").record.status == "skipped"
    assert JobConfig(link_data=True).key() != JobConfig().key()


def test_several_data_files_are_linked_each_under_the_name_that_the_result_has_for_it(tmp_path):
    names = [f"{letter}.bin" for letter in "abcdefghijkl"]
    weights = [onnx.TensorProto(name=name[0], data_type=1, dims=[600]) for name in names]
    for number, (weight, name) in enumerate(zip(weights, names, strict=True)):
        weight.data_location = onnx.TensorProto.EXTERNAL
        weight.external_data.add(key="location", value=name)
        np.full(600, number, np.float32).tofile(tmp_path / name)
    nodes = [onnx.helper.make_node("Concat", [name[0] for name in names], ["y"], axis=0)]
    y = onnx.helper.make_tensor_value_info("y", 1, [600 * len(names)])
    graph = onnx.helper.make_graph(nodes, "many", [], [y], weights)
    imports = [onnx.helper.make_opsetid("", 21)]
    model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=10)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    (found,) = jobs_of([str(tmp_path / "m.onnx")], tmp_path / "out")
    (tmp_path / "staging").mkdir()
    job = dataclasses.replace(found, staging=tmp_path / "staging", owns_data=True)
    for _ in range(2):
        done = work(job, JobConfig(RewriteOptions(()), link_data=True), "key")
        assert done.record.status == "written", done.record
        made = ir.load(job.target).graph.initializers
        assert [tensor.numpy()[-1] for tensor in made.values()] == list(range(len(names)))


def _only_data(place):
    if place.suffix == ".onnx":
        raise OSError(28, "no space left")
    return place


@table(
    (MemoryError(), "bad input", "out of memory"),
    (OSError(5, "broken disk"), "bad input", "broken disk"),
    (ZeroDivisionError("oh"), "fault", "a fault of straightline itself, ZeroDivisionError: oh"),
)
def test_whatever_is_raised_is_a_record(error, problem, message, job, monkeypatch):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("straightline.driver.calls.run", fail)
    record = work(job, JobConfig(), "key").record
    assert (record.status, record.problem) == ("failed", problem)
    assert message in record.messages[0]


@table(
    (JobConfig(RewriteOptions("nothing-such")), "usage"),
    (JobConfig(max_bytes=3), "bad input"),
    (JobConfig(RewriteOptions(dims={"N": 3})), "bad input"),
    (JobConfig(load=(Path("none.py"),)), "bad input"),
)
def test_an_error_becomes_a_record(how, problem, job):
    done = work(job, how, "key")
    assert (done.record.problem, done.entry) == (problem, None)
    assert not Path("out").exists()


@dataclasses.dataclass(frozen=True)
class Wrong(Pass):
    """Subtracts what is added."""

    name: ClassVar[str] = "wrong"

    def run(self, model, run):
        (node,) = model.graph.nodes()
        node.graph.set_operator(node, Operator("Sub"))
        return True


def test_other_outputs_withhold_a_result(job):
    for _ in range(2):  # the runtimes are kept
        done = work(job, JobConfig(RewriteOptions(Wrong())), "key")
        record = done.record
        assert (record.problem, record.outputs) == ("outputs differ", "different")
        assert "the pass wrong changed the outputs" in record.messages[0]
    assert done.entry is None and not Path("out").exists()
    assert module._own.runtimes is module._runtimes()


def test_a_proof_that_is_demanded_and_not_there_withholds_a_result(job):
    Path("out").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Verdict, "proved", False)
        record = work(job, JobConfig(verify=VerifyOptions(prove=True)), "key").record
    assert record.problem == "not verified"
    assert not list(Path("out").iterdir())


def test_a_failure_is_one(job):
    assert failed(job, "outputs differ", "why").outputs == "different"
    assert not failed(job, "fault").ok
