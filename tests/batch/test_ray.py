"""A cluster: workers that die lose nothing, and a model that they die of is one failure."""

import functools
import json
import os
import shutil
import signal
from pathlib import Path

import onnx
import pytest
from straightline import batch
from straightline.batch import BatchError

ray = pytest.importorskip("ray", reason="the extra 'ray' is not installed")
COUNT = 12
PASS = """
import dataclasses, os, signal, time
from typing import ClassVar
from straightline.passes import Pass


@dataclasses.dataclass(frozen=True)
class Slow(Pass):
    \"\"\"Takes its time, and dies of one model.\"\"\"

    name: ClassVar[str] = "slow"

    def run(self, model, run):
        \"\"\"Wait.\"\"\"
        with open("PIDS", "a") as stream:
            print(os.getpid(), file=stream)
        time.sleep(0.2)
        if model.graph.name == "deadly":
            os.kill(os.getpid(), signal.SIGKILL)
        return False
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """The file of the pass, which workers load once."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "own.py").write_text(PASS.replace("PIDS", str(folder / "pids")))
    return folder


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes."""
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


@pytest.fixture
def run(cluster, own):
    """What works on models enough for both."""
    for number in range(COUNT):
        shutil.copy("models/a.onnx", f"models/more{number:02}.onnx")
    passes = {"passes": "slow,straighten", "load": [own / "own.py"]}
    return functools.partial(batch.run, "models", "out", backend="ray", **passes)


def test_a_worker_that_is_killed_midway_loses_nothing(run, own):
    killed = []

    def kill(_, what, done, total):
        if done == 3:
            killed.extend((own / "pids").read_text().split())
            os.kill(int(killed[-1]), signal.SIGKILL)

    records = run(on_progress=kill)
    assert killed and len(records) == COUNT + 5
    assert [record.name for record in records if record.status != "written"] == []
    entries = map(json.loads, Path("out/.straightline/state.jsonl").read_text().splitlines())
    assert sum("key" in entry for entry in entries) == COUNT + 5, "each is done once"
    local = batch.run("models", "local", "straighten")
    for record, other in zip(records, local, strict=True):
        made, wanted = onnx.load(record.target), onnx.load(other.target)
        assert made.graph == wanted.graph
    assert {record.status for record in run(resume=True)} == {"skipped"}
    assert not list(Path("out/.straightline").glob("made-*"))


def test_a_model_that_kills_its_workers_is_one_failure(run):
    model = onnx.load("models/b.onnx")
    model.graph.name = "deadly"
    onnx.save(model, "models/b.onnx")
    records = run()
    assert [(r.name, r.problem) for r in records if not r.ok] == [("b.onnx", "worker died")]
    assert len(records) == COUNT + 5


def test_an_address_beside_a_connection_is_refused(run):
    with pytest.raises(BatchError, match="connected to a cluster of ray already; leave out"):
        run(address="10.0.0.1:6379")


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "nowhere", "auto:x"])
def test_no_cluster_at_the_address(address):
    ray.shutdown()
    with pytest.raises(BatchError, match=f"no cluster of ray is reached at '{address}'"):
        batch.run("models", "out", backend="ray", address=address)
    with pytest.raises(BatchError, match="no cluster of ray is connected"):
        batch.run("models", "out", backend="ray")
