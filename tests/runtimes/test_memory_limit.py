import subprocess
import sys

import pytest
from straightline.runtimes import memory_limit


def test_small_models_always_fit(monkeypatch):
    monkeypatch.setattr(memory_limit, "available_memory", lambda: 0)
    assert memory_limit.has_room_for(64 << 20)
    assert not memory_limit.has_room_for((64 << 20) + 1)


@pytest.mark.parametrize(("free", "fits"), [(None, True), (3 << 30, True), ((3 << 30) - 1, False)])
def test_a_model_takes_three_times_its_size(monkeypatch, free, fits):
    monkeypatch.setattr(memory_limit, "available_memory", lambda: free)
    assert memory_limit.has_room_for(1 << 30) is fits


def test_the_system_tells_a_sensible_number():
    free = memory_limit.available_memory()
    assert free is None or 1 << 20 < free < 1 << 50


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits another process")
def test_an_impossible_limit_is_no_limit():
    """A sparse file may say that a model is larger than any number the system knows."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert memory_limit.hold(process.pid, 1 << 64)
        process.communicate(b"\n")
    assert process.returncode == 0
