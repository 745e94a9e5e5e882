import numpy as np
from harness import as_model, assert_equal_outputs, assert_rewrites, run_passes
from straightline.passes import VectorizeLoops
from tables import table
from vectorized import vectorized

LOOP = """g (float[N, 2, 3] x, float[3, 3] v, float[3] b, float[2, 1] d, float[2, 3] h0, int64 n)
        => (float[2, 3] h) <bool yes = {{1}}> {{
    h = Loop (n, yes, h0) <body = b (int64 i, bool c, float[2, 3] s) => (bool c2, float[2, 3] t) {{
        c2 = Identity (c) e = Gather (x, i) {body} }}> }}"""


def _feeds():
    """Inputs that no other test changes: six steps of a Mod may multiply what was rounded."""
    draw = np.random.default_rng(0)
    shapes = {"x": (6, 2, 3), "v": (3, 3), "b": (3,), "d": (2, 1), "h0": (2, 3)}
    feed = {name: draw.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    return [{**feed, "n": np.array(n)} for n in (0, 1, 6)]


def test_operands_without_a_state_are_added_first():
    assert_rewrites(
        VectorizeLoops(),
        LOOP.format(body="m = MatMul (s, v) p = Add (e, m) q = Add (p, b) t = Tanh (q)"),
        """g (float[N, 2, 3] x, float[3, 3] v, float[3] b, float[2, 1] d, float[2, 3] h0, int64 n)
                => (float[2, 3] h) <bool yes = {1}, int64 k = {0}, int64 k_1 = {1}> {
            limit = Max (n, k)
            numbers = Range (k, limit, k_1)
            e = Gather <axis = 0> (x, numbers)
            q = Add (e, b)
            h = Loop (n, yes, h0) <body = b (int64 i, bool c, float[2, 3] s)
                    => (bool c, float[2, 3] t) {
                m = MatMul (s, v)
                q_1 = Gather <axis = 0> (q, i)
                q_2 = Add (m, q_1)
                t = Tanh (q_2) }> }""",
        _feeds(),
    )


def _inside(model):
    """The operators of the Loop's body, without those of the initial reads."""
    (loop,) = [node for node in model.graph.node if node.op_type == "Loop"]
    return [node.op_type for each in loop.attribute for node in each.g.node]


@table(
    ("Max", 1, "m = Mul (s, b) p = Max (e, m, b) q = Max (b, p) t = Tanh (q)"),
    ("Add", 1, "m = Mul (s, b) f = Exp (e) p = Add (m, f) q = Add (p, e) t = Tanh (q)"),
    ("Add", 1, "m = Gemm (s, v, b) p = Add (m, e) t = Tanh (p)"),
    ("Add", 1, "m = Mul (s, d) k = Mod <fmod = 1> (m, b) p = Add (b, k) t = Add (p, e)"),
    ("Add", 2, "m = Gemm (s, v, b) k = Mul (s, b) p = Add (m, e) q = Add (b, p) r = Add (q, k)"
     " t = Tanh (r)"))  # fmt: skip
def test_a_recurrence_reads_one_row_of_a_sum(op_type, count, body):
    model = as_model(LOOP.format(body=body))
    result = vectorized(model).model
    assert _inside(result).count(op_type) == count
    assert op_type in [node.op_type for node in result.graph.node]
    for feed in _feeds():
        assert_equal_outputs(model, result, feed)


@table(
    ("one row", "p = Add (s, e) t = Tanh (p)"),
    ("a sum larger than its operands", "r = ReduceSum <keepdims = 0> (e, a) m = Tanh (s)"
     " p = Add (m, r) q = Add (p, d) t = Tanh (q)"),
    ("a sum with another reader", "m = Tanh (s) p = Add (m, e) q = Add (p, b) t = Mul (q, p)"),
    ("products", "m = Tanh (s) p = Mul (m, e) q = Mul (p, b) t = Tanh (q)"))  # fmt: skip
def test_other_operands_keep_their_places(what, body):
    model = as_model(LOOP.format(body=f"a = Constant <value_ints = [0]> () {body}"))
    inside = _inside(vectorized(model).model)
    assert [inside.count(op) for op in ("Add", "Mul")] == [body.count("Add ("), body.count("Mul (")]


def test_an_exact_pass_keeps_the_order():
    model = as_model(LOOP.format(body="m = Tanh (s) p = Add (m, e) q = Add (p, b) t = Tanh (q)"))
    result = run_passes(model, VectorizeLoops(exact=True)).model
    assert _inside(result).count("Add") == 2
