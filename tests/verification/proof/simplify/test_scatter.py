"""Scatters that replace every element."""

import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from straightline.reference import run

ROWS = """g (float[3, 2] x, float[3, 2] u) => (float[3, 2] y)
    <int64[3, 2] down = {0, 0, 1, 1, 2, 2}, int64[3, 2] across = {0, 1, 0, 1, 0, 1},
     int64[3, 2] turned = {2, 2, 1, 1, 0, 0}, int64[3, 1] rows = {0, 1, 2},
     int64[3, 1] others = {0, 2, 1}> { %s }"""
ALL = "y = Identity (u)"

SAME = [
    "y = ScatterElements <axis = 0> (x, down, u)",
    "y = ScatterElements <axis = -1> (x, across, u)",
    "y = ScatterND (x, rows, u)",
]
OTHERS = [
    "y = ScatterElements <axis = 1> (x, across, x)",
    "y = ScatterElements <axis = 0> (x, turned, u)",
    'y = ScatterElements <axis = 0, reduction = "add"> (x, down, u)',
    "y = ScatterND (x, others, u)",
    'y = ScatterND <reduction = "max"> (x, rows, u)',
]


@pytest.mark.parametrize("nodes", SAME)
def test_all_elements_in_order(nodes):
    assert_proved(ROWS % nodes, ROWS % ALL)
    feeds = {"x": np.zeros((3, 2), np.float32), "u": np.arange(6, dtype=np.float32).reshape(3, 2)}
    np.testing.assert_array_equal(run(model(ROWS % nodes), feeds)[0], feeds["u"])


@pytest.mark.parametrize("nodes", OTHERS)
def test_other_elements(nodes):
    assert_open(ROWS % nodes, ROWS % ALL)


def test_rows_of_an_open_number():
    text = """g (float[n, 2] x, float[n, 2] u) => (float[n, 2] y)
        <int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}> {
        s = Shape (x) n = Gather (s, zero) r = Range (zero, n, one) i = Unsqueeze (r, last) %s }"""
    assert_proved(text % "y = ScatterND (x, i, u)", text % ALL)
    assert_open(text % "j = Sub (i, last) y = ScatterND (x, j, u)", text % ALL)


WRITTEN = """g (float[1, 2] x, float[K, 2] u) => (float[N, 2] y)
    <int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}, int64[1] most = {1}> {
    s = Shape (u) n = Gather <axis = 0> (s, zero) a = Concat <axis = 0> (x, u)
    r = Range (zero, n, one) p = Add (r, OFFSET) i = Unsqueeze (p, most)
    y = ScatterND (a, i, u) }"""
BEHIND = "g (float[1, 2] x, float[K, 2] u) => (float[N, 2] y) { y = Concat <axis = 0> (x, u) }"


@pytest.mark.parametrize(("offset", "is_equal"), [("one", True), ("zero", False), ("last", False)])
def test_rows_in_order_stand_behind_the_others(offset, is_equal):
    (assert_proved if is_equal else assert_open)(WRITTEN.replace("OFFSET", offset), BEHIND)
