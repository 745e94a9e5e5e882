import numpy as np
import pytest
from harness import as_model, assert_equal_outputs, run_in_onnxruntime, run_passes
from sessions import by_reference
from straightline import reference
from straightline.passes import RaiseRecurrences
from tables import table

LENGTHS = (0, 1, 2, 3, 7, 37)
VITERBI = """u = Unsqueeze (s, last) a = Add (u, m) b = ReduceMax <axes = [0], keepdims = 0> (a)
    t = Add (b, e)"""
BODIES = {
    "the best path": VITERBI,
    "the worst path": VITERBI.replace("ReduceMax", "ReduceMin"),
    "columns first": "u = Unsqueeze (s, first) a = Add (m, u) b = ReduceMax <axes = [1],"
    " keepdims = 0> (a) t = Add (e, b)",
    "a partition function": VITERBI.replace("ReduceMax", "ReduceLogSumExp"),
    "the best path or a fresh start": VITERBI + " t1 = Max (t, f)",
    "a loss along a path": VITERBI.replace("t = Add", "t = Sub"),
    "a bottleneck": "u = Unsqueeze (s, last) a = Min (u, m) t = ReduceMax <axes = [0],"
    " keepdims = 0> (a)",
    "a forward pass": "u = Unsqueeze (s, first) a = MatMul (u, w) b = Squeeze (a, first)"
    " t = Mul (b, e)",
    "a matrix of each iteration": "g = Unsqueeze (e, last) h = Mul (g, w) t = MatMul (s, h)",
    "with offsets": "g = Unsqueeze (e, last) h = Mul (g, w) a = MatMul (h, s) b = Add (a, e)"
    " t = Sum (b, f)",
    "a Gemm of the state": "u = Unsqueeze (s, first) g = Unsqueeze (e, first) h = Mul (w, g)"
    " v = Unsqueeze (f, first) a = Gemm <transB = 1, alpha = 0.5> (u, h, v)"
    " t = Squeeze (a, first)",
    "a delta rule": "u = Unsqueeze (s, last) g = Unsqueeze (e, first) h = Unsqueeze (e, last)"
    " v = Unsqueeze (f, last) d = MatMul (g, u) p = Neg (d) a = Gemm <beta = 0.5> (h, p, u)"
    " b = Add (a, v) t = Squeeze (b, last)",
    "a sum of products": "u = Unsqueeze (s, last) g = Unsqueeze (e, first) h = Mul (w, g)"
    " a = Mul (u, h) t = ReduceSum <keepdims = 0> (a, first)",
    "a shift and an insertion": "a, b = Split <axis = 0> (s, parts) g = Neg (b)"
    " h = Slice (e, one1, two) p = Sub (h, g) t = Concat <axis = 0> (p, a)",
    "elements put together": "a, b = Split <axis = 0> (s, parts) h = Slice (e, one1, two)"
    " p = Max (h, b) q0 = Add (a, m2) t = Concat <axis = 0> (p, q0)",
    "a row of a table of distances": "a, b = Split <axis = 0> (s, parts) h = Concat <axis = 0>"
    " (f0, a) g = Add (h, e) t = Min (g, s)",
    "a choice of elements": "u = Unsqueeze (e, first) d = MatMul (u, w) c = Squeeze (d, first)"
    " h = Mul (s, c) t = Where (k, h, f)",
    "a maximum beside the state": "u = Unsqueeze (s, last) g = Unsqueeze (f, first) a = Add (u, g)"
    " b = ReduceMax <axes = [1], keepdims = 0> (a) t = Add (b, e)",
    "masked": VITERBI.replace("t =", "n =") + " t = Where (k, n, s)",
    "kept": VITERBI.replace("t =", "n =") + " o = Max (n, f) t = Where (k, s, o)",
}
TEXT = """g (float[N, 3] x, float[N, 3] y, bool[N, 1] k0, float[3] s0)
    => (float[3] r, float[N, 3] z) <int64[1] first = {0}, int64[1] last = {1},
    int64[2] parts = {2, 1}, int64[1] one1 = {1}, int64[1] two = {2}, float[2] m2 = {1, -1},
    float[1] f0 = {0.5},
    float[3, 3] m = {0.5, -1, 0.25, 0.75, -0.5, 1, -1.25, 0.5, 0},
    float[3, 3] w = {0.5, 0.25, 0.25, 0.125, 0.5, 0.375, 0.25, 0.25, 0.5}> {
    r, z = Scan <num_scan_inputs = 3, body = b (float[3] s, float[3] e, float[3] f, bool[1] k)
        => (float[3] t, float[3] q) { BODY q = Identity (t) }> (s0, x, y, k0) }"""


def text_of(body):
    body = body.replace(" t1 =", " t =").replace("t = Add (b, e) t =", "c = Add (b, e) t =")
    return TEXT.replace("BODY", body.replace("Max (t, f)", "Max (c, f)"))


def feeds(length, seed=0):
    rng = np.random.default_rng(length + seed)
    return {
        "x": rng.random((length, 3)).astype(np.float32),
        "y": rng.normal(size=(length, 3)).astype(np.float32),
        "k0": rng.random((length, 1)) < 0.6,
        "s0": rng.random(3).astype(np.float32),
    }


def operators(result):
    return [node.op_type for node in result.model.graph.node]


