import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from sessions import by_reference, open_session
from straightline import Error
from tables import table

GIVEN = """g (float[N, 4, T, 6] x, float[U, T] u) => (float[A, B, C] y)
    <int64[1] rest = {-1}, int64[1] four = {4}, int64[1] six = {6}, int64[1] one = {1},
     int64[3] copied = {0, -1, 24}, int64[4] tall = {0, 1, -1, 24}> {
        n = Shape <end = 1> (x) t = Shape <start = 2, end = 3> (x) k = Shape <end = 1> (u)
        %s }"""
BEFORE = "s = Concat <axis = 0> (n, t, rest) y = Reshape <allowzero = 1> (x, s)"


@table(
    "w = Concat <axis = 0> (n, one, t, rest) v = Reshape (x, w) y = Squeeze (v, one)",
    "w = Mul (t, one) s = Concat <axis = 0> (n, w, rest) y = Reshape <allowzero = 1> (x, s)",
)
def test_sizes_by_which_the_original_divides_are_not_zero(after):
    assert_proved(GIVEN % BEFORE, GIVEN % after)


@table(
    # The original divides by another size, or by none.
    ("y = Reshape (x, copied)",
     "s = Concat <axis = 0> (n, t, rest) v = Reshape (x, s) y = Reshape (v, copied)"),
    # A size of 0 copies 4 in the original.
    ("s = Concat <axis = 0> (n, t, rest) y = Reshape (x, s)",
     "s = Concat <axis = 0> (n, t, rest) y = Reshape <allowzero = 1> (x, s)"),
    # More than what the original divides by.
    ("s = Concat <axis = 0> (n, rest, six) y = Reshape <allowzero = 1> (x, s)",
     "s = Concat <axis = 0> (n, t, rest) v = Reshape <allowzero = 1> (x, s) "
     "w = Concat <axis = 0> (n, rest, six) y = Reshape <allowzero = 1> (v, w)"))  # fmt: skip
def test_other_sizes_may_be_zero(before, after):
    assert_open(GIVEN % before, GIVEN % after)


def test_a_branch_that_may_not_run_needs_no_elements():
    before = """g (float[N, T] x, bool c) => (float[A, B] y) <int64[1] rest = {-1}> {
            t = Shape <start = 1, end = 2> (x)
            s = Concat <axis = 0> (t, rest)
            y = If (c) <
                then_branch = a () => (float[A, B] p) { p = Reshape <allowzero = 1> (x, s) },
                else_branch = b () => (float[C, D] q) { q = Transpose (x) } > }"""
    after = before.replace(
        "q = Transpose (x)", "v = Reshape <allowzero = 1> (x, s) q = Transpose (x)"
    )
    after = after.replace(
        "q = Transpose (x)", "z = Sub (v, v) r = ReduceSum (z) o = Transpose (x) q = Add (o, r)"
    )
    assert_open(before, after)


def test_without_a_zero_allowzero_says_nothing():
    text = """g (float[N, T] x) => (float[2, A, 3] y)
    <int64[3] s = {2, -1, 3}, int64[3] z = {2, -1, 0}> {
        y = Reshape <allowzero = %d> (x, %s) }"""
    assert_proved(text % (1, "s"), text % (0, "s"))
    assert_open(text % (1, "z"), text % (0, "z"))


def test_a_target_shape_with_unknown_elements():
    text = """g (float[N, M] x) => (float[A, B, C] y)
        <int64[1] three = {3}, int64[1] one = {1}, int64[1] rest = {-1}> {
        n = Shape <end = 1> (x) m = Shape <start = 1> (x) k = Mod (m, three)
        s = Concat <axis = 0> (n, k, %s) %s }"""
    for last in ("one", "rest"):
        before = text % (last, "v = Reshape (x, s) y = Exp (v)")
        assert_open(before, text % (last, "e = Exp (x) y = Reshape (e, s)"))


PRODUCTS = """g (float[n, k] x, float[m, p] w, float[q, k] u, float[q, r] v, bool c)
    => (float[n, p] y) <int64 third = {2}, int64 fourth = {3}> { %s y = Neg (z) }"""
PRODUCT = "z = MatMul (x, w)"
IN_A_BRANCH = """z = If (c) <then_branch = a () => (float[s, t] d) { d = MatMul (x, w) },
    else_branch = b () => (float[s, t] e) { e = Identity (x) }>"""


@table(
    (PRODUCT, "o = MatMul (u, w)", True),
    (PRODUCT, "o = Gemm (u, v)", False),
    (PRODUCT, "o = MatMul (v, w)", False),
    (IN_A_BRANCH, "o = MatMul (u, w)", False),
    (f"h = Gather (u, fourth) {PRODUCT}", "o = Gather (v, third)", True),
    (f"h = Gather (u, third) {PRODUCT}", "o = Gather (v, fourth)", False),
    (f"h = Gather <axis = 1> (u, fourth) {PRODUCT}", "o = Gather (w, third)", True),
    ("h = Gather <axis = 1> (u, fourth)", "o = Gather (w, third)", False),
)
def test_sizes_that_products_and_indices_of_the_original_demand(before, after, is_proved):
    before = before if "z = " in before else f"{before} z = Identity (x)"
    check = assert_proved if is_proved else assert_open
    check(PRODUCTS % before, PRODUCTS % f"{before} {after}")


CACHE = ", float[B, 2, P, 4] c, float[B, 2, P, 4] d"
KEYS = """g (float[B, 2, 4, 4] q, float[B, 2, N, 4] k, float[B, 2, N, 4] v, bool t{}) =>
    (float[B, 2, 4, 4] a, float[B, 2, N, 4] e)
    <int64[1] two = {{2}}, int64[1] four = {{4}}> {{ {} {} }}"""
ATTENTION = "a = Attention ({}, k, v)"
EXP = "e = Exp (k)"
RESHAPE = """b = Shape <end = 1> (k) n = Shape <start = 2, end = 3> (k) u = Unsqueeze (k, two)
    s = Concat <axis = 0> (b, two, n, four) r = Reshape (u, s) e = Exp (r)"""
BRANCH = """a = If (t) <then_branch = f () => (float[B, 2, 4, 4] p) { p = Attention (q, k, v) },
    else_branch = h () => (float[B, 2, 4, 4] o) { o = Neg (q) }>"""


def test_attention_needs_keys():
    attention = ATTENTION.format("q")
    assert_proved(KEYS.format("", attention, EXP), KEYS.format("", attention, RESHAPE), 23)


@table(
    ("", "a = Neg (q)"),
    (CACHE, "a, present, other = Attention (q, k, v, , c, d)"),  # the cache may have keys
    ("", BRANCH),
)
def test_keys_that_the_original_does_not_need(inputs, attention):
    before = KEYS.format(inputs, attention, EXP)
    assert_open(before, KEYS.format(inputs, attention, RESHAPE), opset=23)


@pytest.mark.parametrize("opset", [23, 24])
def test_attention_without_keys_fails_everywhere(opset):
    text = KEYS.format("", ATTENTION.format("q"), EXP)
    for batch in (0, 1):
        q, k = np.ones((batch, 2, 4, 4), np.float32), np.ones((batch, 2, 0, 4), np.float32)
        feeds = {"q": q, "k": k, "v": k, "t": np.array(True)}
        with pytest.raises(Error):
            by_reference(model(text, opset), feeds)
        with pytest.raises(Exception, match="must be greater than 0"):
            open_session(model(text, opset)).run(None, feeds)
