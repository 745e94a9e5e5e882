import numpy as np
import onnx
import pytest
from harness import as_model, assert_equal_outputs, run_passes
from loops import op_types
from straightline import prove, rewrite
from straightline.passes import SimplifyBodies

HEAD = '<ir_version: 8, opset_import: ["" : 18, "loc" : 1]>\n'
FUNCTION = """
<domain: "loc", opset_import: ["" : 18]> step <k> (a, b) => (r) {
    s = Add (a, b) f = Constant <value_float: float = @k> () r = Mul (s, f)
}"""
FEEDS = {"h": np.array([1, -2], np.float32), "x": np.ones((3, 2), np.float32)}


def scan(body, out="float[2] r"):
    return f"""{HEAD}g (float[2] h, float[N, 2] x) => (float[2] y) {{
        y = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => ({out}) {{ {body} }}>
            (h, x) }}"""


def simplified(text):
    result = run_passes(text, SimplifyBodies(), feeds=[FEEDS])
    assert prove(as_model(text), result.model).proved
    body = next(a.g for a in result.model.graph.node[0].attribute if a.name == "body")
    return list(op_types(body)), result


def test_a_call_in_a_body():
    ops, result = simplified(scan("r = loc.step <k = 2.0> (a, e)") + FUNCTION)
    assert [op for op in ops if op != "Constant"] == ["Add", "Mul"]
    assert not result.model.functions
    assert not run_passes(result.model, SimplifyBodies()).changed


def test_a_call_outside_of_bodies_stays():
    text = f"""{HEAD}g (float[2] h, float[N, 2] x) => (float[2] y) {{
        z = loc.step <k = 2.0> (h, h)
        y = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] r) {{
            r = Add (a, e) }}> (z, x)
    }}{FUNCTION}"""
    assert not run_passes(text, SimplifyBodies()).changed


@pytest.mark.parametrize(
    ("body", "after"),
    {
        "s = Add (a, e) r = Cast <to = 1> (s)": ["Add"],
        "s = Cast <to = 1> (a) r = Add (s, e)": ["Add"],
        "s = Add (a, e) t = Cast <to = 11> (s) r = Cast <to = 1> (t)": ["Add", "Cast", "Cast"],
        "r = Cast <to = 1> (a)": ["Cast"],  # an output of a body is no input of it
    }.items(),
)
def test_casts(body, after):
    assert simplified(scan(body))[0] == after


def test_a_cell_behind_a_function_with_casts_becomes_an_operator():
    cell = """
<domain: "loc", opset_import: ["" : 18]> step <k> (h, e, w) => (r) {
    p = MatMul (e, w) q = MatMul (h, w) s = Add (p, q) t = Tanh (s) r = Cast <to = 1> (t)
}"""
    text = scan("r = loc.step <k = 2.0> (a, e, w)").replace(
        "(float[2] y) {", "(float[2] y) <float[2, 2] w = {1.0, 0.5, 0.25, -1.0}> {"
    )
    model = rewrite(onnx.parser.parse_model(text + cell), "accelerate")
    assert "RNN" in op_types(model.graph) and "Scan" not in op_types(model.graph)
    assert_equal_outputs(text + cell, model, FEEDS)
