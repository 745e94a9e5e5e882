"""Softmax, LogSoftmax and Hardmax below 13 and from it on."""

import pytest
from spelled import model, require_open, require_same

NAMES = ("Softmax", "LogSoftmax", "Hardmax")


@pytest.mark.parametrize("name", NAMES)
def test_along_the_last_axis_they_are_the_same(name):
    old = model(f"y = {name} <axis = 2> (x)", 11)
    require_same(old, model(f"y = {name} <axis = 2> (x)", 13))
    require_same(old, model(f"y = {name} (x)", 13))
    require_same(old, model(f"y = {name} <axis = -1> (x)", 12))


@pytest.mark.parametrize("name", NAMES)
def test_several_axes_at_once_are_rows_of_a_matrix(name):
    rows = f"r = Flatten <axis = 1> (x) n = {name} (r) s = Shape (x) y = Reshape (n, s)"
    old = model(f"y = {name} (x)", 11)
    require_same(old, model(rows, 13))
    require_open(old, model(f"y = {name} <axis = 1> (x)", 13))


@pytest.mark.parametrize("name", NAMES)
def test_an_axis_that_is_not_the_last(name):
    signature = "(float[N,3,4] x) => (float[N,3,4] y)"
    moved = (
        f"t = Transpose <perm = [0, 2, 1]> (x) n = {name} <axis = 2> (t)"
        " y = Transpose <perm = [0, 2, 1]> (n)"
    )
    require_open(model(f"y = {name} <axis = 1> (x)", 11, signature), model(moved, 13, signature))
