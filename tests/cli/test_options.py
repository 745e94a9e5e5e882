"""What --set, --shape and --max-input-size are read as."""

import pytest
import typer
from straightline.cli.options import (
    Accelerated,
    bytes_of,
    maxima_of,
    pipeline_text,
    shapes_of,
    values_of,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n=3", 3),
        ("n=[1, 2.5]", [1, 2.5]),
        ("n=true", True),
        ('n="3"', "3"),
        ("n=hello", "hello"),
        ("n=", ""),
        ("n=a=b", "a=b"),
    ],
)
def test_values(text, value):
    found = values_of([text])["n"]
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    ("text", "dims"),
    [
        ("x=1,512", [1, 512]),
        ("x= 1 , ? ", [1, None]),
        ("x=", []),
        ("x= ", []),
        ("x=-1", [-1]),
    ],
)
def test_shapes(text, dims):
    assert shapes_of([text]) == {"x": dims}


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (None, None),
        ("0", 0),
        ("512", 512),
        ("3k", 3 << 10),
        ("500M", 500 << 20),
        (" 2gb ", 2 << 30),
        ("7B", 7),
    ],
)
def test_sizes(text, size):
    assert bytes_of(text) == size


def test_none_given():
    assert (values_of(None), shapes_of(None)) == ({}, {})
    assert values_of(["a=1", "b=2"]) == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("read", "given", "words"),
    [
        (values_of, ["n"], "--set n: write it as --set name=value"),
        (values_of, ["=3"], "--set =3"),
        (values_of, ["n=1", "n=2"], "--set: 'n' is given twice"),
        (values_of, ["n=" + "[" * 100_000], "--set n: the value cannot be read"),
        (shapes_of, ["x=1,a"], "--shape x=1,a: write numbers and"),
        (shapes_of, ["x=1,,2"], "--shape x=1,,2"),
        (bytes_of, "2T", "--max-input-size 2T: write bytes, or 500M, or 2G"),
        (bytes_of, "-1", "--max-input-size -1"),
        (bytes_of, "١", "--max-input-size"),
    ],
)
def test_what_cannot_be_read(read, given, words):
    with pytest.raises(typer.BadParameter) as caught:
        read(given)
    assert words in caught.value.message


def test_a_target_stands_for_a_pipeline():
    assert pipeline_text(None, None) is None
    assert pipeline_text("inline-ifs", None) == "inline-ifs"
    assert pipeline_text(None, Accelerated.onnxruntime) == "accelerate"
    with pytest.raises(typer.BadParameter, match="give one of the two"):
        pipeline_text("inline-ifs", Accelerated.onnxruntime)


def test_selects_stands_for_a_pipeline():
    assert pipeline_text(None, None, True) == "selects"
    for passes, target in (("inline-ifs", None), (None, Accelerated.onnxruntime)):
        with pytest.raises(typer.BadParameter, match="give it alone"):
            pipeline_text(passes, target, True)


def test_shapes_of_samples_are_read_like_shapes():
    assert shapes_of(["x=1,?"], "--sample-shape") == {"x": [1, None]}
    with pytest.raises(typer.BadParameter, match="--sample-shape x: write it as --sample-shape"):
        shapes_of(["x"], "--sample-shape")


def test_maxima_are_numbers_of_trips():
    assert maxima_of(["a/b=64", "c=0"]) == {"a/b": 64, "c": 0}
    for text in ("y=-1", "y=x", "y=", "y=1.5"):
        with pytest.raises(typer.BadParameter, match=f"--assume-max {text}: write a number"):
            maxima_of([text])
