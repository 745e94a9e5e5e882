"""Infinities and NaN that are fed: a number of the loop stays that number."""

import numpy as np
import pytest
from cells import HEAD, Spelling
from harness import as_model, run_in_onnxruntime, run_passes
from loops import op_types
from straightline import reference
from straightline.passes import HoistInvariants, RaiseRecurrences, parse_pipeline

SPECIAL = (np.inf, -np.inf, np.nan)


def numbers_stay(before, after, loses_nan):
    """Check that numbers stay, and that an infinity stays one; a NaN may become a number where a
    kernel of onnxruntime loses it, or where what is blended is infinite."""
    for one, other in zip(before, after, strict=True):
        number = ~np.isnan(one)
        assert not np.isnan(other[number]).any()
        np.testing.assert_allclose(other[number], one[number], rtol=1e-4, atol=1e-5)
        assert loses_nan or np.isnan(other[~number]).all()


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", range(0, 18))
def test_an_infinity_or_nan_in_one_element(seed):
    spelling = Spelling(seed)
    after = run_passes(spelling.model, HoistInvariants(), RaiseRecurrences()).model
    assert not set(op_types(after.graph)) & {"Loop", "Scan"}
    numbers = np.random.default_rng(seed)
    for special in SPECIAL:
        for name in ("x", "h0"):
            feed = {key: array.copy() for key, array in spelling.feed(3, 2).items()}
            feed[name].reshape(-1)[numbers.integers(feed[name].size)] = special
            for run in (reference.run, run_in_onnxruntime):
                loses_nan = run is run_in_onnxruntime or name == "h0"
                numbers_stay(run(spelling.model, dict(feed)), run(after, feed), loses_nan)


ADDED = "g (float[N, 4] x, float[4] h0, float[4, 4] u) => (float[4] h1)"
SPREADING = {
    "what is added without a weight": "q = MatMul (h, u) s = Add (q, e) h2 = Tanh (s)",
    "what one gate reads": """a = MatMul (h, u) z0 = MatMul (e, u) z1 = Add (z0, a)
        z = Sigmoid (z1) r = Sigmoid (a) t = Mul (r, a) n = Tanh (t) d = Sub (h, n)
        k = Mul (z, d) h2 = Add (n, k)""",
}


@pytest.mark.parametrize("case", SPREADING)
def test_products_with_zero_stay_by_default(case):
    text = f"""{HEAD} {ADDED} {{ h1 = Scan <num_scan_inputs = 1,
        body = f (float[4] h, float[4] e) => (float[4] h2) {{ {SPREADING[case]} }}> (h0, x) }}"""
    model = as_model(text)
    kept = run_passes(model, RaiseRecurrences())
    assert not kept.changed
    assert "an infinity or NaN would make NaN of other gates" in kept.kept[0].reason
    assert "raise-recurrences{spread_nan=true}" in kept.kept[0].reason
    assert run_passes(model, *parse_pipeline("raise-recurrences{spread_nan=true}").passes).changed


def test_a_peephole_of_one_gate_alone():
    text = f"""{HEAD} g (float[N, 4] x, float[4] h0, float[4] c0, float[4, 4] u, float[4] p)
        => (float[4] h1, float[4] c1) {{ h1, c1 = Scan <num_scan_inputs = 1,
        body = f (float[4] h, float[4] c, float[4] e) => (float[4] h2, float[4] c2) {{
            a = MatMul (e, u) b = MatMul (h, u) d = Add (a, b) seen = Mul (p, c)
            i0 = Add (d, seen) i = Sigmoid (i0) f0 = Sigmoid (d) o = Sigmoid (d) n = Tanh (d)
            k = Mul (f0, c) m = Mul (i, n) c2 = Add (k, m) t = Tanh (c2) h2 = Mul (o, t)
        }}> (h0, c0, x) }}"""
    result = run_passes(as_model(text), RaiseRecurrences())
    assert "has a gate without a peephole" in result.kept[0].reason
    assert run_passes(as_model(text), RaiseRecurrences(spread_nan=True)).changed
    cell = "k4 = Shape (h0) c0 = ConstantOfShape (k4) h1, c1 ="
    model = as_model(text.replace("float[4] c0, ", "").replace("h1, c1 =", cell))
    after = run_passes(model, RaiseRecurrences()).model
    assert "LSTM" in op_types(after.graph)
    rng = np.random.default_rng(0)
    feed = {"h0": rng.normal(size=4), "u": rng.normal(size=(4, 4)), "p": rng.normal(size=4)}
    feed = {key: array.astype(np.float32) for key, array in feed.items()}
    for special in (1, *SPECIAL):
        x = rng.normal(size=(3, 4)).astype(np.float32)
        x[1, 2] = special
        for run in (reference.run, run_in_onnxruntime):
            loses_nan = run is run_in_onnxruntime
            numbers_stay(run(model, {**feed, "x": x}), run(after, {**feed, "x": x}), loses_nan)


