"""The axes of reductions, in old and new forms."""

from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.ops.views import read_reduction
from tables import table


@table(
    (13, "<axes = [-1, 0], keepdims = 0> (x)", (0, 2), False),
    (13, "(x)", (0, 1, 2), True),
    (18, "(x, k)", (1,), True),
    (18, "<noop_with_empty_axes = 1> (x)", (), True),
    (18, "(x, none)", (0, 1, 2), True),
    (18, "(x, far)", None, True),
    (18, "(x, open)", None, True),
)
def test_axes(opset, call, axes, keeps):
    text = """<ir_version: 8, opset_import: ["" : {}]> g (float[2, N, 3] x, int64[K] open) => (y)
        <int64[1] k = {{1}}, int64[0] none = {{}}, int64[1] far = {{3}}> {{ y = ReduceMax {} }}"""
    model = ir.parse(text.format(opset, call))
    (node,) = model.graph.nodes()
    inference = ShapeInference(model)
    view = read_reduction(node, [inference.fact(value) for value in node.inputs])
    assert (view and view.axes) == axes
    assert view is None or (view.keeps, view.does_nothing) == (keeps, not axes)
