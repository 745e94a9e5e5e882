import json
from pathlib import Path

import pytest
from straightline.batch import BatchError, Record
from straightline.batch.addresses import Address
from straightline.batch.record_files import records_in
from straightline.batch.state import kept_in
from straightline.batch.stored_state import stored_in

GOOD = Record("a.onnx", "in/a.onnx", "out/a.onnx", "written", nodes=(5, 8), left=({"path": "y"},))
BAD = Record("b.onnx", "in/b.onnx", "out/b.onnx", "failed", "bad input", ("no model",))
ENTRIES = [
    {"name": "c.onnx"},
    {"name": "a.onnx", "record": BAD.to_dict()},
    {"name": "a.onnx", "key": "k", "read": {}, "written": {}, "record": GOOD.to_dict()},
    {"name": "b.onnx", "record": BAD.to_dict(), "foreign": True},
]


def test_a_folder_has_the_last_record_of_each_model():
    with kept_in(Path("out")) as (state, _):
        for entry in ENTRIES:
            state.add(entry)
        assert state.owns("a.onnx") and state.owns("c.onnx") and not state.owns("b.onnx")
    assert records_in(Path("out")) == [GOOD, BAD]


def test_an_address_is_a_folder():
    pytest.importorskip("fsspec")
    out = Address("memory://records/out")
    with stored_in(out) as (state, staging):
        for entry in ENTRIES:
            state.add(entry)
        assert staging.is_dir()
    assert not staging.exists()
    assert records_in(out) == [GOOD, BAD]
    with pytest.raises(BatchError, match="holds no record"):
        records_in(Address("memory://records/none"))


def test_lines_of_json():
    lines = [json.dumps({**record.to_dict(), "exit": 0}) for record in (GOOD, BAD)]
    Path("two.jsonl").write_text("\n".join(lines) + "\n")
    assert records_in(Path("two.jsonl")) == [GOOD, BAD]
    for text, why in (("", "no record"), ("[]", "line 1"), (f"{lines[0]}\n3", "line 2")):
        Path("wrong.jsonl").write_text(text)
        with pytest.raises(BatchError, match=why):
            records_in(Path("wrong.jsonl"))


def test_a_folder_without_a_batch_is_told():
    with pytest.raises(BatchError, match=r"'models' holds no batch: .*rewrite MODELS -o models"):
        records_in(Path("models"))
