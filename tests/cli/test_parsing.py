from pathlib import Path

import numpy as np
import onnx
import pytest
import typer
from onnx import numpy_helper
from straightline.cli import parsing
from straightline.cli.parsing import contents, files_in
from straightline.ir import Error
from tables import table


@table(
    ("n=3", 3),
    ("n=[1, 2.5]", [1, 2.5]),
    ("n=true", True),
    ('n="3"', "3"),
    ('n=["a", "@b"]', ["a", "@b"]),
    ('n="@b"', "@b"),
    ("n=hello", "hello"),
    ("n=@", "@"),
    ("n=", ""),
    ("n=a=b", "a=b"),
)
def test_values(text, value):
    given = parsing.assignment(text)
    found = contents([given])["n"]
    assert (type(found), found) == (type(value), value)
    assert str(given) == text and files_in([given]) == []


X = np.float32([[1, 2], [3, 4]])


@table(
    ("x.npy", lambda path: np.save(path, X)),
    ("x.npz", lambda path: np.savez(path, anything=X)),
    ("x.pb", lambda path: path.write_bytes(numpy_helper.from_array(X).SerializeToString())),
)
def test_values_in_files(file, call, tmp_path):
    call(tmp_path / file)
    given = parsing.assignment(f"x=@{tmp_path / file}")
    assert given.content == tmp_path / file and files_in([given]) == [tmp_path / file]
    found = contents([given])["x"]
    assert found.dtype == X.dtype and np.array_equal(found, X)


@table(
    ("none.npy", None, "there is no file"),
    ("two.npz", lambda path: np.savez(path, a=X, b=X), "holds 2 arrays; a value is one"),
    ("no.npz", np.savez, "holds 0 arrays"),
    ("cut.npz", lambda path: path.write_bytes(b"PK\3\4"), "cannot be read as .npz"),
    ("cut.npy", lambda path: path.write_bytes(b"\x93NUMPY"), "cannot be read as .npy"),
    ("text.pb", lambda path: path.write_bytes(b"hello, world"), "is not a .npy, .npz or .pb"),
    ("empty.pb", lambda path: path.write_bytes(b""), "the tensor|cannot be read"),
    ("code.npy", lambda path: np.save(path, np.array([{}])), "cannot be read as .npy"),
    ("size.pb", lambda path: path.write_bytes(onnx.TensorProto(data_type=1,
     dims=[9]).SerializeToString()), "the tensor|cannot be read"))  # fmt: skip
def test_files_that_hold_no_value(file, write, words, tmp_path):
    if write is not None:
        write(tmp_path / file)
    with pytest.raises(Error, match=words) as caught:
        contents([parsing.assignment(f"x=@{tmp_path / file}")])
    assert file in str(caught.value) and "\n" not in str(caught.value)


@table(("x=1,512", [1, 512]), ("x= 1 , ? ", [1, None]), ("x=", []), ("x= ", []), ("x=-1", [-1]))
def test_shapes(text, dims):
    assert contents([parsing.shape(text)]) == {"x": dims}


@table(("0", 0), ("512", 512), ("3k", 3 << 10), ("500M", 500 << 20), (" 2gb ", 2 << 30), ("7B", 7))
def test_sizes(text, size):
    assert parsing.size(text) == size


def test_numbers_by_name():
    assert contents([parsing.dimension("T=6"), parsing.dimension("N=0")]) == {"T": 6, "N": 0}
    least = [parsing.dimension(text) for text in ("T>=1", "N=>=2", " K >= 3")]
    assert contents(least) == {"T": ">=1", "N": ">=2", "K": ">=3"}
    assert contents([parsing.maximum("a/b=64")]) == {"a/b": 64}


@table(
    (parsing.whole(), "0", 0),
    (parsing.whole(3), " 12 ", 12),
    (parsing.whole(), 7, 7),
    (parsing.number(), "0", 0.0),
    (parsing.number(), "1e-5", 1e-5),
    (parsing.number(above=True), "inf", float("inf")),
)
def test_numbers(read, text, number):
    assert read(text) == number


def test_none_given():
    assert contents(None) == {} and files_in(None) == [] and parsing.once(None) is None


@table(("-", parsing.STREAM), ("a/b", Path("a/b")), ("./-", Path.cwd() / "-"))
def test_places_of_models(text, path):
    assert parsing.model_path(text) == path


@table(
    (parsing.assignment, "n", "n: write it as in n=3"),
    (parsing.assignment, "=3", "=3: write it"),
    (parsing.assignment, "n=" + "[" * 100_000, "n: too many digits or brackets"),
    (parsing.shape, "x=1,a", "x=1,a: write numbers and"),
    (parsing.shape, "x=1,,2", "x=1,,2"),
    (parsing.shape, "x", "x: write it as in x=1,512"),
    (parsing.size, "2T", "2T: write bytes, or 500M, or 2G"),
    (parsing.size, "-1", "-1: write bytes"),
    (parsing.size, "١", "write bytes"),
    (parsing.dimension, "T=-1", "T=-1: write a size, as in T=6"),
    (parsing.dimension, "T=x", "T=x: write a size"),
    (parsing.dimension, "T>1", "T>1: write it as in T=6 or 'T>=1'"),
    (parsing.dimension, ">=1", ">=1: write a size"),
    *((parsing.whole(), t, f"{t}: write a whole number, 0 or more") for t in ("a", "-1", "1_0")),
    *((parsing.whole(1), t, f"{t}: write a whole number, 1 or more") for t in ("0", "1.5", "١")),
    (parsing.whole(), "9" * 19, "write a whole number of at most 18 digits, 0 or more"),
    *((parsing.number(), t, f"{t}: write a number, 0 or more") for t in ("a", "-1", "nan", "")),
    (parsing.number(above=True), "0", "0: write a number, more than 0"),
    *((parsing.maximum, f"y={n}", f"y={n}: write a number of") for n in ("-1", "x", "", "1.5")),
)
def test_unreadable_texts(read, given, words):
    with pytest.raises(typer.BadParameter) as caught:
        read(given)
    assert words in caught.value.message


def test_a_name_is_given_once():
    given = [parsing.assignment("n=1"), parsing.assignment("n=2")]
    with pytest.raises(typer.BadParameter, match="'n' occurs twice"):
        parsing.once(given)
    assert parsing.once(given[:1]) == given[:1]


def test_addresses_stay_as_they_are():
    address = parsing.place("s3://bucket/models")
    assert isinstance(address, parsing.Address) and address == "s3://bucket/models"
    assert parsing.place("file:///home/me") == Path("/home/me")
    assert parsing.place("models/a.onnx") == Path("models/a.onnx")
    assert parsing.place("-") == parsing.STREAM != parsing.place("./-")
    with pytest.raises(typer.BadParameter, match="an address is for many models"):
        parsing.model_path("s3://bucket/a.onnx")
    with pytest.raises(Error, match="no absolute path"):
        parsing.place("file://home/me")


def test_the_name_of_a_summary_says_its_form():
    assert parsing.sheet_path("s.CSV") == Path("s.CSV")
    for text in ("s.txt", "s", "s3://bucket/s.csv"):
        with pytest.raises(typer.BadParameter, match=r"FILE\.html"):
            parsing.sheet_path(text)
