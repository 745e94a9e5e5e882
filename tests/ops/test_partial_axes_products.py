"""Products of windows with windows, which an end may cut short."""

import numpy as np
from harness import as_model
from loops import op_types
from tables import table
from vectorized import assert_same, numbers, vectorized


@table(
    ("of itself", "2, 2", "r = MatMul (turned, part)"),
    ("by weights", "2, 2", "w = Softmax <axis = 1> (turned) r = MatMul (w, part)"),
    ("by exponentials", "2, 2", "w = Exp (turned) r = MatMul (w, part)"),
)
def test_products(name, row, body):
    text = """g (float[N, 2] x, int64 n) => (float[M, {row}] z) <int64[1] at = {{0}},
            int64[1] width = {{3}},
            bool yes = {{1}}> {{
        z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[{row}] r) {{
            c2 = Identity (c) s1 = Unsqueeze (i, at) t1 = Add (s1, width)
            part = Slice (x, s1, t1, at) turned = Transpose (part) {body} }}> }}"""
    model = as_model(text.format(row=row, body=body))
    result = vectorized(model)
    assert "Loop" not in op_types(result.model.graph), result.remarks
    for length, n in ((5, 5), (3, 1), (2, 2), (4, 0)):
        x = numbers(length, 2)
        x[-1, 0] = np.inf
        assert_same(model, result.model, {"x": x, "n": np.array(n)})
