import hashlib
from pathlib import Path

import pytest
from straightline.batch.files import are_as_before, digest_of_file, digests_of
from straightline.ir import LoadError


def test_a_digest_is_that_of_the_content():
    content = bytes(range(256)) * 10_000
    Path("large").write_bytes(content)
    assert digest_of_file(Path("large")) == hashlib.sha256(content).hexdigest()


def test_files_that_are_changed_or_missing_are_not_as_before():
    names = [Path("one"), Path("below/two")]
    Path("below").mkdir()
    for path in names:
        path.write_bytes(b"content")
    found = digests_of(names, Path())
    assert list(found) == ["below/two", "one"] and are_as_before(found, Path())
    assert not are_as_before(found, Path("below"))
    names[0].write_bytes(b"Content")
    assert not are_as_before(found, Path())


def test_what_cannot_be_read_is_told():
    Path("folder").mkdir()
    with pytest.raises(LoadError, match="cannot read 'folder': Is a directory"):
        digest_of_file(Path("folder"))
