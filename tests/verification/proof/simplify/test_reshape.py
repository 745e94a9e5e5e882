import itertools

import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from sessions import outputs
from straightline.reference import run
from tables import table

TEXT = "g (float[2, 3, 4] x) => (float[a, b, c] z) { %s }"


@pytest.mark.parametrize(
    "perms", list(itertools.product([(0, 1, 2), (2, 0, 1), (1, 2, 0), (0, 2, 1)], repeat=2))
)
def test_transposes_of_transposes_are_one(perms):
    one, other = perms
    both = [one[axis] for axis in other]
    twice = TEXT % (
        f"y = Transpose <perm = {list(one)}> (x) z = Transpose <perm = {list(other)}> (y)"
    )
    assert_proved(twice, TEXT % f"z = Transpose <perm = {both}> (x)")
    assert_open(twice, TEXT % f"z = Transpose <perm = {[both[1], both[0], both[2]]}> (x)")


def test_axes_of_length_1_may_stand_anywhere():
    text = "g (float[2, 1, 3] x) => (float[a, b, c] z) { %s }"
    assert_proved(
        text % "z = Transpose <perm = [1, 0, 2]> (x)",
        text % "s = Constant <value_ints = [1, 2, 3]> () z = Reshape (x, s)",
    )
    assert_open(
        text % "z = Transpose <perm = [1, 2, 0]> (x)",
        text % "s = Constant <value_ints = [1, 3, 2]> () z = Reshape (x, s)",
    )


def test_reshapes_count_by_what_comes_out():
    assert_proved(
        TEXT % "s = Constant <value_ints = [-1]> () y = Reshape (x, s) "
        "t = Constant <value_ints = [4, 3, 2]> () z = Reshape (y, t)",
        TEXT % "t = Constant <value_ints = [4, 0, 2]> () z = Reshape (x, t)",
    )
    assert_open(
        TEXT % "t = Constant <value_ints = [4, 3, 2]> () z = Reshape (x, t)",
        TEXT % "t = Constant <value_ints = [4, 2, 3]> () z = Reshape (x, t)",
    )


def test_casts_to_the_type_that_is_there_are_none():
    text = "g (float[2] x) => (float[2] z) { %s }"
    assert_proved(text % "z = Cast <to = 1> (x)", text % "z = Identity (x)")
    assert_proved(text % "z = CastLike (x, x)", text % "z = Identity (x)")
    assert_open(text % "y = Cast <to = 10> (x) z = Cast <to = 1> (y)", text % "z = Identity (x)")
    assert_proved(text % "y = Cast <to = 11> (x) z = Cast <to = 1> (y)", text % "z = Identity (x)")


def test_an_expand_that_stretches_nothing_is_none():
    text = (
        "g (float[2, 3] x) => (float[a, b] z) { s = Constant <value_ints = [%s]> () z = %s (x, s) }"
    )
    assert_proved(
        text % ("1, 3", "Expand"), "g (float[2, 3] x) => (float[a, b] z) { z = Identity (x) }"
    )
    assert_proved(text % ("3", "Expand"), text % ("2, 1", "Expand"))
    assert_open(text % ("2, 2, 3", "Expand"), text % ("1, 2, 3", "Reshape"))


@pytest.mark.parametrize(("wanted", "proved"), [(2, True), (1, True), (3, False)])
def test_an_expand_that_fails_is_no_part_of_a_proof(wanted, proved):
    text = "g (float[2] x) => (float[n] z) <int64[1] s = {%d}> { z = %s }"
    before, after = text % (wanted, "Identity (x)"), text % (wanted, "Expand (x, s)")
    (assert_proved if proved else assert_open)(before, after)


def test_an_axis_that_the_operand_or_the_target_stretches():
    """Only run time determines which of them does, so that no vector of sizes says it."""
    text = "g (float[m, 1] x, int64[2] t, float[n, k] w) => (float[a, b] z) { %s }"
    one = text % "s = Shape (w) e = Expand (x, s) z = Neg (e)"
    assert_proved(one, text % "s = Shape (w) e = Expand (x, s) i = Identity (e) z = Neg (i)")
    assert_open(one, text % "s = Shape (w) z = Expand (x, s)")
    assert_open(one, text % "e = Expand (x, t) z = Neg (e)")
    assert_open(text % "z = Expand (x, t)", text % "s = Shape (w) z = Expand (x, s)")


def test_a_reshape_that_fails_is_no_part_of_a_proof():
    text = """g (float[2] x) => (float[a] z) <float[2] c = {1, 2}, int64[1] s = {%d}> {
        y = Reshape (c, s) w = Neg (y) z = Identity (x) }"""
    assert_proved(text % 2, text % 2)
    assert_open(text % 3, (text % 3).replace("Neg", "Exp"))


def test_sizes_in_a_shape_that_does_not_hold_them_are_left_open():
    text = """g (float[n, 2] x) => (int64[a] z) { s = Shape (x) c = Cast <to = 9> (s)
        z = If (c) <then_branch = t () => (int64[2] a) { a = Identity (s) },
            else_branch = e () => (int64[2] b) { b = Neg (s) }> }"""
    assert_open(text, text.replace("Neg (s)", "Abs (s)"), "a Reshape fails")


@pytest.mark.parametrize("name", ["Less", "LessOrEqual", "Equal"])
def test_one_truth_value_is_that_of_scalars(name):
    text = """g (float[1] a, float[1, 1] b, float[N] x) => (float[N] z) <int64[2] both = {0, 1},
        int64[1] first = {0}> { %s z = If (c) <then_branch = t () => (float[N] p) { p = Exp (x) },
            else_branch = e () => (float[N] q) { q = Identity (x) }> }"""
    one = text % f"d = {name} (a, b) c = Squeeze (d, both)"
    scalars = "f = Squeeze (a, first) g = Squeeze (b, both) c = {} ({}, {})"
    assert_proved(one, text % scalars.format(name, "f", "g"))
    if name != "Equal":
        assert_open(one, text % scalars.format(name, "g", "f"))


