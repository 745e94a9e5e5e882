"""How large values may be that are held for all iterations, and what remarks say of them."""

import re

import numpy as np
from harness import as_model, run_passes
from loops import op_types
from straightline import rewrite, transform
from straightline.passes import RaiseRecurrences, VectorizeLoops
from tables import table
from vectorized import assert_same, numbers


def rows(width="1000", count="n", constants=""):
    inputs = f"float[N, 4] x, float[{width}, 100] w" + (", int64 n" if count == "n" else "")
    text = """g ({inputs}) => (float[Q] y) <bool yes = {{1}}, int64 zero = {{0}}{constants}> {{
        y = Loop ({count}, yes) <body = b (int64 i, bool c) => (bool d, float r) {{
            d = Identity (c) e = Gather (x, i) f = Gather (e, zero) g = Exp (f)
            t = Mul (w, g) u = Abs (t) r = ReduceMax <keepdims = 0> (u) }}> }}"""
    return text.format(inputs=inputs, count=count, constants=constants)


def sampled(model, length):
    fed = {"x": numbers(length, 4), "w": numbers(1000, 100), "n": np.array(length)}
    return {value.name: fed[value.name] for value in model.graph.input}


def test_large_values_of_an_open_number_of_iterations_stay_in_the_loop():
    result = run_passes(rows(), VectorizeLoops())
    ops = [node.op_type for node in result.model.graph.node]
    assert "Loop" in ops and "Exp" in ops[: ops.index("Loop")], "what is small leaves the loop"
    (loop,) = (node for node in result.model.graph.node if node.op_type == "Loop")
    assert {"Mul", "Abs", "ReduceMax"} <= {node.op_type for node in loop.attribute[0].g.node}
    assert "one iteration takes 400000 bytes, over row_bytes=131072" in result.kept[0].reason


def test_the_option_that_is_offered_works():
    (remark,) = (
        remark for remark in transform(as_model(rows())).left if "row_bytes" in remark.reason
    )
    offered = re.search(r"--passes '([^']+)'", remark.reason)
    assert offered is not None
    assert "Loop" not in op_types(rewrite(as_model(rows()), offered[1]).graph)


def test_an_option_that_leaves_a_loop_is_not_offered():
    text = rows().replace("r = ReduceMax", "v = com.microsoft.Strange (u) r = ReduceMax")
    (remark,) = run_passes(text.replace("(u) }", "(v) }"), VectorizeLoops()).kept
    assert "row_bytes" in remark.reason and "--passes" not in remark.reason


@table(
    rows(width="300"),
    rows(count="five", constants=", int64 five = {5}"),
    rows().replace("float r)", "float[1000, 100] r)").replace("(float[Q] y)",
     "(y)").replace("ReduceMax <keepdims = 0>", "Neg"),
    ids=["small", "known number", "given out anyway"])  # fmt: skip
def test_memory_of_a_batched_loop(text):
    result = run_passes(text.replace("=> (y)", "=> (float[Q, 1000, 100] y)"), VectorizeLoops())
    assert "Loop" not in op_types(result.model.graph), result.remarks


def test_more_than_all_iterations_may_take_where_their_number_is_known():
    text = rows(count="many", constants=", int64 many = {5000}")
    assert "over max_bytes=268435456" in run_passes(text, VectorizeLoops()).kept[0].reason


def test_a_recurrence_that_adds_up_large_values_stays_a_loop():
    text = """g (float[N, 4] x, float[1000, 100] w, float[1000, 100] s, int64 n)
        => (float[1000, 100] y) <bool yes = {1}, int64 zero = {0}> {
        y = Loop (n, yes, s) <body = b (int64 i, bool c, float[1000, 100] a)
            => (bool d, float[1000, 100] r) {
            d = Identity (c) e = Gather (x, i) f = Gather (e, zero) t = Mul (w, f) r = Add (a, t)
        }> }"""
    assert "row_bytes=131072" in run_passes(text, RaiseRecurrences()).kept[0].reason
    assert "Loop" not in op_types(run_passes(text, RaiseRecurrences(row_bytes=400_000)).model.graph)


def test_a_remark_names_what_memory_grows_with():
    text = """g (float[N, D] x, float[M, D] w) => (float[N] y)
        <bool yes = {1}, int64 zero = {0}> {
        s = Shape (x) n = Gather (s, zero)
        y = Loop (n, yes) <body = b (int64 i, bool c) => (bool d, float r) {
            d = Identity (c) e = Gather (x, i) t = Sub (w, e) u = Mul (t, t)
            r = ReduceSum <keepdims = 0> (u) }> }"""
    result = run_passes(text, VectorizeLoops())
    assert result.remarks[-1].reason.endswith("values of all of them take 4*D*M*N bytes")
    none = run_passes(text.replace("Gather (s, zero)", "Mul (zero, zero)"), VectorizeLoops())
    assert none.remarks[-1].reason.endswith("computed at once")
    small = text.replace("float[M, D] w", "float[D] w")
    assert run_passes(small, VectorizeLoops()).remarks[-1].reason.endswith("computed at once")


def test_results_where_a_part_stays():
    for length in (0, 1, 7):
        result = run_passes(rows(), VectorizeLoops())
        before = run_passes(rows()).model
        assert_same(before, result.model, sampled(before, length))
