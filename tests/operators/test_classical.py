"""What pipelines of scikit-learn begin with does not hide shapes."""

import numpy as np
import pytest
from harness import assert_equal_outputs, run_passes
from straightline.passes import VectorizeLoops

PREPARED = (
    "Scaler <offset = [1.0, 0.0, 2.0], scale = [2.0, 1.0, 0.5]>",
    'Normalizer <norm = "L2">',
    "Binarizer <threshold = 0.5>",
    "Imputer <imputed_value_floats = [0.0]>",
)


@pytest.mark.parametrize("operator", PREPARED)
def test_distances_of_what_was_prepared(operator):
    """cdist of skl2onnx: without the rank the Scan would be written out row by row."""
    text = f"""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 1]>
    g (float[N, 3] x, float[5, 3] rows) => (float[5, N] d) {{
        p = ai.onnx.ml.{operator} (x)
        same, d = Scan <num_scan_inputs = 1, body = b (float[?, 3] a, float[3] row)
                => (float[?, 3] a2, float[?] r) {{
            a2 = Identity (a) s = Sub (a, row) r = ReduceSumSquare <axes = [1], keepdims = 0> (s)
        }}> (p, rows)
    }}"""
    made = run_passes(text, VectorizeLoops()).model
    assert "Scan" not in {node.op_type for node in made.graph.node}
    rows = np.arange(15, dtype=np.float32).reshape(5, 3)
    for size in (1, 4):  # the reference fails on no rows
        x = np.linspace(-1, 1, 3 * size, dtype=np.float32).reshape(size, 3)
        assert_equal_outputs(text, made, {"x": x, "rows": rows})
