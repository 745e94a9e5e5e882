from harness import as_model
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes import BlockLoops, Pipeline
from straightline.passes.costs.trip_counts import USUAL, TripCounts, known_iterations
from tables import table

LOOP = """g (float[3] x, int64 n) => (float[3] y) <bool yes = {{1}}, int64 five = {{5}}> {{
    y = Loop ({most}, yes, x) <body = b (int64 i, bool c, float[3] a) => (bool c, float[3] r) {{
        {body} }}> }}"""
SCAN = """g (float[{length}, 3] x) => (float[{length}, 3] y) {{
    y = Scan <num_scan_inputs = 1,
        body = b (float[3] e) => (float[3] r) {{ r = Neg (e) }}> (x) }}"""


def loop_of(text):
    model = ir.load(as_model(text))
    (node,) = model.graph.nodes_of("Loop", "Scan")
    return node, model, ShapeInference(model)


@table(
    (LOOP.format(most="five", body="r = Neg (a)"), 5),
    (LOOP.format(most="n", body="r = Neg (a)"), None),
    (LOOP.format(most="", body="r = Neg (a)"), None),
    (SCAN.format(length=7), 7),
    (SCAN.format(length="N"), None),
)
def test_known_iterations(text, iterations):
    node, model, inference = loop_of(text)
    assert known_iterations(node, inference) == iterations
    assert TripCounts(model, inference).of(node) == (USUAL if iterations is None else iterations)


@table(
    ("s = Shape (x) k = Gather (s, at)", USUAL),
    ("k = Size (x)", 3 * USUAL),
    ("s = Shape <start = 1> (x) k = ReduceSum <keepdims = 0> (s)", 3),
    ("s = Shape (x) l = Less (t, s) c = Cast <to = 7> (l) k = ReduceSum <keepdims = 0> (c)", 1),
    ("s = Shape (x) c = Mul (s, minus) k = ReduceSum <keepdims = 0> (c)", 0),
    ("k = Identity (n)", USUAL),
    ("r = ReduceSum <keepdims = 0> (x) k = Cast <to = 7> (r)", USUAL),
)
def test_iterations_at_usual_sizes(nodes, iterations):
    text = f"""g (float[N, 3] x, int64 n) => (float[3] y)
        <bool yes = {{1}}, int64 at = {{0}}, int64[2] t = {{1, 8}}, int64 minus = {{-1}},
         float[3] a0 = {{1, 2, 3}}> {{
        {nodes} y = Loop (k, yes, a0) <body = b (int64 i, bool c, float[3] a) => (c, float[3] r) {{
            r = Neg (a) }}> }}"""
    node, model, inference = loop_of(text)
    assert TripCounts(model, inference).of(node) == iterations


def test_blocks_of_a_known_trip_count():
    text = """g (float[90, 3] x, float[2, 3] w, float[2, 3] s0) => (float[2, 3] y) {
        y = Scan <num_scan_inputs = 1, body = b (float[2, 3] s, float[3] e) => (float[2, 3] t) {
            v = Mul (w, e) a = Abs (v) u = Sub (a, s) t = Tanh (u) }> (s0, x) }"""
    model = ir.load(as_model(text))
    Pipeline([BlockLoops(block_bytes=32 * 24)]).apply(model)
    (loop,) = model.graph.nodes_of("Loop")
    (inner,) = loop.body("body").nodes_of("Scan")
    (rows,) = loop.body("body").nodes_of("Abs")
    iterations = TripCounts(model, ShapeInference(model))
    assert (iterations.of(loop), iterations.of(inner)) == (3, 30)
    assert iterations.sizes(rows.output()) == (30, 2, 3)
