import dataclasses

import numpy as np
import pytest
from proofs import assert_open, assert_proved, model, over_reals
from spelled import require_same
from straightline.dev.benchmarks.loops.collection import cases
from straightline.facts.polynomial import Dimension
from straightline.verification.proof.equality.equality import Comparison
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.term_manager import Terms
from tables import table

TWO = """g (float[2] x, float[2] y, int64 n) => (float[2] p, float[2] q) {
    p, q = Loop (n, , x, y)
        <body = b (int64 i, bool c, float[2] s, float[2] r) => (bool c2, float[2] t, float[2] u)
        { c2 = Identity (c) t = Add (s, r) u = Neg (s) }> }"""
SWAPPED = """g (float[2] x, float[2] y, int64 n) => (float[2] p, float[2] q) {
    q, p = Loop (n, , y, x)
        <body = b (int64 i, bool c, float[2] r, float[2] s) => (bool c2, float[2] u, float[2] t)
        { c2 = Identity (c) t = Add (s, r) u = Neg (s) }> }"""
WITH_DEAD = """g (float[2] x, float[2] y, int64 n) => (float[2] p, float[2] q) {
    p, d, q = Loop (n, , x, x, y)
        <body = b (int64 i, bool c, float[2] s, float[2] o, float[2] r)
            => (bool c2, float[2] t, float[2] v, float[2] u)
        { c2 = Identity (c) t = Add (s, r) u = Neg (s) v = Tanh (o) }> }"""


@pytest.mark.parametrize("other", [SWAPPED, WITH_DEAD])
def test_states_may_stand_in_another_order_and_dead_ones_beside_them(other):
    require_same(model(TWO), model(other))
    assert_proved(other, TWO)


@table(
    ("(n, , y, x)", "(n, , x, y)"),
    ("q, p =", "p, q ="),
    ("u = Neg (s)", "u = Neg (r)"),
    ("t = Add (s, r)", "t = Add (r, r)"),
)
def test_states_that_begin_or_go_on_otherwise_are_not_equal(old, new):
    other = SWAPPED.replace(old, new)
    assert other != SWAPPED
    assert_open(TWO, other)


def test_conditions_that_end_loops_must_be_equal():
    ended = """g (float x, int64 n, float limit) => (float f) <bool yes = {1}> {
        f = Loop (n, yes, x) <body = b (int64 i, bool c, float s) => (bool go, float t)
            { t = Add (s, s) go = %s }> }"""
    below = ended % "Less (t, limit)"
    assert_proved(below, below.replace("t = Add (s, s)", "u = Identity (s) t = Add (u, s)"))
    assert_open(below, ended % "Less (s, limit)")
    assert_open(below, ended % "Identity (c)")
    assert_open(below, below.replace("(n, yes,", "(, yes,"))


STACKED = """g (float[n, 2] x, float[2] y) => (float[n, 2] z) {
    f, z = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] e) => (float[2] t, float[2] o)
        { t = Identity (s) %s }> (y, x) }"""


GROWING = """g (float[b, 1] x, float limit) => (float[p, q] y) <bool yes = {1}> {
    w, y0 = Loop (, yes, x, x) <body = step
        (int64 i, bool c, float[b, 1] s, float[b, k] o) => (bool go, float[b, 1] t, float[b, j] u)
        { n = Neg (s) t = Add (n, x) u = Concat <axis = 1> (o, t)
          m = ReduceMax <keepdims = 0> (t) go = Less (m, limit) }>
    y = Identity (y0) }"""


def test_states_that_grow_until_a_condition_ends_the_loop():
    other = GROWING.replace("n = Neg (s) t = Add (n, x)", "t = Sub (x, s)")
    assert_proved(GROWING, other)
    for old, new in [
        ("(o, t)", "(t, o)"),
        ("(o, t)", "(o, s)"),
        ("Less (m, limit)", "Less (limit, m)"),
        ("yes, x, x", "yes, limit_, x"),
        ("y = Identity (y0)", "y = Transpose (y0)"),
        ("y = Identity (y0)", "z = Shape (y0) r = Gather <axis = 0> (z, at) y = Reshape (y0, r)"),
        ("y = Identity (y0)", "y = Reshape (y0, flat)"),
    ]:
        wrong = (
            other.replace(old, new)
            .replace("limit_,", "n0,")
            .replace(
                "w, y0 =",
                "n0 = Neg (x) at = Constant <value = int64[2] {1, 0}> () flat = "
                "Constant <value = int64[2] {1, -1}> () w, y0 =",
            )
        )
        assert wrong != other
        assert_open(GROWING, wrong)
    # A view in a shape of the same number of elements is another tensor.
    view = "z = Shape (y0) r = Gather <axis = 0> (z, at) y = Reshape (y0, r)"
    start = "at = Constant <value = int64[2] {1, 0}> () w, y0 ="
    viewed, turned = (
        model.replace("w, y0 =", start).replace("y = Identity (y0)", form)
        for model, form in ((GROWING, view), (other, "y = Transpose (y0)"))
    )
    assert_open(viewed, turned)


