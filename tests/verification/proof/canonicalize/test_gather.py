import numpy as np
import pytest
from sessions import by_reference
from spelled import model, require_open, require_same, same_bits
from tables import table

SIGNATURE = "(bool[2,3] c, float[2,3] x, float[2,3] z) => (float[2,3] y)"
GATHERED = (
    "<int64[1] s = {6}, int64[2] t = {2, 3}, int64[6] p = {0, 1, 2, 3, 4, 5}> {"
    " d = Reshape (c, s) a = Reshape (x, s) b = Reshape (z, s) h = Concat <axis = 0> (a, b)"
    " n = Not (d) k = Cast <to = 7> (n) o = Mul (k, s) q = Add (o, p)"
    " g = Gather <axis = 0> (h, q) y = Reshape (g, t) }"
)


def test_the_second_half_where_a_condition_fails():
    new = model("y = Where (c, x, z)", 9, SIGNATURE)
    require_same(model(GATHERED, 8, SIGNATURE), new)
    whole = GATHERED.replace("n = Not (d)", "n = Identity (d)")
    swapped = model("y = Where (c, z, x)", 9, SIGNATURE)
    require_same(model(whole, 8, SIGNATURE), swapped)
    require_open(model(whole, 8, SIGNATURE), new)


def test_other_places():
    new = model("y = Where (c, x, z)", 9, SIGNATURE)
    require_open(model(GATHERED.replace("0, 1, 2", "0, 2, 1"), 8, SIGNATURE), new)
    half = GATHERED.replace("o = Mul (k, s)", "w = Identity (k) o = Mul (k, w)")
    require_open(model(half, 8, SIGNATURE), new)


def test_halves_of_other_sizes():
    signature = "(bool[2] c, float[1] x, float[3] z) => (float[2] y)"
    text = (
        "<int64[1] s = {2}, int64[2] p = {0, 1}> { h = Concat <axis = 0> (x, z) n = Not (c)"
        " k = Cast <to = 7> (n) o = Mul (k, s) q = Add (o, p) y = Gather <axis = 0> (h, q) }"
    )
    gathered = model(text, 8, signature)
    require_same(gathered, gathered, "reference")


def test_a_gather_of_one_element():
    signature = "(bool[1] c, float[1] x, float[1] z) => (float[1] y)"
    text = (
        "<int64 s = {1}, int64[1] p = {0}> { h = Concat <axis = 0> (x, z) n = Not (c)"
        " k = Cast <to = 7> (n) o = Mul (k, s) q = Add (o, p) y = Gather <axis = 0> (h, q) }"
    )
    new = model("y = Where (c, x, z)", 9, signature)
    require_same(model(text, 8, signature), new)
    require_open(model(text.replace("s = {1}", "s = {0}"), 8, signature), new)


def test_more_places_than_elements():
    signature = "(bool[3] c, float[1] x, float[1] z) => (float[3] y)"
    text = (
        "<int64 s = {1}, int64[1] p = {0}> { h = Concat <axis = 0> (x, z) n = Not (c)"
        " k = Cast <to = 7> (n) o = Mul (k, s) q = Add (o, p) y = Gather <axis = 0> (h, q) }"
    )
    gathered = model(text, 8, signature)
    require_same(gathered, gathered)
    require_open(gathered, model("y = Where (c, z, x)", 9, signature))


ROWS = "(bool[N] c, float[N] x, float[N] z) => (float[N] y)"
OF_ROWS = """<bool yes = {1}, int64 zero = {0}, int64 one = {1}, int64[1] flat = {-1}> {
    size = Size (x) length = Shape (x) %s
    h = Concat <axis = 0> (x, z) n = Not (c) k = Cast <to = 7> (n)
    o = Mul (k, size) q = Add (o, p) y = Gather <axis = 0> (h, q) }"""
LOOP = """p = Loop (size, yes) <body = b (int64 i, bool g) => (bool g2, int64 j)
    { g2 = Identity (g) j = Identity (i) }>"""
COUNTED = ["p = Range (zero, size, one)", LOOP]


@pytest.mark.parametrize("numbers", COUNTED)
def test_as_many_as_run_time_tells(numbers):
    old, new = model(OF_ROWS % numbers, 13, ROWS), model("y = Where (c, x, z)", 13, ROWS)
    require_same(old, new, seeds=0)
    for length in (1, 5):
        feeds = {
            "c": np.arange(length) % 2 == 0,
            "x": np.arange(length, dtype=np.float32),
            "z": -np.arange(length, dtype=np.float32),
        }
        assert same_bits(*(by_reference(proto, feeds) for proto in (old, new)))


@table(
    ("zero = {0}", "zero = {1}"),
    ("one = {1}", "one = {2}"),
    ("Mul (k, size)", "Mul (k, one)"),
    ("(x, z)", "(z, x)"),
    ("Cast <to = 7> (n)", "Cast <to = 7> (c)"),
)
def test_other_places_of_run_time(before, after):
    text = OF_ROWS % COUNTED[0]
    assert before in text
    new = model("y = Where (c, x, z)", 13, ROWS)
    require_open(model(text.replace(before, after), 13, ROWS), new)


def test_a_loop_that_stacks_other_numbers_does_not_count():
    new = model("y = Where (c, x, z)", 13, ROWS)
    other = (OF_ROWS % LOOP).replace("j = Identity (i)", "j = Sub (i, i)")
    require_open(model(other, 13, ROWS), new)


IN_ORDER = """<int64 zero = {0}, int64 one = {1}> {
    size = Size (x) r = Range (zero, size, one) p = Add (%s, r)
    h = Concat <axis = 0> (x, z) y = Gather <axis = 0> (h, p) }"""


@pytest.mark.parametrize(("first", "same"), [("zero", "x"), ("size", "z")])
def test_places_one_after_the_other_are_a_part(first, same):
    signature = "(float[N] x, float[N] z) => (float[N] y)"
    new = model(f"y = Identity ({same})", 13, signature)
    require_same(model(IN_ORDER % first, 13, signature), new, seeds=0)
    require_open(model(IN_ORDER % "one", 13, signature), new)
    require_open(model((IN_ORDER % first).replace("p = Add (", "p = Sub ("), 13, signature), new)


def test_a_view_of_indices_is_one_of_the_elements():
    signature = "(float[n, 4, 5] x, int64[2, 3] i) => (float[n, 2, 3, 5] y)"
    text = (
        "<int64[1] flat = {-1}, int64[4] shape = {0, 2, 3, 5}, int64[2] turned = {3, 2}>"
        " { %s y = Reshape (g, shape) }"
    )
    straight = model("g = Gather <axis = 1> (x, i) y = Identity (g)", 13, signature)
    flat = "f = Reshape (i, flat) g = Gather <axis = 1> (x, f)"
    require_same(straight, model(text % flat, 13, signature))
    twice = "t = Reshape (i, turned) f = Reshape (t, flat) g = Gather <axis = 1> (x, f)"
    require_same(straight, model(text % twice, 13, signature))
    moved = "t = Transpose (i) f = Reshape (t, flat) g = Gather <axis = 1> (x, f)"
    require_open(straight, model(text % moved, 13, signature))
