import gc
import subprocess
import sys

import pytest
from straightline.ir.gc_pause import paused_collector


@paused_collector
def collecting(fail: bool = False) -> bool:
    """Whether the collector is on."""
    if fail:
        raise RuntimeError
    return gc.isenabled()


def test_collection_is_off_inside_and_on_again_after() -> None:
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


def test_pauses_end_with_a_collection_of_young_objects_alone() -> None:
    @paused_collector
    def build() -> list[list[int]]:
        return [[] for _ in range(2 * gc.get_threshold()[0])]

    generations: list[int] = []

    def record(phase: str, info: dict[str, int]) -> None:
        generations.extend([info["generation"]] if phase == "start" else [])

    gc.collect()
    gc.callbacks.append(record)
    try:
        kept = build()
    finally:
        gc.callbacks.remove(record)
    assert kept and generations[0] == 0


def test_the_function_keeps_its_name() -> None:
    assert collecting.__name__ == "collecting"


OLD_AT_ONCE = """
import gc
import subprocess
import sys
from straightline.ir.gc_pause import paused_collector, take_over_process

@paused_collector
def made():
    return [[] for _ in range(1000)]

def young(kept):
    return len({id(one) for one in gc.get_objects(0)} & set(map(id, kept)))

gc.set_threshold(1_000_000)
before = young(made())
take_over_process()
print(before, young(made()), gc.get_freeze_count(), gc.isenabled())
"""


def test_in_a_process_of_our_own_what_was_made_is_old() -> None:
    told = subprocess.run([sys.executable, "-c", OLD_AT_ONCE], capture_output=True, check=True)
    assert told.stdout.decode().split() == ["1000", "0", "0", "True"]
