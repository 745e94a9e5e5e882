"""Scatters with a reduction as loops over their indices; near misses."""

import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from sessions import open_session
from straightline.verification.proof import prove

SCATTER = """g ({kind}[n, 4] x, int64[k, 4] i, {kind}[k, 4] u) => ({kind}[n, 4] y) {{
    y = ScatterElements <reduction = "{reduction}", axis = {axis}> (x, i, u) }}"""
LOOP = """g ({kind}[n, 4] x, int64[k, 4] i, {kind}[k, 4] u) => ({kind}[n, 4] y)
    <int64 zero = {{0}}, int64[1] one = {{1}}, bool yes = {{1}}> {{
    s = Shape ({counted}) c = Gather (s, zero)
    y = Loop <body = b (int64 t, bool go, {kind}[n, 4] a) => (bool stay, {kind}[n, 4] e) {{
        stay = Identity (go) p = Reshape (t, one) j = Gather (i, p) v = Gather (u, p)
        o = GatherElements (a, j) {join} e = ScatterElements ({target}, j, w) }}> (c, yes, x) }}"""
JOINS = {
    "add": "w = Add (o, v)",
    "mul": "w = Mul (o, v)",
    "max": "g = Greater (o, v) w = Where (g, o, v)",
    "min": "g = Less (o, v) w = Where (g, o, v)",
}


def loop(join, kind="float", counted="i", target="a"):
    return LOOP.format(join=join, kind=kind, counted=counted, target=target)


def scatter(reduction, kind="float", axis=0):
    return SCATTER.format(reduction=reduction, kind=kind, axis=axis)


@pytest.mark.parametrize("reduction", JOINS)
def test_one_index_after_the_other(reduction):
    join = JOINS[reduction]
    proof = assert_proved(scatter(reduction, "int64"), loop(join, "int64"))
    assert not any("ScatterElements" in text for text in proof.assumptions)
    for other in set(JOINS) - {reduction}:
        assert_open(scatter(other, "int64"), loop(join, "int64"))
    assert_open(scatter(reduction, "int64", axis=1), loop(join, "int64"))
    assert_open(scatter(reduction, "int64"), loop(join, "int64", target="x"))
    assert_open(scatter(reduction, "int64"), loop(join, "int64", counted="x"))
    assert_open(scatter("none", "int64"), loop(join, "int64"))
    assert_open(scatter(reduction, "int64"), loop("w = Identity (v)", "int64"))


@pytest.mark.parametrize("reduction", JOINS)
def test_floats_are_joined_in_this_order(reduction):
    texts = scatter(reduction), loop(JOINS[reduction])
    if reduction in ("add", "mul"):
        assert any("ScatterElements" in text for text in assert_proved(*texts).assumptions)
    else:  # kernels differ on the maximum of NaN
        assert assert_open(*texts).equality == "reals"
    random = np.random.default_rng(2)
    feeds = {
        "x": random.normal(size=(3, 4)).astype(np.float32),
        "i": random.integers(-3, 3, (40, 4)),
        "u": (random.normal(size=(40, 4)) * 10 ** random.uniform(-3, 3, (40, 4))).astype(
            np.float32
        ),
    }
    one, other = (open_session(model(text)).run(None, feeds)[0] for text in texts)
    assert one.tobytes() == other.tobytes()


ROWS = """g (float[n, 4] x, int64[k, 3, 1] i, float[k, 3, 4] u) => (float[n, 4] y)
    <int64 zero = {0}, int64[1] one = {1}, bool yes = {1}, int64[2] tuples = {-1, 1},
     int64[2] rows = {-1, 4}> { %s }"""
BY_ROW = """f = Reshape (i, tuples) h = Reshape (u, rows) s = Shape (f) c = Gather (s, zero)
    y = Loop <body = b (int64 t, bool go, float[n, 4] a) => (bool stay, float[n, 4] e) {
        stay = Identity (go) p = Reshape (t, one) j = Gather (f, p) v = Gather (h, p)
        o = GatherND (a, j) w = Add (o, v) e = ScatterND (a, j, w) }> (c, yes, x)"""


def test_rows_one_after_the_other():
    before = ROWS % 'y = ScatterND <reduction = "add"> (x, i, u)'
    assert_proved(before, ROWS % BY_ROW)
    assert_open(before, ROWS % BY_ROW.replace("Add (o, v)", "Mul (o, v)"))
    assert_open(before, ROWS % BY_ROW.replace("Gather (h, p)", "Gather (h, one)"))
    assert prove(model(ROWS % BY_ROW), model(before)).status != "refuted"
