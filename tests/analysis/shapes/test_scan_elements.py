from harness import as_model
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.analysis.shapes.scan_elements import InferredElements, ScanElement
from tables import table


@table(
    ("s = Neg (w)", "s", ScanElement(1, (3,))),
    ("s = Neg (v)", "s", ScanElement(1, (0,))),
    ("s = Neg (v)", "float[4] s", ScanElement(1, (4,))),
    ("s = Unsqueeze (w, axes)", "s", ScanElement(1, (1, 3))),
    ("f = Cast <to = 1> (i) s = Expand (f, size)", "s", ScanElement(1, (2, 4))),
    ("s = com.microsoft.Strange (w)", "s", None),
)
def test_inference_knows_what_is_captured_and_nothing_of_states(node, output, element):
    head = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>\n'
    text = f"""{head}g (float[2] x, float[3] w, float[K] v, int64 n) => (y, t)
        <int64[1] axes = {{0}}, int64[2] size = {{2, 4}}> {{
        y, t = Loop (n, , x) <body = b (int64 i, bool c, a) => (bool c2, r, {output}) {{
            c2 = Identity (c) r = Relu (a) {node} }}> }}"""
    model = ir.load(as_model(text))
    (loop,) = model.graph.nodes()
    assert InferredElements(loop, model, ShapeInference(model)).of(2) == element