def raised(text, **options):
    result = run_passes(text, RaiseRecurrences(exact=False, **options))
    assert "Scan" not in operators(result), result.remarks
    return result.model


@pytest.mark.sample(6)
@pytest.mark.parametrize("straight", [False, True])
@pytest.mark.parametrize("what", BODIES)
def test_products_of_matrices(what, straight):
    text = text_of(BODIES[what])
    if straight and "Where" in text:
        pytest.skip("too many nodes for the search for readers of signs of zeros")
    model = raised(text, straight=straight)
    for length in LENGTHS:
        assert_equal_outputs(text, model, feeds(length), rtol=1e-4, atol=1e-4)


@pytest.mark.sample(4)
@pytest.mark.parametrize("what", BODIES)
def test_infinities_and_nan(what):
    """A number stays one; an infinity may become NaN, and NaN a number."""
    text = text_of(BODIES[what])
    model, rng = raised(text), np.random.default_rng(5)
    for seed in range(12):
        feed = feeds(6, seed)
        for name in ("x", "s0"):
            places = rng.integers(feed[name].size, size=2)
            feed[name].reshape(-1)[places] = rng.choice([np.inf, -np.inf, np.nan, -0.0], size=2)
        for run in (reference.run, run_in_onnxruntime):
            for one, other in zip(run(model, feed), run(as_model(text), feed), strict=True):
                finite = np.isfinite(other)
                assert not np.any(finite & ~np.isfinite(one))
                np.testing.assert_allclose(one[finite], other[finite], rtol=1e-4, atol=1e-4)


def test_rows_of_a_batch_stay_apart():
    """Two rows of scores, each with its mask, which a padded row keeps."""
    text = (
        text_of(BODIES["masked"])
        .replace("float[3] s", "float[2, 3] s")
        .replace("float[3] t", "float[2, 3] t")
        .replace("float[3] q", "float[2, 3] q")
        .replace("float[3] r, float[N, 3] z", "float[2, 3] r, float[N, 2, 3] z")
        .replace("float[N, 3] x", "float[N, 2, 3] x")
        .replace("float[3] e", "float[2, 3] e")
        .replace("bool[N, 1]", "bool[N, 2, 1]")
        .replace("bool[1] k", "bool[2, 1] k")
        .replace("last = {1}", "last = {2}")
        .replace("axes = [0]", "axes = [1]")
    )
    model, rng = raised(text), np.random.default_rng(2)
    for length in LENGTHS:
        feed = {
            **feeds(length),
            "x": rng.random((length, 2, 3)).astype(np.float32),
            "k0": rng.random((length, 2, 1)) < 0.6,
            "s0": rng.random((2, 3)).astype(np.float32),
        }
        expected = by_reference(as_model(text), feed)
        for run in (reference.run, run_in_onnxruntime)[: 1 + (length > 0)]:
            for one, other in zip(run(model, feed), expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_a_column():
    """Axes of size 1 may change places."""
    text = text_of(
        "a = Add (s, m) b = ReduceMax <axes = [0]> (a) c = Transpose (b) g = Unsqueeze (e, last)"
        " t = Add (c, g)"
    )
    for name in ("s0", "r", "s", "t", "q"):
        text = text.replace(f"float[3] {name}", f"float[3, 1] {name}")
    text = text.replace("float[N, 3] z", "float[N, 3, 1] z")
    model = raised(text)
    for length in LENGTHS:
        feed = feeds(length)
        feed["s0"] = feed["s0"].reshape(3, 1)
        for run in (reference.run, run_in_onnxruntime)[: 1 + (length > 0)]:
            for one, other in zip(run(model, feed), run(as_model(text), feed), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@table(
    ("u = Unsqueeze (s, last) a = Mul (u, m) b = ReduceMax <axes = [0], keepdims = 0> (a)"
     " t = Add (b, e)",),
    ("u = Unsqueeze (s, last) a = Add (u, m) b = ReduceMean <axes = [0], keepdims = 0> (a)"
     " c = Max (b, e) t = Add (c, f)",),
    (VITERBI.replace("Add (u, m)", "Add (u, u)").replace("t = Add (b, e)", "t = Add (b, s)"),),
    (BODIES["masked"].replace("Where (k", "p = Greater (e, f) t = Where (p").replace(
        " t = p =", " p ="),),
    # Elements that no node mixes: zeros beside a diagonal would spread an infinity to all of them.
    ("o = Constant <value = float[3] {0, 1, 2}> () p = Mul (s, o) t = Add (p, e)",),
    ("o = Constant <value_float = 0.0> () p = Mul (s, o) t = Add (p, e)",),
)  # fmt: skip
def test_near_misses(body):
    result = run_passes(text_of(body), RaiseRecurrences(exact=False))
    assert operators(result) == ["Scan"]


def test_a_wide_state_stays():
    text = text_of(BODIES["the best path"]).replace("3]", "9]")
    numbers = ", ".join(["0.5"] * 81)
    for name in ("m", "w"):
        start = text.index(f"{name} = {{")
        text = text[:start] + f"{name} = {{{numbers}}}" + text[text.index("}", start) + 1 :]
    text = text.replace("[3,", "[9,")
    result = run_passes(text, RaiseRecurrences(exact=False))
    assert operators(result) == ["Scan"]
