"""A recurrence through a node whose first output is omitted: `, h = GRU (x, w, r, , , s)`."""

import numpy as np
import pytest
import straightline as sl
from harness import assert_equal

NODES = {
    "GRU": ", h = GRU <hidden_size = 2> (rows, w, r, , , state) z = Squeeze (h, zero)",
    "LSTM": ", h = LSTM <hidden_size = 2> (rows, w4, r4, , , state) z = Squeeze (h, zero)",
    "Split": ", z = Split <axis = 1> (both)",
    "Loop": """, z = Loop (two, , s, s) <body = inner (
        int64 j, bool e, float[1, 2] u, float[1, 2] v) => (bool q, float[1, 2] t, float[1, 2] t) {
            q = Identity (e) t = Add (u, x) }>""",
}
BODY = """rows = Unsqueeze (x, zero) state = Unsqueeze (s, zero) both = Concat <axis = 1> (x, s)"""
TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 2] x, float[1, 2] a) => (float[1, 2] y) <int64 n = {3}, int64[1] zero = {0},
  int64 two = {2}, int64[3] sw = {1, 6, 2}, int64[3] sw4 = {1, 8, 2}> {
    w = ConstantOfShape <value = float[1] {0.5}> (sw) r = Identity (w)
    w4 = ConstantOfShape <value = float[1] {0.5}> (sw4) r4 = Identity (w4)
    y = Loop (n, , a) <body = b (int64 i, bool c, float[1, 2] s) => (bool d, float[1, 2] z) {
        d = Identity (c) BODY NODE }> }"""


@pytest.mark.parametrize("passes", [None, "accelerate", "simplify", "selects"])
@pytest.mark.parametrize("name", NODES)
def test_a_recurrence_through_an_output_after_an_omitted_one(name, passes):
    body = BODY if name in ("GRU", "LSTM", "Split") else ""
    model = sl.ir.to_proto(sl.ir.parse(TEXT.replace("BODY", body).replace("NODE", NODES[name])))
    rewrite = sl.rewrite(model, passes, verify=False)
    feeds = {"x": np.array([[1, -2]], np.float32), "a": np.array([[0.5, 0.25]], np.float32)}
    # onnxruntime 1.32 ends the process at a Loop that omits an output.
    (one,), (other,) = sl.reference.run(model, feeds), sl.reference.run(rewrite, feeds)
    assert_equal(one, other)
