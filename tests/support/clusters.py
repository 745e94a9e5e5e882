"""What the tests of clusters share: a slow pass that dies of one model, and models enough."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import onnx
from straightline import batch

MORE = 12
"""So many models are added to those that stand in the folder."""

ALL = MORE + 5

_PASS = """
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


def slow_pass(folder: Path) -> Path:
    """The file of the pass `slow`; the processes in which it ran are written to `pids` beside."""
    path = folder / "own.py"
    path.write_text(_PASS.replace("PIDS", str(folder / "pids")))
    return path


def add_models() -> None:
    """Models enough for two workers."""
    for number in range(MORE):
        shutil.copy("models/a.onnx", f"models/more{number:02}.onnx")


def let_one_be_deadly() -> None:
    """Give `b.onnx` the name that `slow` dies of."""
    model = onnx.load("models/b.onnx")
    model.graph.name = "deadly"
    onnx.save(model, "models/b.onnx")


def assert_only_the_deadly_failed(records: Sequence[batch.Record]) -> None:
    """Check that workers died of that one model only."""
    assert [(r.name, r.problem) for r in records if not r.ok] == [("b.onnx", "worker died")]


def assert_made_as_here(records: Sequence[batch.Record]) -> None:
    """Check that each model was written, and is what this machine makes of it."""
    assert len(records) == ALL
    assert [record.name for record in records if record.status != "written"] == []
    local = batch.run("models", "local", "straighten")
    for record, other in zip(records, local, strict=True):
        made, wanted = onnx.load(record.target), onnx.load(other.target)
        assert made.graph == wanted.graph