GRAPH = """g (float[R, 16] x, float[B, S] u) => (float[K, L, M] y)
    <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}, int64[1] all = {{-1}},
     int64[1] c = {{16}}, int64[1] far = {{9223372036854775807}}, float[1] pad = {{0}}> {{
        b = Shape <end = 1> (u) t = Shape <start = 1> (u)
        s = Concat <axis = 0> (b, t, c) turned = Concat <axis = 0> (t, b, c)
        rest = Concat <axis = 0> (b, t, all) {} }}"""
BEFORE = GRAPH.format("y = Reshape <allowzero = 1> (x, s)")
LONG = """is = Equal (s, zero) ones = Where (is, one, s)
    n = ReduceProd (ones, zero) m = ReduceProd (s, zero) none = Equal (m, zero)
    miss = Where (none, n, zero) fill = Expand (pad, miss) flat = Reshape (x, all)
    whole = Concat <axis = 0> (flat, fill) full = Reshape (whole, ones)
    open = Less (s, zero) ends = Where (open, far, s) starts = Sub (s, s)
    y = Slice (full, starts, ends)"""


@table(
    ("", ""),
    ("ones = Where (is, one, s)", "ones = Max (one, s)"),
    ("ones = Where (is, one, s)", "ones = Where (is, two, s)"),
    ("is = Equal (s, zero)", "is = Equal (zero, s)"),
    ("Where (open, far, s)", "Identity (s)"),
)
def test_padded_reshaped_and_cut(old, new):
    assert_proved(BEFORE, GRAPH.format(LONG.replace(old, new)))


def test_minus_one_beside_sizes_by_which_the_original_divides():
    before = GRAPH.format("y = Reshape <allowzero = 1> (x, rest)")
    assert_proved(before, GRAPH.format(LONG.replace("(s", "(rest").replace(", s)", ", rest)")))


@table(
    ("Where (is, one, s)", "Where (is, one, turned)"),
    ("is = Equal (s, zero)", "is = Equal (s, one)"),
    ("miss = Where (none, n, zero)", "miss = Where (none, zero, n)"),
    ("miss = Where (none, n, zero)", "miss = Where (none, n, one)"),
    ("none = Equal (m, zero)", "none = Equal (m, c)"),
    ("starts = Sub (s, s)", "starts = Div (ones, ones)"),
    ("Where (open, far, s)", "Identity (ones)"),
    ("Where (open, far, s)", "Identity (turned)"),
    ("Concat <axis = 0> (flat, fill)", "Concat <axis = 0> (flat, flat, fill)"),
    ("flat = Reshape (x, all)", "e = Exp (x) flat = Reshape (e, all)"),
)
def test_other_paddings_and_cuts(old, new):
    assert old in LONG
    assert_open(BEFORE, GRAPH.format(LONG.replace(old, new)))


@pytest.mark.parametrize("runtime", [run, outputs])
def test_all_sizes_of_zero_and_more(runtime):
    for b, s in itertools.product((0, 1, 2), (0, 1, 3)):
        x = np.arange(b * s * 16, dtype=np.float32).reshape(b * s, 16)
        feeds = {"x": x, "u": np.zeros((b, s), np.float32)}
        one, other = (runtime(model(t), feeds)[0] for t in (BEFORE, GRAPH.format(LONG)))
        assert one.shape == other.shape == (b, s, 16)
        np.testing.assert_array_equal(one, other)


UNCUT = """g (float[R, 16] x, float[B, S] u, bool t) => (float[K, L, M] y)
    <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] all = {{-1}}, int64[1] c = {{16}},
     int64[1] two = {{2}}, float[1] pad = {{0}}> {{
        b = Shape <end = 1> (u) t2 = Shape <start = 1> (u) s = Concat <axis = 0> (b, t2, c)
        wide = Concat <axis = 0> (b, t2, two, two) {} e = Unsqueeze (x, zero) y = Exp (e) }}"""
PADS = """is = Equal (s, zero) ones = Where (is, one, s)
    n = ReduceProd (ones, zero) m = ReduceProd (s, zero) none = Equal (m, zero)
    miss = Where (none, n, zero) fill = Expand (pad, miss) flat = Reshape (x, all)
    whole = Concat <axis = 0> (flat, fill) full = Reshape (whole, ones)"""


def test_so_many_elements_of_such_sizes():
    assert_proved(UNCUT.format("r = Reshape <allowzero = 1> (x, s)"), UNCUT.format(PADS))


@table(
    "",
    "r = Reshape (x, s)",  # in which a 0 copies an axis
    "r = Reshape <allowzero = 1> (x, wide)",
    "a = Concat <axis = 0> (x, x) r = Reshape <allowzero = 1> (a, s)",
    """r = If (t) <then_branch = f () => (float[P, Q, O] p) {
            p = Reshape <allowzero = 1> (x, s) },
            else_branch = h () => (float[U, V, W] o) { o = Unsqueeze (x, zero) }>""",
)
def test_elements_of_which_the_original_does_not_ask_that(nodes):
    assert_open(UNCUT.format(nodes), UNCUT.format(PADS), "may fail")


def test_another_length_of_the_padding():
    before = UNCUT.format("r = Reshape <allowzero = 1> (x, s)")
    for old, new in (("Where (none, n, zero)", "Where (none, n, one)"), ("(m, zero)", "(m, c)")):
        assert_open(before, UNCUT.format(PADS.replace(old, new)), "may fail")
