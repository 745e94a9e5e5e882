import ml_dtypes
import numpy as np
import pytest
from harness import as_model, op_types, run_passes
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason
from straightline import reference, rewrite
from straightline.passes import RaiseRecurrences

NAN, INF = np.nan, np.inf
SCORE = "at = Constant <value_ints = [1]> () q0 = Gather (e, at) q = Squeeze (q0)"


def scalar(compare, keep="Where (g, q, s)", index="Where (g, i, w)", **options):
    body = f"{SCORE} g = {compare} s2 = {keep} w2 = {index} p2 = Where (g, e, p)"
    return loop(body, "float s s0; int64 w w0; float[3] p p0", **options)


STARTS = {"w0": np.array(-7), "p0": np.array([7, 8, 9], np.float32)}


@pytest.mark.parametrize("compare", ["Greater (q, s)", "Less (s, q)", "Less (q, s)"])
@pytest.mark.parametrize("start", [0.0, -INF, INF, NAN])
def test_the_best_and_its_index(compare, start):
    text = scalar(compare)
    model = raised(text)
    assert any(node.op_type in ("ArgMax", "ArgMin") for node in model.graph.node)
    for length in LENGTHS:
        x = numbers(length, [NAN, INF, -INF, NAN])
        assert_same(text, model, x, exact=True, s0=np.array(start, np.float32), **STARTS)


def test_all_indices_of_the_best():
    """A copy of the index in each iteration, which the last one alone does not tell."""
    body = "g = Greater (e, s) s2 = Where (g, e, s) w2 = Where (g, i, w) r = Identity (w2)"
    text = loop(body, "float[3] s s0; int64[3] w w0", "int64[3] r")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        fed = {"s0": numbers(1)[0], "w0": np.array([5, 6, 7])}
        assert_same(text, model, numbers(length), exact=True, **fed)


@pytest.mark.parametrize("order", ["s p u w", "u s w p", "w u p s", "p w s u"])
def test_the_state_of_another_recurrence_at_the_best(order):
    """As the first index of the subarray of the largest sum. The best itself does not read it."""
    body = (
        "d = Add (u, e) f = Greater (e, d) u2 = Where (f, e, d) w2 = Where (f, i, w)"
        " g = Greater (u2, s) s2 = Where (g, u2, s) p2 = Where (g, w2, p)"
    )
    types = {"s": "float[3]", "u": "float[3]", "p": "int64[3]", "w": "int64[3]"}
    text = loop(body, "; ".join(f"{types[name]} {name} {name}0" for name in order.split()))
    result = run_passes(text, RaiseRecurrences())
    assert result.changed, result.remarks
    starts = [np.array(start, np.float32) for start in ([-9, -1, -2], [-1, 0, -9])]
    for length in LENGTHS:
        start = dict(zip(("s0", "u0"), starts, strict=True))
        start |= {"w0": np.array([-7, 5, 4]), "p0": np.array([-5, 1, 2])}
        assert_same(text, result.model, np.round(numbers(length)), exact=True, **start)


@pytest.mark.parametrize("compare", ["GreaterOrEqual (q, s)", "LessOrEqual (q, s)"])
def test_the_last_of_equal_ones(compare):
    text = (
        scalar(compare).replace("float s0, ", "").replace("<bool yes", "<float s0 = {1}, bool yes")
    )
    model = raised(text)
    for length in LENGTHS:
        x = np.round(numbers(length, [NAN, 1.0, 1.0, INF, INF, -INF, -INF, NAN]))
        assert_same(text, model, x, exact=True, **STARTS)


def test_a_nan_candidate_keeps_the_last_of_equal_values():
    text = scalar("GreaterOrEqual (q, s)")
    result = run_passes(text, RaiseRecurrences())
    for length in (0, 1, 5):
        x, start = numbers(length, [NAN, NAN]), np.array(-INF, np.float32)
        assert_same(text, result.model, x, exact=True, s0=start, **STARTS)


@pytest.mark.parametrize("index", ["k", "i"])
def test_elements_of_a_vector(index):
    body = "g = Greater (e, s) s2 = Where (g, e, s) k = Expand (i, k3) w2 = Where (g, INDEX, w)"
    text = loop(body.replace("INDEX", index), "float[3] s s0; int64[3] w w0").replace(
        "<bool yes", "<int64[1] k3 = {3}, bool yes"
    )
    model = raised(text)
    for length in LENGTHS:
        fed = {"s0": numbers(1)[0], "w0": np.array([5, 6, 7])}
        assert_same(text, model, numbers(length, [NAN, INF]), exact=True, **fed)


