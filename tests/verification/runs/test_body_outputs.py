import numpy as np
import onnx
import straightline as sl
from sessions import outputs
from straightline import reference
from straightline.verification.runs.body_outputs import uncopied, with_copies
from tables import table

SCAN = """<ir_version: 8, opset_import: ["" : 17]>
    g (float s, float[N] x) => (float t, float[N] y) {{
    t, y = Scan <num_scan_inputs = 1, body = b (float a, float e) => {}> (s, x) }}"""
LOOP = """<ir_version: 8, opset_import: ["" : 17]> g (int64 s, int64 n) => (int64 t, int64[N] y)
    <bool go = {{1}}> {{ t, y = Loop (n, go, s) <body = b (int64 i, bool c, int64 a) => {}> }}"""
IF = """<ir_version: 8, opset_import: ["" : 17]> g (float s, bool c) => (float t, float y) {{
    t, y = If (c) <then_branch = a () => {}, else_branch = b () => (float u, float w)
    {{ u = Exp (s) w = Abs (s) }}> }}"""
FEEDS = {
    IF: {"s": np.array(5, np.float32), "c": np.array(True)},
    SCAN: {"s": np.array(5, np.float32), "x": np.array([1, 2, 3], np.float32)},
    LOOP: {"s": np.array(5), "n": np.array(3)},
}


@table(
    (IF, "(float v, float v) { v = Neg (s) }", [0]),
    (IF, "(float v, float k) <float k = {2.0}> { v = Neg (s) }", []),
    (SCAN, "(float e, float e_) { e_ = Add (a, e) }", [0]),
    (SCAN, "(float v, float v) { v = Add (a, e) }", [0]),
    (SCAN, "(float a, float e) {}", [0, 1]),
    (SCAN, "(float v, float k) <float k = {2.0}> { v = Add (a, e) }", []),
    (LOOP, "(bool c, int64 v, int64 i) { v = Add (a, i) }", [2]),
    (LOOP, "(bool c, int64 i, int64 a) {}", [1]),
    (LOOP, "(bool c, int64 a, int64 v) { v = Add (a, i) }", []),
)
def test_with_copies_onnxruntime_computes_what_is_specified(text, body, places):
    model = onnx.parser.parse_model(text.format(body))
    assert [place for _, place in uncopied(model)] == places
    copied = with_copies(model)
    onnx.checker.check_model(copied, full_check=True)
    assert not uncopied(copied)
    for one, other in zip(
        outputs(copied, FEEDS[text]), reference.run(model, FEEDS[text]), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_a_rewrite_that_mends_is_equal_and_one_that_breaks_is_not():
    broken = onnx.parser.parse_model(SCAN.format("(float v, float v) { v = Add (a, e) }"))
    right = with_copies(broken)
    for after in (right, broken):
        assert sl.verify(broken, after, prove=False, runtime="onnxruntime").status == "equal"
    assert sl.verify(right, broken, prove=False, runtime="onnxruntime").status == "different"
