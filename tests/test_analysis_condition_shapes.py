"""Loops whose condition looks at the shape of what they carry."""

import numpy as np
import onnx.parser
import pytest
from harness import assert_keeps, assert_rewrites
from straightline.passes import EliminateDeadNodes, Pipeline, UnrollLoops

GROWING = """
<ir_version: 8, opset_import: ["" : 18]>
g (float[%s] x) => (float[K] y) <bool yes = {1}, int64 ten = {10}> {
   y = Loop (%s, yes, x) <body = b (int64 i, bool c, float[P] a) => (bool c2, float[Q] o) {
      o = Concat <axis = 0> (a, a)
      s = Size (o)
      c2 = Less (s, ten)
   }>
}"""

FLAT = """
<ir_version: 8, opset_import: ["" : 18]>
g (float[2] x) => (float[K] y) {
   o_0 = Concat <axis = 0> (x, x)
   o_1 = Concat <axis = 0> (o_0, o_0)
   y = Concat <axis = 0> (o_1, o_1)
}"""


def test_a_loop_until_a_size_is_reached():
    x = np.array([1, 2], np.float32)
    assert_rewrites([UnrollLoops(), EliminateDeadNodes()], GROWING % (2, ""), FLAT, [{"x": x}])


def test_an_unknown_size_is_named_as_what_decides():
    assert_keeps(UnrollLoops(), GROWING % ("N", ""), "depends on the shape of input 'x'")


def test_a_size_that_never_ends_it_is_given_up():
    text = GROWING.replace("Concat <axis = 0> (a, a)", "Neg (a)") % (2, "")
    assert_keeps(UnrollLoops(), text, "depends on")


@pytest.mark.parametrize("maximum", ["float[1] m = {3}", "int64[2] m = {3, 4}"])
def test_a_maximum_that_is_none_decides_nothing(maximum):
    text = (GROWING % (2, "m")).replace("int64 ten", f"{maximum}, int64 ten")
    model = onnx.parser.parse_model(text.replace("Less (s, ten)", "Identity (c)"))
    (remark,) = Pipeline([UnrollLoops()]).run(model).kept
    assert "its maximum 'm'" in remark.reason
