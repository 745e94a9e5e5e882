import numpy as np
from spelled import model
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes.simplify.rules.match import Match


def test_facts_constants_and_axes():
    text = "<float[2] k = {1, 2}> { y = Add (x, k) }"
    loaded = ir.load(model(text, 17, "(float[N, 2] x) => (float[N, 2] y)"))
    graph, (node,) = loaded.graph, loaded.graph.nodes()
    values = dict(zip("xk", node.inputs, strict=True)) | {"many": node.inputs, "none": None}
    match = Match(graph, ShapeInference(loaded), values, {"a": (-1, 0)}, (node,), 17)
    assert match.rank("x") == 2 and match.elem_type("x") == 1
    np.testing.assert_array_equal(match.array("k"), [1, 2])
    assert match.array("x") is None and match.array("none") is None
    assert match.axes("a", 3) == (2, 0) and match.axes("a", None) is None
    assert match.bind("b", 5) and match["b"] == 5
    assert match.several("many") == node.inputs
