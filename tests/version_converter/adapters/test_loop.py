import numpy as np
import onnx.parser
import pytest
from conversions import X, assert_carried, model, written
from harness import assert_same_text
from straightline import convert_version


def test_a_value_that_nothing_reads_is_carried():
    before = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 11]>
        g (float[2] x, int64 n, bool go) => (float[K, 2] y) {
            y = Loop (n, go) <body = b (int64 i, bool c) => (bool d, float[2] r) {
                d = Identity (c)
                r = Identity (x) }> }""")
    after = """<ir_version: 5, opset_import: ["": 10]>
        g (float[2] x, int64 n, bool go) => (float[K, 2] y) <float y_carried = {0}> {
            y_carried_1, y = Loop (n, go, y_carried) <
                body = b (int64 i, bool c, float carried)
                    => (bool d, float carried_on, float[2] r) {
                    d = Identity (c)
                    r = Identity (x)
                    carried_on = Identity (carried) }> }"""
    assert_same_text(convert_version(before, 10), after)


def test_a_loop_that_carries_nothing_carries_something_in_opset_10():
    body = (
        "y = Loop (n, c) <body = b (int64 i, bool d) => (bool e, float[2, 3] r)"
        " { e = Identity (d) r = Identity (x) }>"
    )
    signature = "float[2, 3] x, int64 n, bool c"
    for iterations in (0, 2):
        fed = {"x": X, "n": np.array(iterations, np.int64), "c": np.array(True)}
        assert_carried(body, 11, (10, 8), fed, signature)
    assert written(convert_version(model(body, 11, signature), 10).graph)[0].endswith("(n, c, 0.0)")
    carrying = body.replace("(n, c)", "(n, c, x)").replace("y = L", "z, y = L")
    carrying = carrying.replace("bool d)", "bool d, float[2, 3] s)")
    carrying = carrying.replace("bool e,", "bool e, float[2, 3] t,").replace(
        "e = ", "t = Neg (s) e = "
    )
    same = convert_version(model(carrying, 11, signature), 10)
    assert written(same.graph)[0].endswith("(n, c, x)")


@pytest.mark.parametrize("maximum", ["n, c", ", c"])
def test_a_loop_that_carries_nothing_and_is_not_read(maximum):
    """What it would carry stands at the node by the time that its types are asked for."""
    body = f"""
        rows = Loop ({maximum}) <body = b (int64 i, bool d) => (bool d1, r) {{
            d1 = Identity (d)
            r = com.example.Odd (i) }}>
        y = Neg (x)
    """
    loop = convert_version(model(body, 11, "float[2, 3] x, int64 n, bool c"), 10).graph.node[0]
    assert loop.op_type == "Loop" and len(loop.input) == 3 and len(loop.output) == 2
