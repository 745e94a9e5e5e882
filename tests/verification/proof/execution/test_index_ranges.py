import pytest
from proofs import assert_open, assert_proved, model
from straightline.verification.proof import prove
from tables import table

TEXT = """g (float[n, 4] x, float[n, 4] z, float[m, 4] o, int64[k, 2] i, int64[k, 1] j,
    float[k, 2] u, float[k, 4] r) => (float[a, b] y) <int64[1] one = {1}, int64[1] two = {2}> {
    s = Slice (i, one, two) t = Slice (j, one, two) f = Slice (u, one, two) %s %s }"""
BY_ELEMENTS = "y = ScatterElements (x, i, u)"
BY_TUPLES = "y = ScatterND (x, j, r)"
READERS = {
    "e = GatherElements (x, s)": BY_ELEMENTS,
    "e = GatherElements (z, s)": BY_ELEMENTS,  # an axis of the same size
    "e = GatherElements (x, i)": BY_ELEMENTS,
    "e = ScatterElements (z, s, f)": BY_ELEMENTS,
    "e = Gather (z, s)": BY_ELEMENTS,
    "e = GatherND (x, t)": BY_TUPLES,
    "e = GatherND (z, j)": BY_TUPLES,
    "e = Gather (z, t)": BY_TUPLES,
}
OTHERS = {
    "e = GatherElements (o, s)": BY_ELEMENTS,
    "e = GatherElements <axis = 1> (x, s)": BY_ELEMENTS,
    "e = GatherElements (x, t)": BY_ELEMENTS,
    "w = Transpose (x) e = GatherElements <axis = 1> (w, i)": BY_ELEMENTS,  # more rows than w has
    "e = ScatterElements (z, s, u)": BY_ELEMENTS,  # other updates than indices
    "e = GatherND (o, t)": BY_TUPLES,
    "e = GatherND (x, s)": BY_TUPLES,
    "e = GatherND (z, t)": "y = GatherND (x, j)",  # whose rows may be empty, as far as this tells
    "n = Neg (j) e = GatherND (x, n)": BY_TUPLES,
}


@pytest.mark.parametrize("reader", READERS)
def test_some_of_the_indices(reader):
    assert_proved(TEXT % (READERS[reader], ""), TEXT % (READERS[reader], reader))


@pytest.mark.parametrize("reader", OTHERS)
def test_other_indices(reader):
    assert_open(TEXT % (OTHERS[reader], ""), TEXT % (OTHERS[reader], reader), "may fail")


@table(("0, 2, 1, 1", True), ("-2, -3", True), ("2, 0", False), ("0, 3", False))
def test_each_column_of_constant_tuples_has_its_own_axis(numbers, fits):
    text = (
        """g (float[2, 3, 4] x) => (float[2, 3, 4] y) <int64[%d, 2] i = {%s}> { %s y = Neg (x) }"""
    )
    models = [
        text % (numbers.count(",") // 2 + 1, numbers, node) for node in ("", "z = GatherND (x, i)")
    ]
    if fits:
        assert_proved(*models)
    else:
        assert_open(*models, "out of range")


@table(
    ("", ""),
    ("(k, v)", "(k, r)"),
    ("ReduceMax", "ReduceMin"),
    ("(x, k, most, k)", "(x, k1, most, k)"),
    ("(e, v)", "(c, v)"),
)
def test_indices_up_to_the_largest_of_them(old, new):
    """Element v of a row and the rows before the largest v."""
    prefixes = """g (float[n, 2] x) => (float[m, 2] y) <int64 zero = {0}, int64 one = {1},
        int64[1] k = {0}, bool go = {1}> { s = Shape (x) n = Gather <axis = 0> (s, zero)
        y = Loop (n, go) <body = b (int64 i, bool c) => (bool d, float[2] t) { d = Identity (c)
            j = Add (i, one) e = Unsqueeze (j, k) p = Slice (x, k, e, k)
            t = ReduceSum <keepdims = 0> (p, k) }> }"""
    up_to_most = """g (float[n, 2] x) => (float[m, 2] y) <int64 zero = {0}, int64 one = {1},
        int64[1] k = {0}, int64[1] k1 = {1}, float[1, 2] first = {0, 0}> {
        s = Shape <end = 1> (x) n = Squeeze (s, k) r = Range (zero, n, one) j = Add (r, one)
        v = Min (j, s) q = Concat <axis = 0> (k, v) most = ReduceMax <axes = [0], keepdims = 1> (q)
        p = Slice (x, k, most, k) c = CumSum (p, zero) e = Concat <axis = 0> (first, c)
        y = Gather <axis = 0> (e, v) }"""
    one, other = model(prefixes, 17), model(up_to_most.replace(old, new, 1), 17)
    proof = prove(one, other, equality="reals")
    assert proof.proved is (not old), proof.reason
