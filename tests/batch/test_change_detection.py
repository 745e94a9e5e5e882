import hashlib
import os
from pathlib import Path

import pytest
from straightline.batch import change_detection
from straightline.batch.change_detection import are_as_before, digest_of_file, seen
from straightline.ir import LoadError


@pytest.fixture
def read(monkeypatch):
    """The files that were read, in order."""
    found = []

    def digest(path):
        found.append(path.name)
        return digest_of_file(path)

    monkeypatch.setattr(change_detection, "digest_of_file", digest)
    return found


def old(path, content=b"content"):
    path.write_bytes(content)
    os.utime(path, ns=(1, 1_700_000_000_123_456_789))
    return path


def test_a_digest_is_that_of_the_content():
    content = bytes(range(256)) * 10_000
    Path("large").write_bytes(content)
    assert digest_of_file(Path("large")) == hashlib.sha256(content).hexdigest()


def test_files_that_are_changed_or_missing_are_not_as_before():
    names = [Path("one"), Path("below/two")]
    Path("below").mkdir()
    for path in names:
        path.write_bytes(b"content")
    found = seen(names, Path())
    assert list(found) == ["below/two", "one"] and are_as_before(found, Path())
    assert not are_as_before(found, Path("below"))
    names[0].write_bytes(b"Content")
    assert not are_as_before(found, Path())


def test_an_unchanged_file_is_not_read(read):
    known = seen([old(Path("one"))], Path())
    del read[:]
    assert are_as_before(known, Path()) and read == []
    Path("one").rename("first")
    os.link(old(Path("new")), "one")  # the same time and size, another file
    assert are_as_before(known, Path()) and read == ["one"]
    Path("one").touch()
    assert are_as_before(known, Path()) and read == ["one"] * 2
    Path("one").write_bytes(b"CONTENT")
    assert not are_as_before(known, Path())


def test_a_change_in_the_moment_of_looking_is_seen():
    """A clock of files may stand still for some milliseconds, or for seconds."""
    path = Path("one")
    path.write_bytes(b"content")
    known, status = seen([path], Path()), path.stat()
    path.write_bytes(b"Content")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert not are_as_before(known, Path())


def test_large_files_are_never_read(read, monkeypatch):
    monkeypatch.setattr(change_detection, "LARGE", 4)
    path = old(Path("one"))
    known = seen([path], Path())
    assert are_as_before(known, Path()) and read == []
    path.touch()
    assert not are_as_before(known, Path())
    waited = []
    monkeypatch.setattr(change_detection.time, "sleep", waited.append)
    known = seen([path], Path())
    assert are_as_before(known, Path()) and read == []
    assert waited and 0 < waited[0] <= 2, "until a change would show in the time"


def test_an_unreadable_file():
    Path("folder").mkdir()
    with pytest.raises(LoadError, match="'folder' cannot be read: it is a folder"):
        digest_of_file(Path("folder"))
    with pytest.raises(LoadError, match="there is no file 'missing'"):
        seen([Path("missing")], Path())


def test_a_pipe_or_a_device_is_never_read():
    os.mkfifo("pipe")
    for path in (Path("pipe"), Path("/dev/zero")):
        with pytest.raises(LoadError, match="it is not a regular file"):
            digest_of_file(path)
        with pytest.raises(LoadError, match="it is not a regular file"):
            seen([path], Path())
        assert not are_as_before({str(path): {"size": 0}}, Path())
