"""Inner Loops whose trip count differs between outer iterations."""

import numpy as np
import pytest
from harness import as_model
from loops import op_types
from vectorized import assert_same, vectorized

TEXT = """g (float[N, 3] x, int64[N] lengths, float[N] v, int64 n, bool[N] asked) => (float[M, 3] y)
        <bool yes = {{1}}, int64 one = {{1}}, float[3] zeros = {{0, 0, 0}}, float half = {{0.5}}> {{
    y = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[3] r) {{
        c2 = Identity (c) e = Gather (x, i) m = {count}
        r = Loop (m, {start}, {first}) <body = bb (int64 j, bool d, float[3] s)
            => (bool d2, float[3] t) {{ d2 = Identity (d) {body} }}> }}> }}"""
LENGTH, SCALE = "Gather (lengths, i)", "t = Mul (s, half)"
CASES = {
    "lengths": (LENGTH, "yes", "e", SCALE),
    "the iteration number": ("Identity (i)", "yes", "e", SCALE),
    "what is left": ("Sub (n, i)", "yes", "e", SCALE),
    "an infinity that is not reached": (LENGTH, "yes", "e", "t = Mul (s, s)"),
    "the inner number": (LENGTH, "yes", "e", "f = Cast <to = 1> (j) g = Add (s, f) t = Tanh (g)"),
    "a row of the inner number": (LENGTH, "yes", "zeros", "u = Gather (x, j) t = Add (s, u)"),
    "an If": (LENGTH, "yes", "e",
     "f = Cast <to = 9> (j) t = If (f) <then_branch = a () => (float[3] p) { p = Neg (s) },"
     " else_branch = z () => (float[3] q) { q = Mul (s, half) }>")}  # fmt: skip
LENGTHS = np.array([2, 0, 5, -1, 1], np.int64)


def feed(n):
    rng = np.random.default_rng(n)
    return {
        "x": (rng.normal(size=(5, 3)) * 3).astype(np.float32),
        "v": rng.normal(size=5).astype(np.float32),
        "lengths": LENGTHS,
        "n": np.array(n),
        "asked": np.array([True, True, False, True, True]),
    }


def model_of(count, start, first, body):
    return as_model(TEXT.format(count=count, start=start, first=first, body=body))


@pytest.mark.parametrize("case", CASES)
def test_a_loop_that_runs_as_often_as_the_longest_one(case):
    model = model_of(*CASES[case])
    result = vectorized(model)
    assert "ReduceMax" in [node.op_type for node in result.model.graph.node], result.remarks
    (loop,) = [node for node in result.model.graph.node if node.op_type == "Loop"]
    assert "Loop" not in list(op_types(next(a.g for a in loop.attribute if a.name == "body")))
    for n in (0, 1, 3, 5):
        assert_same(model, result.model, feed(n))


def test_an_initial_condition_of_each_iteration():
    model = model_of(LENGTH, "ask", "e", SCALE)
    text = TEXT.format(count=LENGTH, start="ask", first="e", body=SCALE)
    model = as_model(text.replace("m = Gather", "ask = Gather (asked, i) m = Gather"))
    result = vectorized(model)
    assert "ReduceMax" in [node.op_type for node in result.model.graph.node]
    for n in (0, 1, 3, 5):
        assert_same(model, result.model, feed(n))


KEPT = {
    "an index that may be out of range": "k = Add (j, j) u = Gather (v, k) t = Mul (s, u)",
    "a division that may fail": "k = Sub (j, one) u = Div (one, k) f = Cast <to = 1> (u)"
    " t = Mul (s, f)",
}


@pytest.mark.parametrize("case", KEPT)
def test_nodes_that_may_fail_where_they_do_not_run(case):
    model = model_of(LENGTH, "yes", "e", KEPT[case])
    assert "ReduceMax" not in [node.op_type for node in vectorized(model).model.graph.node]


def test_a_loop_that_stacks_elements_stays():
    text = TEXT.format(count=LENGTH, start="yes", first="e", body=SCALE)
    text = text.replace("r = Loop", "r, w = Loop").replace(
        "float[3] t) {", "float[3] t, float[3] o) {"
    )
    text = text.replace(SCALE, f"{SCALE} o = Neg (t)").replace(
        "=> (bool c2, float[3] r)", "=> (bool c2, float[3] r2)"
    )
    text = text.replace("}> }> }", "}> r1 = ReduceSum <keepdims = 0> (w) r2 = Add (r, r1) }> }")
    outer = [node.op_type for node in vectorized(as_model(text)).model.graph.node]
    assert "ReduceMax" not in outer
