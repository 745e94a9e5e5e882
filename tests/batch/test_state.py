import json
import os
from pathlib import Path

import pytest
from straightline.batch import BatchError
from straightline.batch.result import Record
from straightline.batch.state import State, kept_in
from straightline.ir import LoadError, SaveError

RECORD = Record("a", "a.onnx", "out/a.onnx", "written").to_dict()
STORED = json.loads(json.dumps(RECORD))
ENTRY = {"name": "a", "key": "k", "read": {}, "written": {}, "record": STORED}
FILE = Path("out/.straightline/state.jsonl")


def test_an_entry_is_known_to_the_next_run():
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


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_reported_with_its_file(monkeypatch):
    full = os.fdopen(os.open("/dev/full", os.O_WRONLY), "wb")
    monkeypatch.setattr("straightline.batch.state.open_to_append", lambda _: full)
    with (
        pytest.raises(SaveError, match=r"cannot write 'out/.straightline/state.jsonl': No space"),
        kept_in(Path("out")) as (state, _staging),
    ):
        state.add(ENTRY)


def test_a_torn_last_line_is_one_that_was_not_written():
    with kept_in(Path("out")) as (state, _):
        state.add(ENTRY)
        state.add({**ENTRY, "name": "b"})
    FILE.write_text(FILE.read_text()[:-20])
    with kept_in(Path("out")) as (state, _):
        assert state.known("a") and not state.owns("b")


OTHERS = [
    *("{", "[]", "{}", "3", '{"name": 3}', "9" * 100_000, "[" * 100_000, "\x00\xff"),
    '{"name": "a", "b": ' + "[" * 500 + "]" * 500 + "}",
    json.dumps({**ENTRY, "record": {}}),
    json.dumps({**ENTRY, "record": {**RECORD, "messages": [3]}}),
    json.dumps({**ENTRY, "record": {**RECORD, "nodes": [1]}}),
    json.dumps({**ENTRY, "read": {"x": 3}}),
    json.dumps({**ENTRY, "read": []}),
    json.dumps({**ENTRY, "written": {"x": {"size": "3"}}}),
]


@pytest.mark.parametrize("line", OTHERS)
def test_another_file_is_refused(line):
    FILE.parent.mkdir(parents=True)
    FILE.write_text(f'{line}\n{{"name": "a"}}\n')
    with pytest.raises(BatchError, match="line 1, is not in the format"), State(FILE).kept():
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


@pytest.mark.parametrize("name", ["lock", "state.jsonl"])
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_link_in_the_folder_of_the_state_harms_no_other_file(name, link):
    precious = Path("model.onnx")
    precious.write_text('{"name": "a"}\n')
    FILE.parent.mkdir(parents=True)
    link(precious.absolute(), FILE.with_name(name))
    try:
        with kept_in(Path("out")) as (state, _):
            state.add(ENTRY)
    except SaveError as error:
        assert "lock': it is a link" in str(error)
    assert precious.read_text() == '{"name": "a"}\n'


@pytest.mark.parametrize("name", ["lock", "state.jsonl"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)])
def test_no_file_of_the_state_is_waited_for(monkeypatch, name, make):
    monkeypatch.setattr("straightline.ir.file_reader._WRITER_COMES_WITHIN", 0.1)
    FILE.parent.mkdir(parents=True)
    make(FILE.with_name(name))
    with pytest.raises((SaveError, LoadError), match=name), kept_in(Path("out")):
        pass


def test_a_link_in_the_place_of_the_folder_is_refused():
    Path("other").mkdir()
    Path("other/made-x").mkdir()
    Path("out").mkdir()
    Path("out/.straightline").symlink_to(Path("other").absolute())
    with pytest.raises(SaveError, match="is a link"), kept_in(Path("out")):
        pass
    assert [p.name for p in Path("other").iterdir()] == ["made-x"]


def test_leftovers_are_removed_but_no_target_of_a_link():
    Path("precious").mkdir()
    FILE.parent.mkdir(parents=True)
    FILE.with_name("made-link").symlink_to(Path("precious").absolute())
    FILE.with_name("made-file").touch()
    FILE.with_name("made-folder").mkdir()
    with kept_in(Path("out")) as (_, staging):
        assert [*FILE.parent.glob("made-*")] == [Path(os.path.relpath(staging))]
    assert Path("precious").is_dir()
