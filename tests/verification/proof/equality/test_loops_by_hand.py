"""Loops and their closed forms as people write them, over the reals; near misses."""

import numpy as np
import onnx
import pytest
from proofs import model, over_reals
from sessions import by_reference
from tables import table

HEAD = """g (float[n,4] x, bool[n] m) => (%s) <int64 zero = {0}, int64 one = {1}, int64[1] z = {0},
    int64[1] o = {1}, int64[1] four = {4}, float half = {0.5}, float none = {0}, bool yes = {1},
    float unit = {1}> { """
SUM = "start = ConstantOfShape (four) "
LOW = "start = ConstantOfShape <value = float[1] {-inf}> (four) "
FALSE = "start = ConstantOfShape <value = bool[1] {%d}> (four) "
COUNT = "sh = Shape (x) n = Gather (sh, zero) "


def loop(body, begin=SUM, kind="float[4]", outputs="y", returned=""):
    declared = f"{kind} t{', ' + returned if returned else ''}"
    return (
        f"{COUNT}{begin} {outputs} = Loop (n, yes, start) <body = b (int64 i, bool c, {kind} s)"
        f" => (bool d, {declared}) {{ d = Identity (c) e = Gather (x, i) {body} }}>"
    )


def states(body):
    return loop(body, outputs="last, y", returned="float[4] u")


BUFFER = "n1 = Unsqueeze (n, z) fit = Concat <axis = 0> (four, n1) start = ConstantOfShape (fit)"
COLUMNS = """i1 = Reshape (i, o) grid = Constant <value_ints = [0, 1, 2, 3]> () five = Constant
    <value_ints = [4, 1]> () g1 = Reshape (grid, five) ik = Expand (i1, five)
    at = Concat <axis = 1> (g1, ik) """
WINDOWS = f"""{COUNT} two = Add (one, one) l = Sub (n, two) k = Max (l, zero)
    y = Loop (k, yes) <body = b (int64 i, bool c) => (bool d, float[4] u) {{ d = Identity (c)
        i1 = Reshape (i, o) w = Constant <value_ints = [3]> () j = Add (i1, w)
        p = Slice (x, i1, j, z) u = ReduceMean <keepdims = 0> (p, z) }}>"""
SLICES = """a2 = Constant <value_ints = [-2]> () a1 = Constant <value_ints = [-1]> ()
    two = Constant <value_ints = [2]> () end = Constant <value_ints = [9223372036854775807]> ()
    a = Slice (x, z, a2, z) b = Slice (x, o, a1, z) c = Slice (x, two, end, z)
    s = Sum (a, b, c) w = Constant <value_float = 3.0> () y = Div (s, w)"""

PAIRS = {
    "masked by a choice": (
        "float[4] y",
        loop("b = Gather (m, i) a = Add (s, e) t = Where (b, a, s)"),
        "u = Unsqueeze (m, o) f = Cast <to = 1> (u) w = Mul (x, f)"
        " y = ReduceSum <keepdims = 0> (w, z)",
    ),
    "masked by a factor": (
        "float[4] y",
        loop("b = Gather (m, i) f = Cast <to = 1> (b) a = Mul (f, e) t = Add (s, a)"),
        "u = Unsqueeze (m, o) w = Where (u, x, none) y = ReduceSum <keepdims = 0> (w, z)",
    ),
    "running mean": (
        "float[n,4] y",
        f"""{COUNT}{SUM} l, k, y = Loop (n, yes, start, none) <body = b (int64 i, bool c,
            float[4] s, float k) => (bool d, float[4] t, float q, float[4] u) {{
                d = Identity (c) one1 = Constant <value_float = 1.0> () e = Gather (x, i)
                t = Add (s, e) q = Add (k, one1) u = Div (t, q) }}>""",
        f"""{COUNT} c = CumSum (x, zero) r = Range (zero, n, one) k = Add (r, one)
            f = Cast <to = 1> (k) g = Unsqueeze (f, o) y = Div (c, g)""",
    ),
    "sum before a row": (
        "float[n,4] y",
        states("t = Add (s, e) u = Identity (s)"),
        "c = CumSum (x, zero) y = Sub (c, x)",
    ),
    "polynomial": (
        "float[4] y",
        loop("a = Mul (s, half) t = Add (a, e)"),
        f"""{COUNT} r = Range (zero, n, one) l = Sub (n, one) q = Sub (l, r)
            f = Cast <to = 1> (q) w = Pow (half, f) y = MatMul (w, x)""",
    ),
    "nested": (
        "float y",
        f"""{COUNT} y = Loop (n, yes, none) <body = b (int64 i, bool c, float s)
            => (bool d, float t) {{ d = Identity (c) e = Gather (x, i)
                k = Constant <value_int = 4> () t = Loop (k, c, s) <body = in (int64 j, bool cc,
                    float r) => (bool dd, float q) {{ dd = Identity (cc) w = Gather (e, j)
                        q = Add (r, w) }}> }}>""",
        "y = ReduceSum <keepdims = 0> (x)",
    ),
    "none is positive": (
        "bool[4] y",
        loop("g = Greater (e, none) h = Not (g) t = And (s, h)", FALSE % 1, "bool[4]"),
        "g = Greater (x, none) k = Cast <to = 7> (g) q = ReduceSum <keepdims = 0> (k, z)"
        " y = Equal (q, zero)",
    ),
    "columns": (
        "float[4,n] y",
        loop(f"r = Neg (e) {COLUMNS} t = ScatterND (s, at, r)", BUFFER, "float[4,n]"),
        "q = Neg (x) y = Transpose (q)",
    ),
    "column elements": (
        "float[4,n] y",
        loop(
            "r = Neg (e) v = Unsqueeze (r, o) i1 = Reshape (i, o) five = Constant <value_ints ="
            " [4, 1]> () ik = Expand (i1, five) t = ScatterElements <axis = 1> (s, ik, v)",
            BUFFER,
            "float[4,n]",
        ),
        "q = Neg (x) y = Transpose (q)",
    ),
    "largest": (
        "float[n] y",
        f"""{COUNT} y = Loop (n, yes) <body = b (int64 i, bool c) => (bool d, float u) {{
            d = Identity (c) e = Gather (x, i) k, at = TopK (e, o) u = Squeeze (k, z) }}>""",
        "y = ReduceMax <keepdims = 0> (x, o)",
    ),
    "windows": ("float[k,4] y", WINDOWS, SLICES),
}

