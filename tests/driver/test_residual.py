"""What is left, and why: as far as a pass said so."""

from straightline import ir
from straightline.driver.residual import left_over
from straightline.passes import InlineIfs, Pipeline, UnrollLoops

LOOP = """<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x, int64 n) => (float[2] y) {
    y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] r) {
        d = Identity (c) r = Relu (a)
    }>
}"""
CALLED = """<ir_version: 10, opset_import: ["" : 18, "local" : 1]>
g (float[2] x, bool c) => (float[2] y) { y = local.f (x, c) }
<domain: "local", opset_import: ["" : 18]> f (a, c) => (r) {
    r = If (c) <then_branch = t () => (p) { p = Exp (a) },
                else_branch = e () => (q) { q = Abs (a) }> }"""


def left(text, *passes):
    result = Pipeline(passes).apply(ir.parse(text))
    return left_over(result.model, result.remarks)


def test_what_a_pass_said_of_it():
    (found,) = left(LOOP, UnrollLoops())
    assert (found.op_type, found.path, found.pass_name) == ("Loop", "y", "unroll-loops")
    assert "--set n=" in found.reason


def test_what_no_pass_spoke_of():
    (found,) = left(LOOP, InlineIfs())
    assert found.reason == "no pass of the pipeline rewrites Loop"


def test_what_stands_in_a_function_is_told_with_the_call():
    (found,) = left(CALLED, InlineIfs())
    assert found.op_type == "If" and "'c'" in found.reason


def test_nothing_is_left():
    text = LOOP.replace("x, int64 n) => (float[2] y) {", "x) => (float[2] y) <int64 n = {1}> {")
    assert left(text, UnrollLoops()) == []
