import different_pairs
import numpy as np
import pytest
import straightline as sl
from straightline.reference.signature import Signature
from straightline.verification.runs.input_generator import Drawer
from straightline.verification.runs.separators import Separators
from verified import model

PAIRS = [*different_pairs.PAIRS, *different_pairs.rows(different_pairs.HELD_BACK)]
ROWS = {f"{row[0]} ({number})": row for number, row in enumerate(PAIRS)}


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", ROWS)
def test_different_models_are_told_apart(name, workers):
    before, after = different_pairs.models(ROWS[name])
    for one, other in ((before, after), (after, before)):
        verdict = sl.verify(one, other, prove=False, workers=workers)
        assert verdict.status == "different" and verdict.outputs, verdict


EQUAL = [
    ("(float[n] x) => (float[n] y) <float t = {3}>", "y = Div (x, t)",
     "i = Reciprocal (t) y = Mul (x, i)"),
    ("(float[n, 4] x) => (float[n, 4] y)", "y = Softmax (x)", "l = LogSoftmax (x) y = Exp (l)"),
    ("(float[n, 4] x) => (float[n, 1] y) <int64[1] a = {1}>", "y = ReduceSum (x, a)",
     "n = Neg (x) s = ReduceSum (n, a) y = Neg (s)"),
    ("(int64[n] x) => (int64[n] y) <int64 k = {7}>", "y = Mul (x, k)",
     "b = Add (x, x) c = Add (b, b) d = Add (c, b) y = Add (d, x)")]  # fmt: skip


@pytest.mark.parametrize("case", EQUAL)
def test_rounding_tells_no_models_apart(case, workers):
    head, *bodies = case
    before, after = (model(f"{head} {{ {body} }}", opset=18) for body in bodies)
    for one, other in ((before, after), (after, before)):
        verdict = sl.verify(one, other, prove=False, workers=workers)
        assert verdict.equal, verdict


def drawn(text, count=12, accepts=lambda feeds: True, **options):
    """The accepted candidates of separating samples of a model."""
    proto = model(text, opset=18)
    signature = Signature.of(proto)
    drawer = Drawer(signature, signature, {}, 0, options.pop("steering", ()))
    for sample in drawer.samples(1):
        next(sample.candidates)
    samples = drawer.separating(count, Separators.of(proto), options.pop("ids", {}), **options)
    return [next(filter(accepts, sample.candidates), None) for sample in samples]


def test_scalars_go_through_the_values_one_by_one():
    found = [
        float(f["x"]) for f in drawn("(float x) => (bool y) <float k = {7.5}> { y = Less (x, k) }")
    ]
    assert {7.5, 8.5} <= set(found) and any(n != 7.5 and abs(n - 7.5) < 1e-5 for n in found)


def test_sizes_go_beside_constants_and_down_to_zero():
    text = (
        "(float[n] x) => (float[m] y) <int64[1] a = {0}, int64[1] b = {6}> { y = Slice (x, a, b) }"
    )
    sizes = {f["x"].shape[0] for f in drawn(text, 24)}
    assert {5, 6, 7} <= sizes and 0 in sizes


def test_refused_inputs_are_made_tamer():
    text = "(float[4, 2] w, int64[3] x) => (float[3, 2] y) { y = Gather (w, x) }"
    fits = lambda feeds: ((feeds["x"] >= 0) & (feeds["x"] < 4)).all()  # noqa: E731
    found = drawn(text, steering={"x"}, accepts=fits)
    assert None not in found and len({tuple(f["x"]) for f in found}) > 3


def test_ids_reach_both_ends_of_a_table():
    text = (
        "(int64[n] x) => (float[n] y) <float[8] w = {1, 2, 3, 4, 5, 6, 7, 8}> { y = Gather (w, x) }"
    )
    ids = np.concatenate([f["x"] for f in drawn(text, steering={"x"}, ids={"x": 8})])
    assert ids.min() == -8 and ids.max() == 7


def test_booleans_go_through_all_combinations():
    found = drawn("(bool a, bool b, bool c) => (bool y) { d = And (a, b) y = And (c, d) }", 8)
    assert len({tuple(map(bool, f.values())) for f in found}) == 8


@pytest.mark.sample(0)
def test_without_extremes_all_floats_are_finite():
    text = "(float[5] x) => (float[5] y) { y = Exp (x) }"
    assert all(np.isfinite(f["x"]).all() for f in drawn(text, exact=False))
    assert not all(np.isfinite(f["x"]).all() for f in drawn(text))
