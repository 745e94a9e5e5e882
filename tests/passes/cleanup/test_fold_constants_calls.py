"""Calls of which constants and sizes decide some outputs: control flow behind them is straightened,
and the calls stay calls."""

import numpy as np
import onnx
import pytest
from harness import as_model, assert_equal_outputs, assert_rewrites, op_types, run_passes
from straightline.passes import FoldConstants, straighten

HEAD = '<ir_version: 9, opset_import: ["" : 18, "local" : 1]>\n'
LOCAL = '\n<domain: "local", opset_import: ["" : 18, "local" : 1]>\n'
X = {"x": np.array([0.1, -0.2, 0.3], np.float32)}

HALF = (
    LOCAL
    + """half (a, f) => (r, n) {
    r = Neg (a)
    s = Size (r)
    c = Cast <to = 1> (s)
    m = Mul (c, f)
    n = Cast <to = 7> (m) }"""
)
TURN = """Loop ({n}, , {x}) <body = b (int64 i, bool c, float[3] s) => (bool d, float[3] t) {{
    d = Identity (c) t = Exp (s) }}>"""


def straightened(text, feeds, names=()):
    """The operators that are left; the outputs are equal, and these functions are still there."""
    model = as_model(HEAD + text)
    result = straighten().run(model)
    onnx.checker.check_model(result.model, full_check=True)
    for given in feeds:
        assert_equal_outputs(model, result.model, given)
    assert {f.name for f in result.model.functions} == set(names)
    return op_types(result.model)


def test_the_call_stays_for_what_run_time_decides():
    before = """g (float[3] x, int64 k) => (float[3] y, int64 n) <float f = {0.7}> {
        r, m = local.half (x, f)
        y = Exp (r)
        n = Add (m, k) }"""
    after = """g (float[3] x, int64 k) => (float[3] y, int64 n) <float f = {0.7}, int64 m = {2}> {
        r, m_1 = local.half (x, f)
        y = Exp (r)
        n = Add (m, k) }"""
    feeds = {**X, "k": np.array(5)}
    assert_rewrites(FoldConstants(), HEAD + before + HALF, HEAD + after + HALF, [feeds])


@pytest.mark.parametrize("size", [0, 1, 3])
def test_a_loop_whose_iterations_a_call_gives(size):
    turn = TURN.format(n="n", x="r").replace("3", str(size))
    calls = f"{{ r, n = local.half (x, f) y = {turn} }}"
    text = f"g (float[{size}] x) => (float[{size}] y) <float f = {{0.7}}> {calls}"
    feeds = {"x": np.ones(size, np.float32)}
    wanted = ["half"] + ["Exp"] * int(size * 0.7)
    left = straightened(text + HALF, [feeds], ["half"])
    assert [kind for kind in left if kind != "Identity"] == wanted


def test_a_condition_of_an_if_and_the_length_of_a_scan():
    text = """g (float[3] x) => (float[3] y, float[K] z) <float f = {0.7}, int64 two = {2}> {
        r, n = local.half (x, f)
        b = Equal (n, two)
        y = If (b) <then_branch = t () => (float[3] p) { p = Neg (x) },
                    else_branch = e () => (float[3] q) { q = Abs (x) }>
        l = Range (n, n, n)
        k = Cast <to = 1> (l)
        z = Scan <num_scan_inputs = 1, body = s (float v) => (float w) { w = Floor (v) }> (k) }"""
    assert not {"If", "Scan"} & set(straightened(text + HALF, [X]))


def test_a_constant_reaches_a_loop_in_a_function():
    turning = LOCAL + "turn (x, n) => (y) { y = " + TURN.format(n="n", x="x") + " }"
    text = "g (float[3] x) => (float[3] y) <float f = {0.7}> {"
    main = text + " r, n = local.half (x, f) y = local.turn (r, n) }" + turning + HALF
    assert straightened(main, [X], ["half"]) == ["half", "Exp", "Exp"]
    inside = LOCAL + "outer (x, f) => (y) { r, n = local.half (x, f) y = local.turn (x, n) }"
    main = text + " y = local.outer (x, f) }" + inside + turning + HALF
    assert straightened(main, [X]) == ["Exp", "Exp"]


def test_bodies_in_bodies_and_functions():
    turn = TURN.format(n="n", x="x")
    text = f"""g (float[3] x, bool w) => (float[3] y) <float f = {{0.7}}> {{
        r, n = local.half (x, f)
        y = If (w) <then_branch = t () => (float[3] p) {{ p = {turn} }},
                    else_branch = e () => (float[3] q) {{
                        v, m = local.half (x, f) o = {turn.replace("(n", "(m")} q = Neg (o) }}>
    }}"""
    feeds = [{**X, "w": np.array(w)} for w in (True, False)]
    assert straightened(text + HALF, feeds) == ["Exp", "Exp", "If"]
    inside = f"in (x, f) => (y) {{ r, n = local.half (x, f) y = {turn} }}"
    text = "g (float[3] x) => (float[3] y) <float f = {0.7}> { y = local.in (x, f) }"
    assert straightened(text + LOCAL + inside + HALF, [X]) == ["Exp", "Exp"]


def test_each_iteration_by_itself():
    """The output of a call on the number of an iteration."""
    text = """g (float[3] x) => (float[3] y) <int64 two = {2}, float f = {0.4}> {
        y = Loop (two, , x) <body = b (int64 i, bool c, float[3] s) => (bool d, float[3] t) {
            d, n = local.pick (s, i, c)
            t = If (n) <then_branch = t () => (float[3] p) { p = Neg (s) },
                        else_branch = e () => (float[3] q) { q = Exp (s) }> }> }"""
    pick = """pick (a, i, c) => (d, z) {
        d = Identity (c) s = Size (a) k = Cast <to = 1> (s) j = Cast <to = 1> (i)
        l = Constant <value_float = 2.5> () m = Add (k, j) n = Greater (m, l)
        o = Constant <value_float = 3.5> () e = Greater (m, o) z = Xor (n, e) }"""
    assert straightened(text + LOCAL + pick, [X]) == ["Neg", "Exp"]


def test_run_time_arguments_stay():
    turn = TURN.format(n="n", x="r")
    text = f"g (float[3] x, float f) => (float[3] y) {{ r, n = local.half (x, f) y = {turn} }}"
    feeds = [{**X, "f": np.array(f, np.float32)} for f in (0, 0.4, 1)]
    assert straightened(text + HALF, feeds, ["half"]) == ["half", "Loop"]
    result = run_passes(HEAD + text + HALF, *straighten().passes)
    (reason,) = {r.reason for r in result.kept if "trip count" in r.reason}
    assert reason.startswith("trip count depends on") and "input 'f'" in reason


def test_a_default_that_callers_may_override_decides_nothing():
    turn = TURN.format(n="n", x="r")
    calls = f"{{ r, n = local.half (x, f) y = {turn} }}"
    text = f"g (float[3] x, float f) => (float[3] y) <float f = {{0.7}}> {calls}"
    assert straightened(text + HALF, [], ["half"]) == ["half", "Loop"]
