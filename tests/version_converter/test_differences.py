import onnx
import straightline as sl
from tables import table

AXES = """<ir_version: 7, opset_import: ["" : 11]> g (float[1, 2] x, bool c) => (float[2] y) {
    a = Squeeze <axes = [0]> (x)
    b = Unsqueeze <axes = [0]> (a)
    d = Squeeze <axes = [0]> (b)
    e = If (c) <then_branch = t () => (float[2] p) { q = Unsqueeze <axes = [0]> (d)
                                                     p = Squeeze <axes = [0]> (q) },
                else_branch = f () => (float[2] r) { r = Neg (d) }>
    y = Abs (e) }"""
CAST = """<ir_version: 8, opset_import: ["" : 17]> g (float[2] x, int32[2] n) => (int32[2] y) {
    z = Relu (n)
    y = Abs (z) }"""
SCAN = """<ir_version: 8, opset_import: ["" : 9]> g (float[3, 2] x, float[2] s) => (float[2] y) {
    y = Scan <num_scan_inputs = 1, body = b (float[2] t, float[2] e) => (float[2] u) {
        u = Add (t, e) }> (s, x) }"""


def found(text, target):
    return sl.transform(onnx.parser.parse_model(text), (), opset=target, verify=False).operators


@table(
    (AXES, 13, {"Squeeze": 3, "Unsqueeze": 2}, {}),
    (AXES, 12, {}, {}),
    (AXES, 11, {}, {}),
    (CAST, 13, {"Relu": 1}, {"Max": 1}),
)
def test_operators_that_change(text, target, changed, added):
    told = found(text, target)
    assert told["changed"] == changed and (not added or told["added"])


def test_a_body_that_is_copied_has_not_changed():
    told = found(SCAN, 8)
    assert told["changed"] == {"Scan": 1} and "Add" not in told["added"]
