"""Vectors that are padded where a size is 0, which a Reshape needs elsewhere, too."""

from proofs import assert_open, assert_proved
from tables import table

GRAPH = """g (float[R, 16] x, float[B, S] u, bool t) => (float[K, L, M] y)
    <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] all = {{-1}}, int64[1] c = {{16}},
     int64[1] two = {{2}}, float[1] pad = {{0}}> {{
        b = Shape <end = 1> (u) t2 = Shape <start = 1> (u) s = Concat <axis = 0> (b, t2, c)
        wide = Concat <axis = 0> (b, t2, two, two) {} e = Unsqueeze (x, zero) y = Exp (e) }}"""
PADDED = """is = Equal (s, zero) ones = Where (is, one, s)
    n = ReduceProd (ones, zero) m = ReduceProd (s, zero) none = Equal (m, zero)
    miss = Where (none, n, zero) fill = Expand (pad, miss) flat = Reshape (x, all)
    whole = Concat <axis = 0> (flat, fill) full = Reshape (whole, ones)"""


def test_so_many_elements_of_such_sizes():
    assert_proved(GRAPH.format("r = Reshape <allowzero = 1> (x, s)"), GRAPH.format(PADDED))


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
    assert_open(GRAPH.format(nodes), GRAPH.format(PADDED), "may fail")


def test_another_length_of_the_padding():
    before = GRAPH.format("r = Reshape <allowzero = 1> (x, s)")
    for old, new in (("Where (none, n, zero)", "Where (none, n, one)"), ("(m, zero)", "(m, c)")):
        assert_open(before, GRAPH.format(PADDED.replace(old, new)), "may fail")
