import os

from straightline.reduction import bounded_output
from straightline.reduction.bounded_output import BoundedOutput
from tables import table


@table(
    (b"", ""),
    (b"abc", "abc"),
    (b"abcdefgh", "abcdefgh"),
    (b"abcdefghi", "abcd\n... 1 bytes ...\nfghi"),
    (b"ab\xffdefghijk", "ab\ufffdd\n... 3 bytes ...\nhijk"),
)
def test_the_middle_is_left_out(written, text, monkeypatch):
    monkeypatch.setattr(bounded_output, "_HALF", 4)
    monkeypatch.setattr(bounded_output, "_CHUNK", 3)
    with BoundedOutput() as output:
        os.write(output.end, written)
    assert output.text() == text


def test_no_descriptor_is_left():
    before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else None
    with BoundedOutput():
        pass
    assert before in (None, len(os.listdir("/proc/self/fd")))
