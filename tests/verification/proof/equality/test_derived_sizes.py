from proofs import assert_open, assert_proved
from tables import table

LOOP = """g (float[n, 3] x) => (int64 y) <int64 zero = {0}, int64 one = {1}, int64[1] k = {0},
    float bound = {0}, bool yes = {1}> { s = Shape (x) n = Gather (s, zero)
    y = Loop <body = b (int64 i, bool go, int64 a) => (bool stay, int64 c) {
        stay = Identity (go) e = Gather (x, i) m = ReduceMax <keepdims = 0> (e, k)
        g = Greater (m, bound) j = Add (a, one) c = Where (g, j, a) }> (n, yes, zero) }"""
COUNT = """g (float[n, 3] x) => (int64 y) <int64 zero = {0}, int64 one = {1}, int64[1] k = {0},
    int64[1] k1 = {1}, float bound = {0}> { m = ReduceMax <keepdims = 0> (x, k1)
    g = Greater (m, bound) c = Where (g, one, zero) y = ReduceSum <keepdims = 0> (c, k) }"""


def test_a_count_of_what_a_condition_lets_in():
    assert_proved(LOOP, COUNT)
    assert_proved(COUNT, LOOP)


@table(
    ("Greater (m, bound)", "Less (m, bound)"),
    ("bound = {0}", "bound = {1}"),
    ("ReduceMax", "ReduceMin"),
    ("one = {1}", "one = {2}"),
    ("(g, one, zero)", "(g, zero, one)"),
    ("ReduceSum", "ReduceMax"),
)
def test_other_counts(old, new):
    assert old in COUNT
    assert_open(LOOP, COUNT.replace(old, new))
