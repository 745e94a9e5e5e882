import os
import shutil
import sys
from pathlib import Path

import onnx
import pytest
from straightline import batch
from straightline.batch import BatchError
from straightline.batch.scheduler import finished
from straightline.batch.sources import jobs_of
from tables import table

UNIX = pytest.mark.skipif(sys.platform == "win32", reason="no such signals here")
NAMES = ["a.onnx", "b.onnx", "deep/c.onnx", "deep/w.onnx", "deep/er/d.onnx"]
PASS = """
import os, signal
from pathlib import Path
from typing import ClassVar
from straightline.passes import Pass
import dataclasses


@dataclasses.dataclass(frozen=True)
class Dies(Pass):
    \"\"\"Dies on one model: always, or once.\"\"\"

    name: ClassVar[str] = "dies"

    def run(self, model, run):
        \"\"\"Die.\"\"\"
        if model.graph.name in ("deadly", "once"):
            mark = Path(__file__).with_name("mark")
            if model.graph.name == "deadly" or not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return False
"""


def files():
    found = [path.relative_to("out") for path in Path("out").rglob("*") if path.is_file()]
    return sorted(path.as_posix() for path in found if path.parts[0] != ".straightline")


def kinds(path):
    return [node.op_type for node in onnx.load(path).graph.node]


def by_name(records):
    return {record.name: record for record in records}


def statuses(records):
    return {record.name: record.status for record in records}


def test_all_models_of_a_folder_keep_their_places():
    records = batch.run("models", "out", jobs=2)
    assert [record.name for record in records] == NAMES
    assert {record.status for record in records} == {"written"}
    assert {record.outputs for record in records} == {"proved"}
    assert files() == sorted([*NAMES, "deep/w.onnx.data"])
    assert "Loop" not in kinds("out/a.onnx")
    onnx.checker.check_model("out/deep/w.onnx", full_check=True)
    assert onnx.load("out/deep/w.onnx").graph.initializer[0].raw_data


def test_one_failure_does_not_stop_the_rest(folder):
    (folder / "models" / "b.onnx").write_bytes(b"no model")
    (folder / "out" / "deep" / "c.onnx").mkdir(parents=True)
    records = by_name(batch.run("models", "out", jobs=2))
    assert {name for name, record in records.items() if not record.ok} == {"b.onnx", "deep/c.onnx"}
    assert "not an ONNX model" in records["b.onnx"].messages[0]
    assert "it is a folder" in records["deep/c.onnx"].messages[0]
    assert files() == ["a.onnx", "deep/er/d.onnx", "deep/w.onnx", "deep/w.onnx.data"]


def test_unchanged_work_is_skipped():
    first = batch.run("models", "out")
    again = batch.run("models", "out", resume=True)
    assert {record.status for record in again} == {"skipped"}
    assert [record.outputs for record in again] == [record.outputs for record in first]
    assert {record.status for record in batch.run("models", "out")} == {"written"}


def test_changed_or_missing_results_are_made_again():
    batch.run("models", "out")
    wanted = Path("out/deep/w.onnx.data").read_bytes()
    Path("out/a.onnx").unlink()
    Path("out/deep/w.onnx.data").write_bytes(b"x" * len(wanted))
    shutil.copy("models/deep/w.onnx", "models/deep/er/d.onnx")  # its weights are not beside it
    records = statuses(batch.run("models", "out", resume=True))
    assert records == {
        "a.onnx": "written",
        "b.onnx": "skipped",
        "deep/c.onnx": "skipped",
        "deep/w.onnx": "written",
        "deep/er/d.onnx": "failed",
    }
    assert Path("out/deep/w.onnx.data").read_bytes() == wanted
    assert "skipped" not in statuses(batch.run("models", "out", resume=True, opset=18)).values()


def test_changed_weights_are_a_changed_model():
    batch.run("models", "out")
    data = bytearray(Path("models/deep/w.weights").read_bytes())
    data[0] ^= 1
    Path("models/deep/w.weights").write_bytes(data)
    records = statuses(batch.run("models", "out", resume=True))
    assert [name for name, status in records.items() if status == "written"] == ["deep/w.onnx"]


