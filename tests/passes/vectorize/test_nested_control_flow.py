import numpy as np
import pytest
from harness import as_model, assert_equal
from loops import op_types
from sessions import outputs
from straightline.passes import HoistInvariants, Pipeline, VectorizeLoops
from tables import table
from vectorized import assert_same, numbers, vectorized


@pytest.mark.sample(5)
@table(
    ("a Scan", """h, y = Scan <num_scan_inputs = 1, body = f (float[3] s, float[4] u)
            => (float[3] t, float[3] r) { p = MatMul (u, w) q = Add (p, s) t = Tanh (q)
            r = Neg (t) }> (h0, e)"""),
    ("a Scan backward along another axis", """et = Transpose (e)
        h, yt = Scan <num_scan_inputs = 1, scan_input_axes = [-1], scan_input_directions = [1],
            scan_output_axes = [1], scan_output_directions = [1],
            body = f (float[3] s, float[4] u) => (float[3] t, float[3] r) {
            p = MatMul (u, w) q = Add (p, s) t = Tanh (q) r = Neg (t) }> (h0, et)
        y = Transpose (yt)"""),
    ("a Scan over what is the same for all", """h, y = Scan <num_scan_inputs = 1,
            body = f (float[3] s, float[4] u) => (float[3] t, float[3] r) { p = MatMul (u, w)
            q = Add (p, s) v = Mul (q, k) t = Tanh (v) r = Neg (t) }> (h0, o)"""),
    ("a Loop", """h, y = Loop (m, yes, h0) <body = f (int64 j, bool d, float[3] s)
            => (bool d2, float[3] t, float[3] r) { d2 = Identity (d) u = Gather (e, j)
            p = MatMul (u, w) q = Add (p, s) t = Tanh (q) r = Neg (t) }>"""),
    ("an If", """h, y = Loop (m, yes, h0) <body = f (int64 j, bool d, float[3] s)
            => (bool d2, float[3] t, float[3] r) { d2 = Identity (d) u = Gather (e, j)
            p = MatMul (u, w) t = If (yes2) <then_branch = a () => (float[3] t1) {
                t1 = Add (p, s) }, else_branch = b () => (float[3] t2) { t2 = Sub (p, s) }>
            r = Neg (t) }>"""))  # fmt: skip
@pytest.mark.parametrize("outer", ["Loop", "Scan"])
def test_a_recurrence_inside_a_map(inner, nodes, outer):
    body = "k = ReduceMax <keepdims = 0> (e) " + nodes
    head = """g (float[N, L, 4] x, float[4, 3] w, float[3] h0, float[5, 4] o, int64 n,
        bool yes2) => (float[A, 3] hs, float[A, B, 3] ys) <bool yes = {1}, int64 one = {1}>"""
    start = "sizes = Shape (x) m = Gather (sizes, one)"
    out = "float[3] h, float[L, 3] y"
    if outer == "Loop":
        text = f"""{head} {{ {start} hs, ys = Loop (n, yes) <body = b (int64 i, bool c)
            => (bool c2, {out}) {{ c2 = Identity (c) e = Gather (x, i) {body} }}> }}"""
    else:
        text = f"""{head} {{ {start} hs, ys = Scan <num_scan_inputs = 1, body = b (float[L, 4] e)
            => ({out}) {{ {body} }}> (x) }}"""
    before = as_model(text)
    result = vectorized(before, HoistInvariants())
    kinds = [n.op_type for n in result.model.graph.node if n.op_type in ("Loop", "Scan")]
    assert len(kinds) == 1, result.remarks
    (left,) = (n for n in result.model.graph.node if n.op_type in ("Loop", "Scan"))
    assert not {"Loop", "Scan"} & set(op_types(next(a.g for a in left.attribute if a.g.node)))
    for n in (0, 1, 3):
        for m in (0, 1, 4):
            feed = {
                # Small factors: a recurrence makes the rounding of a product larger.
                "x": numbers(3 if outer == "Loop" else n, m, 4) / 4,
                "w": numbers(4, 3) / 4,
                "h0": numbers(3) / 4,
            }
            feed |= {"o": numbers(5, 4), "n": np.array(n)}
            feed |= {"yes2": np.array(m == 1)}
            given = {value.name: feed[value.name] for value in before.graph.input}
            told = n or (outer == "Loop" and inner != "a Scan over what is the same for all")
            if told and (m or "Scan" not in inner):  # else the reference takes 5 rows for none
                assert_same(before, result.model, given)


