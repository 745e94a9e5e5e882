import numpy as np
import straightline as sl
from harness import as_model, run_passes
from simplified import assert_exact
from straightline.passes import EliminateDeadNodes, SimplifySizes
from tables import table

PASSES = (SimplifySizes(), EliminateDeadNodes())


def numbers(*shape):
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def simplifies(before, after, *feeds, opset=17):
    assert_exact(PASSES, before, after, *feeds, opset=opset)


def test_a_reshape_by_computed_sizes():
    simplifies(
        """g (float[N, S, 8] x) => (float[N, S, 2, 4] y, float[M, 8] z)
            <int64[1] zero = {0}, int64[1] one = {1}, int64[2] k = {2, 4}, int64[1] eight = {8}> {
            s = Shape (x) n = Gather (s, zero) m = Gather (s, one)
            t = Concat <axis = 0> (n, m, k) y = Reshape (x, t)
            p = Mul (n, m) u = Concat <axis = 0> (p, eight) z = Reshape (x, u) }""",
        """g (float[N, S, 8] x) => (float[N, S, 2, 4] y, float[M, 8] z)
            <int64[4] t = {0, 0, 2, 4}, int64[2] u = {-1, 8}> {
            y = Reshape (x, t) z = Reshape (x, u) }""",
        *({"x": numbers(*shape)} for shape in ((2, 3, 8), (0, 3, 8), (1, 2, 8))),
    )


def test_an_expand_and_a_slice_to_the_end():
    simplifies(
        """g (float[N, 1] x, float[N, S] z) => (float[N, 4] y, float[N, T] w)
            <int64[1] zero = {0}, int64[1] one = {1}, int64[1] four = {4}> {
            s = Shape (x) n = Gather (s, zero) t = Concat <axis = 0> (n, four) y = Expand (x, t)
            u = Shape (z) e = Gather (u, one) w = Slice (z, one, e, one) }""",
        """g (float[N, 1] x, float[N, S] z) => (float[N, 4] y, float[N, T] w)
            <int64[1] one = {1}, int64[2] t = {1, 4}, int64[1] e = {9223372036854775807}> {
            y = Expand (x, t) w = Slice (z, one, e, one) }""",
        {"x": numbers(2, 1), "z": numbers(2, 3)},
        {"x": numbers(0, 1), "z": numbers(0, 0)},
    )


def test_sizes_of_equal_content_and_the_shape_of_a_value():
    simplifies(
        """g (float[N, S] x, float[N, S, 4] z) => (float[N, S] y, int64[2] w, int64 v)
            <int64 zero = {0}, int64 one = {1}, int64[1] k = {0}, float[1] c = {1}> {
            s = Shape (z) a = Gather (s, zero) b = Gather (s, one)
            p = Unsqueeze (a, k) q = Unsqueeze (b, k) t = Concat <axis = 0> (p, q)
            y = Expand (c, t) r = Shape (x) d = Gather (r, one) w = Concat <axis = 0> (p, q)
            v = Sub (d, b) }""",
        """g (float[N, S] x, float[N, S, 4] z) => (float[N, S] y, int64[2] w, int64 v)
            <float[1] c = {1}, int64 v = {0}> { t = Shape (x) y = Expand (c, t) w = Shape (x) }""",
        {"x": numbers(2, 3), "z": numbers(2, 3, 4)},
    )


def test_a_part_of_a_shape():
    text = """g (float[N, S, 4] z, float c) => (float[S] y)
        <int64 one = {{1}}, int64[1] k = {{0}}> {{ {} y = Expand (c, t) }}"""
    long = "s = Shape (z) b = Gather (s, one) t = Unsqueeze (b, k)"
    short = text.replace("int64 one = {{1}}, int64[1] k = {{0}}", "").replace("<>", "")
    feed = {"z": numbers(2, 3, 4), "c": np.array(1, np.float32)}
    simplifies(text.format(long), short.format("t = Shape <start = 1, end = 2> (z)"), feed)
    assert not run_passes(as_model(text.format(long), 14), *PASSES).changed


def test_sizes_that_are_numbers_are_constants():
    simplifies(
        """g (float[N, 4] x) => (int64 y) <int64 one = {1}> {
            s = Shape (x) a = Gather (s, one) b = Add (a, one) y = Neg (b) }""",
        "g (float[N, 4] x) => (int64 y) <int64 y = {-5}> { }",
        {"x": numbers(2, 4)},
    )


@table(
    ("-1 where another size may be 0", "t = Concat <axis = 0> (n, m, k) y = Reshape (x, t)"),
    ("two open sizes", "t = Concat <axis = 0> (m, n, k) y = Reshape (x, t)"),
    ("sizes that may not fit", "t = Concat <axis = 0> (n, k) y = Reshape (x, t)"),
    ("a size of another tensor", "t = Concat <axis = 0> (n, k) y = Expand (c, t)"),
    ("an expansion that may fail", "t = Concat <axis = 0> (k, k, m) y = Expand (x, t)"),
    ("a slice to the end of another axis", "y = Slice (x, k, n, k)"),
    ("a slice backwards", "y = Slice (x, m, n, zero, minus)"),
)
def test_others_stay(what, nodes):
    text = f"""g (float[N, 4, S] x, float[4] c) => (float[?, ?] y)
        <int64[1] zero = {{0}}, int64[1] two = {{2}}, int64[1] k = {{4}},
         int64[1] minus = {{-1}}> {{
        s = Shape (x) n = Gather (s, zero) m = Gather (s, two) {nodes} }}"""
    if what[:2] == "-1":
        text = text.replace("[?, ?] y", "[?, ?, ?] y")
    model = as_model(text, 14)
    assert sl.rewrite(model, "simplify-sizes", verify=False).graph == model.graph


def test_a_body_uses_sizes_of_the_graph_around_it():
    text = """g (float[N, 4] x, bool p) => (float[?, ?] y, int64[2] s) { s = Shape (x)
        y = If (p) <then_branch = t () => (float[a, b] q) { e = Exp (x) u = Shape (e)
                q = Expand (e, u) },
            else_branch = f () => (float[c, d] r) { r = Neg (x) }> }"""
    branch = run_passes(text, *PASSES).model.graph.node[1].attribute[0].g
    assert [node.op_type for node in branch.node] == ["Exp", "Expand"]


def test_a_shape_does_not_wait_for_elements():
    simplifies(
        """g (float[N, 4] x) => (int64[2] y, int64[2] z) {
            a = Sigmoid (x) b = Mul (a, x) y = Shape (b)
            c = Transpose (x) d = MatMul (x, c) e = Exp (d) z = Shape (e) }""",
        """g (float[N, 4] x) => (int64[2] y, int64[2] z) {
            c = Transpose (x) d = MatMul (x, c) y = Shape (x) z = Shape (d) }""",
        {"x": numbers(3, 4)},
    )
    simplifies(
        "g (float[3, 4] x) => (int64[2] y) { a = Sigmoid (x) y = Shape (a) }",
        "g (float[3, 4] x) => (int64[2] y) <int64[2] y = {3, 4}> { }",
        {"x": numbers(3, 4)},
    )
    kept = "g (float[N, 4] x) => (float[N, 4] a, int64[2] y) { a = Sigmoid (x) y = Shape (a) }"
    simplifies(kept, kept, {"x": numbers(3, 4)})
