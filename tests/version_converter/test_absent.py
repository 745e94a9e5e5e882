import numpy as np
import onnx
import pytest
from harness import as_model
from straightline import convert_version, ir, reference
from straightline.version_converter import ConversionError
from straightline.version_converter.absent import AbsentInputs
from straightline.version_converter.convert import convert
from tables import table

TEXT = """<ir_version: 8, opset_import: ["" : 18, "my" : 1]>
    g (float[2,3] x) => (float[2,3] y) <float lo = {{1}}, float hi = {{4}}> {{ {calls} }}
    <domain: "my", opset_import: ["" : 18, "my" : 1]>
    G (a, lo, hi) => (r) {{ r = my.F (a, lo, hi) }}
    <domain: "my", opset_import: ["" : 18]>
    F (a, lo, hi) => (r) {{
        n = Constant <value = int64 {{2}}> ()
        r = Loop (n, , a) <body = b (int64 i, bool c, float[2,3] s) => (bool c2, float[2,3] s2) {{
            c2 = Constant <value = bool {{1}}> ()
            t = Add (s, a)
            s2 = Clip (t, lo, hi) }}> }}"""
ALWAYS = TEXT.format(calls='y = my.G (x, "", hi)')
SOMETIMES = TEXT.format(calls='u = my.G (x, "", hi) y = my.F (u, lo, hi)')


@table(
    (ALWAYS, {"lo"}, set()),
    (SOMETIMES, {"lo"}, {"lo"}),  # of G and of F
    (TEXT.format(calls="y = my.G (x, lo, hi)"), set(), set()),
    (TEXT.format(calls="y = my.F (x)"), set(), {"lo", "hi"}),  # G, which nothing calls, has both
)
def test_inputs_that_calls_leave_out(text, always, sometimes):
    found = AbsentInputs(ir.load(as_model(text)))
    assert {value.name for value in found.always} == always
    assert {value.name for value in found.sometimes} == sometimes


@pytest.mark.parametrize("target", [8, 10, 11, 13])
def test_a_body_does_not_read_what_is_left_out(target):
    before = as_model(ALWAYS)
    after = convert_version(before, target)
    onnx.checker.check_model(after, full_check=True)
    feeds = {"x": np.array([[1, 2, 3], [4, 5, 6]], np.float32)}
    np.testing.assert_array_equal(reference.run(after, feeds)[0], reference.run(before, feeds)[0])


def test_a_partly_absent_argument_is_refused():
    """Where no copy of the function is made for these calls."""
    model = ir.load(as_model(SOMETIMES))
    with pytest.raises(ConversionError, match="'lo' is left out by some calls"):
        convert(model, 8)
    convert_version(as_model(SOMETIMES), 20)  # where nothing is made of it


def test_calls_that_leave_an_input_out_get_a_copy():
    before = as_model(SOMETIMES)
    after = convert_version(before, 8)
    x = np.array([[1, -2, 3], [4, 5, -6]], np.float32)
    feeds = {i.name: x if i.name == "x" else np.float32(2) for i in before.graph.input}
    for found, wanted in zip(*(reference.run(p, feeds) for p in (after, before)), strict=True):
        np.testing.assert_array_equal(found, wanted)