def test_rows_are_what_has_the_same_elements_on_every_iteration():
    rows = STACKED % "o = Mul (e, s)"
    require_same(
        model(rows), model("g (float[n, 2] x, float[2] y) => (float[n, 2] z) { z = Mul (x, y) }")
    )
    assert_open(rows, "g (float[n, 2] x, float[2] y) => (float[n, 2] z) { z = Add (x, y) }")
    assert_open(rows, "g (float[n, 2] x, float[2] y) => (float[n, 2] z) { z = Mul (x, x) }")


LAGGED = """g (float[n, 2] x, float[1, 2] y) => (float[n, 2] z) <int64[1] zero = {0}> {
    first = Squeeze (y, zero)
    f, z = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] e) => (float[2] t, float[2] o)
        { t = Neg (e) o = Identity (%s) }> (first, x) }"""


def test_a_state_is_what_the_iteration_before_made():
    shifted = """g (float[n, 2] x, float[1, 2] y) => (float[n, 2] z)
        <int64[1] zero = {0}, int64[1] last = {-1}> {
        made = Neg (%s)
        row = Concat <axis = 0> (y, made)
        z = Slice (row, zero, last, zero) }"""
    require_same(model(LAGGED % "s"), model(shifted % "x"))
    assert_open(LAGGED % "t", shifted % "x")
    assert_open(
        LAGGED % "s",
        (shifted % "x")
        .replace("(row, zero, last", "(row, one, end")
        .replace("last = {-1}", "one = {1}, int64[1] end = {9223372036854775807}"),
    )
    assert_open(LAGGED % "s", (shifted % "x").replace("Neg", "Abs"))
    assert_open(
        LAGGED % "s",
        (shifted % "x").replace("(y, made)", "(v, made)").replace("row =", "v = Neg (y) row ="),
    )


@pytest.mark.parametrize("place", [0, 1, 1500])
def test_a_state_at_a_known_place_of_two_loops(place):
    """By induction, not by writing out the iterations before it; the first one is initial."""
    read_late = """g (float[2000, 3] x, float[3] h) => (float[3] y) <int64 place = {%d}> {
        last, all = Scan <num_scan_inputs = 1, body = b (float[3] s, float[3] e)
            => (float[3] t, float[3] o) { k = Sin (s) t = %s o = Identity (s) }> (h, x)
        y = Gather (all, place) }"""
    assert_proved(read_late % (place, "Add (k, e)"), read_late % (place, "Add (e, k)"))
    other = read_late % (place, "Sub (e, k)")
    (assert_open if place else assert_proved)(read_late % (place, "Add (k, e)"), other)


def test_two_comparisons_bind_variables_of_their_own():
    """A result that is cached for one variable may rest on its limit."""
    terms = Terms(Budget())
    short, long = Dimension.constant(2), Dimension.constant(9)
    one = Comparison(terms).induction.symbol(short)
    other = Comparison(terms).induction.symbol(long)
    assert one != other
    assert terms.limits[one.only_symbol] == short and terms.limits[other.only_symbol] == long
    table = terms.constant(np.array([5, 5, 1, 2, 3, 4, 9, 9, 9]))
    assert terms.numbers(terms.narrow(table, 0, one, 1)) == [5]
    assert terms.numbers(terms.narrow(table, 0, other, 1)) is None


@table(
    ("decoder_layers", "masked2 = Where (seen", "b = Less (numbers, last) masked2 = Where (b"),
    ("gru_torch_last_of_list", "linear_before_reset = 1", "linear_before_reset = 0"),
)
def test_rows_of_rows_and_the_last_of_a_known_number(name, old, new):
    """Layers of attention, and 100 states of which the last one alone is read."""
    (case,) = cases(name)
    sizes = {**case.sizes, "T": 100 if "last" in name else 40}
    loop, best = case.original(sizes), case.by_hand(sizes)
    assert over_reals(loop, best)
    other = dataclasses.replace(case, best=case.best.replace(old, new)).by_hand(sizes)
    assert other != best
    assert not over_reals(loop, other)
