import numpy as np
import pytest
from harness import as_model, assert_equal_outputs, assert_rewrites, op_types, run_passes
from straightline import transform
from straightline.passes import StoreRows
from tables import table


def loop(body, count="n", inits="", first="x", sizes="[N, 3]"):
    """A Loop of n iterations that writes to a buffer like x of rows e."""
    head = '<ir_version: 8, opset_import: ["" : 18]>\n'
    end = 2**63 - 1
    return f"""{head}g (float[N, 3] x, float[3] v) => (float{sizes} y)
            <int64 zero = {{0}}, int64 one = {{1}}, int64 two = {{2}}, bool yes = {{1}},
             int64[1] k = {{0}}, int64[1] k1 = {{1}}, int64[1] k2 = {{2}}, int64[2] row = {{1, 3}},
             int64[2] place = {{1, 1}}, int64[1] end = {{{end}}}> {{
        sh = Shape (x) n = Gather (sh, zero) half = Div (n, two) less = Sub (n, one) {inits}
        y = Loop ({count}, yes, {first}) <body = b (int64 i, bool c, float{sizes} s)
                => (bool d, float{sizes} t) {{
            d = Identity (c) f = Cast <to = 1> (i) e = Add (v, f) u = Reshape (e, row) {body} }}>
    }}"""


def feeds(lengths=(0, 1, 2, 5, 8)):
    for length in lengths:
        x = np.arange(3 * length, dtype=np.float32).reshape(length, 3)
        yield {"x": x, "v": np.array([0.5, np.nan, -2], np.float32)}


AT = "a = Reshape (i, k1) b = Add (a, k1) "
SLICES = AT + "h = Slice (s, k, a, k) l = Slice (s, b, end, k) t = Concat <axis = 0> (h, u, l)"
SCATTERS = """a = Mul (i, two) b = Add (a, one) p = Reshape (a, place) q = Reshape (b, place)
    w = Exp (u) m = ScatterND (s, p, u) t = ScatterND (m, q, w)"""


def test_slices():
    after = (
        AT
        + """h = Slice (s, k, a, k) l = Slice (s, b, end, k) place_1 = Reshape (a, sizes)
        t = ScatterND (s, place_1, u)"""
    )
    after = loop(after).replace("[N, 3] t) {", "[N, 3] t) <int64[2] sizes = {1, 1}> {")
    assert_rewrites(StoreRows(), loop(SLICES), after, list(feeds()))


TWO = "j = Mul (i, two) a = Reshape (j, k1) b = Add (a, k2) w = Neg (u) h = Slice (s, k, a, k) "
TWO += "l = Slice (s, b, end, k) t = Concat <axis = 0> (h, u, w, l)"
RANGE = """j = Mul (i, two) l = Add (j, two) r = Range (j, l, one) p = Unsqueeze (r, k1)
    w = Neg (u) o = Concat <axis = 0> (u, w) t = ScatterND (s, p, o)"""
CHAIN = """j = Mul (i, two) a = Reshape (j, k1) b = Add (a, k1) b2 = Add (a, k2) w = Neg (u)
    h = Slice (s, k, a, k) l = Slice (s, b, end, k) m = Concat <axis = 0> (h, u, l)
    h2 = Slice (m, k, b, k) l2 = Slice (m, b2, end, k) t = Concat <axis = 0> (h2, w, l2)"""
APPENDED = {"first": "none", "sizes": "[M, 3]"}
APPENDED["inits"] = "s03 = Constant <value_ints = [0, 3]> () none = ConstantOfShape (s03)"
BOTH = {"inits": "both = Concat <axis = 0> (x, x)", "first": "both", "sizes": "[M, 3]"}


@pytest.mark.sample(5)
@table(
    (loop(SLICES), []),
    (loop(SLICES.replace("end, k)", "z, k)"), inits="z = Reshape (n, k1)"), []),
    (loop(TWO, **BOTH), ["ScatterND"]),
    (loop(SCATTERS, count="half"), ["ScatterND"]),
    (loop(RANGE, **BOTH), ["ScatterND"]),
    (loop(CHAIN, **BOTH), ["ScatterND"]),
    (loop("w = Neg (u) t = Concat <axis = 0> (s, u, w)", **APPENDED), []),
    (loop("m = Concat <axis = 0> (s, u) t = Concat <axis = 0> (m, u)", **APPENDED), []),
)
def test_no_loop_is_left(text, left):
    made = transform(as_model(text), "accelerate").model
    kinds = op_types(made)
    assert not {"Loop", "Scan"} & set(kinds)
    assert set(left) <= set(kinds)
    for feed in feeds():
        assert_equal_outputs(text, made, feed)


@table(
    loop(SLICES, count="two"),  # may write behind the buffer, which then grows
    loop(SLICES.replace("(h, u, l)", "(l, u, h)")),
    loop(SLICES.replace("b = Add (a, k1)", "b = Add (a, k2)"), sizes="[?, 3]"),
    loop(SLICES.replace("end, k)", "k2, k)"), sizes="[?, 3]"),
    loop(SLICES.replace("(i, k1)", "(neg, k1)").replace("a = ", "neg = Sub (i, one) a = ")),
    loop(SCATTERS.replace("b = Add (a, one)", "b = Mul (i, i)"), count="half"),
    loop(SCATTERS.replace("b = Add (a, one)", "b = Add (i, one)"), count="half"),
    loop(SCATTERS.replace("b = Add (a, one)", "b = Add (a, zero)"), count="half"),
    loop(SCATTERS.replace("b = Add (a, one)", "b = Sub (a, one)"), count="half"),
    loop(SCATTERS.replace("(s, p, u)", "(s, p, u) o = Neg (m)").replace("(m, q", "(o, q")),
)
def test_near_misses(text):
    assert not run_passes(text, StoreRows()).changed


def test_places_that_other_iterations_reach_hold_the_last_write():
    """Rows 2i and 2i + 2 are written twice."""
    text = loop(SCATTERS.replace("b = Add (a, one)", "b = Add (a, two)"), count="half", inits="")
    text = text.replace("half = Div (n, two)", "m0 = Sub (n, two) half = Div (m0, two)")
    made = transform(as_model(text), "accelerate").model
    assert "Loop" not in op_types(made)
    for feed in feeds((2, 4, 8)):
        assert_equal_outputs(text, made, feed)
