import pytest
from proofs import model
from straightline.verification.proof import prove
from tables import table

LOOP = """g (float[T, 4] x, float[T, 4] z) => (float[N, 4] y)
    <int64 zero = {0}, int64[1] first = {0}, int64[1] second = {1}, bool t = {1}> {
    shape = Shape (x) n = Gather <axis = 0> (shape, zero)
    y = Loop (n, t) <body = b (int64 i, bool c) => (bool d, float[4] o) { d = Identity (c)
        v = Gather <axis = 0> (x, i) q = Unsqueeze (v, first)
        j = Unsqueeze (i, first) end = Add (j, second)
        p = Slice (x, first, end, first) r = Slice (z, first, end, first) OP }> }"""
MASKED = """g (float[T, 4] x, float[T, 4] z) => (float[N, 4] y)
    <int64 zero = {0}, int64 one = {1}, int64[1] first = {0}, int64[1] second = {1},
     float lowest = {-inf}, float nought = {0}, float highest = {inf}> {
    shape = Shape (x) n = Gather <axis = 0> (shape, zero) numbers = Range (zero, n, one)
    last = Unsqueeze (numbers, second) seen = LessOrEqual (numbers, last)
    turned = Transpose <perm = [1, 0]> (x) products = MatMul (x, turned)
    OP }"""
WEIGHTED = LOOP.replace(
    "OP",
    """w = Transpose <perm = [1, 0]> (p) s = MatMul (q, w) m = Softmax <axis = -1> (s)
        k = MatMul (m, r) o = Squeeze (k, first)""",
)
OF_WEIGHTS = MASKED.replace(
    "OP",
    """masked = Where (seen, products, lowest) weights = Softmax <axis = -1> (masked)
    y = MatMul (weights, z)""",
)
PLAIN = LOOP.replace(
    "OP",
    """w = Transpose <perm = [1, 0]> (p) s = MatMul (q, w)
        k = MatMul (s, r) o = Squeeze (k, first)""",
)
TRIANGLE = MASKED.replace("OP", "q = Trilu <upper = 0> (products) y = MatMul (q, z)")
LARGEST = LOOP.replace("OP", "o = ReduceMax <axes = [0], keepdims = 0> (p)")
OF_LARGEST = MASKED.replace(
    "OP",
    """rows = Unsqueeze (x, first) lifted = Unsqueeze (seen, behind)
    masked = Where (lifted, rows, lowest) y = ReduceMax <axes = [1], keepdims = 0> (masked)""",
).replace("nought = {0}", "nought = {0}, int64[1] behind = {2}")
PAIRS = [(WEIGHTED, OF_WEIGHTS), (PLAIN, TRIANGLE), (LARGEST, OF_LARGEST)]


def is_proved(before, after):
    proof = prove(model(before, 17), model(after, 17), equality="reals")
    assert "valid" not in proof.reason
    return proof.proved


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_operators_on_masked_rows_are_those_on_prefixes(before, after):
    assert is_proved(before, after)
    assert is_proved(after, before)


@table(
    (0, "LessOrEqual", "Less"),
    (0, "LessOrEqual", "GreaterOrEqual"),
    (0, "LessOrEqual (numbers, last)", "LessOrEqual (last, numbers)"),
    (0, "products, lowest", "products, nought"),
    (0, "products, lowest", "lowest, products"),
    (0, "products, lowest", "products, highest"),
    (0, "Softmax <axis = -1>", "Softmax <axis = 0>"),
    (0, "MatMul (weights, z)", "MatMul (weights, x)"),
    (1, "upper = 0", "upper = 1"),
    (1, "(products)", "(products, one)"),
    (2, "rows, lowest", "rows, nought"),
    (2, "ReduceMax", "ReduceMin"),
    (2, "LessOrEqual", "Less"),
)
def test_other_masks_let_other_rows_in(case, old, new):
    before, after = PAIRS[case]
    assert old in after
    assert not is_proved(before, after.replace(old, new))


def test_weights_of_no_row_are_not_weights():
    """Softmax of -inf alone is NaN, so that at least one row must be certain."""
    before = WEIGHTED.replace("end = Add (j, second)", "end = Identity (j)")
    assert not is_proved(before, OF_WEIGHTS.replace("LessOrEqual", "Less"))
