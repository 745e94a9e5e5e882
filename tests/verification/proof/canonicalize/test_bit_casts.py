import pytest
from proofs import assert_open, assert_proved
from tables import table

GRAPH = "g (float[3, 4] x, float[3, 4] z, bool[3, 4] c) => (int32[3, 4] y) {{ {} }}"
CAST = " y = BitCast <to = 6> (u)"
MANY = "p = Tanh (x) q = Sin (p) r = Cos (q) s = Exp (r) k = Sin (s) w = Where (c, u, k) {}"


@table(
    ("t = Transpose (x) v = Transpose (t) u = Identity (v)", "u = Identity (x)"),
    ("n = Not (c) u = Where (n, x, z)", "u = Where (c, z, x)"),
)
def test_bits_of_moved_floats_are_equal(one, other):
    assert_proved(GRAPH.format(one + CAST), GRAPH.format(other + CAST), 26)


def test_bits_of_floats_that_the_same_nodes_compute_are_equal():
    nodes = "u = Add (x, z)" + CAST
    assert_proved(GRAPH.format(nodes), GRAPH.format(nodes.replace("u", "v")), 26)


@table(
    ("u = Add (x, z)", "u = Add (z, x)"),  # the first of two NaN stays
    ("n = Neg (z) u = Add (x, n)", "u = Sub (x, z)"),
    ("m = Mul (x, x) u = Abs (m)", "u = Mul (x, x)"),
    ("n = Neg (x) u = Mul (n, n)", "u = Mul (x, x)"),
)
@pytest.mark.parametrize("wrap", ["{}", "w = Where (c, u, x) {}", MANY])
def test_bits_of_nan_may_differ(one, other, wrap):
    cast = wrap.format(CAST.replace("(u)", "(w)") if "w = " in wrap else CAST)
    assert_open(GRAPH.format(one + cast), GRAPH.format(other + cast), opset=26)


def test_integers_are_read_by_their_bits():
    graph = "g (int32[3] x, int32[3] z) => (float[3] y) {{ u = Add ({}) y = BitCast <to = 1> (u) }}"
    assert_proved(graph.format("x, z"), graph.format("z, x"), 26)
