import numpy as np
import pytest
import straightline as sl
from proofs import model
from tables import table

HEAD = "g (float[n, 3] x) => (float[n, 3] y) "
CLAMP = "{ y = Relu (x) }"


def prove(before, after, **options):
    return sl.prove(model(before), model(after), **options)


def test_the_input_that_refutes_is_small():
    proof = prove(HEAD + CLAMP, HEAD + "{ y = Abs (x) }")
    assert proof.status == "refuted" and not proof.conditions and not proof.needed
    assert proof.feeds["x"].shape == (1, 3)
    assert np.count_nonzero(proof.feeds["x"]) == 1 and proof.feeds["x"].min() == -1
    assert proof.reason.endswith("0.0 became 1.0 (the minimized input)")
    assert "  on x = float32[1, 3]" in str(proof)


def test_bits_that_differ_are_shown_if_only_the_reals_are_equal():
    third = HEAD + "<float c = {%s}> { y = %s (x, c) }"
    proof = prove(third % ("3", "Div"), third % ("0.33333333", "Mul"))
    assert (proof.status, proof.equality) == ("open", "reals")
    (condition,) = proof.conditions
    assert condition.options == ("--equality", "reals")
    x = proof.feeds["x"]
    assert (x / np.float32(3) != x * np.float32(0.33333333)).any()
    assert proof.reason.startswith("equal over the reals, not bit for bit: y: different in values")


def test_a_loop_that_may_have_no_iteration_is_tried_without_one():
    loop = """g (float[n] x) => (int64 y) <int64 zero = {0}, int64 six = {6}, bool t = {1}> {
        s = Shape (x) k = Squeeze (s)
        y = Loop <body = b (int64 i, bool c, int64 s) => (bool c2, int64 s2) {
            c2 = Identity (c) s2 = Identity (six) }> (k, t, zero) }"""
    proof = prove(loop, "g (float[n] x) => (int64 y) <int64 six = {6}> { y = Identity (six) }")
    assert proof.status == "refuted"
    assert proof.feeds["x"].shape == (0,)
    assert prove(loop, loop).proved


def test_without_a_search_nothing_runs(monkeypatch):
    monkeypatch.setattr("straightline.verification.refutation.run", lambda *_, **__: 1 / 0)
    proof = prove(HEAD + CLAMP, HEAD + "{ y = Abs (x) }", search=False)
    assert proof.status == "open" and not proof.conditions


def test_a_difference_in_the_signature_needs_no_input():
    after = "g (float[n, 3] z) => (float[n, 3] y, float[n, 3] w) { y = Abs (z) w = Neg (z) }"
    proof = prove(HEAD + CLAMP, after)
    assert proof.status == "open" and proof.feeds is None and not proof.conditions


@pytest.mark.parametrize(("operator", "decided"), [("Relu", True), ("Abs", False)])
def test_names_that_differ_are_tried_by_position(operator, decided):
    after = f"g (float[n, 3] in) => (float[n, 3] out) {{ out = {operator} (in) }}"
    proof = prove(HEAD + CLAMP, after)
    assert proof.status == "open" and "the signatures differ" in proof.reason
    assert [c.options for c in proof.conditions] == [("--by-position",)] * decided
    for condition in proof.conditions:
        assert prove(HEAD + CLAMP, after, **condition.arguments).proved


@pytest.mark.parametrize("sizes", [{"dims": {"n": 2}}, {"sample_shapes": {"x": (2, 3)}}])
def test_inputs_have_the_sizes_that_the_caller_fixed(sizes):
    assert prove(HEAD + CLAMP, HEAD + "{ y = Abs (x) }", **sizes).feeds["x"].shape == (2, 3)


