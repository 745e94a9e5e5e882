"""A state to which each iteration adds is a place of a CumSum."""

import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from sessions import open_session
from spelled import same_bits
from straightline import reference

FINAL = """g (float[n, 2] x, float[1, 2] a) => (float[2] f) <int64[1] zero = {0}> {
    first = Squeeze (a, zero)
    f = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] e) => (float[2] t)
        { t = Add (s, e) }> (first, x) }"""
LAST = """g (float[n, 2] x, float[1, 2] a) => (float[2] f) <int64 axis = {0}, int64 at = {-1}> {
    values = Concat <axis = 0> (a, x)
    sums = CumSum (values, axis)
    f = Gather (sums, at) }"""


def assert_equal_and_proved(before, after):
    """Proved, and so it is in runs of no row, of one and of many."""
    assert_proved(before, after)
    assert_proved(after, before)
    for rows in (0, 1, 7):
        rng = np.random.default_rng(rows)
        feeds = {
            "x": rng.normal(size=(rows, 2)).astype(np.float32),
            "a": rng.normal(size=(1, 2)).astype(np.float32),
        }
        assert same_bits(*(reference.run(model(text), feeds) for text in (before, after)))


@pytest.mark.parametrize("update", ["Add (s, e)", "Add (e, s)"])
def test_the_sum_of_rows_is_the_last_place_of_a_cumsum(update):
    assert_equal_and_proved(FINAL.replace("Add (s, e)", update), LAST)


@pytest.mark.parametrize("update", ["Sub (s, e)", "Mul (s, e)", "Add (s, s)", "Add (e, e)"])
def test_states_that_are_made_otherwise_are_no_sums(update):
    assert_open(FINAL.replace("Add (s, e)", update), LAST)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("CumSum (", "CumSum <reverse = 1> ("),
        ("CumSum (", "CumSum <exclusive = 1> ("),
        ("axis = {0}", "axis = {1}"),
        ("at = {-1}", "at = {-2}"),
        ("(a, x)", "(x, a)"),
        ("values = Concat <axis = 0> (a, x)", "b = Neg (a) values = Concat <axis = 0> (b, x)"),
        ("values = Concat <axis = 0> (a, x)", "y = Neg (x) values = Concat <axis = 0> (a, y)"),
        ("values = Concat <axis = 0> (a, x)", "values = Concat <axis = 0> (a, x, a)"),
    ],
)
def test_other_places_of_other_cumsums_are_not_equal(old, new):
    other = LAST.replace(old, new)
    assert other != LAST
    assert_open(FINAL, other)


ROWS = """g (float[n, 2] x, float[1, 2] a) => (float[n, 2] all) <int64[1] zero = {0}> {
    first = Squeeze (a, zero)
    f, all = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] e)
        => (float[2] t, float[2] o) { t = Add (s, e) o = Identity (%s) }> (first, x) }"""
PLACES = """g (float[n, 2] x, float[1, 2] a) => (float[n, 2] all)
    <int64 axis = {0}, int64[1] zero = {0}, int64[1] one = {1}, int64[1] last = {-1},
     int64[1] end = {9223372036854775807}> {
    values = Concat <axis = 0> (a, x)
    sums = CumSum (values, axis)
    all = Slice (sums, %s, zero) }"""


@pytest.mark.parametrize(("row", "places"), [("s", "zero, last"), ("t", "one, end")])
def test_sums_before_and_after_each_iteration_are_the_places_of_a_cumsum(row, places):
    assert_equal_and_proved(ROWS % row, PLACES % places)


@pytest.mark.parametrize(("row", "places"), [("t", "zero, last"), ("s", "one, end")])
def test_sums_of_another_iteration_are_not_equal(row, places):
    assert_open(ROWS % row, PLACES % places)


def test_an_add_of_something_else_is_not_the_next_place():
    double = (ROWS % "t").replace("o = Identity (t)", "o = Add (s, s)")
    assert_open(double, PLACES % "one, end")


def test_an_add_to_another_state_is_not_the_next_place():
    two = """g (float[n, 2] x, float[1, 2] a) => (float[n, 2] all) <int64[1] zero = {0}> {
        first = Squeeze (a, zero)
        f, h, all = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] r, float[2] e)
            => (float[2] t, float[2] u, float[2] o)
            { t = Add (s, e) u = Neg (r) o = Add (%s, e) }> (first, first, x) }"""
    assert_proved(two % "s", PLACES % "one, end")
    assert_open(two % "r", PLACES % "one, end")


UNROLLED = """g (float[2] a, float[2] x, float[2] y) => (float[2] f) { %s }"""
ADDED = UNROLLED % "s = Add (a, x) t = Add (s, y) f = Add (t, x)"
SUMMED = """g (float[2] a, float[2] x, float[2] y) => (float[2] f)
    <int64 axis = {0}, int64 at = {3}, int64[1] zero = {0}> {
    p = Unsqueeze (a, zero) q = Unsqueeze (x, zero) r = Unsqueeze (y, zero)
    values = Concat <axis = 0> (p, q, r, q)
    sums = CumSum (values, axis)
    f = Gather (sums, at) }"""


