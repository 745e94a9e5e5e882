"""Split: how long the parts are."""

import numpy as np
import pytest
from spelled import model, require_open, require_same, same_bits
from straightline import reference


def test_lengths_of_the_parts_of_a_split():
    signature = "(float[N,2] x) => (float[A,2] y, float[B,2] z)"
    old = model("y, z = Split <axis = 0, split = [1, 2]> (x)", 11, signature)
    text = "<int64[2] n = {1, 2}> { y, z = Split (x, n) }"
    for opset in (13, 18):
        require_same(old, model(text, opset, signature), seeds=0)
    other = "<int64[2] n = {2, 1}> { y, z = Split (x, n) }"
    require_open(old, model(other, 13, signature))


def test_parts_of_equal_length_are_others_from_18_on():
    signature = "(float[N,2] x) => (float[A,2] y, float[B,2] z)"
    old = model("y, z = Split <axis = 0> (x)", 13, signature)
    new = model("y, z = Split <axis = 0, num_outputs = 2> (x)", 18, signature)
    require_open(old, new)


COUNTED = "(float[N,2] x) => (float[A,2] y, float[B,2] z, float[C,2] w)"
BY_NUMBER = "y, z, w = Split <axis = 0, num_outputs = 3> (x)"
BY_LENGTHS = """<int64[1] zero = {0}, int64[1] two = {2}, int64[1] three = {3}> {
    shape = Shape (x) n = Gather <axis = 0> (shape, zero)
    more = Add (n, two) part = Div (more, three) all = Mul (part, two) last = Sub (n, all)
    lengths = Concat <axis = 0> (part, part, last)
    y, z, w = Split <axis = 0> (x, lengths) }"""


def test_a_number_of_parts_tells_their_lengths():
    old, new = model(BY_LENGTHS, 13, COUNTED), model(BY_NUMBER, 18, COUNTED)
    require_same(old, new, seeds=0)
    for rows in (2, 3, 5, 7):
        feeds = {"x": np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)}
        assert same_bits(*(reference.run(proto, feeds) for proto in (old, new)))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(part, part, last)", "(part, last, part)"),
        ("Add (n, two)", "Add (n, three)"),
        ("two = {2}", "two = {1}"),
        ("zero = {0}", "zero = {1}"),
        ("Split <axis = 0>", "Split <axis = 1>"),
    ],
)
def test_other_lengths_are_not_those(before, after):
    other = BY_LENGTHS.replace(before, after)
    assert other != BY_LENGTHS
    require_open(model(other, 13, COUNTED), model(BY_NUMBER, 18, COUNTED))
