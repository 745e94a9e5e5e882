"""Open sizes of inputs get names, for clients that refuse others."""

import numpy as np
import onnx

from targets import fitted, lacking

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[?, 2, N] x, float[x_0, ?] w, float[3] k) => (float[?, 2, N] y, float[?, ?] z) {
    y = Neg (x) z = Exp (w) }"""


def sizes(outcome):
    return [
        [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in outcome.model.graph.input
    ]


def test_each_open_size_gets_a_name_of_its_own():
    """tinygrad: "input x has mismatch on dim=0. Expected None, received 5"."""
    feeds = {name: np.ones(shape, np.float32) for name, shape in (("x", (5, 2, 4)), ("w", (7, 6)))}
    feeds["k"] = np.ones(3, np.float32)
    outcome = fitted(TEXT, lacking("Tan", names_sizes=True), feeds)
    assert sizes(outcome) == [["x_0_1", 2, "N"], ["x_0", "w_1"], [3]]
    (remark,) = (r for r in outcome.remarks if "named" in str(r.reason))
    assert "2 open sizes" in str(remark.reason)


def test_other_targets_and_known_sizes_change_nothing():
    assert sizes(fitted(TEXT, lacking("Tan"))) == [[0, 2, "N"], ["x_0", 0], [3]]
    known = TEXT.replace("float[?, 2, N] x", "float[M, 2, N] x").replace("[x_0, ?] w", "[x_0, 1] w")
    outcome = fitted(known, lacking("Tan", names_sizes=True))
    assert not outcome.changed and isinstance(outcome.model, onnx.ModelProto)
