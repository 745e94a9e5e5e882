"""The garbage collector rests while a function runs, and comes back."""

from __future__ import annotations

import gc

import pytest
from straightline.ir.collector import paused_collector


@paused_collector
def collecting(fail: bool = False) -> bool:
    """Whether the collector is on."""
    if fail:
        raise RuntimeError
    return gc.isenabled()


def test_it_is_off_inside_and_on_again_after() -> None:
    assert gc.isenabled()
    assert not collecting()
    assert gc.isenabled()
    with pytest.raises(RuntimeError):
        collecting(fail=True)
    assert gc.isenabled()


def test_one_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        assert not collecting()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_function_keeps_its_name() -> None:
    assert collecting.__name__ == "collecting"
