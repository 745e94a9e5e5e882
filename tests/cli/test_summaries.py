"""Summaries are refused before the work, and lost ones are told after it."""

from pathlib import Path

import pytest
from straightline.batch import Record
from straightline.cli.summaries import require_summaries, write_summaries
from straightline.ir import SaveError

RECORDS = [Record("a.onnx", "in/a.onnx", "out/a.onnx", "written", nodes=(5, 8))]


def require(*paths, force=False):
    require_summaries([Path(path) for path in paths], Path("out"), [Path("models")], force=force)


def test_places_are_checked_before_the_work(folder):
    require("s.html", "s.csv", "out/s.html")
    Path("s.csv").write_text("precious")
    with pytest.raises(SaveError, match="no summary is there"):
        require("s.csv")
    require("s.csv", force=True)
    with pytest.raises(SaveError, match="make the folder"):
        require("none/s.html")


def test_a_summary_that_cannot_be_written_is_told_at_the_end(folder):
    Path("s.html").mkdir()
    lost = write_summaries([Path("s.html"), Path("s.csv")], RECORDS, "out", [])
    assert "'s.html': it is a folder" in str(lost)
    assert Path("s.csv").read_text().splitlines()[1].startswith("a.onnx,written,,,5,8,")
    assert write_summaries([Path("s.csv")], RECORDS, "out", []) is None
    assert write_summaries(None, RECORDS, "out", []) is None
