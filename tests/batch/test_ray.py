import functools
import json
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

ray = pytest.importorskip("ray", reason="the extra 'ray' is not installed")


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """The file of the pass, which workers load once."""
    folder = tmp_path_factory.mktemp("own")
    slow_pass(folder)
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
    add_models()
    passes = {"passes": "slow,straighten", "load": [own / "own.py"]}
    return functools.partial(batch.run, "models", "out", backend="ray", **passes)


def test_a_worker_that_is_killed_midway_loses_nothing(run, own):
    killed = []

    def kill(_, what, done, total):
        if done == 3:
            killed.extend((own / "pids").read_text().split())
            os.kill(int(killed[-1]), signal.SIGKILL)

    records = run(on_progress=kill)
    assert killed
    assert_made_as_here(records)
    entries = map(json.loads, Path("out/.straightline/state.jsonl").read_text().splitlines())
    assert sum("key" in entry for entry in entries) == ALL, "each is done once"
    assert {record.status for record in run(resume=True)} == {"skipped"}
    assert not list(Path("out/.straightline").glob("made-*"))


def test_a_model_that_kills_its_workers_is_one_failure(run):
    let_one_be_deadly()
    records = run()
    assert_only_the_deadly_failed(records)
    assert len(records) == ALL


def test_an_address_beside_a_connection_is_refused(run):
    with pytest.raises(BatchError, match="already connected to a ray cluster; leave out"):
        run(address="10.0.0.1:6379")


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "nowhere", "auto:x"])
def test_no_cluster_at_the_address(address):
    ray.shutdown()
    with pytest.raises(BatchError, match=f"cannot reach a ray cluster at '{address}'"):
        batch.run("models", "out", backend="ray", address=address)
    with pytest.raises(BatchError, match="no ray cluster is connected"):
        batch.run("models", "out", backend="ray")
