from harness import as_model
from straightline import ir
from straightline.analysis.safety.speculation import Speculation
from straightline.analysis.shapes.inference import ShapeInference
from straightline.analysis.shapes.nonzero_iterations import runs_certainly
from tables import table

BODY = (
    "<body = b (int64 i, bool c, float a) => (bool c2, float r) { c2 = Identity (c) r = Neg (a) }>"
)


def certain(text, opset=17):
    model = ir.load(as_model(f'<ir_version: 8, opset_import: ["" : {opset}]> {text}'))
    node = next(node for node in model.graph.nodes() if node.bodies)
    return runs_certainly(node, Speculation(ShapeInference(model), {}).outside)


def loop(head, maximum, condition):
    inputs = "float x, int64 n, bool c, float[4, N] s, int64 m = {3}"
    return f"g ({inputs}) => (float y) {{ {head} y = Loop ({maximum}, {condition}, x) {BODY} }}"


@table(
    ("k = Constant <value_int = 1> ()", "k", "", True),
    ("k = Constant <value_int = 0> ()", "k", "", False),
    ("k = Constant <value_int = -1> ()", "k", "", False),
    ("t = Constant <value = bool {1}> ()", "", "t", True),
    ("t = Constant <value = bool {0}> ()", "", "t", False),
    ("t = Constant <value = bool[1] {1}> ()", "", "t", True),
    ("", "n", "", False),
    ("", "m", "", False),
    ("", "", "c", False),
    ("k = Constant <value_int = 1> () n2 = Max (n, k)", "n2", "", True),
    ("k = Size (s)", "k", "", False),
    ("k = Shape <start = 0, end = 1> (s)", "k", "", True),
    ("k = Shape <start = 1> (s)", "k", "", False),
)
def test_loops(head, maximum, condition, expected):
    assert certain(loop(head, maximum, condition)) is expected


@table(
    ("float[4, 2] s", "", True),
    ("float[0, 2] s", "", False),
    ("float[N, 2] s", "", False),
    ("float[N, 2] s", "scan_input_axes = [1], ", True),
    ("float[N, 2] s", "scan_input_axes = [-1], ", True),
    ("float[4, N] s", "scan_input_axes = [-1], ", False),
    ("float[] s", "", False),
)
def test_scans(types, axes, expected):
    body = "<num_scan_inputs = 1, AXES body = b (float[k] e) => (float[k] r) { r = Neg (e) }>"
    text = f"g ({types}) => (float[p, q] y) {{ y = Scan {body.replace('AXES', axes)} (s) }}"
    assert certain(text) is expected


def test_one_of_several_scanned_values_is_enough():
    body = "<num_scan_inputs = 2, body = b (float e, float f) => (float r) { r = Add (e, f) }>"
    assert certain(f"g (float[N] s, float[3] t) => (float[p] y) {{ y = Scan {body} (s, t) }}")


def test_the_scan_of_opset_8_may_have_an_empty_batch():
    body = "<num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }>"
    assert not certain(f"g (float[2, 3] s) => (float[2, 3] y) {{ y = Scan {body} (, s) }}", 8)
