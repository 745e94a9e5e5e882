import numpy as np
from harness import assert_rewrites
from raising import assert_near, assert_raises, assert_stays, numbers, text
from straightline.passes import RaiseRotations
from tables import table

SIGNATURE = "(float[2, 3, 4, 8] x, float[2, 4, 4] f) => (float[2, 3, 4, 8] y)"
ANGLES = np.arange(16, dtype=np.float32).reshape(4, 4) / 8
COS, SIN = (
    "{" + ", ".join(map(str, np.concatenate([part, part], -1).ravel().tolist())) + "}"
    for part in (np.cos(ANGLES), np.sin(ANGLES))
)
CONSTANTS = f"""<float[1, 1, 4, 8] C = {COS}, float[4, 8] S = {SIN}, int64[2] halves = {{4, 4}},
    int64[1] zero = {{0}}, int64[1] four = {{4}}, int64[1] eight = {{8}}, int64[1] last = {{-1}},
    int64[1] one = {{1}}, float two = {{2.0}}>"""
SPLIT = "a, b = Split <axis = -1> (x, halves) n = Neg (b) r = Concat <axis = -1> (n, a) "
SLICES = (
    "a = Slice (x, zero, four, last) b = Slice (x, four, eight, last) n = Neg (b) "
    "r = Concat <axis = 3> (n, a) "
)
REST = "p = Mul (x, C) q = Mul (r, S) y = Add (p, q)"
COMPUTED = (
    "d = Concat <axis = -1> (f, f) g = Cos (d) h = Mul (g, two) c = Unsqueeze (h, one) "
    "i = Sin (d) s = Unsqueeze (i, one) p = Mul (c, x) q = Mul (s, r) y = Add (q, p)"
)


@table(
    (SPLIT + REST, ["RotaryEmbedding"]),
    (SLICES + REST.replace("(p, q)", "(q, p)"), ["RotaryEmbedding"]),
    (SPLIT + COMPUTED, ["Cos", "Mul", "Sin", "RotaryEmbedding"]),
)
def test_spellings(nodes, operators):
    source = text(nodes, SIGNATURE, CONSTANTS, 23)
    model = assert_raises(RaiseRotations(), source, operators)
    assert_near(source, model, {"x": numbers(2, 3, 4, 8), "f": numbers(2, 4, 4)})


def test_before_and_after():
    before = SPLIT + COMPUTED.replace("h = Mul (g, two) ", "").replace("(h,", "(g,")
    after = "y_1 = Cos (f) y_2 = Sin (f) y = RotaryEmbedding (x, y_1, y_2)"
    texts = [text(nodes, SIGNATURE, CONSTANTS, 23) for nodes in (before, after)]
    assert_rewrites(RaiseRotations(), *texts)


@table(
    SPLIT.replace("Neg (b)", "Neg (a)") + REST,
    SPLIT.replace("(n, a)", "(a, n)") + REST,
    SPLIT + REST.replace("Add", "Sub"),
    SPLIT + REST.replace("(x, C)", "(r, C)"),
    SLICES.replace("(x, zero, four, last)", "(x, four, eight, last)") + REST,
    SPLIT + COMPUTED.replace("d = Concat", "e = Exp (f) d = Concat").replace("(f, f)", "(f, e)"),
    SPLIT + COMPUTED.replace("i = Sin (d)", "i = Exp (d)"),
)
def test_near_misses_stay(nodes):
    assert_stays(RaiseRotations(), text(nodes, SIGNATURE, CONSTANTS, 23))


def test_halves_of_a_constant_that_differ_stay():
    constants = CONSTANTS.replace(COS, COS.replace("1.0", "1.5", 1))
    assert constants != CONSTANTS
    assert_stays(RaiseRotations(), text(SPLIT + REST, SIGNATURE, constants, 23))


def test_older_opsets_stay():
    assert_stays(RaiseRotations(), text(SPLIT + REST, SIGNATURE, CONSTANTS, 22))
