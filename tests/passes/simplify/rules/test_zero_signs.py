"""Values whose sign of zero no reader tells."""

import pytest
from simplified import operators
from spelled import model
from straightline import ir
from straightline.passes.simplify.rules.zero_signs import ignored_signs

ZERO = "<float z = {0}, float two = {2}, float one = {1}>"


@pytest.mark.parametrize(
    ("reader", "goes"),
    [
        ("y = Exp (t)", True),
        ("y = Neg (t)", True),
        ("y = Div (t, x)", True),
        ("y = Div (x, t)", False),
        ("y = Reciprocal (t)", False),
        ("a = Neg (t) y = Div (x, a)", False),
        ("a = Mul (t, t) y = Div (x, a)", True),
        ("a = Pow (t, two) b = Sqrt (a) y = Div (x, b)", True),
        ("a = Add (t, one) y = Div (x, a)", True),
        ("a = Add (t, z) y = Div (x, a)", False),
        ("a = Mul (t, x) y = Div (x, a)", False),
        ("a = Abs (t) y = Div (x, a)", True),
    ],
)
def test_readers(reader, goes):
    nodes = f"{ZERO} {{ e = Tanh (x) t = Add (e, z) {reader} }}"
    graph = ir.load(model(nodes, 17, "(float[3] x) => (float[3] y)")).graph
    added = graph.nodes()[1].output()
    assert (added in ignored_signs(graph)) == goes
    left = operators(nodes, "(float[3] x) => (float[3] y)", exactness="values")
    assert (left.count("Add") < nodes.count("= Add")) == goes


def test_outputs_of_bodies_and_what_they_capture_count():
    graph = ir.parse(
        """<ir_version: 8, opset_import: ["" : 17]> g (float[3] x, bool c) => (y) {
        t = Neg (x)
        y = If (c) <then_branch = a () => (float[3] r) { r = Neg (t) },
                    else_branch = b () => (float[3] s) { s = Exp (t) }> }"""
    ).graph
    _, chosen = graph.nodes()
    assert ignored_signs(graph) == {chosen.output()}
    assert all(ignored_signs(body) == set() for body in chosen.graphs())