def test_running_extremes():
    text = loop(
        "g = Greater (e, s) s2 = Where (g, e, s) r = Identity (s2)", "float[3] s s0", "float[3] r"
    )
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        assert_same(text, model, numbers(length, [NAN, INF]), exact=True, s0=numbers(1)[0])


def test_the_index_of_each_running_extreme():
    text = scalar("Greater (q, s)", outputs="int64 r").replace("p2 =", "r = Identity (w2) p2 =")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        start = np.array(0, np.float32)
        assert_same(text, model, numbers(length), exact=True, s0=start, **STARTS)


NEAR = [
    scalar("Greater (q, s)", keep="Where (g, s, half)"),  # another value than the one compared
    scalar("Greater (q, s)", keep="Where (g, half, s)"),  # another value than the one compared
]


@pytest.mark.parametrize("text", NEAR)
def test_near_misses(text):
    assert "carries" in reason(text)


@pytest.mark.sample(6)
@pytest.mark.parametrize("compare", ["Greater (q, s)", "Less (q, s)", "LessOrEqual (s, q)"])
@pytest.mark.parametrize("start", [0.0, -INF, NAN])
@pytest.mark.parametrize("is_all", [True, False])
def test_the_other_one_of_a_comparison(compare, start, is_all):
    """A comparison with NaN is false: a NaN replaces the state, and any candidate a NaN."""
    text = scalar(compare, keep="Where (g, s, q)", index="Where (g, w, i)")
    if is_all:
        text = scalar(compare, keep="Where (g, s, q)", outputs="float r").replace(
            "p2 =", "r = Identity (s2) p2 ="
        )
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        x = numbers(length, [NAN, NAN, INF, -INF, NAN])
        assert_same(text, model, x, exact=True, s0=np.array(start, np.float32), **STARTS)


def test_the_other_one_of_integers():
    body = "k = Cast <to = 7> (e) g = Less (s, k) s2 = Where (g, s, k) w2 = Where (g, w, i)"
    text = loop(body, "int64[3] s s0; int64[3] w w0")
    model = raised(text, kept=["Scan"])
    s0 = np.array([1, -9, 0])
    for length in LENGTHS:
        assert_same(text, model, numbers(length), exact=True, s0=s0, w0=s0)


def test_a_companion_that_reads_the_extreme():
    text = scalar("Greater (q, s)", index="Where (g, i, w)").replace(
        "p2 = Where (g, e, p)", "d = Add (e, s) p2 = Where (g, d, p)"
    )
    model = run_passes(text, RaiseRecurrences()).model
    for length in (0, 1, 5):
        start = np.array(0, np.float32)
        assert_same(text, model, numbers(length), s0=start, **STARTS)


@pytest.mark.parametrize("start", ["0", "nan"])
def test_the_last_extreme_alone(start):
    text = loop(f"{SCORE} g = Greater (q, s) s2 = Where (g, q, s)", "float s s0")
    text = text.replace(", float s0", "").replace("<bool yes", f"<float s0 = {{{start}}}, bool yes")
    model = raised(text)
    types = op_types(model)
    assert "ReduceMax" in types and types.count("IsNaN") == (1 if start == "0" else 2)
    for length in LENGTHS:
        assert_same(text, model, numbers(length, [NAN, INF, -INF, NAN]), exact=True)


def test_a_choice_of_bfloat16_drops_nan():
    """Max would return it; numpy does not call bfloat16 a float."""
    text = """<ir_version: 10, opset_import: ["" : 21]>
        g (bfloat16[N] x, bfloat16 w) => (bfloat16 y) <int64 zero = {0}> {
        shape = Shape (x) n = Gather (shape, zero)
        y = Loop (n, , w) <body = b (int64 i, bool c, bfloat16 s) => (bool d, bfloat16 t) {
            d = Identity (c) e = Gather (x, i) q = LessOrEqual (s, e) t = Where (q, e, s) }> }"""
    x, w = (np.array(v).astype(ml_dtypes.bfloat16) for v in ([1, NAN, 2, NAN], 0))
    model = rewrite(as_model(text), verify=False)
    assert reference.run(model, {"x": x, "w": w}) == [2]