EXTREMES = {
    "least of opposites": (
        "float[4] y",
        loop("t = Max (s, e)", LOW),
        "q = Neg (x) k = ReduceMin <keepdims = 0> (q, z) y = Neg (k)",
    ),
    "masked": (
        "float[4] y",
        loop("b = Gather (m, i) a = Max (s, e) t = Where (b, a, s)", LOW),
        "low = Constant <value_float = -inf> () u = Unsqueeze (m, o) w = Where (u, x, low)"
        " y = ReduceMax <keepdims = 0> (w, z)",
    ),
    "any": (
        "bool[4] y",
        loop("g = Greater (e, none) t = Or (s, g)", FALSE % 0, "bool[4]"),
        "g = Greater (x, none) k = Cast <to = 6> (g) q = ReduceMax <keepdims = 0> (k, z)"
        " w = Constant <value = int32 {0}> () y = Greater (q, w)",
    ),
}


def models(declared, *bodies):
    return [model(f"{HEAD % declared} {body} }}") for body in bodies]


def assert_alike(pair):
    for rows in (0, 1, 2, 5):
        rng = np.random.default_rng(rows)
        feeds = {"x": rng.normal(size=(rows, 4)).astype(np.float32), "m": rng.normal(size=rows) > 0}
        (one,), (other,) = (by_reference(each, feeds) for each in pair)
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", PAIRS)
def test_a_loop_and_its_closed_form_are_proved(name):
    pair = models(*PAIRS[name])
    assert_alike(pair)
    assert over_reals(*pair)


@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_of_at_least_one_row_are_proved(name):
    pair = models(*EXTREMES[name])
    assert over_reals(*pair, minima={"n": 1})


@table(
    ("masked by a choice", "Where (b, a, s)", "Where (b, s, a)"),
    ("masked by a factor", "Where (u, x, none)", "Where (u, none, x)"),
    ("running mean", "Add (r, one)", "Add (r, zero)"),
    ("running mean", "value_float = 1.0", "value_float = 2.0"),
    ("sum before a row", "Sub (c, x)", "Add (c, x)"),
    ("sum before a row", "u = Identity (s)", "u = Identity (t)"),
    ("polynomial", "l = Sub (n, one)", "l = Identity (n)"),
    ("polynomial", "a = Mul (s, half)", "a = Div (s, half)"),
    ("nested", "value_int = 4", "value_int = 3"),
    ("none is positive", "Equal (q, zero)", "Equal (q, one)"),
    ("none is positive", "Cast <to = 7> (g)", "Cast <to = 3> (g)"),  # the number of 256 wraps to 0
    ("columns", "[0, 1, 2, 3]", "[0, 1, 3, 2]"),
    ("columns", "[0, 1, 2, 3]", "[0, 1, 2, 2]"),
    ("column elements", "q = Neg (x)", "q = Identity (x)"),
    ("largest", "ReduceMax", "ReduceMin"),
    ("windows", "value_float = 3.0", "value_float = 2.0"),
    ("windows", "value_ints = [-2]", "value_ints = [-3]"),
    ("least of opposites", "y = Neg (k)", "y = Abs (k)"),
    ("masked", "Where (b, a, s)", "Where (b, e, s)"),
    ("any", "Greater (q, w)", "Less (q, w)"),
)
def test_other_forms_are_open(name, old, new):
    declared, *bodies = {**PAIRS, **EXTREMES}[name]
    changed = [body.replace(old, new) for body in bodies]
    assert changed != bodies
    for pair in ((changed[0], bodies[1]), (bodies[0], changed[1])):
        if [*pair] != bodies:
            try:
                both = models(declared, *pair)
            except onnx.parser.ParseError:
                continue
            assert not over_reals(*both, minima={"n": 1})
