from harness import as_model
from straightline import ir
from straightline.analysis.iterations.constructs import control_flow, deciding
from tables import table

TEXT = """<ir_version: 8, opset_import: ["" : 17]> g (float x, int64 n, bool q) => (float y) {
        y = Loop (n, q, x) <body = b (int64 i, bool c, float a) => (bool d, float r) {
            d = Not (q)
            r = If (c) <then_branch = t () => (float s) { s = Neg (a) },
                        else_branch = e () => (float u) { u = Abs (a) }> }> }"""


def test_outer_before_inner_and_what_decides_each():
    found = list(control_flow(ir.load(as_model(TEXT))))
    assert [node.path for node in found] == ["y", "y/r"]
    decided = [[asked.value.name for asked in deciding(node)] for node in found]
    assert decided == [["n", "q", "d"], ["c"]]


def test_a_condition_that_always_holds_decides_nothing():
    text = TEXT.replace("Not (q)", "Identity (c)")
    loop = next(control_flow(ir.load(as_model(text))))
    assert [asked.value.name for asked in deciding(loop)] == ["n", "q"]


SCAN = """<ir_version: 8, opset_import: ["" : OPSET]>
    g (float[2] h, float[N,2] x, float[N,2] z, int64[1] n) => (float[2] l, float[N,2] y) {
        l, y = Scan <num_scan_inputs = 2, body = b (float[2] a, float[2] c, float[2] e)
            => (float[2] d, float[2] r) { d = Add (a, c)  r = Mul (d, e) }> (GIVENh, x, z) }"""


@table((17, "", [("x", True)]), (8, ", ", [("x", True)]), (8, "n, ", [("n", False), ("x", True)]))
def test_the_length_of_a_scan_is_a_size(opset, given, wanted):
    text = SCAN.replace("OPSET", str(opset)).replace("GIVEN", given)
    (scan,) = control_flow(ir.load(as_model(text)))
    assert [(asked.value.name, asked.sizes) for asked in deciding(scan)] == wanted
