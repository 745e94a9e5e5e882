"""Samples far from zero, of all magnitudes, and special ones: what only they tell apart."""

import onnx
import pytest
from straightline.runtimes.workers import RuntimeFailure, Worker
from straightline.verification.runs.sample_shapes import SampleShapeError
from tables import table
from verified import SCALE, model


def unseparated(verdict):
    return tuple(label for label in verdict.samples if not label.startswith("separating"))


def form(opset, constants, body):
    text = f"(float[4,8] x) => (float[4,8] y) <{constants}> {{ {body} }}"
    return model(text, opset=opset, ir_version=8)


ONES = ", ".join("1" * 8)
NORMAL = f"float[8] s = {{{ONES}}}, float e = {{1e-5}}"
LAYER_NORM = form(17, NORMAL, "y = LayerNormalization (x, s)")
WRONG_VARIANCE = """m = ReduceMean <axes = [-1]> (x)  q = Mul (x, x)
    n = ReduceMean <axes = [-1]> (q)  o = Mul (m, m)  v = Sub (n, o)  w = Add (v, e)  r = Sqrt (w)
    d = Sub (x, m)  u = Div (d, r)  y = Mul (u, s)"""
RIGHT_VARIANCE = """m = ReduceMean <axes = [-1]> (x)  d = Sub (x, m)  q = Mul (d, d)
    v = ReduceMean <axes = [-1]> (q)  w = Add (v, e)  r = Sqrt (w)
    u = Div (d, r)  y = Mul (u, s)"""


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
def test_a_form_that_is_wrong_far_from_zero_is_caught(check, runtime):
    for seed in range(10):
        options = {"runtime": runtime, "seed": seed}
        wrong = check(LAYER_NORM, form(16, NORMAL, WRONG_VARIANCE), **options)
        assert wrong.status == "different", wrong
        assert wrong.outputs[0].sample == "values far from zero"
        right = check(LAYER_NORM, form(16, NORMAL, RIGHT_VARIANCE), **options)
        assert right.equal, right
        assert "values far from zero" in right.samples


@pytest.mark.sample(4)
@table(
    ("softmax", ("y = Softmax <axis = -1> (x)",
     "m = ReduceMax <axes = [-1]> (x)  d = Sub (x, m)  p = Exp (d)"
     "  t = ReduceSum <keepdims = 1> (p, last)  y = Div (p, t)")),
    ("log softmax", ("y = LogSoftmax <axis = -1> (x)",
     "m = ReduceMax <axes = [-1]> (x)  d = Sub (x, m)  p = Exp (d)"
     "  t = ReduceSum <keepdims = 1> (p, last)  l = Log (t)  y = Sub (d, l)")),
    ("hard swish", ("y = HardSwish (x)",
     "h = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x)  y = Mul (x, h)")),
    ("norm",
     ("y = LpNormalization <p = 2> (x)", "n = ReduceL2 <axes = [-1]> (x)  y = Div (x, n)")),
    ("mean", ("m = ReduceMean <axes = [-1]> (x)  y = Sub (x, m)",
     "t = ReduceSum (x, last)  m = Div (t, eight)  y = Sub (x, m)")),
    ("a product put together otherwise",
     ("p = MatMul (x, w)  y = Add (p, x)", "y = Gemm (x, w, x)")),
    ("parts", ("y = MatMul (x, w)",
     "a, b, c, d = Split (x, rows)  e = MatMul (a, w)  f = MatMul (b, w)  g = MatMul (c, w)"
     "  h = MatMul (d, w)  y = Concat <axis = 0> (e, f, g, h)")))  # fmt: skip
def test_right_forms_are_equal_whatever_is_drawn(case, given, check):
    weights = ", ".join(str(0.01 * n - 0.3) for n in range(64))
    constants = (
        "int64[1] last = {-1}, float eight = {8}, int64[4] rows = {1, 1, 1, 1},"
        f" float[8,8] w = {{{weights}}}"
    )
    before, after = (form(17, constants, body) for body in given)
    for seed in range(10):
        verdict = check(before, after, seed=seed)
        assert verdict.equal, verdict


def test_special_values_are_the_originals_own(check):
    text = "(float[8] x, float[8] w) => (float[8] y) <float zero = {0}> { %s }"
    relu, where = "y = Relu (x)", "p = Greater (x, zero)  y = Where (p, x, w)"
    assert check(model(text % relu), model(text % relu)).equal
    other = "y = Max (x, zero)"
    assert check(model(text % relu), model(text % other)).equal
    # Where a number is none, the two are not the same.
    kept = "p = Less (x, zero)  q = Not (p)  y = Where (q, x, w)"
    zeros = "p = GreaterOrEqual (x, zero)  y = Where (p, x, w)"
    verdict = check(model(text % zeros), model(text % kept))
    assert verdict.status == "different"
    assert verdict.outputs[0].sample == "special values"
    assert check(model(text % where), model(text % where)).equal


