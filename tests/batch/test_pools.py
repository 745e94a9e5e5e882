import os
import signal
import sys
import time

import joblib
import pytest
from straightline.batch import BatchError
from straightline.batch.pools import LOCAL, pool_of

UNIX = pytest.mark.skipif(sys.platform == "win32", reason="no such signals here")


def results(call, count, jobs):
    with pool_of(LOCAL, jobs, None) as pool:
        return list(pool.results(call for _ in range(count)))


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_work_is_done_in_other_processes_that_stay(jobs):
    call = joblib.delayed(os.getpid)()
    found = {*results(call, 12, jobs), *results(call, 12, jobs)}
    assert os.getpid() not in found
    assert len(found) <= 2


def test_calls_are_taken_only_when_they_can_be_worked_on():
    taken = []

    def calls():
        for number in range(20):
            taken.append(number)
            yield joblib.delayed(time.sleep)(0.2)

    with pool_of(LOCAL, 1, None) as pool:
        found = pool.results(calls())
        next(found)
        assert len(taken) < 8
        found.close()


@UNIX
def test_ctrl_c_is_for_this_process_only():
    call = joblib.delayed(signal.pthread_sigmask)(signal.SIG_BLOCK, set())
    assert all(signal.SIGINT in blocked for blocked in results(call, 4, 2))
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, set())


@UNIX
def test_a_process_that_dies_is_an_error_and_others_take_its_place():
    with pytest.raises(Exception, match=r"(?i)terminated"):
        results(joblib.delayed(os.abort)(), 1, 2)
    assert os.getpid() not in results(joblib.delayed(os.getpid)(), 2, 2)


def test_no_cluster_is_connected():
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    with (
        pytest.raises(BatchError, match="no dask cluster is connected"),
        pool_of("dask", None, None),
    ):
        pass


def test_an_address_without_a_cluster():
    with pytest.raises(BatchError, match="needs a cluster"), pool_of(LOCAL, 2, "tcp://x:1"):
        pass


def test_a_backend_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(BatchError, match="'dask' is not installed"), pool_of("dask", 2, None):
        pass
