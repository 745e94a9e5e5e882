"""Scan models from opset 8 to 13 and back, and from 13 to 8 and back: equal outputs."""

import numpy as np
import onnx
import pytest
import straightline as sl
from conversions import assert_there_and_back
from harness import assert_equal
from tables import cases


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
    scan_8 = """<ir_version: 3, opset_import: ["" : 8]>
    g (int64[%s] lens, float[%s,2] h, float[%s,%s,2] x) => (float[%s,2] f, float[%s,%s,2] y) {
       f, y = Scan <num_scan_inputs = 1, directions = [%d], body = b (float[2] s, float[2] e)
                    => (float[2] r, float[2] o) { r = Add (s, e) o = Neg (r) }> (%s, h, x) }"""
    model = onnx.parser.parse_model(scan_8 % (b, b, b, t, b, b, t, direction, given))
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
    scan_13 = """<ir_version: 7, opset_import: ["" : 13]>
    g (float[2] h, float[3,%s] x) => (float[2] f, float[%s] y) {
       f, y = Scan <num_scan_inputs = 1, scan_input_axes = [%d], scan_input_directions = [%d],
                    scan_output_axes = [%d], scan_output_directions = [%d],
                    body = b (float[2] s, float[3] e) => (float[2] r, float[3] o) {
                       m = ReduceSum <keepdims = 0> (e)
                       r = Add (s, m)
                       o = Neg (e)
                    }> (h, x) }"""
    text = scan_13 % (shape, result, axis, directions[0], axis if axis else 0, directions[1])
    steps = there_and_back(onnx.parser.parse_model(text), 8, 13)
    x = np.arange(12 if axis else 9, dtype=np.float32).reshape(3, -1)
    assert_all_equal(steps, {"h": np.array([1, 2], np.float32), "x": x})


test_nodes_there_and_back = cases(
    assert_there_and_back,
    ("y = ArgMax <axis = 1, keepdims = 0, select_last_index = 1> (x)", "int64[2]", 13, (9, 11)),
    ("s = Cast <to = 7> (x) y = CastLike (s, x)", "float[2, 3]", 15, (13, 14)),
    ("y = Clip (x)", "float[2, 3]", 13, (7, 10, 11, 12, 18)),
    ("m = Constant <value_float = -1.0> () y = Clip (x, m)", "float[2, 3]", 13, (7, 10, 21)),
    ("m = Constant <value_float = -1.0> () y = Clip (x, , m)", "float[2, 3]", 13, (7, 10, 21)),
    ("a = Cast <to = 6> (x) l = Constant <value = int32 {-1}> ()"
     " h = Constant <value = int32 {2}> () y = Clip (a, l, h)", "int32[2, 3]", 13, (9, 11)),
    ("y = Concat <axis = -1> (x, x)", "float[2, 6]", 13, (7, 10)),
    ("s = Shape (x) y = ConstantOfShape (s)", "float[2, 3]", 13, (8, 20)),
    ("r = Constant <value_float = 0.25> () y, m = Dropout (x, r)", "float[2, 3]", 13, (7, 11, 22)),
    ("a = Cast <to = 3> (x) b = Cast <to = 3> (n) y = Equal (a, b)", "bool[2, 3]", 13, (7, 10)),
    ("y = Equal (x, n)", "bool[2, 3]", 13, (9, 10, 19)),
    ("y = Flatten <axis = -1> (x)", "float[2, 3]", 13, (7, 9, 10)),
    ("y = Gemm (x, v)", "float[2, 2]", 13, (7, 10, 11)),
    ("y = IsInf <detect_negative = 0> (x)", "bool[2, 3]", 10, (9, 8)),
    ("y = IsNaN (x)", "bool[2, 3]", 13, (7, 8)),
    ("a = Cast <to = 6> (x) b = Cast <to = 6> (n) y = Less (a, b)", "bool[2, 3]", 13, (7, 8)),
    ("a = Cast <to = 7> (x) b = Cast <to = 7> (n) y = Max (a, b)", "int64[2, 3]", 13, (9, 11)),
    ("a = Cast <to = 7> (x) t = Constant <value_int = 3> () y = Mod (a, t)", "int64[2, 3]", 13,
     (9,)),
    ("p = Constant <value_ints = [0, 1, 1, 0]> () y = Pad (x, p)", "float[3, 4]", 13, (7, 10, 19)),
    ("p = Constant <value_ints = [1, 0]> () a = Constant <value_ints = [-1]> ()"
     " y = Pad (x, p, , a)", "float[2, 4]", 18, (7, 13, 17, 21)),
    ("e = Constant <value_ints = [2]> () y = Pow (x, e)", "float[2, 3]", 13, (7, 11)),
    ("y = ReduceMax <axes = [-1], keepdims = 0> (x)", "float[2]", 13, (7, 10, 18, 20)),
    ("y = ReduceL2 (x)", "float[1, 1]", 18, (7, 13, 17)),
    ("y = ReduceSumSquare <noop_with_empty_axes = 1> (x)", "float[2, 3]", 18, (7, 13, 17)),
    ("y = ReduceSum <noop_with_empty_axes = 1> (x)", "float[2, 3]", 13, (7, 12)),
    ("a = Cast <to = 6> (x) y = Relu (a)", "int32[2, 3]", 14, (9, 13)),
    ("y = Shape <start = 1> (x)", "int64[1]", 15, (13, 14, 9, 21)),
    ("y = Slice <axes = [1], starts = [-2], ends = [9]> (x)", "float[2, 2]", 9, (7, 10, 13)),
    ("s = Constant <value_ints = [5]> () e = Constant <value_ints = [-9]> ()"
     " a = Constant <value_ints = [-1]> () t = Constant <value_ints = [-2]> ()"
     " y = Slice (x, s, e, a, t)", "float[2, 2]", 13, (9, 10, 21)),
    ("h = Shape (x) s = Constant <value_ints = [1]> () z = Constant <value_ints = [0]> ()"
     " t = Constant <value_ints = [2]> () e = Slice (h, s, t, z) y = Slice (x, z, e, s)",
     "float[2, N]", 13, (9, 10, 21)),
    ("y = Softmax <axis = 0> (x)", "float[2, 3]", 13, (7, 11, 12, 21)),
    ("y = Softmax <axis = 0> (x)", "float[2, 3]", 11, (7, 13, 21)),
    ("y = LogSoftmax (x)", "float[2, 3]", 11, (7, 10, 13)),
    ("y = Hardmax <axis = 0> (x)", "float[2, 3]", 13, (7, 12)),
    ("y, z = Split <axis = 1, num_outputs = 2> (x)", "float[2, 2]", 18, (7, 11, 13, 17)),
    ("y, z = Split <axis = 0> (x)", "float[1, 3]", 13, (7, 12, 18, 21)),
    ("y = Squeeze <axes = [0]> (u)", "float[2, 3]", 11, (7, 9, 13, 21)),
    ("y, i = TopK <k = 2> (x)", "float[2, 2]", 9, (7, 10, 11, 24)),
    ("k = Constant <value_ints = [2]> () y, i = TopK <largest = 0, axis = 1> (x, k)",
     "float[2, 2]", 13, (7, 9, 10, 24)),
    ("y = Trilu (x)", "float[2, 3]", 14, (9, 13)),
    ("k = Constant <value_int = -1> () y = Trilu <upper = 0> (x, k)", "float[2, 3]", 14, (9, 13)),
    ("c = Greater (x, n) y = Where (c, x, n)", "float[2, 3]", 13, (8, 9)))  # fmt: skip
