import os
import signal
from pathlib import Path

import pytest
from clusters import (
    ALL,
    add_models,
    assert_made_as_here,
    assert_only_the_deadly_failed,
    let_one_be_deadly,
    slow_pass,
)
from straightline import batch
from straightline.batch import BatchError

distributed = pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
dask = pytest.importorskip("dask")


@pytest.fixture
def cluster(folder):
    """Two worker processes, and models enough for both."""
    slow_pass(folder)
    add_models()
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


@pytest.mark.sample(0)
def test_a_worker_that_is_killed_midway_loses_nothing(cluster):
    with distributed.Client(cluster) as client:
        workers = list(client.run(os.getpid).values())

    def kill(_, what, done, total):
        if done == 3:
            os.kill(workers[0], signal.SIGKILL)

    records = run(cluster, on_progress=kill)
    assert len(workers) == 2
    assert_made_as_here(records)
    assert {record.status for record in run(cluster, resume=True)} == {"skipped"}
    assert not list(Path("out/.straightline").glob("made-*"))


@pytest.mark.sample(0)
def test_a_model_that_kills_its_workers_is_one_failure(cluster):
    let_one_be_deadly()
    records = run(cluster)
    assert_only_the_deadly_failed(records)
    assert len(records) == ALL


@pytest.mark.sample(0)
def test_nothing_is_done_in_this_process_where_there_is_one_worker(folder):
    slow_pass(folder)
    let_one_be_deadly()
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(processes=True, **options) as cluster,
    ):
        records = run(cluster)
    assert_only_the_deadly_failed(records)


def test_no_cluster_at_the_address(monkeypatch):
    monkeypatch.setattr("straightline.batch.dask.TIMEOUT", 0.2)
    with pytest.raises(BatchError, match=r"cannot reach a dask cluster at 'tcp://127.0.0.1:1'"):
        batch.run("models", "out", backend="dask", address="tcp://127.0.0.1:1")
