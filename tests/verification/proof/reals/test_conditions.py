import numpy as np
import onnx
import pytest
from proofs import over_reals
from sessions import by_reference
from straightline import prove
from tables import table

HEAD = """<ir_version: 10, opset_import: ["" : 20]>
g (float[3, 4] x, float[3, 4] y, float[n, 4] v, float[3, n] u) => (float[a, b] z)
    <bool c = {1}, int64[1] first = {0}, int64[1] last = {1}, float one = {1}, float two = {2},
     float none = {0}> {"""

SAME = "z = Identity (x)"
ONLY_IN_THE_REWRITE = [
    (SAME, "p = Mul (x, y) z = Div (p, y)"),
    (SAME, "q = Div (y, y) z = Mul (x, q)"),
    (SAME, "r = Reciprocal (x) z = Reciprocal (r)"),
    (SAME, "r = Sqrt (x) z = Mul (r, r)"),
    (SAME, "l = Log (x) z = Exp (l)"),
    (SAME, "e = Mod <fmod = 1> (x, y) d = Sub (e, e) z = Add (x, d)"),
    (SAME, "e = Acos (y) d = Sub (e, e) z = Add (x, d)"),
    (SAME, "e = Pow (x, y) d = Sub (e, e) z = Add (x, d)"),
    (SAME, "a = Abs (y) p = Mul (x, a) z = Div (p, a)"),
    (SAME, "p = Mul (x, y) d = Div (p, y) z = Where (c, d, x)"),
    (SAME, "o = Div (one, none) d = Mul (y, o) e = Sub (d, d) z = Add (x, e)"),
    ("z = Div (x, y)", "w = Add (x, y) p = Mul (x, w) q = Mul (y, w) z = Div (p, q)"),
    ("z = Div (x, y)", "s = Sqrt (y) q = Mul (s, s) z = Div (x, q)"),
    ("l = Log (x) z = Mul (l, two)", "l = Log (x) m = Log (y) d = Sub (m, m) e = Add (l, d) "
     "z = Mul (e, two)"),
    (SAME, "e = Exp (v) s = ReduceSum (e, first) q = Div (s, s) z = Mul (x, q)"),
    (SAME, "e = Exp (u) s = ReduceSum (e, last) q = Div (s, s) z = Mul (x, q)"),
    (SAME, "m = ReduceMean (v, first) d = Sub (m, m) z = Add (x, d)"),
]  # fmt: skip


def models(*nodes):
    return [onnx.parser.parse_model(f"{HEAD} {text} }}") for text in nodes]


@pytest.mark.parametrize(("before", "after"), ONLY_IN_THE_REWRITE)
def test_divisors_of_the_rewrite_alone_are_open(before, after):
    assert not over_reals(*models(before, after))


@pytest.mark.parametrize(("before", "after"), [ONLY_IN_THE_REWRITE[i] for i in (0, 1, 3, 4, 5, 6)])
def test_such_a_rewrite_has_no_number_where_the_original_has(before, after):
    ones = np.ones((3, 4), np.float32)
    tried = []
    for x, y in ((1, 0), (-1, 1), (1, 2)):
        feeds = {"x": x * ones, "y": y * ones, "v": ones, "u": ones}
        (one,), (other,) = (by_reference(m, feeds) for m in models(before, after))
        tried.append(np.isfinite(one).all() and not np.isfinite(other).all())
    assert any(tried)


@pytest.mark.parametrize(("after", "before"), ONLY_IN_THE_REWRITE[:5])
def test_the_rewrite_need_not_divide(before, after):
    assert over_reals(*models(before, after))


@pytest.mark.sample(8)
@table(
        ("z = Div (x, y)", "r = Reciprocal (y) z = Mul (r, x)"),
        ("p = Mul (x, y) z = Div (one, p)", "q = Reciprocal (x) r = Div (two, y) s = Mul (q, r) "
         "z = Div (s, two)"),
        ("q = Reciprocal (x) r = Reciprocal (y) z = Mul (q, r)", "p = Mul (x, y) z = Div (one, p)"),
        ("s = Sqrt (y) z = Div (x, s)", "q = Sqrt (y) r = Mul (q, y) m = Mul (x, y) "
         "z = Div (m, r)"),
        ("l = Log (y) z = Add (l, x)", "r = Div (y, y) l = Log (y) m = Add (l, x) z = Mul (m, r)"),
        (SAME, "e = Exp (y) p = Mul (x, e) z = Div (p, e)"),
        (SAME, "e = Mul (y, y) f = Add (e, one) p = Mul (x, f) z = Div (p, f)"),
        (SAME, "e = Abs (y) f = Add (e, one) p = Mul (x, f) z = Div (p, f)"),
        (SAME, "e = Max (y, one) p = Mul (x, e) z = Div (p, e)"),
        (SAME, "e = Mul (y, y) f = Sqrt (e) g = Sub (f, f) z = Add (x, g)"),
        (SAME, "e = Exp (y) s = ReduceSum (e, first) q = Div (s, s) z = Mul (x, q)"),
        (SAME, "e = Erf (y) f = Sub (e, e) z = Add (x, f)"),
        ("d = Div (x, y) z = Transpose (d)", "t = Transpose (x) u = Transpose (y) z = Div (t, u)"),
        ("t = Transpose (x) u = Transpose (y) v1 = Add (u, one) d = Div (t, v1) z = Transpose (d)",
         "w = Add (y, one) z = Div (x, w)"),
        ("m = ReduceMean (v, first) z = Add (x, m)", "m = ReduceMean (v, first) k = Add (m, x) "
         "d = Sub (m, m) z = Add (k, d)"))  # fmt: skip
def test_divisors_of_the_original_are_nonzero(before, after):
    proof = prove(*models(before, after), equality="reals", search=False)
    assert proof.proved, str(proof)


def test_the_answer_speaks_of_the_original():
    proof = prove(*models("z = Div (x, y)", "r = Reciprocal (y) z = Mul (r, x)"), equality="reals")
    assert "all divisors of the original differ from 0" in str(proof)


STATES = """g (float[N,3] x, float[3] y) => (float[3] f, float[M,3] z) {
    f, s, z = Scan <num_scan_inputs = 1,
        body = b (float[3] d, float[3] s, float[3] e) => (float[3] d2, float[3] s2, float[3] r) {
            v = Add (s, y) d2 = Sub (v, v) r = Add (d2, e) s2 = %s (v, e) }> (y, y, x) }"""


@pytest.mark.parametrize("op_type", ["Div", "Mod <fmod = 1>", "Pow"])
def test_a_state_that_cancels_is_defined(op_type):
    """v - v is 0, but not where an iteration of the rewrite gives v no value."""
    after = STATES.replace("s2 = %s (v, e)", f"s2 = {op_type} (v, e)")
    assert over_reals(STATES % "Add", STATES % "Add")
    assert not over_reals(STATES % "Add", after)
