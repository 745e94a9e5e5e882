import pytest
from proofs import assert_open, assert_proved

HEAD = """g (float[{0}] x, int64[{1}] i) => (float[{1}] y) <int64 zero = {{0}}, int64 one = {{1}},
    int64 two = {{2}}, int64[1] all = {{-1}}, int64[1] down = {{1}}> {{ {2} }}"""
FLAT = """s = Shape (x) h = Gather (s, zero) w = Gather (s, one) q = Shape (i) c = Gather (q, {at})
    b = Less (i, zero) e = Add (i, {length}) p = Where (b, e, i) r = Range (zero, c, one) {move}
    f = Add (t, u) v = Reshape (x, all) y = Gather (v, f)"""
ALONG = {
    0: {"at": "one", "length": "h", "move": "t = Mul (p, w) u = Identity (r)"},
    1: {"at": "zero", "length": "w", "move": "d = Mul (r, w) u = Unsqueeze (d, down)"
        " t = Identity (p)"},
}  # fmt: skip


def flat(axis, sizes, places, **changed):
    return HEAD.format(sizes, places, FLAT.format(**{**ALONG[axis], **changed}))


@pytest.mark.parametrize("axis", ALONG)
@pytest.mark.parametrize(("sizes", "places"), [("n, m", "a, b"), ("3, 4", "2, 2")])
def test_elements_by_place_in_the_row_of_all(axis, sizes, places):
    before = HEAD.format(sizes, places, f"y = GatherElements <axis = {axis}> (x, i)")
    assert assert_proved(before, flat(axis, sizes, places)).assumptions == ()
    assert_open(before, flat(axis, sizes, places, **{"length": ALONG[1 - axis]["length"]}))
    assert_open(before, flat(1 - axis, sizes, places))
    assert_open(before, flat(axis, sizes, places).replace("Less", "LessOrEqual"))


def test_elements_of_a_row():
    before, after, wrapped = (
        HEAD.format("n", "a", nodes)
        for nodes in (
            "y = GatherElements (x, i)",
            "y = Gather (x, i)",
            "s = Shape (x) b = Less (i, zero) e = Add (i, s) p = Where (b, e, i) y = Gather (x, p)",
        )
    )
    assert_proved(before, wrapped)
    assert_open(wrapped, before)  # it may read one place further before the first one
    assert_open(before, wrapped.replace("Add", "Sub"))
    assert_open(wrapped, after)


def test_values_are_those_at_the_places():
    text = """g (float[n, 5] x, int64[1] k) => (float[n, m] y) {{
        v, i = TopK <axis = 1, largest = {}> (x, k) {} }}"""
    before = text.format(1, "y = Identity (v)")
    after = text.format(1, "y = GatherElements <axis = 1> (x, i)")
    assert assert_proved(before, after).assumptions == ()
    assert_proved(after, before)
    assert_open(before, after.replace("largest = 1", "largest = 0"))
    assert_open(before, after.replace("GatherElements <axis = 1>", "GatherElements <axis = 0>"))


def test_parts_of_elements_by_place():
    text = """g (int64[n, 4] i) => (float[n, 2] y)
        <float[3, 4] x = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}, int64 zero = {{0}},
        int64 one = {{1}}, int64[1] all = {{-1}}, int64[1] down = {{1}}, int64[1] two = {{2}},
        int64[1] four = {{4}}> {{ {} y = Slice (z, two, four, down) }}"""
    before = text.format("z = GatherElements (x, i)")
    nodes = FLAT.format(**ALONG[0]).replace("y = Gather (v, f)", "z = Gather (v, f)")
    assert_proved(before, text.format(nodes))
    assert_open(before, text.format(nodes.replace("t = Mul (p, w)", "t = Mul (p, h)")))
