"""RotaryEmbedding by its definition, over the reals, and near misses."""

import numpy as np
import pytest
from proofs import over_reals
from raising import text
from straightline import ir
from straightline.reference import run
from tables import table

SIGNATURE = "(float[n, 3, 4, 8] x, float[n, 4, 4] c, float[n, 4, 4] s) => (float[n, 3, 4, 8] y)"
CONSTANTS = "<int64[2] halves = {4, 4}, int64[1] one = {1}>"
LONGER = (
    "a, b = Split <axis = 3> (x, halves) n = Neg (b) r = Concat <axis = 3> (n, a) "
    "d = Concat <axis = 2> (c, c) e = Unsqueeze (d, one) f = Concat <axis = 2> (s, s) "
    "g = Unsqueeze (f, one) p = Mul (x, e) q = Mul (r, g) y = Add (p, q)"
)
SHORTER = "y = RotaryEmbedding (x, c, s)"


def models(*bodies):
    return [ir.parse(text(body, SIGNATURE, CONSTANTS, 23)) for body in bodies]


def test_the_longer_form():
    before, after = models(LONGER, SHORTER)
    assert over_reals(before, after)
    shapes = ((2, 3, 4, 8), (2, 4, 4), (2, 4, 4))
    arrays = [np.random.default_rng(1).standard_normal(s).astype(np.float32) for s in shapes]
    feeds = dict(zip("xcs", arrays, strict=True))
    np.testing.assert_allclose(run(before, feeds)[0], run(after, feeds)[0], 1e-5, 1e-6)


@pytest.mark.sample(1)
@table(("Neg (b)", "Neg (a)"), ("(n, a)", "(a, n)"), ("(x, e)", "(x, g)"), ("Add", "Sub"))
def test_near_misses(old, new):
    before, after = models(LONGER.replace(old, new), SHORTER)
    assert not over_reals(before, after)


@pytest.mark.parametrize("batch", [1, 2])
def test_heads_may_be_split_by_the_operator(batch):
    signature = SIGNATURE.replace("n, 3, 4, 8", f"{batch}, 4, 24").replace("n,", f"{batch},")
    constants = "<int64[4] split = {0, 0, 3, 8}, int64[3] join = {0, 0, 24}, float k = {2.0}>"
    longer = (
        "a = Reshape (x, split) b = Transpose <perm = [0, 2, 1, 3]> (a) "
        "r = RotaryEmbedding (b, c, s) d = Transpose <perm = [0, 2, 1, 3]> (r) "
        "z = Reshape (d, join) e = Mul (z, z) y = Mul (e, k)"
    )
    shorter = "z = RotaryEmbedding <num_heads = 3> (x, c, s) e = Mul (k, z) y = Mul (z, e)"
    pair = [ir.parse(text(body, signature, constants, 23)) for body in (longer, shorter)]
    assert over_reals(*pair)


def test_neighbours_are_another_rotation():
    before, after = models(LONGER, SHORTER.replace("Embedding", "Embedding <interleaved = 1>"))
    assert not over_reals(before, after)


def test_caches_of_another_batch_may_fail():
    other = SIGNATURE.replace("float[n, 4, 4]", "float[1, 4, 4]")
    before, after = (ir.parse(text(b, other, CONSTANTS, 23)) for b in (LONGER, SHORTER))
    assert not over_reals(before, after)
