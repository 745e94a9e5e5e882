import errno
import os

import pytest
from straightline.ir.io import file_copy
from straightline.ir.io.file_copy import copy_span

MB = 1 << 20


@pytest.fixture
def source(tmp_path):
    """Eight MB, of which two bits are no holes."""
    path = tmp_path / "source"
    with path.open("wb") as stream:
        stream.truncate(8 * MB)
        for at in (2 * MB, 6 * MB):
            stream.seek(at)
            stream.write(bytes(range(256)) * 32)
    return path


def copied(source, start, length, folder):
    target = folder / "target"
    with source.open("rb") as one, target.open("wb") as other:
        other.write(b"head")
        copy_span(one, start, other, length)
        assert other.tell() == 4 + length
        other.write(b"tail")
    return target


def refusing(number):
    def refuse(*arguments):
        raise OSError(number, os.strerror(number))

    return refuse


WAYS = {
    "system": lambda patch: None,
    "two file systems": lambda patch: patch.setattr(os, "copy_file_range", refusing(errno.EXDEV),
     raising=False),
    "says it is the end": lambda patch: patch.setattr(os, "copy_file_range", lambda *arguments: 0,
     raising=False),
    "no such call": lambda patch: patch.delattr(os, "copy_file_range", raising=False),
    "no holes known": lambda patch: patch.setattr(os, "lseek", refusing(errno.EINVAL)),
    "no such places": lambda patch: patch.delattr(os, "SEEK_DATA", raising=False)}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_all_ways_give_the_same(source, tmp_path, monkeypatch, way):
    WAYS[way](monkeypatch)
    content = source.read_bytes()
    parts = [(0, 8 * MB), (2 * MB + 100, 5 * MB), (3 * MB, MB), (6 * MB, 10), (7 * MB, MB), (9, 0)]
    for start, length in parts:
        made = copied(source, start, length, tmp_path)
        assert made.read_bytes() == b"head" + content[start : start + length] + b"tail"


def test_holes_take_no_room(source, tmp_path):
    if source.stat().st_blocks * 512 > MB:
        pytest.skip("this file system has no holes")
    made = copied(source, 0, 8 * MB, tmp_path)
    assert made.stat().st_size == 8 * MB + 8
    assert made.stat().st_blocks * 512 < MB


@pytest.mark.parametrize("way", ["system", "no such call", "no such places"])
@pytest.mark.parametrize("start", [0, 6 * MB, 8 * MB])
def test_a_source_that_ends_before(source, tmp_path, monkeypatch, way, start):
    WAYS[way](monkeypatch)
    with pytest.raises(EOFError):
        copied(source, start, 9 * MB, tmp_path)


def test_a_full_disk_is_no_reason_to_try_otherwise(source, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "copy_file_range", refusing(errno.ENOSPC), raising=False)
    with pytest.raises(OSError, match="No space left"):
        copied(source, 0, 8 * MB, tmp_path)
    assert file_copy._CANNOT.isdisjoint({errno.ENOSPC, errno.EIO, errno.ENXIO})
