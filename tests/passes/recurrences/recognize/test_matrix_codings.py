"""Matrices over truth values, rests and numbers from 0 on."""

import numpy as np
import pytest
from harness import assert_equal_outputs, run_passes
from straightline.passes import RaiseRecurrences
from tables import table

LENGTHS = (0, 1, 2, 3, 7, 37)
TEXT = """<ir_version: 8, opset_import: ["" : 18]>
g (bool[N, 3, 3] m0, bool[N, 3] x, float[N, 3, 3] w0) => (STATE[3] r, STATE[N, 3] z)
    <STATE[3] s0 = {FIRST}, float zero = {0}, float half = {0.5}, float one = {1}, float two = {2},
    int64[1] first = {0}, int64[1] last = {1}, int64[1] end = {2}, int64 five = {5},
    int64 big = {100000007}, int64[3] e = {1, 0, 7}, float[3, 3] c = {1, 0, 1, 0, 1, 0, 0, 1, 0},
    int64[3, 3] d = {0, 1, 0, 1, 1, 0, -2, 0, 3}, int32[1] no = {0}> {
    r, z = Scan <num_scan_inputs = 3, body = b (STATE[3] s, bool[3, 3] m, bool[3] k, float[3, 3] w)
        => (STATE[3] t, STATE[3] q) { BODY q = Identity (t) }> (s0, m0, x, w0) }"""
REACH = "f = Cast <to = 1> (s) a = Cast <to = 1> (m) p = MatMul (f, a) "
RESTS = "a = Cast <to = 7> (m) p = MatMul (s, a) "
BEST = "v = Sigmoid (w) u = Unsqueeze (s, last) p = Mul (u, v) "
BODIES = {
    "states that are reached": ("bool", REACH + "t = Greater (p, zero)"),
    "half a reason": ("bool", REACH + "t = GreaterOrEqual (p, half)"),
    "as seen from 0": ("bool", REACH + "t = Less (zero, p)"),
    "a cast": ("bool", REACH + "t = Cast <to = 9> (p)"),
    "with starts": ("bool", REACH + "h = Greater (p, zero) t = Or (h, k)"),
    "with starts before": ("bool", "o = Or (s, k) " + REACH.replace("(s)", "(o)")
        + "t = Cast <to = 9> (p)"),
    "of an input": ("bool", REACH + "h = Greater (p, zero) t = And (h, k)"),
    "a constant": ("bool", REACH.replace("a)", "c)") + "h = Greater (p, zero) t = Or (h, k)"),
    "an extreme of truth values": ("bool", "u = Unsqueeze (s, last) a = And (u, m)"
        " b = Cast <to = 6> (a) p = ReduceMax <keepdims = 0> (b, first) t = Cast <to = 9> (p)"),
    "neighbours": ("bool", "f = Cast <to = 6> (s) b = Slice (f, first, end, first)"
        " p = Concat <axis = 0> (no, b) h = Cast <to = 9> (p) t = Or (h, k)"),
    "numbers that are 0 or 1": ("float", REACH + "t = Min (p, one)"),
    "a product of such numbers": ("float", "a = Cast <to = 1> (m) u = Unsqueeze (s, last)"
        " p = Mul (u, a) t = ReduceMax <keepdims = 0> (p, first)"),
    "doubles": ("double", "a = Cast <to = 11> (m) p = MatMul (s, a) h = Cast <to = 9> (p)"
        " t = Cast <to = 11> (h)"),
    "parity": ("int64", RESTS + "t = Mod (p, five)"),
    "rests with an offset": ("int64", RESTS + "b = Add (p, e) t = Mod (b, five)"),
    "rests of a difference": ("int64", RESTS + "n = Neg (p) b = Sub (n, e) t = Mod (b, five)"),
    "rests of a constant matrix": ("int64", "p = MatMul (s, d) t = Mod (p, five)"),
    "the likeliest path": ("float", BEST + "b = ReduceMax <keepdims = 0> (p, first)"
        " t = Max (b, half)"),
}  # fmt: skip


def text_of(state, body):
    first = "1, 4, 2" if state.endswith("int64") else "1, 0, 0"
    text = TEXT.replace("BODY", body).replace("STATE", state).replace("FIRST", first)
    for name in ("int64 five", "int64[3] e") if state == "uint64" else ():
        text = text.replace(name, f"u{name}")
    return text


def feeds(length):
    rng = np.random.default_rng(length)
    return {
        "m0": rng.random((length, 3, 3)) < 0.4,
        "x": rng.random((length, 3)) < 0.5,
        "w0": rng.normal(size=(length, 3, 3)).astype(np.float32),
    }


@pytest.mark.parametrize("what", BODIES)
def test_products_of_coded_matrices(what):
    text = text_of(*BODIES[what])
    result = run_passes(text, RaiseRecurrences(exact=False))
    assert "Scan" not in {node.op_type for node in result.model.graph.node}
    rounds = "up to rounding" in " ".join(str(remark) for remark in result.remarks)
    assert rounds == (what == "the likeliest path")
    for length in LENGTHS:
        rtol = 1e-5 if rounds else 0
        assert_equal_outputs(text, result.model, feeds(length), rtol=rtol, atol=0)


@table(
    ("bool", REACH + "t = Greater (p, one)"),  # two reasons
    ("float", REACH + "t = Min (p, two)"),
    ("bool", "f = Cast <to = 1> (s) p = MatMul (f, w) t = Greater (p, zero)"),  # negative, or NaN
    ("float", "p = MatMul (s, w) h = Greater (p, zero) t = Cast <to = 1> (h)"),
    ("int64", "a = Cast <to = 7> (w) p = MatMul (s, a) t = Mod (p, five)"),  # may wrap
    ("int64", RESTS + "t = Mod (p, big)"),
    ("int64", RESTS + "t = Mod <fmod = 1> (p, five)"),
    ("uint64", RESTS.replace("7", "13") + "o = Sub (p, e) t = Mod (o, five)"),  # below 0 it wraps
    ("float", "u = Unsqueeze (s, last) p = Mul (u, w) t = ReduceMax <keepdims = 0> (p, first)"),
)  # fmt: skip
def test_another_question_or_other_numbers(state, body):
    result = run_passes(text_of(state, body), RaiseRecurrences(exact=False))
    operators = {node.op_type for node in result.model.graph.node}
    assert "Scan" in operators


def test_a_first_value_that_is_neither_0_nor_1_stays():
    text = text_of("float", BODIES["numbers that are 0 or 1"][1]).replace(
        "{1, 0, 0}", "{0.5, 0, 0}"
    )
    result = run_passes(text, RaiseRecurrences(exact=False))
    assert [node.op_type for node in result.model.graph.node] == ["Scan"]


def test_the_default_prefers_copies_which_are_proved():
    text = text_of(*BODIES["states that are reached"])
    result = run_passes(text, RaiseRecurrences(exact=True, straight=True))
    assert [node.op_type for node in result.model.graph.node] == ["Scan"]
    assert "exact=false,straight=false" in result.kept[0].reason
