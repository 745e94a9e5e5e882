import pytest
from straightline.ir.io.toml_text import parse_toml, read_text
from tables import table


def test_a_text_is_read(tmp_path):
    (tmp_path / "a.toml").write_text("a = [1, 'é']", encoding="utf-8")
    assert parse_toml(read_text(tmp_path / "a.toml")) == {"a": [1, "é"]}


@table(
    ("a = ", "this is not TOML: "),
    ("a = " + "[" * 9999, "nested too deep"),
    ("a = " + "9" * 9999, "a value cannot be read: "),
)
def test_a_malformed_text_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_toml(text)


@table(
    (None, "No such file"), (b"\xff", "it is not text"), (b" " * (1 << 20 | 1), "larger than 1 MB")
)
def test_an_unreadable_file_is_refused(content, message, tmp_path):
    if content is not None:
        (tmp_path / "a").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_text(tmp_path / "a")


def test_a_folder_is_no_text(tmp_path):
    with pytest.raises(ValueError, match="it is not a regular file"):
        read_text(tmp_path)


def test_depth_is_bounded():
    assert parse_toml(f"a = {'[' * 40}{']' * 40}")
    for text in (f"[{'.'.join('a' * 3000)}]\nx = 1", f"a = {'[' * 60}{']' * 60}"):
        with pytest.raises(ValueError, match="nested too deep"):
            parse_toml(text)
