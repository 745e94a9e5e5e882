import dataclasses
import re
from pathlib import Path

import pytest
from straightline import passes
from straightline.passes import PASSES, UnrollLoops, straighten
from straightline.passes.manager.registry import DEFAULT_PASSES


def test_every_pass_has_a_name_of_its_own_and_a_sentence():
    names = [kind.name for kind in PASSES]
    assert len(set(names)) == len(names)
    for kind in PASSES:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", kind.name)
        assert kind().summary.endswith(".")
        assert dataclasses.is_dataclass(kind)


def test_every_pass_in_a_file_is_in_the_registry():
    files = Path(passes.__file__).parent.rglob("*.py")
    written = {
        n for file in files for n in re.findall(r'^    name: .* = "(.+)"', file.read_text(), re.M)
    }
    internal = {"correct-declarations", "accelerate", "straighten", "selects", "simplify"}
    assert written - internal == {kind.name for kind in PASSES}


def test_every_pass_is_a_public_name():
    assert all(getattr(passes, kind.__name__) is kind for kind in PASSES)


def test_a_pass_is_immutable_and_compares_by_its_options():
    with pytest.raises(dataclasses.FrozenInstanceError):
        UnrollLoops().max_trips = 3
    assert UnrollLoops(max_trips=3) == UnrollLoops(max_trips=3) != UnrollLoops()


def test_the_default_pipeline():
    assert tuple(straighten().passes) == DEFAULT_PASSES
    assert [pass_.name for pass_ in DEFAULT_PASSES][:3] == [
        "fold-constants",
        "fold-shapes",
        "forward-invariants",
    ]
    assert {pass_.name for pass_ in DEFAULT_PASSES} == {
        kind.name for kind in PASSES if kind.by_default
    }


def test_the_default_pipeline_changes_no_bit():
    """Sums and products keep their order there; `accelerate` may choose another one."""
    assert {
        pass_.name: pass_.exactness for pass_ in DEFAULT_PASSES if pass_.exactness != "bits"
    } == {}
    assert straighten().exactness == "bits" != passes.accelerate().exactness
