import numpy as np
import pytest
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason
from tables import table

SUM = "u = ReduceSum <keepdims = 0> (e) g = Greater (u, nil) "
ZERO = "zero = Constant <value = int64 {0}> () "
LESS = ZERO + "free = Less (w, zero) "
EQUAL = "low = Constant <value = int64 {-1}> () free = Equal (w, low) "
STORE = "both = And (g, free) w2 = Where (both, i, w)"


UP_TO = LESS.replace("Less (w", "LessOrEqual (w").replace("{0}", "{-1}")


@pytest.mark.parametrize("test", [LESS, EQUAL, UP_TO])
@pytest.mark.parametrize("is_all", [True, False])
def test_an_index(test, is_all):
    """A start that is no unset value stays; NaN meets no condition."""
    text = loop(
        SUM + test + STORE + (" r = Identity (w)" if is_all else ""),
        "int64 w w0",
        "int64 r" if is_all else "",
    )
    model = raised(text)
    for length in LENGTHS:
        for start in (-1, -2, 0, 7):
            assert_same(text, model, numbers(length, [np.nan]), exact=True, w0=np.array(start))


def test_elements():
    body = "g = Greater (e, nil) " + LESS + STORE.replace("(g, free)", "(free, g)")
    text = loop(body + " r = Identity (w2)", "int64[3] w w0", "int64[3] r")
    model = raised(text)
    for length in LENGTHS:
        assert_same(text, model, numbers(length), exact=True, w0=np.array([-1, 3, -5]))


@pytest.mark.sample(5)
@pytest.mark.parametrize("test", ["Less", "LessOrEqual", "Equal", "Greater", "GreaterOrEqual"])
@pytest.mark.parametrize("kind", ["float", "int32"])
def test_values_that_look_like_unset_ones(kind, test):
    """A later value may replace them; a NaN passes no test."""
    body = (
        f"bar = Constant <value = {kind} {{0}}> () v = Cast <to = {1 if kind == 'float' else 6}> "
    )
    body += f"(e) g = Greater (e, nil) free = {test} (w, bar) q = Neg (v) both = And (g, free) "
    body += "w2 = Where (both, q, w) r = Identity (w2)"
    text = loop(body, f"{kind}[3] w w0", f"{kind}[3] r")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        start = np.array([-1, 0, 2]).astype("float32" if kind == "float" else kind)
        special = [np.nan, np.inf] if kind == "float" else []
        assert_same(text, model, numbers(length, special), exact=True, w0=start)


READS = {
    "or": STORE.replace("And", "Or"),
    "kept where both hold": STORE.replace("(both, i, w)", "(both, w, i)"),
    "other way around": STORE,
    "nested": "d = Where (g, i, w) w2 = Where (free, d, w)",
    "not": "taken = Not (free) d = Where (g, i, w) w2 = Where (taken, w, d)",
    "two bounds": "two = Constant <value = int64 {2}> () late = Greater (w, two)"
    " any = Or (free, late) both = And (any, g) w2 = Where (both, i, w)",
}


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("shape", ["", "[3]"])
def test_other_reads(name, shape):
    """Each element of a state may be replaced more than once, and by its own condition."""
    less = LESS.replace("Less (w, zero)", "Less (zero, w)") if "around" in name else LESS
    flag = "g = Greater (e, nil) " if shape else SUM
    row = f"int64{shape}"
    text = loop(flag + less + READS[name] + " r = Identity (w2)", f"{row} w w0", f"{row} r")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        for start in (-3, 0, 1, 9):
            first = np.array([start, -1, 2] if shape else start)
            assert_same(text, model, numbers(length), exact=True, w0=first)


@table(
    SUM + "j = Sub (n, i) free = Less (w, j) both = And (g, free) w2 = Where (both, i, w)",
    SUM + LESS + "v = Add (w, i) both = And (g, free) w2 = Where (both, v, w)",
    LESS + "j = Cast <to = 7> (free) v = Mul (w, j) w2 = Add (v, j)",
)
def test_near_misses(body):
    assert "carries 'w'" in reason(loop(body, "int64 w w0"))