def test_finite_values_may_be_multiplied_by_zero():
    text = f"""{HEAD} g (int64[N] ids, float[4] h0, float[4, 4] u) => (float[4] h1)
        <float[2, 4] table = {{1, 2, 3, 4, 5, 6, 7, 8}}> {{ x = Gather (table, ids)
        h1 = Scan <num_scan_inputs = 1, body = f (float[4] h, float[4] e) => (float[4] h2) {{
            {SPREADING["what is added without a weight"]} }}> (h0, x) }}"""
    assert "RNN" in op_types(run_passes(as_model(text), RaiseRecurrences()).model.graph)


def test_the_offered_gru_holds_with_infinities():
    """torch.export's scan of a GRUCell, of any length and batch."""
    torch = """y, h1 = Scan <num_scan_inputs = 1, body = f (float[B, 4] h, float[B, 3] e)
        => (float[B, 4] h2, float[B, 4] r) {
            gi = Gemm <transB = 1> (e, wi, bi) gh = Gemm <transB = 1> (h, wh, bh)
            ir, iz, i = Split <axis = 1, num_outputs = 3> (gi)
            hr, hz, hn = Split <axis = 1, num_outputs = 3> (gh)
            r0 = Add (ir, hr) rs = Sigmoid (r0) z0 = Add (iz, hz) z = Sigmoid (z0)
            n0 = Mul (rs, hn) n1 = Add (i, n0) n = Tanh (n1)
            d = Sub (h, n) d2 = Mul (d, z) h2 = Add (d2, n) r = Identity (h2) }> (h0, x)"""
    model = as_model(f"""{HEAD} g (float[T, B, 3] x, float[B, 4] h0, float[12, 3] wi,
        float[12, 4] wh, float[12] bi, float[12] bh) => (float[B, 4] y, float[T, B, 4] h1)
        {{ {torch} }}""")
    (remark,) = [r for r in parse_pipeline("straighten").run(model).remarks if "GRU" in r.reason]
    assert "which onnxruntime may compute as a number where it is a NaN" in remark.reason
    after = parse_pipeline(remark.reason.split("--passes '")[1].split("'")[0]).run(model).model
    assert "GRU" in op_types(after.graph)
    numbers = np.random.default_rng(0)
    shapes = {"x": (7, 3, 3), "h0": (3, 4), "wi": (12, 3), "wh": (12, 4), "bi": 12, "bh": 12}
    feed = {name: numbers.normal(size=s).astype(np.float32) for name, s in shapes.items()}
    feed["x"][2, 1, 0] = np.inf
    for run in (reference.run, run_in_onnxruntime):
        before = run(model, dict(feed))
        assert not np.isnan(before[0]).any()
        numbers_stay(before, run(after, dict(feed)), loses_nan=False)


@pytest.mark.parametrize("op_type", ["RNN", "GRU", "LSTM"])
def test_cells_stay_where_nan_is_to_be_kept(op_type):
    model = Spelling(3, op_type).model
    result = run_passes(model, HoistInvariants(), RaiseRecurrences(keep_nan=True))
    assert f"could be computed by {op_type}, which onnxruntime may compute" in result.kept[0].reason
    accelerated = parse_pipeline("accelerate", keep_nan=True).run(model).model
    assert not set(op_types(accelerated.graph)) & {"RNN", "GRU", "LSTM"}


def test_softplus_overflows_in_the_kernels_and_stays():
    text = f"""{HEAD} {ADDED} {{ h1 = Scan <num_scan_inputs = 1,
        body = f (float[4] h, float[4] e) => (float[4] h2) {{ p = MatMul (e, u)
            q = MatMul (h, u) s = Add (q, p) h2 = Softplus (s) }}> (h0, x) }}"""
    result = run_passes(as_model(text), RaiseRecurrences())
    assert "Softplus, which onnxruntime's kernel of it makes infinite" in result.kept[0].reason


@pytest.mark.parametrize("number", ["1e-30", "1e-41"])
def test_numbers_that_the_type_does_not_hold_are_not_multiplied_together(number):
    """1e-30 twice is 0 in float, and one by 1e-41 infinite; an infinity times 0 is NaN."""
    scaled, sum_of = ("Div (q, k)", "t") if number == "1e-41" else ("Mul (q, k)", "v")
    text = f"""{HEAD} {ADDED} <float k = {{{number}}}> {{ h1 = Scan <num_scan_inputs = 1,
        body = f (float[4] h, float[4] e) => (float[4] h2) {{ m = MatMul (e, u)
            q = MatMul (h, u) t = {scaled} v = Mul (t, k) w = Add ({sum_of}, m)
            h2 = Tanh (w) }}> (h0, x) }}"""
    result = run_passes(as_model(text), RaiseRecurrences())
    assert "which its element type does not hold" in result.kept[0].reason
