import numpy as np
import onnx
import pytest
from conversions import assert_carried, assert_refuses, assert_writes
from sessions import outputs
from straightline import convert_version

STATISTICS = "float[2, 3] x, float[3] s"


@pytest.mark.parametrize("source", [8, 13])
def test_training_statistics_are_refused_where_they_are_used(source):
    node = "BatchNormalization (x, s, s, s, s)"
    assert_writes(f"y = {node}", source, source + 1, [node], STATISTICS)
    assert_refuses(f"a, y = {node}", source, source + 1, "training statistics", STATISTICS)


def test_statistics_that_nobody_reads_still_mean_training():
    """Up to opset 13 more than one output normalizes by the statistics of the batch."""
    before = onnx.parser.parse_model("""<ir_version: 7, opset_import: ["": 8]>
        g (float[5, 3] x, float[3] s) => (float[5, 3] y)
        <float[3] m = {5, 6, 7}, float[3] v = {2, 3, 4}> {
            y, a, b, c, d = BatchNormalization (x, s, s, m, v) }""")
    scale = np.array([1, 2, 3], np.float32)
    x = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
    wanted = (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5) * scale + scale
    for opset in (9, 14, 15):
        after = convert_version(before, opset, verify=False)
        onnx.checker.check_model(after, full_check=True)
        assert len(after.graph.node[0].output) == (5 if opset < 14 else 3)
        (y,) = outputs(after, {"x": x, "s": scale})
        np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-5)


def test_a_training_mode_is_refused_before_opset_14():
    node = "BatchNormalization <training_mode = {}> (x, s, s, s, s)"
    reason = "'training_mode' = 1 does not exist in opset 13"
    assert_refuses(f"y, a, b = {node.format(1)}", 14, 13, reason, STATISTICS)
    wanted = ["BatchNormalization (x, s, s, s, s)"]
    assert_writes(f"y = {node.format(0)}", 14, 13, wanted, STATISTICS)


def test_operands_of_several_types_are_normalized_in_the_widest():
    feeds = {"x": np.array([[[1, 2], [3, -4]]], np.float16)}
    feeds |= {name: np.array([0.5, 2], np.float32) for name in "sbmv"}
    signature = "float16[1, 2, 2] x, float[2] s, float[2] b, float[2] m, float[2] v"
    assert_carried("y = BatchNormalization (x, s, b, m, v)", 15, (14, 9), feeds, signature)
