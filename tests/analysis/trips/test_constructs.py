"""The constructs of a model, and what decides them."""

from harness import as_model
from straightline import ir
from straightline.analysis.trips.constructs import control_flow, deciding

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
    g (float x, int64 n, bool q) => (float y) {
        y = Loop (n, q, x) <body = b (int64 i, bool c, float a) => (bool d, float r) {
            d = Not (q)
            r = If (c) <then_branch = t () => (float s) { s = Neg (a) },
                        else_branch = e () => (float u) { u = Abs (a) }>
        }>
    }"""


def test_outer_before_inner_and_what_decides_each():
    found = list(control_flow(ir.load(as_model(TEXT))))
    assert [node.path for node in found] == ["y", "y/r"]
    decided = [[value.name for value in deciding(node)] for node in found]
    assert decided == [["n", "q", "d"], ["c"]]


def test_a_condition_that_always_holds_decides_nothing():
    text = TEXT.replace("Not (q)", "Identity (c)")
    loop = next(control_flow(ir.load(as_model(text))))
    assert [value.name for value in deciding(loop)] == ["n", "q"]
