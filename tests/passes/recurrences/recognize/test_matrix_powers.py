import numpy as np
import pytest
from harness import as_model, op_types, run_in_onnxruntime, run_passes
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason
from sessions import by_reference
from straightline import reference
from straightline.passes import RaiseRecurrences
from tables import table

STATES = "float[3] s s0; float[3] t t0"
NUMBERS = """a = Constant <value_float = 0.8> () b = Constant <value_float = 0.3> ()
    k = Constant <value_float = -0.5> () """
BODIES = {
    "a rotation": "p = Mul (s, a) q = Mul (t, b) u = Sub (p, q) s2 = Add (u, e)"
    " v = Mul (s, b) w = Mul (t, a) t2 = Add (v, w)",
    "a filter of two delays": "y = Add (e, s) p = Mul (y, b) q = Sub (e, p) s2 = Add (q, t)"
    " v = Mul (y, k) t2 = Add (e, v)",
    "a trend": "p = Add (s, t) q = Mul (p, a) s2 = Add (q, e) d = Sub (s2, s) u = Mul (d, b)"
    " v = Mul (t, b) t2 = Add (u, v)",
    "offsets of one only": "p = Mul (s, b) q = Mul (t, a) s2 = Sub (p, q) u = Mul (s, b)"
    " v = Mul (t, k) w = Add (u, v) t2 = Add (w, e)",
}


def text_of(body, is_all=True):
    outputs = "float[3] r; float[3] o" if is_all else ""
    more = " r = Identity (s2) o = Add (t, e)" if is_all else ""
    return loop(NUMBERS + body + more, STATES, outputs)


@pytest.mark.sample(5)
@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize("is_all", [True, False])
def test_two_states(what, is_all):
    text = text_of(BODIES[what], is_all)
    model = raised(text, kept=["Scan"])
    assert "MatMul" in {n.op_type for f in _bodies(model) for n in f.node}
    for length in LENGTHS:
        s0, t0 = numbers(2, seed=9)
        assert_same(text, model, numbers(length), s0=s0, t0=t0)


def _bodies(model):
    return [a.g for node in model.graph.node for a in node.attribute if a.name == "body"]


def test_three_states():
    body = """p = Mul (s, a) q = Mul (t, b) s2 = Add (p, q) u = Mul (u0, b) v = Mul (s, k)
        w = Add (u, v) t2 = Add (w, e) f = Mul (t, b) g = Mul (u0, b) h = Add (f, g)
        j = Mul (s, b) u02 = Add (h, j)"""
    text = loop(NUMBERS + body, f"{STATES}; float[3] u0 v0")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        s0, t0, v0 = numbers(3, seed=9)
        assert_same(text, model, numbers(length), s0=s0, t0=t0, v0=v0)


def test_scalars_without_a_loop():
    body = BODIES["a filter of two delays"].replace("e,", "f,").replace("(e", "(f")
    body = "f = ReduceSum <keepdims = 0> (e) " + body
    text = loop(NUMBERS + body, "float s s0; float t t0")
    result = run_passes(text, RaiseRecurrences(straight=True))
    assert "Loop" not in op_types(result.model), result.remarks
    for length in (0, 1, 2, 5):
        s0 = np.array(0.5, np.float32)
        assert_same(text, result.model, numbers(length), s0=s0, t0=np.array(-0.5, np.float32))


@pytest.mark.sample(6)
@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("what", BODIES)
def test_infinities_stay_in_their_elements(what, odd):
    """An infinity may become NaN, in elements where the Loop has one of both."""
    text = text_of(BODIES[what])
    model = raised(text, kept=["Scan"])
    x = numbers(9)
    x[3, 1] = odd
    for place in ("x", "t0"):
        feed = {"x": numbers(9), "n": np.array(9), "s0": numbers(1)[0], "t0": numbers(1)[0]}
        feed[place] = x if place == "x" else x[3]
        for run in (reference.run, run_in_onnxruntime):
            for one, other in zip(run(model, feed), run(as_model(text), feed), strict=True):
                np.testing.assert_array_equal(np.isfinite(one), np.isfinite(other))
                finite = np.isfinite(one)
                np.testing.assert_allclose(one[finite], other[finite], rtol=1e-4, atol=1e-5)


@table(
    ("s2 = Mul (t, one_h) t2 = Add (s, e)", "overflow"),
    (BODIES["a trend"].replace("q = Mul (p, a)", "q = Mul (p, t)"), "by itself"),
    (BODIES["a rotation"].replace("t2 = Add (v", "t2 = Max (v"), "computes the next value"),
)
def test_near_misses(body, why):
    text = NUMBERS + "one_h = Constant <value_float = 1.5> () " + body
    assert why in reason(loop(text, STATES))


def test_states_of_different_shapes_stay():
    body = BODIES["a rotation"].replace("Mul (t, b)", "Mul (tt, b)")
    body = "tt = ReduceMean <keepdims = 0> (t) " + body
    assert "no operator computes" in reason(loop(NUMBERS + body, "float[3] s s0; float[3] t t0"))


def test_large_states_stay():
    text = text_of(BODIES["a rotation"]).replace("[3]", "[300]").replace("[N, 3]", "[N, 300]")
    assert "too large" in reason(text.replace("[T, 3]", "[T, 300]"))


