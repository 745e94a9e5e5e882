import builtins
import sys
from types import SimpleNamespace

import pytest
from straightline.limits import stage_clock


def test_imports_are_left_out(tmp_path, monkeypatch):
    ticks = SimpleNamespace(now=100.0)
    monkeypatch.setitem(sys.modules, "ticks_of_the_test", ticks)
    monkeypatch.setattr(stage_clock, "time", SimpleNamespace(perf_counter=lambda: ticks.now))
    monkeypatch.setattr(builtins, "__import__", builtins.__import__)
    clock = type("_", (), dict(vars(stage_clock.StageClock)))
    monkeypatch.setattr(stage_clock, "StageClock", clock)
    monkeypatch.syspath_prepend(tmp_path)
    slow = "import ticks_of_the_test as ticks\nticks.now += 5\n"
    (tmp_path / "slow_inner_module.py").write_text(slow, encoding="utf-8")
    (tmp_path / "slow_module.py").write_text(f"import slow_inner_module\n{slow}", encoding="utf-8")
    stage_clock.leave_out_imports()
    started = clock.now()
    __import__("slow_module")
    assert (ticks.now, clock.now() - started) == (110.0, 0.0)
    ticks.now += 2
    with pytest.raises(ModuleNotFoundError):
        __import__("missing_module")
    assert clock.now() - started == 2.0
