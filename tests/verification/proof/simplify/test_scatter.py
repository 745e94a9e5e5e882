import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from sessions import by_reference
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


@pytest.mark.parametrize(("offset", "is_equal"), [("one", True), ("zero", False), ("last", False)])
def test_rows_in_order_stand_behind_the_others(offset, is_equal):
    written = """g (float[1, 2] x, float[K, 2] u) => (float[N, 2] y)
        <int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}, int64[1] most = {1}> {
        s = Shape (u) n = Gather <axis = 0> (s, zero) a = Concat <axis = 0> (x, u)
        r = Range (zero, n, one) p = Add (r, OFFSET) i = Unsqueeze (p, most)
        y = ScatterND (a, i, u) }"""
    behind = "g (float[1, 2] x, float[K, 2] u) => (float[N, 2] y) { y = Concat <axis = 0> (x, u) }"
    (assert_proved if is_equal else assert_open)(written.replace("OFFSET", offset), behind)


PIECES = """a = Slice (u, zero, one) b = Slice (u, one, two) c = Slice (x, zero, one)
    d = Slice (x, two, four) y = Concat <axis = 0> (c, FIRST, d, LAST)"""


@pytest.mark.parametrize(
    ("places", "first", "is_equal"),
    [
        *(("1, 1, 4, 4", "a", True), ("4, 4, 1, 1", "b", True), ("-4, -4, -1, -1", "a", True)),
        *(("1, 1, 3, 3", "a", False), ("1, 1, 1, 1", "a", False), ("1, 4, 4, 1", "a", False)),
    ],
)
def test_rows_at_known_places_are_pieces(places, first, is_equal):
    last = "ab".replace(first, "")
    pieces = PIECES.replace("FIRST", first).replace("LAST", last)
    scatter = "y = ScatterElements <axis = 0> (x, down, u)"
    few = """g (float[5, 2] x, float[2, 2] u) => (float[5, 2] y) <int64[2, 2] down = {PLACES},
        int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3},
        int64[1] four = {4}, int64[1] five = {5}> { NODES }"""
    pair = [few.replace("PLACES", places).replace("NODES", nodes) for nodes in (scatter, pieces)]
    (assert_proved if is_equal else assert_open)(*pair)
    x, u = (np.arange(n, dtype=np.float32).reshape(-1, 2) for n in (10, 4))
    one, other = (by_reference(model(text), {"x": x, "u": -u})[0] for text in pair)
    assert np.array_equal(one, other) is is_equal