@pytest.mark.parametrize("last", ["f = Add (t, x)", "f = Add (x, t)"])
def test_what_is_added_one_after_the_other_is_a_place_of_a_cumsum(last):
    before = ADDED.replace("f = Add (t, x)", last)
    assert_proved(before, SUMMED)
    assert_proved(SUMMED, before)
    feeds = {name: np.array([0.1, 3e7], np.float32) * k for k, name in enumerate("axy", 1)}
    assert same_bits(*(reference.run(model(text), feeds) for text in (before, SUMMED)))


@pytest.mark.parametrize(
    "nodes",
    [
        "s = Add (x, y) t = Add (s, x) f = Add (a, t)",
        "s = Add (a, y) t = Add (s, x) f = Add (t, x)",
        "s = Add (a, x) t = Add (s, y) f = Sub (t, x)",
        "s = Add (a, x) f = Add (s, y)",
    ],
)
def test_what_is_added_in_another_order_is_not(nodes):
    assert_open(UNROLLED % nodes, SUMMED)


TURNED = """g (float[n, m, k] x) => (float[n, m, k] y) <int64 a = {%d}> {
    t = Transpose <perm = [2, 0, 1]> (x)
    s = CumSum %s (t, a)
    y = Transpose <perm = [1, 2, 0]> (s) }"""
STRAIGHT = "g (float[n, m, k] x) => (float[n, m, k] y) <int64 a = {%d}> { y = CumSum %s (x, a) }"


@pytest.mark.parametrize("flags", ["", "<exclusive = 1>", "<reverse = 1>"])
@pytest.mark.parametrize(("axis", "turned"), [(0, 1), (1, 2), (2, 0), (-1, -3)])
def test_sums_along_any_axis_are_those_of_the_transposed_values(axis, turned, flags):
    before = STRAIGHT % (axis, flags)
    assert_proved(before, TURNED % (turned, flags))
    assert_open(before, TURNED % ((turned + 1) % 3, flags))
    assert_open(before, TURNED.replace("perm = [1, 2, 0]", "perm = [0, 2, 1]") % (turned, flags))


SCANNED = """g (float[{sizes}] x) => (float[{sizes}] y) <float start = {{{start}}}> {{
    s = Shape <start = 1> (x)
    first = Expand (start, s)
    f, y = Scan <num_scan_inputs = 1, scan_input_directions = [{back}],
        scan_output_directions = [{back}], body = b (float[w] s, float[w] e)
        => (float[w] t, float[w] o) {{ t = Add (s, e) o = Identity ({row}) }}> (first, x) }}"""
DIRECT = """g (float[{sizes}] x) => (float[{sizes}] y) <int64 axis = {{0}}> {{
    y = CumSum <exclusive = {exclusive}, reverse = {back}> (x, axis) }}"""


@pytest.mark.parametrize("back", [0, 1])
@pytest.mark.parametrize("sizes", ["n, w", "3, w"])
def test_a_loop_that_adds_to_a_neutral_number(back, sizes):
    options = {"sizes": sizes, "back": back}
    loop = SCANNED.format(start="-0.0", row="t", **options)
    total = DIRECT.format(exclusive=0, **options)
    assert assert_proved(total, loop).assumptions == ()
    assert_open(total, SCANNED.format(start="0.0", row="t", **options))  # -0 + 0 is 0
    assert_open(total, SCANNED.format(start="-0.0", row="t", sizes=sizes, back=1 - back))
    assert_open(DIRECT.format(exclusive=1, **options), loop)


@pytest.mark.parametrize("back", [0, 1])
def test_a_loop_that_gives_the_sum_before_each_element(back):
    options = {"sizes": "n, w", "back": back}
    loop = SCANNED.format(start="0.0", row="s", **options)
    assert_proved(DIRECT.format(exclusive=1, **options), loop)
    assert_open(DIRECT.format(exclusive=1, **options), loop.replace("{0.0}", "{-0.0}"))
    assert_open(DIRECT.format(exclusive=0, **options), loop)


@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("start", ["0.0", "-0.0"])
def test_runtimes_begin_with_that_number(exclusive, start):
    options = {"sizes": "3, 2", "back": 0}
    row = "s" if exclusive else "t"
    texts = (
        DIRECT.format(exclusive=exclusive, **options),
        SCANNED.format(start=start, row=row, **options),
    )
    feeds = {"x": np.full((3, 2), -0.0, np.float32)}
    sums = [open_session(model(text)).run(None, feeds)[0] for text in texts]
    same = sums[0].tobytes() == sums[1].tobytes()
    assert same is (start == ("0.0" if exclusive else "-0.0"))
