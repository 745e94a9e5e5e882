"""In which version a node is written."""

import pytest
from straightline import ir
from straightline.analysis.shapes.versions import version_of_root

MODEL = """<ir_version: 8, opset_import: ["" : 17, "own" : 3]>
    g (float x) => (float y) { a = Abs (x) y = own.f (a) }
    <domain: "own", opset_import: ["" : 15, "other" : 2]>
    f (a) => (b) { c = Neg (a) b = other.h (c) }"""


@pytest.mark.parametrize(("where", "expected"), [("graph", [17, 3]), ("function", [15, 2])])
def test_it_is_that_of_the_model_or_function_and_of_the_domain(where, expected):
    model = ir.parse(MODEL)
    (function,) = model.functions.values()
    graph = model.graph if where == "graph" else function.graph
    assert [version_of_root(node) for node in graph.nodes()] == expected


def test_in_a_body_it_is_that_of_what_is_around():
    model = ir.parse(
        """<ir_version: 8, opset_import: ["" : 13]> g (float x, bool c) => (float y) {
        y = If (c) <then_branch = t () => (float a) { a = Abs (x) },
                    else_branch = e () => (float b) { b = Neg (x) }> }"""
    )
    for graph in model.graphs():
        assert [version_of_root(node) for node in graph.nodes()] == [13]
