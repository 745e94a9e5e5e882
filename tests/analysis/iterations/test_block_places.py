from harness import as_model
from straightline import ir
from straightline.analysis.iterations.block_places import computes_blocks, is_in_block
from tables import table

BLOCKS = """g (float[N, 3] x, int64 n, int64 k, int64[K] j, int64 last) => (float[B, K, 3] y)
    <bool yes = {1}> {
    y = Loop (n, yes) <body = b (int64 i, bool c) => (bool d, float[K, 3] r) { d = Identity (c)
        s = Mul (i, k) p = Add (s, j) q = Min (p, last) r = Gather (x, q) }> }"""


@table(
    ("", "", True),
    ("Mul (i, k) p = Add (s, j)", "Mul (k, i) p = Add (j, s)", True),
    ("q = Min (p, last)", "q = Abs (p)", False),
    ("s = Mul (i, k)", "s = Add (i, k)", False),
    ("p = Add (s, j)", "p = Sub (s, j)", False),
    ("p = Add (s, j)", "t = Add (i, k) p = Add (s, j)", False),
    ("p = Add (s, j)", "t = Add (s, k) u = Abs (t) p = Add (s, j)", False),
)
def test_places_of_a_block(old, new, blocks):
    (node,) = ir.load(as_model(BLOCKS.replace(old, new))).graph.nodes_of("Loop")
    assert computes_blocks(node.body("body")) == blocks


def test_graphs_in_a_block():
    inner = """t = Loop (k, yes, r) <body = d (int64 v, bool o, float[K, 3] a)
        => (bool w, float[K, 3] u) { w = Identity (o) u = Neg (a) }> }"""
    text = BLOCKS.replace("}> }", f"{inner}> }}").replace("3] r)", "3] t)")
    for old, blocks in (("", True), ("q = Min (p, last)", False)):
        model = ir.load(as_model(text.replace(old, "q = Abs (p)") if old else text))
        graphs = {graph.name: is_in_block(graph) for graph in model.graphs()}
        assert graphs == {"g": False, "b": blocks, "d": blocks}
