import io
import os
import sys

import pytest
from straightline.cli.terminal import complain, delivered, shown
from tables import table

EVIL = "a\x1b[2Jb\rc\x07d\x9be\u202ef\u2066g\x7fh\u2028i\nj\tk\x00l\x08m\u200fn"
ESCAPED = r"a\x1b[2Jb\rc\x07d\x9be\u202ef\u2066g\x7fh\u2028i\nj\tk\x00l\x08m\u200fn"


class TestShown:
    @table(
        (EVIL, ESCAPED),
        ("plain [bold]text[/] :smile: 100%", "plain [bold]text[/] :smile: 100%"),
        ("größe 大小 ±∞", "größe 大小 ±∞"),
        ("lone \udcff\ud800", r"lone \udcff\ud800"),
        ("tag \U000e0041", r"tag \U000e0041"),
        ("C:\\new", "C:\\new"),
        ("", ""),
    )
    def test_control_characters_are_escaped(
        self, text: str, wanted: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
        assert shown(text) == wanted

    def test_unencodable_text_is_escaped(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
        assert shown("größe 大") == r"gr\xf6\xdfe \u5927"


class TestStreams:
    def test_a_full_disk_is_told_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("stdout", "stderr"):
            stream = open("/dev/full", "w", encoding="utf-8")  # noqa: SIM115
            monkeypatch.setattr(sys, name, stream)
        assert delivered(lambda: print("x" * 9000)) == "No space left on device"
        assert delivered(lambda: print("x")) == ""
        complain("x")
        sys.stderr.close()
        sys.stdout.close()

    def test_a_reader_that_left_is_no_fault(self, monkeypatch: pytest.MonkeyPatch) -> None:
        out, into = os.pipe()
        os.close(out)
        monkeypatch.setattr(sys, "stdout", os.fdopen(into, "w"))
        assert delivered(lambda: print("x")) == ""
        sys.stdout.close()

    def test_other_errors_are_not_hidden(self) -> None:
        def fail() -> None:
            raise ValueError("mine")

        with pytest.raises(ValueError, match="mine"):
            delivered(fail)
