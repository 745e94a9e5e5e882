"""What is known of results: kept line by line, so that whatever ends the work loses none."""

from pathlib import Path

import pytest
from straightline.batch import BatchError
from straightline.batch.state import State, kept_in

ENTRY = {"name": "a", "key": "k", "read": {}, "written": {}, "record": {}}
FILE = Path("out/.straightline/state.jsonl")


def test_what_is_added_is_known_next_time():
    with kept_in(Path("out")) as (state, staging):
        assert staging.is_dir() and staging.is_absolute()
        state.begin("b")
        state.add(ENTRY)
        assert FILE.read_text().count("\n") == 2  # it is there at once
    with kept_in(Path("out")) as (state, again):
        assert not staging.exists() and again.is_dir()
        assert state.known("a") == ENTRY and state.owns("a")
        assert state.known("b") is None and state.owns("b")
        assert not state.owns("c")
        state.begin("a")  # what is known of it may still hold
        assert state.known("a") == ENTRY


def test_lines_do_not_pile_up():
    for _ in range(5):
        with kept_in(Path("out")) as (state, _staging):
            state.add(ENTRY)
    with kept_in(Path("out")):
        assert FILE.read_text().count("\n") == 1


def test_a_torn_last_line_is_one_that_was_not_written():
    with kept_in(Path("out")) as (state, _):
        state.add(ENTRY)
        state.add({**ENTRY, "name": "b"})
    FILE.write_text(FILE.read_text()[:-20])
    with kept_in(Path("out")) as (state, _):
        assert state.known("a") and not state.owns("b")


@pytest.mark.parametrize("line", ["{", "[]", "{}", "3"])
def test_another_file_is_refused(line):
    FILE.parent.mkdir(parents=True)
    FILE.write_text(f'{line}\n{{"name": "a"}}\n')
    with pytest.raises(BatchError, match="line 1, is not what"), State(FILE).kept():
        pass
    assert FILE.read_text().startswith(line)


def test_two_runs_do_not_write_to_one_folder():
    pytest.importorskip("fcntl", reason="this system has no such locks")
    with (
        kept_in(Path("out")),
        pytest.raises(BatchError, match="another run writes to 'out'"),
        kept_in(Path("out")),
    ):
        pass
    with kept_in(Path("out")):
        pass
