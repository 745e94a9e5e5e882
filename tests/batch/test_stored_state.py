import pytest
from straightline.batch import BatchError, Record, stored_state
from straightline.batch.addresses import Address
from straightline.batch.stored_state import StoredState

pytest.importorskip("fsspec")
RECORD = Record("a", "a.onnx", "out/a.onnx", "written").to_dict()
ENTRY = {"name": "a", "key": "k", "read": {}, "written": {}, "record": RECORD}


def test_an_entry_is_known_to_the_next_run(monkeypatch):
    out = Address("memory://state/out")
    with StoredState(out).kept() as state:
        state.begin_all(["a", "b"])
        assert len(out.below()) == 1
        state.add(ENTRY)
        assert len(out.below()) == 1, "it waits for more"
        monkeypatch.setattr(stored_state, "_MOST_LINES", 2)
        state.add({**ENTRY, "name": "c"})
        assert len(out.below()) == 2
    with StoredState(out).kept() as state:
        assert len(out.below()) == 1, "one file of all"
        assert state.known("a") and state.known("c") and state.known("b") is None
        assert state.owns("b") and not state.owns("d")
        monkeypatch.setattr(stored_state, "_MOST_SECONDS", 0.0)
        state.add({**ENTRY, "key": "later"})
        assert len(out.below()) == 2
    with StoredState(out).kept() as state:
        assert state.known("a")["key"] == "later"


def test_another_file_is_refused():
    out = Address("memory://state/other")
    (out / ".straightline/state-1.jsonl").put(b'[]\n{"name": "a"}\n')
    with pytest.raises(BatchError, match="line 1, is not in the format"), StoredState(out).kept():
        pass
