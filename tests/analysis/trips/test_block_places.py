"""Recognition of bodies that compute blocks."""

import pytest
from harness import as_model
from loops import HEAD
from straightline import ir
from straightline.analysis.trips.block_places import computes_blocks

BLOCKS = """g (float[N, 3] x, int64 n, int64 k, int64[K] j, int64 last) => (float[B, K, 3] y)
    <bool yes = {1}> {
    y = Loop (n, yes) <body = b (int64 i, bool c) => (bool d, float[K, 3] r) { d = Identity (c)
        s = Mul (i, k) p = Add (s, j) q = Min (p, last) r = Gather (x, q) }> }"""


@pytest.mark.parametrize(
    ("old", "new", "blocks"),
    [
        ("", "", True),
        ("Mul (i, k) p = Add (s, j)", "Mul (k, i) p = Add (j, s)", True),
        ("q = Min (p, last)", "q = Abs (p)", False),
        ("s = Mul (i, k)", "s = Add (i, k)", False),
        ("p = Add (s, j)", "p = Sub (s, j)", False),
        ("p = Add (s, j)", "t = Add (i, k) p = Add (s, j)", False),
        ("p = Add (s, j)", "t = Add (s, k) u = Abs (t) p = Add (s, j)", False),
    ],
)
def test_places_of_a_block(old, new, blocks):
    model = ir.load(as_model(HEAD + BLOCKS.replace(old, new)))
    (node,) = model.graph.nodes_of("Loop")
    assert computes_blocks(node.body("body")) == blocks
