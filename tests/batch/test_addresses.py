from pathlib import Path

import pytest
from straightline.batch import BatchError, addresses
from straightline.batch.addresses import Address, are_stored_as_before, place_of, stored
from straightline.ir import LoadError, SaveError

fsspec = pytest.importorskip("fsspec")
FOLDER = Address("memory://addresses/folder")


def test_a_text_with_a_mark_is_an_address():
    assert place_of("s3://bucket/models/") == Address("s3://bucket/models")
    assert place_of("s3::simplecache/x") == Path("s3::simplecache/x")
    assert place_of("models/a:b.onnx") == Path("models/a:b.onnx")
    assert place_of("file:///home/me") == Path("/home/me")
    assert place_of(Path("C:/models")) == Path("C:/models")
    with pytest.raises(BatchError, match="no absolute path"):
        place_of("file://home/me")
    with pytest.raises(BatchError, match="write the address 's3://bucket/models', as text"):
        place_of(Path("s3://bucket/models"))


def test_an_address_that_cannot_be_opened(monkeypatch):
    with pytest.raises(BatchError, match="cannot open 'nothing-such://x'"):
        Address("nothing-such://x").below()
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    with pytest.raises(BatchError, match=r"pip install 'straightline\[storage\]'"):
        FOLDER.below()


def test_files_are_put_listed_fetched_and_removed(tmp_path):
    (tmp_path / "file").write_bytes(b"content")
    (FOLDER / "deep/a.onnx").put(tmp_path / "file")
    (FOLDER / "b.onnx").put(b"other")
    assert FOLDER.below() == ["b.onnx", "deep/a.onnx"]
    assert FOLDER.below("*.onnx") == ["b.onnx"]
    (FOLDER / "deep/a.onnx").fetch(tmp_path / "new" / "a.onnx")
    assert (tmp_path / "new" / "a.onnx").read_bytes() == b"content"
    known = stored(["b.onnx"], FOLDER)
    assert known["b.onnx"]["size"] == 5 and are_stored_as_before(known, FOLDER)
    (FOLDER / "b.onnx").put(b"newer")
    assert not are_stored_as_before(known, FOLDER)
    (FOLDER / "b.onnx").remove()
    (FOLDER / "b.onnx").remove()
    assert (FOLDER / "b.onnx").described() is None
    assert not are_stored_as_before(known, FOLDER)
    with pytest.raises(LoadError, match=r"there is no file 'memory://addresses/folder/b.onnx'"):
        stored(["b.onnx"], FOLDER)


def test_objects_are_renamed_where_writes_are_not_atomic(tmp_path, monkeypatch):
    monkeypatch.setattr(addresses, "_WHOLE", set())
    names = []
    kind = type(fsspec.filesystem("memory"))
    pipe = kind.pipe_file

    def noted(self, path, content, **more):
        names.append(path)
        pipe(self, path, content, **more)

    monkeypatch.setattr(kind, "pipe_file", noted)
    (FOLDER / "c.onnx").put(b"content")
    assert names[0].startswith("/addresses/folder/.c.onnx.")
    assert [name for name in FOLDER.below() if "c.onnx" in name] == ["c.onnx"]


def test_a_store_that_fails_is_told(monkeypatch):
    kind = type(fsspec.filesystem("memory"))

    def fail(*_, **__):
        raise OSError("no route to host")

    for name in ("info", "cat_file", "get_file", "pipe_file", "find", "rm_file"):
        monkeypatch.setattr(kind, name, fail)
    file = FOLDER / "a.onnx"
    for call, error in (
        *((file.described, LoadError), (file.read, LoadError), (file.remove, SaveError)),
        *((lambda: file.fetch(Path("x")), LoadError), (lambda: file.put(b""), SaveError)),
        (file.below, BatchError),
    ):
        with pytest.raises(error, match=r"'memory://addresses/folder/a.onnx': no route to host"):
            call()