def test_the_folders_may_move():
    batch.run("models", "out")
    for name in ("models", "out"):
        Path(name).rename(f"moved-{name}")
    records = batch.run("moved-models", "moved-out", resume=True)
    assert {record.status for record in records} == {"skipped"}
    assert records[0].target == os.path.join("moved-out", "a.onnx")


@pytest.mark.sample(0)
@UNIX
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_process_that_dies_is_a_failure_of_one_model(folder, jobs):
    (folder / "own.py").write_text(PASS)
    rename("models/b.onnx", "deadly")
    records = batch.run("models", "out", "dies,straighten", load=["own.py"], jobs=jobs)
    assert [record.name for record in records] == NAMES
    assert [record.name for record in records if not record.ok] == ["b.onnx"]
    assert records[1].problem == "worker died"
    assert "its process died twice" in records[1].messages[0]
    assert "b.onnx" not in files() and len(files()) == 5


@UNIX
def test_a_process_that_dies_once_is_none(folder):
    (folder / "own.py").write_text(PASS)
    rename("models/b.onnx", "once")
    records = batch.run("models", "out", "dies,straighten", load=["own.py"], jobs=2)
    assert {record.status for record in records} == {"written"}
    assert (folder / "mark").exists()


def test_an_interrupted_batch_can_be_resumed():
    def interrupt(_, what, done, total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        batch.run("models", "out", jobs=1, on_progress=interrupt)
    assert 2 <= len(files()) < 6
    for name in files():
        if name.endswith(".onnx"):
            onnx.checker.check_model(f"out/{name}", full_check=True)
    assert not list(Path("out/.straightline").glob("made-*"))
    records = batch.run("models", "out", jobs=1, resume=True)
    assert all(record.ok for record in records)
    assert 2 <= sum(record.status == "skipped" for record in records) < 5


def test_data_that_a_run_left_without_its_model_is_taken_for_its_own():
    batch.run("models", "out")
    Path("out/deep/w.onnx").unlink()  # as if the power had failed between the two
    assert all(record.ok for record in batch.run("models", "out", resume=True))


def test_data_of_somebody_else_is_not_overwritten():
    Path("out/deep").mkdir(parents=True)
    other = Path("out/deep/w.onnx.data")
    other.write_text("mine")
    for _ in range(2):
        record = by_name(batch.run("models", "out"))["deep/w.onnx"]
        assert "would overwrite" in record.messages[0]
        assert other.read_text() == "mine" and "deep/w.onnx" not in files()
    assert all(record.ok for record in batch.run("models", "out", force=True))


def test_control_flow_that_is_left_withholds_a_result():
    records = batch.run("models", "out", "fold-constants", require_straight_line=True)
    problems = [record.problem for record in records]
    assert problems == [*["control flow left"] * 3, "", "control flow left"]
    assert files() == ["deep/w.onnx", "deep/w.onnx.data"]
    assert records[0].left[0]["op_type"] == "Loop"


def test_progress_is_told():
    told = []
    batch.run("models", "out", on_progress=lambda *what: told.append(what[2:]))
    assert told == [(number, 5) for number in range(6)]


@table(({"jobs": 0}, "1 or more, not 0"), ({"address": "tcp://x"}, "needs a cluster"))
def test_options_that_do_not_fit(options, message):
    with pytest.raises(BatchError, match=message):
        batch.run("models", "out", **options)
    assert not Path("out").exists()


def rename(path, name):
    model = onnx.load(path)
    model.graph.name = name
    onnx.save(model, path)


def test_a_backend_that_takes_nothing_is_an_error():
    class Broken:
        backend, most = "broken", None

        def results(self, calls, alone=False):
            raise ValueError("no such thing")

    with pytest.raises(BatchError, match="the backend 'broken' fails: no such thing"):
        list(finished(jobs_of("models", Path("out")), Broken(), None, None))


def test_nothing_among_the_sources_is_waited_for():
    os.mkfifo("models/pipe.onnx")
    Path("models/zero.onnx").symlink_to("/dev/zero")
    Path("models/folder.onnx").symlink_to("deep", target_is_directory=True)
    found = by_name(batch.run("models", "out", jobs=2))
    assert [name for name in found if not found[name].ok] == ["pipe.onnx", "zero.onnx"]
    for name in ("pipe.onnx", "zero.onnx"):
        assert found[name].problem == "bad input"
        assert "it is not a regular file" in found[name].messages[0]
