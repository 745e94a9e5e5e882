"""Scans whose bodies read no computed values around them."""

import numpy as np
import pytest

from targets import fitted, lacking

X = np.arange(12, dtype=np.float32).reshape(4, 3)
TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N, 3] x, float[3] s) => (float[3] y, float[N, 3] z) <float[3] k = {1, 2, 3}> {
    t = Exp (s)
    y, z = Scan <num_scan_inputs = 1, body = b (float[3] a, float[3] r)
            => (float[3] c, float[3] d) {
        m = Mul (a, k)
        n = Add (m, t)
        BODY
        d = Sub (r, c)
    }> (s, x)
}"""
NESTED = """q = If (go) <then_branch = p () => (float[3] v) { v = Neg (t) },
    else_branch = p () => (float[3] v) { v = Mul (n, s) }> c = Min (n, q)"""


def scan_of(outcome):
    (scan,) = (node for graph in outcome.ir.graphs() for node in graph.nodes_of("Scan"))
    return scan


@pytest.mark.parametrize("own", [True, False])
def test_captures_become_states(own):
    """OpenVINO refuses a body that reads what a node around it computes, or an input."""
    feeds = {"x": X, "s": X[0] / 9}
    text = TEXT.replace("BODY", "c = Min (n, s)")
    scan = scan_of(fitted(text, lacking("Abs", own_scans=own), feeds))
    captures = [value for value in scan.body("body").captures() if value.constant is None]
    assert len(captures) == (0 if own else 2)
    assert len(scan.inputs) == (4 if own else 2)
    assert [value is not None for value in scan.outputs].count(True) == (4 if own else 2)


def test_bodies_inside_read_the_states():
    text = TEXT.replace("BODY", NESTED).replace("float[3] s)", "float[3] s, bool go)")
    for go in (True, False):
        feeds = {"x": X, "s": X[0] / 9, "go": np.array(go)}
        scan = scan_of(fitted(text, lacking("Abs", own_scans=True), feeds))
        assert not [value for value in scan.body("body").captures() if value.constant is None]
