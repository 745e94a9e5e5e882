import pytest
import straightline as sl
from straightline.report.places import marked_place


def place(path, taken=(), force=False):
    return marked_place(path, taken, "a mark", "page", force)


def test_a_new_file_an_empty_one_and_one_with_the_mark(tmp_path):
    path = tmp_path / "p.html"
    assert place(path) == path
    path.touch()
    assert place(path) == path
    path.write_text("<!-- a mark -->")
    assert place(path) == path


def test_anything_else_takes_force(tmp_path):
    path = tmp_path / "p.html"
    path.write_text("mine")
    with pytest.raises(sl.ir.SaveError, match="not a page; name another file, or overwrite"):
        place(path)
    assert place(path, force=True) == path


def test_an_input_file_is_never_overwritten(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_text("a mark")
    with pytest.raises(sl.ir.SaveError, match="name another file"):
        place(path, [path], force=True)
    with pytest.raises(sl.ir.SaveError, match="it is a folder"):
        place(tmp_path)
