"""Loops that a condition ends: while loops, and the two readings of an absent one."""

import numpy as np
import pytest
from harness import as_model, assert_equal_outputs, assert_keeps
from loops import NEGATE, X, assert_unrolls
from straightline.passes import UnrollLoops, straighten

CONDITIONS = {
    "always false": "c2 = Constant <value = bool {0}> ()",
    "false after three iterations": "c2 = Less (i, two)",
    "from outside": "c2 = Not (q)",
}


def without_condition(kind):
    return f"""g (float[2] x, bool q) => (float[2] y, bool[K] s) <int64 n = {{5}}, int64 two =
        {{2}}> {{
        y, s = Loop (n, , x) <body = b (int64 i, bool c, float[2] a)
                                   => (bool c2, float[2] r, bool d) {{
            {CONDITIONS[kind]} r = Neg (a) d = Identity (c) }}> }}"""


@pytest.mark.parametrize("kind", CONDITIONS)
@pytest.mark.parametrize("q", [False, True])
def test_without_an_initial_condition_the_specification_ignores_the_bodys(kind, q):
    text = without_condition(kind)
    assert_keeps(UnrollLoops(), text, "choose with --passes 'straighten{absent_cond=ignore}'")
    assert_unrolls(text, {**X, "q": np.array(q)}, absent_cond="ignore")


@pytest.mark.parametrize("kind", list(CONDITIONS)[:2])
def test_without_an_initial_condition_onnxruntime_honours_the_bodys(kind):
    feed = {**X, "q": np.array(True)}
    assert_unrolls(without_condition(kind), feed, absent_cond="honour", break_without_cond=True)


def test_a_computed_condition_that_never_fails_is_not_ambiguous():
    assert_unrolls(
        """g (float[2] x) => (float[2] y) <int64 n = {3}, int64 nine = {9}> {
            y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {
                c2 = Less (i, nine) r = Neg (a) }> }""",
        X,
    )


@pytest.mark.parametrize("given", ["", "yes"])
def test_one_iteration_whatever_the_body_says(given):
    assert_unrolls(
        f"""g (float[2] x, bool q) => (float[2] y) <int64 n = {{1}}, bool yes = {{1}}> {{
            y = Loop (n, {given}, x) <body = b (int64 i, bool c, float[2] a)
                                           => (bool c2, float[2] r) {{ c2 = Not (q) r = Neg (a) }}>
        }}""",
        {**X, "q": np.array(True)},
    )


@pytest.mark.parametrize("most", ["", "most"])
def test_while_loop(most):
    assert_unrolls(
        f"""g (float[2] x) => (float[2] y, int64 k) <int64 most = {{9223372036854775807}},
              int64 zero = {{0}}, int64 one = {{1}}, int64 five = {{5}}, bool yes = {{1}}> {{
            y, k = Loop ({most}, yes, x, zero)
                <body = b (int64 i, bool c, float[2] a, int64 k0)
                       => (bool c2, float[2] r, int64 k1) {{
                    k1 = Add (k0, one) c2 = Less (k1, five) r = Neg (a) }}> }}""",
        X,
    )


def test_an_unknown_maximum_may_end_a_while_loop_at_once():
    assert_keeps(
        UnrollLoops(),
        """g (float[2] x, int64 m) => (float[2] y) <bool yes = {1}, bool no = {0}> {
            y = Loop (m, yes, x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {
                c2 = Identity (no) r = Neg (a) }> }""",
        "trip count depends on input 'm'",
    )


@pytest.mark.parametrize("inputs", ["", "yes"])
def test_a_loop_that_never_ends_is_kept(inputs):
    text = (
        f"g (float[2] x) => (float[2] y) <bool yes = {{1}}> {{ y = Loop (, {inputs}, x) {NEGATE} }}"
    )
    assert_keeps(UnrollLoops(), text, "it never ends")


@pytest.mark.parametrize("size", [0, 1, 3])
def test_a_condition_that_a_call_gives_beside_what_run_time_decides(size):
    text = f"""<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    g (float[{size}] x) => (float[{size}] y, float k)
    <float zero = {{0}}, float e = {{0.75}}, bool yes = {{1}}> {{
        y, k = Loop (, yes, x, zero) <
            body = b (int64 i, bool c, float[{size}] a, float t)
                => (bool d, float[{size}] a2, float t2) {{ a2, t2, d = local.step (a, t, e) }}> }}
    <domain: "local", opset_import: ["" : 17]> step (s, t, e) => (r, u, d) {{
        r = Tanh (s)
        n = Size (r)
        most = Cast <to = 1> (n)
        u = Add (t, e)
        d = Less (u, most) }}"""
    result = straighten().run(as_model(text))
    kinds = [node.op_type for node in result.model.graph.node if node.op_type != "Identity"]
    assert kinds == ["step"] * max(1, -(-size * 4 // 3))
    assert_equal_outputs(text, result.model, {"x": np.ones(size, np.float32)})