MATRIX = """m0 = Constant <value = float[3, 3] {0.5, 0, -0.2, 0.1, 0.4, 0, 0.3, 0.3, -0.6}> ()"""
PRODUCTS = {
    "a row times a matrix": ("p = MatMul (s, m0) s2 = Add (p, e)", "float[3]"),
    "a matrix times a row": ("p = MatMul (m0, s) s2 = Add (e, p)", "float[3]"),
    "rows": ("f = Unsqueeze (e, axis) p = MatMul (s, m0) s2 = Add (p, f)", "float[1,3]"),
    "columns": ("f = Unsqueeze (e, last) p = MatMul (m0, s) s2 = Add (p, f)", "float[3,1]"),
    "a fused product": (
        "o = Unsqueeze (s, axis) p = Gemm <transB = 1> (o, m0, e) s2 = Squeeze (p, axis)",
        "float[3]",
    ),
    "a column": (
        "c0 = Unsqueeze (s, last) p = MatMul (m0, c0) q = Squeeze (p, last) s2 = Add (q, e)",
        "float[3]",
    ),
    "a projection": (
        "g = Tanh (e) f = MatMul (g, m0) p = MatMul (s, m0) q = Identity (p) s2 = Add (f, p)",
        "float[3]",
    ),
    "nothing added": ("s2 = MatMul (s, m0)", "float[3]"),
    "factors of a Gemm": (
        "o = Unsqueeze (s, axis) p = Gemm <alpha = 0.5, beta = 2.0> (o, m0, e)"
        " s2 = Squeeze (p, axis)",
        "float[3]",
    ),
    "two products": (
        "p = MatMul (s, m0) q = Neg (p) d = MatMul (m0, s) u = Add (q, d) s2 = Sub (e, u)",
        "float[3]",
    ),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("what", PRODUCTS)
@pytest.mark.parametrize("is_all", [True, False])
def test_a_state_times_a_constant_matrix(what, is_all):
    body, kind = PRODUCTS[what]
    axes = "axis = Constant <value = int64[1] {0}> () last = Constant <value = int64[1] {1}> ()"
    more = " r = Identity (s2)" if is_all else ""
    text = loop(f"{MATRIX} {axes} {body}{more}", f"{kind} s s0", f"{kind} r" if is_all else "")
    model = raised(text, kept=["Scan", "RNN"])
    assert "ReduceSum" not in {node.op_type for body in _bodies(model) for node in body.node}
    sizes = [int(size) for size in kind[6:-1].split(",")]
    for length in LENGTHS:
        assert_same(text, model, numbers(length), s0=numbers(1)[0].reshape(sizes))
    x = numbers(7)
    x[2, 1] = np.inf
    feed = {"x": x, "n": np.array(7), "s0": numbers(1)[0].reshape(sizes)}
    for one, other in zip(
        by_reference(model, feed), by_reference(as_model(text), feed), strict=True
    ):
        np.testing.assert_array_equal(np.isfinite(one), np.isfinite(other))


def test_other_products_stay():
    body = f"{MATRIX} p = MatMul (s, m0) q = Tanh (s) s2 = Add (p, q)"
    inputs = "float[N, 3] x, int64 n, float[3, 3] k"
    result = run_passes(loop(body, "float[3] s s0", inputs=inputs), RaiseRecurrences())
    body_types = [node.op_type for graph in _bodies(result.model) for node in graph.node]
    assert not result.changed or "Slice" not in body_types


def test_a_wide_matrix_stays():
    wide = "float[N, 17] x, int64 n"
    model = as_model(loop("p = MatMul (s, m0) s2 = Add (p, e)", "float[17] s s0", inputs=wide))
    tensor = __import__("onnx").numpy_helper.from_array(np.eye(17, dtype=np.float32) / 2, "m0")
    model.graph.initializer.append(tensor)
    assert "Slice" not in [
        n.op_type for g in _bodies(run_passes(model, RaiseRecurrences()).model) for n in g.node
    ]


GROWING = {
    "a factor": ("two = Constant <value_float = -2.0> () p = Mul (s, two) s2 = Add (p, e)", False),
    "two states": ("s2 = Add (s, t) p = Add (s, e) t2 = Sub (p, half)", True),
}


@pytest.mark.parametrize("body", GROWING)
@pytest.mark.parametrize("kind", ["float", "double"])
def test_growing_powers_have_a_scale(body, kind):
    """States that stay 0 stay so, and the largest ones overflow no sooner than in the loop."""
    nodes, pair = GROWING[body]
    states = "float[3] s s0" + "; float[3] t t0" * pair
    text = loop(nodes + " r = Identity (s2)", states, "float[3] r")
    if kind == "double":
        text = text.replace("float", "double").replace("value_double", "value_float")
        text = text.replace("<value_float = -2.0> ()", "<value = double {-2}> ()")
    model = raised(text, kept=["Scan"])
    dtype = np.float32 if kind == "float" else np.float64
    for length in (0, 1, 2, 40, 90):
        x = numbers(length, dtype=dtype)
        fed = {name: numbers(1, dtype=dtype)[0] for name in ("s0", "t0")[: 1 + pair]}
        assert_same(text, model, x, **fed)
    x = np.zeros((900, 3), dtype)
    assert_same(text.replace("nil", "zero"), model, x * 0, **{k: v * 0 for k, v in fed.items()})


@pytest.mark.parametrize(("length", "start"), [(2048, 1), (5000, 1), (64, 1e-42), (256, 1e-38)])
def test_infinite_and_small_states(length, start):
    """States that grow to infinity do, however far, and subnormal ones keep their digits."""
    text = loop(GROWING["a factor"][0], "float[3] s s0")
    model = raised(text, kept=["Scan"])
    with np.errstate(all="ignore"):
        assert_same(text, model, np.zeros((length, 3), np.float32), s0=np.full(3, start, "f4"))
