"""Contents of tensors of sizes."""

import numpy as np
import pytest
from proofs import model
from straightline.verification.checker.models import execute
from straightline.verification.checker.sizes import part_of_shape, sizes_in, whole_numbers

HEAD = (
    "g (float[n, 3, m] x) => (y) <int64[1] a = {0}, int64[1] one = {1}, int64 two = {2},"
    " int64[1] end = {9}, int64[1] most = {9223372036854775807}> { s = Shape (x) "
)


def content(nodes):
    proto = model(HEAD + nodes + " }")
    models = execute(proto, proto, {}, (None, None))
    return models.terms, models.before.outputs["y"]


@pytest.mark.parametrize(
    ("nodes", "sizes"),
    [
        ("y = Identity (s)", ("n", 3, "m")),
        ("y = Gather (s, two)", ("m",)),
        ("g = Gather (s, two) y = Unsqueeze (g, a)", ("m",)),
        ("y = Slice (s, one, end)", (3, "m")),
        ("y = Slice (s, one, end, a, two)", None),
        ("y = Slice (s, one, end, a, one)", (3, "m")),
        ("y = Concat <axis = 0> (s, one)", ("n", 3, "m", 1)),
        ("y = Cast <to = 7> (s)", ("n", 3, "m")),
        ("c = Cast <to = 6> (s) y = Cast <to = 7> (c)", None),
        ("y = Mul (s, two)", (None, 6, None)),
        ("y = Sub (s, two)", (None, 1, None)),
        ("y = Add (s, most)", (None, None, None)),
        ("y = Shape <start = 1> (x)", (3, "m")),
        ("y = Shape <start = -1, end = 99> (x)", ("m",)),
        ("y = Abs (s)", None),
        ("y = Gather (s, end)", None),
    ],
)
def test_sizes_that_are_moved_are_known(nodes, sizes):
    terms, y = content(nodes)
    assert sizes_in(terms, y) == sizes


def test_numbers_are_those_of_known_sizes():
    assert whole_numbers(*content("y = Gather (s, one)")) == [3]
    assert whole_numbers(*content("y = Identity (s)")) is None
    assert whole_numbers(*content("y = Identity (most)")) == [np.iinfo(np.int64).max]


@pytest.mark.parametrize("start", range(-5, 6))
@pytest.mark.parametrize("end", range(-5, 6))
def test_a_part_of_a_shape_is_clamped(start, end):
    assert list(part_of_shape([1, 2, 3], start, end)) == [1, 2, 3][start:end]