POWERS = """g (float[N, L, 3] x, float[3, 3] w, float[3, 3] p0, float[3] h0, int64 n)
    => (float[A, 3] hs, float[A, B, 3] rs) <bool yes = {1}, int64 one = {1}, int64[1] axis = {0}> {
    sizes = Shape (x) m = Gather (sizes, one)
    hs, rs = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[3] h, float[L, 3] r) {
        c2 = Identity (c) e = Gather (x, i)
        h, last, r = Loop (m, yes, h0, INITIAL) <body = f (int64 j, bool d, float[3] s,
            float[3, 3] p) => (bool d2, float[3] t, float[3, 3] q, float[3] row) {
            d2 = Identity (d) u = Gather (e, j) q = MatMul (p, w) v = MatMul (u, q)
            k = Add (v, s) t = Tanh (k) row = ReduceSum <keepdims = 0> (NEXT, axis) }> }> }"""


@table(("p0", "p", 2), ("p0", "u", 2), ("e", "p", 3))
def test_states_that_no_outer_iteration_changes_are_computed_once(initial, row, sizes):
    text = POWERS.replace("INITIAL", initial).replace("NEXT", row.replace("u", "q"))
    if initial == "e":  # of L rows, where the state is declared with 3
        text = text.replace("float[N, L, 3] x", "float[N, 3, 3] x")
    before = as_model(text)
    result = Pipeline([HoistInvariants(), VectorizeLoops()]).run(before).model
    (loop,) = (node for node in result.graph.node if node.op_type == "Loop")
    assert len(loop.attribute[0].g.input[3].type.tensor_type.shape.dim) == sizes
    for n in (0, 1, 3):
        feed = {"x": numbers(3, 3, 3) / 4, "w": numbers(3, 3) / 4, "p0": numbers(3, 3) / 4}
        assert_same(before, result, {**feed, "h0": numbers(3), "n": np.array(n)})


def test_no_inner_iterations_under_optimizations():
    """onnxruntime makes -1 of one computed size beside constants, also beside a copied 0."""
    text = POWERS.replace("INITIAL", "p1").replace("NEXT", "p")
    grown = "c2 = Identity (c) f = Cast <to = 1> (i) p1 = Mul (p0, f)"
    before = as_model(text.replace("c2 = Identity (c)", grown, 1))
    result = Pipeline([HoistInvariants(), VectorizeLoops()]).run(before).model
    for n, m in ((3, 0), (0, 2), (3, 2)):
        feed = {"x": numbers(3, m, 3) / 4, "w": numbers(3, 3) / 4, "p0": numbers(3, 3) / 4}
        feed |= {"h0": numbers(3), "n": np.array(n)}
        for one, other in zip(outputs(result, feed), outputs(before, feed), strict=True):
            assert_equal(one, other)


@table(
    ("its body decides when it ends", """y = Loop (n, yes, h0) <body =
        f (int64 j, bool d, float[3] s) => (bool d2, float[3] t) { t = Mul (s, k)
        a = ReduceMax <keepdims = 0> (t) d2 = Less (a, k) }>"""))  # fmt: skip
def test_kept_outer_loops_and_their_reasons(reason, nodes):
    text = f"""g (float[N, 4] x, float[3] h0, int64 n) => (float[A, 3] ys) <bool yes = {{1}}> {{
        ys = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[3] y) {{
            c2 = Identity (c) e = Gather (x, i) k = ReduceMax <keepdims = 0> (e)
            {nodes} }}> }}"""
    before = as_model(text)
    result = vectorized(before)
    assert any(reason in remark.reason for remark in result.kept), result.remarks
    for n in (0, 1, 3):
        assert_same(before, result.model, {"x": numbers(3, 4), "h0": numbers(3), "n": np.array(n)})
