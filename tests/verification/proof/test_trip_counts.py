"""Numbers of trips in one form, however they are computed."""

import itertools

import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from straightline.facts.polynomial import Dimension
from straightline.verification.proof.trip_counts import at_least, least
from term_values import evaluated, terms_of

LOOP = """g (int32 s, int32 n, int64 m, float[N] x) => (int64[k] z)
    <int64 none = {0}, int64 one = {1}, int64 three = {3}, int64 minus = {-3}, bool yes = {1}> {
    a = Cast <to = 7> (s) b = Cast <to = 7> (n) h = Shape (x) l = Squeeze (h)
    %s z = Loop (t, yes) <body = b (int64 i, bool c) => (bool d, int64 o) {
        d = Identity (c) o = Identity (i) }> }"""
SAME = [
    ["t = Sub (b, a)", "u = Sub (b, a) t = Max (u, none)", "u = Neg (a) t = Add (u, b)"],
    ["u = Sub (b, a) t = Min (u, m)", "u = Sub (b, a) w = Max (m, none) t = Min (w, u)"],
    ["t = Max (b, one)", "u = Max (b, none) t = Max (one, u)"],
    ["w = Max (m, three) t = Add (w, minus)", "w = Max (m, three) t = Sub (w, three)"],
    ["t = Add (m, minus)", "t = Add (m, minus)"],
    ["t = Identity (m)", "t = Min (m, m)", "w = Max (m, none) t = Min (m, w)"],
    ["t = Identity (l)", "t = Max (l, none)", "w = Add (l, three) t = Min (w, l)"],
]


@pytest.mark.parametrize("same", SAME)
def test_numbers_are_one_however_they_are_written(same):
    for one, other in itertools.pairwise(same):
        assert_proved(LOOP % one, LOOP % other)


def test_others_are_not():
    for one, other in itertools.combinations([same[0] for same in SAME], 2):
        assert_open(LOOP % one, LOOP % other)


@pytest.mark.parametrize("number", [number for same in SAME for number in same])
def test_numbers_are_what_runs_give(number):
    given = model(LOOP % number)
    for s, n, m in itertools.product((-(2**31), -1, 3), (-1, 2, 5), (-(2**63), -2, 0, 4)):
        trips = expected(number, s, n, m)
        if trips < 100:
            feeds = {"s": np.array(s, np.int32), "n": np.array(n, np.int32), "m": np.array(m)}
            (z,) = evaluated(given, {**feeds, "x": np.zeros(2, np.float32)})
            assert z.tolist() == list(range(trips))


def expected(number, s, n, m):
    """The number of the same text, computed as integers of 64 bits."""
    values = {"a": s, "b": n, "m": m, "l": 2, "none": 0, "one": 1, "three": 3, "minus": -3}
    signs = {"Sub": lambda a, b: a - b, "Add": lambda a, b: a + b, "Neg": lambda a: -a}
    signs |= {"Min": min, "Max": max, "Identity": lambda a: a}
    for name, call in (part.split(" = ") for part in number.replace(") ", ")\n").split("\n")):
        kind, given = call.rstrip(")").split(" (")
        value = signs[kind](*[values[each] for each in given.split(", ")])
        values[name] = (value + 2**63) % 2**64 - 2**63
    return max(values["t"], 0)


def test_the_least_of_sizes():
    terms, (y,) = terms_of(model("g (int32 n) => (int32 y) { y = Identity (n) }"))
    size, one = at_least(terms, y, 0), Dimension.constant(1)
    assert at_least(terms, y, 1) != size + 1
    assert least(terms, [size, size]) == size == least(terms, [size + one, size])
    assert least(terms, [size, Dimension.constant(2**31)]) == size
    assert least(terms, [size, Dimension.constant(7)]) not in (size, 7)
    assert least(terms, [size, Dimension.constant(0)]) == 0
