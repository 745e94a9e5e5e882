"""Facts inferred of models in ONNX text."""

import onnx
from harness import as_model
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference

HEAD = '<ir_version: 10, opset_import: ["" : 21, "local" : 1, "other" : 1]>\n'
INT64, FLOAT, BOOL = onnx.TensorProto.INT64, onnx.TensorProto.FLOAT, onnx.TensorProto.BOOL


def shapes(text, head=HEAD):
    """The inferred shape of every value, by name; "?" for a size without a name."""
    model = ir.load(as_model(head + text))
    inference = ShapeInference(model)
    found = {}
    for graph in model.graphs():
        values = [*graph.inputs, *(v for n in graph.nodes() for v in n.outputs if v)]
        for value in values:
            shape = inference.fact(value).shape
            known = None if shape is None else [str(dim) for dim in shape]
            found[value.name] = known and ["?" if d.startswith("?") else d for d in known]
    return found


def facts(text, head=HEAD):
    """What is known about every value, by name."""
    model = ir.load(as_model(head + text))
    inference = ShapeInference(model)
    graphs = list(model.graphs())
    values = [v for g in graphs for v in g.inputs]
    values += [v for g in graphs for n in g.nodes() for v in n.outputs if v]
    return {value.name: inference.fact(value) for value in values}


def loop(body, states="float[P,Q] a", results="float[R,S] r", initial="x", outputs="y"):
    return f"""g (float[N,3] x, float[N,3] w, int64 n) => ({outputs}) {{
        {outputs} = Loop (n, , {initial}) <body = b (int64 i, bool c, {states}) => (bool c2,
            {results}) {{
            c2 = Identity (c) {body} }}> }}"""


def scan(more="", body="a2 = Identity (a) r = Neg (e)", signature="float[N,3,4] x"):
    return f"""g ({signature}, float s) => (y, z) {{
        y, z = Scan <num_scan_inputs = 1{more}, body = b (float a, float[P,Q] e) => (float a2,
            float[R,S] r) {{ {body} }}> (s, x) }}"""