def test_integers_at_the_ends_of_their_range(check):
    text = "(int32[8] x) => (int32[8] y) <int32 two = {2}> { %s }"
    assert check(model(text % "y = Mul (x, two)"), model(text % "y = Add (x, x)")).equal
    rounded = "m = Cast <to = 1> (x)  y = Cast <to = 6> (m)"
    verdict = check(model(text % "y = Identity (x)"), model(text % rounded))
    assert verdict.status == "different"
    assert verdict.outputs[0].sample == "special values"


@table(
    ("(float[4] x, int64[2] n) => (y) { y = Gather (x, n) }", 4),
    ("(int64[2] n) => (int64[2] y) { y = Add (n, n) }", 1),
    ("(int64 n) => (y) <int64 o = {0}, int64 u = {1}> { y = Range (o, n, u) }", 0),
    ("(bool[2] n) => (bool[2] y) { y = Not (n) }", 0),
    ("(string[2] n) => (string[2] y) { y = Identity (n) }", 0),
)
def test_strain_is_put_on_what_bears_it(graph, strained, check):
    proto = onnx.shape_inference.infer_shapes(model(graph.replace("(y)", "(float[N] y)")))
    if "Range" in graph:
        proto.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
    verdict = check(proto, proto)
    assert verdict.equal, verdict
    assert len(unseparated(verdict)) == 3 + strained
    assert not verdict.notes


def test_one_strained_sample_more_than_plain_ones(check):
    proto, two = model(SCALE % "1, 2, 3"), ("values far from zero", "large and tiny values")
    assert unseparated(check(proto, proto, samples=1)) == ("sample 0", *two)
    assert unseparated(check(proto, proto, samples=1, rtol=1e-3))[1:] == two
    assert check(proto, proto, samples=1, atol=1e-3).samples == ("sample 0",)


def test_refused_samples_are_left_out(check):
    text = """(uint8[4] n, float[2,3] x) => (float[K,3] y) {
      k = Mod (n, two)  m = Cast <to = 7> (n)  y = Gather (x, m) }"""
    text = text.replace("{\n", "<uint8 two = {2}> {\n", 1)
    verdict = check(model(text), model(text))
    assert verdict.equal
    assert "values far from zero" in verdict.samples


def test_a_strained_sample_that_takes_too_long_is_left_out(check, monkeypatch):
    run, waited = Worker.run, []

    def slow(worker, source, feeds, **options):
        if abs(float(feeds["x"].max())) > 1000:
            waited.append(worker.timeout)
            raise RuntimeFailure("onnxruntime", "timed out", "no answer")
        return run(worker, source, feeds, **options)

    monkeypatch.setattr(Worker, "run", slow)
    proto = model("(float[4] x, float[1] w) => (float[4] y) <float[1] w = {2}> { y = Mul (x, w) }")
    verdict = check(proto, proto, timeout=300)
    assert verdict.equal
    assert not verdict.notes
    # Nothing more is tried, and nothing of what comes before is lost.
    assert len(waited) == 1 and waited[0] < 60
    plain = ("sample 0", "sample 1", "sample 2", "other values for initializer 'w'")
    assert verdict.samples == plain


def framed(length):
    """A model of speech: the recording must be at least one window long."""
    frames = """(float[B,N] x, float[2,1,4] h) => (float[] y) <int64[3] one = {1, 1, -1}> {
          window = Constant <value_floats = [%s]> ()
          w = Reshape (window, one)  c = Reshape (x, one)
          f = Conv <strides = [64]> (c, w)
          top = ReduceMax <keepdims = 0> (h)  y = Mul (f, top)
        }"""
    return model(frames % ", ".join(["0.5"] * length))


@pytest.mark.parametrize("length", [65, 256, 600])
def test_sizes_grow_until_the_original_runs(check, length):
    verdict = check(framed(length), framed(length), samples=1)
    assert verdict.equal, verdict


def test_unknown_lengths_are_asked_of_the_user(check):
    """So long a window is not drawn; its length may be given."""
    picky = model(
        "(float[1,N] x) => (float[3,219] y) <int64[2] split = {3, 219}> { y = Reshape (x, split) }"
    )
    verdict = check(picky, picky, samples=1)
    assert verdict.status == "not verified"
    assert verdict.reason.endswith(
        "; pass sizes that it accepts with --sample-shape x=... (sample_shapes= in Python), or"
        " inputs with --inputs FILE.npz (feeds= in Python)"
    )
    assert check(picky, picky, sample_shapes={"x": (1, 657)}).equal
    with pytest.raises(SampleShapeError, match="dimension 0 is 1, not 2"):
        check(picky, picky, sample_shapes={"x": (2, 657)})