def test_verify_shows_a_small_input_as_well():
    before, after = model(HEAD + CLAMP), model(HEAD + "{ y = Abs (x) }")
    verdict = sl.verify(before, after, prove=False)
    assert np.count_nonzero(verdict.feeds["x"]) == 1
    (output,) = verdict.outputs
    assert output.sample == "the minimized input" and output.difference.first.after == 1
    feeds = {"x": np.full((2, 3), -3, np.float32)}
    assert sl.verify(before, after, prove=False, feeds=feeds).feeds["x"].tolist() == [[-3] * 3] * 2


def test_a_rewrite_that_fails_shows_a_small_input():
    text = "g (float[n] x) => (float[m] y) <int64[2] s = {{2, -1}}, int64[1] f = {{-1}}> {{ {} }}"
    after = text.format("r = Reshape (x, s) y = Reshape (r, f)")
    proof = prove(text.format("y = Identity (x)"), after)
    assert proof.status == "refuted" and "does not run on the minimized input" in proof.reason
    assert proof.feeds["x"].tolist() == [0]


def test_overflow_does_not_refute_over_the_reals():
    """The axis may be empty, where Softmax fails; Exp (1500) is infinite."""
    head = "g (float[n, m] x) => (float[n, m] y) "
    long = head + "<int64[1] a = {1}> { e = Exp (x) s = ReduceSum (e, a) y = Div (e, s) }"
    softmax = head + "{ y = Softmax <axis = 1> (x) }"
    assert prove(long, softmax).status == "refuted"
    proof = prove(long, softmax, equality="reals")
    assert proof.status == "open" and "; overflowing values differ: y: different" in proof.reason
    assert prove(long, head + "{ y = Exp (x) }", equality="reals").status == "refuted"


def test_a_failure_refutes_over_the_reals():
    head = "g (float[n] x, int64[1] s) => (float[n] y) "
    proof = prove(
        head + "{ y = Neg (x) }", head + "{ e = Expand (x, s) y = Neg (e) }", equality="reals"
    )
    assert proof.status == "refuted"


SHARES = """g (float[n, m] x, float[k] w) => (float[n, m] y, %s) <int64[1] last = {-1},
    float none = {0}, float low = {-%s}, float[1] mask = {-%s}> { e = Exp (x)
    s = ReduceSum (e, last) q = Div (e, s) %s }"""
AFTER = """g (float[n, m] x, float[k] w) => (float[n, m] y, %s) <int64[1] last = {-1},
    float none = {0}, float low = {-%s}, float[1] mask = {-%s}> { q = Softmax (x) %s }"""


@pytest.mark.sample(2)
@table(
    ("float[n, m] z", "b = IsNaN (q) y = Where (b, none, q) z = Identity (x)"),
    ("bool[n, m] z", "y = Relu (x) z = Greater (q, none)"),
    ("int64[n] z", "y = Relu (x) z = ArgMax <axis = 1, keepdims = 0> (q)"),
)
def test_overflow_on_the_way_does_not_refute_over_the_reals(declared, nodes):
    """The axis of the Softmax may be empty, so that there is no proof either."""
    texts = [text % (declared, "1", "1", nodes) for text in (SHARES, AFTER)]
    proof = prove(*texts, equality="reals")
    assert proof.status == "open" and "overflowing values differ" in proof.reason
    assert prove(*texts).status in ("open", "refuted")


@pytest.mark.parametrize("low", ["1", "inf"])
def test_a_mask_that_is_infinite_hides_no_difference(low):
    nodes = "a = Add (w, mask) b = Exp (a) y = %s (x) z = Identity (b)"
    texts = [SHARES % ("float[k] z", low, low, nodes % name) for name in ("Relu", "Abs")]
    assert prove(*texts, equality="reals").status == "refuted"


def test_an_input_with_a_default_is_not_emptied():
    head = "g (float[n] x, float[k] w) => (float[n] y) <float[1] w = {2}> { "
    proof = prove(head + "y = Max (x, x) }", head + "a = Abs (x) b = Neg (a) y = Max (b, x) }")
    assert proof.status == "open"
