from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes.simplify.raising.attention_scores import only_reader, scores_of, stripped
from straightline.passes.simplify.raising.replacement import Site


def parts():
    text = """<ir_version: 10, opset_import: ["" : 23]>
    g (float[2, 4, 8] q, float[2, 8, 5] k, float[5] m, float[4, 1] n) => (float[2, 4, 5] y)
        <float c = {0.5}, float two = {2.0}> {
        a = Mul (c, q) s = MatMul (a, k) d = Div (s, two) h = Cast <to = 11> (d)
        f = Cast <to = 1> (h) e = Add (m, f) g1 = Add (e, n) y = Softmax (g1) }"""
    model = ir.parse(text)
    nodes = {node.output().name: node for node in model.graph.nodes()}
    return Site(model.graph, ShapeInference(model)), nodes


def test_a_scale_and_masks_around_a_product():
    site, nodes = parts()
    scores = scores_of(site, nodes["y"])
    assert (scores.queries.name, scores.keys.name, scores.scale) == ("a", "k", 0.5)
    assert [mask.name for mask in scores.masks] == ["m", "n"]


def test_factors_and_casts_are_stripped():
    site, nodes = parts()
    value, factor = stripped(site, nodes["f"].output())
    assert (value.name, factor) == ("s", 0.5)
    assert stripped(site, nodes["a"].output())[0].name == "q"


def test_the_only_reader():
    site, nodes = parts()
    assert only_reader(site, nodes["s"].output()) is nodes["d"]
    assert only_reader(site, nodes["y"].output()) is None, "the graph reads it"
