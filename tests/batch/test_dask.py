"""A cluster: workers that die lose nothing, and a model that they die of is one failure."""

import os
import shutil
import signal
from pathlib import Path

import onnx
import pytest
from straightline import batch
from straightline.batch import BatchError

distributed = pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
dask = pytest.importorskip("dask")
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
        time.sleep(0.2)
        if model.graph.name == "deadly":
            os.kill(os.getpid(), signal.SIGKILL)
        return False
"""


@pytest.fixture
def cluster(folder):
    """Two worker processes, and models enough for both."""
    (folder / "own.py").write_text(PASS)
    for number in range(COUNT):
        shutil.copy("models/a.onnx", f"models/more{number:02}.onnx")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(processes=True, **options) as found,
    ):
        yield found


def run(cluster, **options):
    address = cluster.scheduler_address
    passes = {"passes": "slow,straighten", "load": ["own.py"]}
    return batch.run("models", "out", backend="dask", address=address, **passes, **options)


def test_a_worker_that_is_killed_midway_loses_nothing(cluster):
    with distributed.Client(cluster) as client:
        workers = list(client.run(os.getpid).values())

    def kill(_, what, done, total):
        if done == 3:
            os.kill(workers[0], signal.SIGKILL)

    records = run(cluster, on_progress=kill)
    assert len(workers) == 2 and len(records) == COUNT + 5
    assert [record.name for record in records if record.status != "written"] == []
    local = batch.run("models", "local", "straighten")
    for record, other in zip(records, local, strict=True):
        made, wanted = onnx.load(record.target), onnx.load(other.target)
        assert made.graph == wanted.graph
    assert {record.status for record in run(cluster, resume=True)} == {"skipped"}
    assert not list(Path("out/.straightline").glob("made-*"))


def test_a_model_that_kills_its_workers_is_one_failure(cluster):
    model = onnx.load("models/b.onnx")
    model.graph.name = "deadly"
    onnx.save(model, "models/b.onnx")
    records = run(cluster)
    assert [(r.name, r.problem) for r in records if not r.ok] == [("b.onnx", "worker died")]
    assert len(records) == COUNT + 5


def test_nothing_is_done_in_this_process_where_there_is_one_worker(folder):
    (folder / "own.py").write_text(PASS)
    model = onnx.load("models/b.onnx")
    model.graph.name = "deadly"
    onnx.save(model, "models/b.onnx")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(processes=True, **options) as cluster,
    ):
        records = run(cluster)
    assert [(r.name, r.problem) for r in records if not r.ok] == [("b.onnx", "worker died")]


def test_no_cluster_at_the_address(monkeypatch):
    monkeypatch.setattr("straightline.batch.dask.TIMEOUT", 0.2)
    with pytest.raises(BatchError, match=r"no cluster of dask is reached at 'tcp://127.0.0.1:1'"):
        batch.run("models", "out", backend="dask", address="tcp://127.0.0.1:1")
