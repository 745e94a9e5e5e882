"""Scan models from opset 8 to 13 and back, and from 13 to 8 and back: equal outputs."""

import numpy as np
import onnx
import pytest
import straightline as sl
from harness import assert_equal

SCAN_8 = """<ir_version: 3, opset_import: ["" : 8]>
g (int64[%s] lens, float[%s,2] h, float[%s,%s,2] x) => (float[%s,2] f, float[%s,%s,2] y) {
   f, y = Scan <num_scan_inputs = 1, directions = [%d], body = b (float[2] s, float[2] e)
                => (float[2] r, float[2] o) { r = Add (s, e) o = Neg (r) }> (%s, h, x) }"""

SCAN_13 = """<ir_version: 7, opset_import: ["" : 13]>
g (float[2] h, float[3,%s] x) => (float[2] f, float[%s] y) {
   f, y = Scan <num_scan_inputs = 1, scan_input_axes = [%d], scan_input_directions = [%d],
                scan_output_axes = [%d], scan_output_directions = [%d],
                body = b (float[2] s, float[3] e) => (float[2] r, float[3] o) {
                   m = ReduceSum <keepdims = 0> (e)
                   r = Add (s, m)
                   o = Neg (e)
                }> (h, x) }"""


def there_and_back(model, *versions):
    """The model through some versions, checked in each."""
    steps = [model]
    for version in versions:
        steps.append(sl.convert_version(steps[-1], version))
        onnx.checker.check_model(steps[-1], full_check=True)
        assert steps[-1].opset_import[0].version == version
    return steps


def assert_all_equal(steps, feeds):
    expected = sl.reference.run(steps[0], feeds)
    for step in steps[1:]:
        for got, wanted in zip(sl.reference.run(step, feeds), expected, strict=True):
            assert_equal(got, wanted)


@pytest.mark.sample(6)
@pytest.mark.parametrize("lengths", [True, False])
@pytest.mark.parametrize("direction", [0, 1])
@pytest.mark.parametrize(("batch", "length"), [(1, 4), (2, 4), ("B", "T")])
def test_from_8_to_13_and_back(batch, length, direction, lengths):
    given = "lens" if lengths else '""'
    b, t = batch, length
    model = onnx.parser.parse_model(SCAN_8 % (b, b, b, t, b, b, t, direction, given))
    steps = there_and_back(model, 13, 8)
    rows, longest = (1 if batch == 1 else 2), 4
    rng = np.random.default_rng(0)
    feeds = {
        "lens": np.array([3, 4][:rows]),
        "h": rng.integers(-3, 4, (rows, 2)).astype(np.float32),
        "x": rng.integers(-3, 4, (rows, longest, 2)).astype(np.float32),
    }
    assert_all_equal(steps, feeds)


@pytest.mark.parametrize("directions", [(0, 0), (1, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_from_13_to_8_and_back(axis, directions):
    shape = "T" if axis else "3"
    result = "3,T" if axis else "T,3"
    text = SCAN_13 % (shape, result, axis, directions[0], axis if axis else 0, directions[1])
    steps = there_and_back(onnx.parser.parse_model(text), 8, 13)
    x = np.arange(12 if axis else 9, dtype=np.float32).reshape(3, -1)
    assert_all_equal(steps, {"h": np.array([1, 2], np.float32), "x": x})
