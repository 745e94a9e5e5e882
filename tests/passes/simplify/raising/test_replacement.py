import numpy as np
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.ir import Operator
from straightline.passes.simplify.raising.replacement import Match, Site, nodes_between, replace
from tables import table

TEXT = """<ir_version: 10, opset_import: ["" : 17]>
g (float[N, 4] x, float[4] w) => (float[N, 4] y) {
    a = Exp (x) b = Neg (a) c = Mul (b, w) y = Add (c, b) }"""


def site_of(text=TEXT, supports=None):
    model = ir.parse(text)
    return Site(model.graph, ShapeInference(model), supports)


def named(site, name):
    return next(node for node in site.graph.nodes() if node.output().name == name)


@table(("LayerNormalization", 1, True), ("LayerNormalization", 11, False), ("Gelu", 1, False),
     ("ReduceL2", 11, True), ("ReduceL2", 16, False))  # fmt: skip
def test_operators_of_the_opset_with_a_kernel(operator, elem_type, answer):
    assert site_of().takes(operator, elem_type, operator == "ReduceL2") is answer


def test_operators_of_the_client():
    site = site_of(supports=lambda op_type, opset: op_type == "Gelu")
    assert not site.has("LayerNormalization")


def test_a_match_counts_the_nodes_that_it_replaces():
    site = site_of()
    root = named(site, "y")
    match = site.completed(Match(Operator("Sum"), [*site.graph.inputs], root))
    assert len(match.unused) == 4
    assert site.completed(Match(Operator("Abs"), site.graph.inputs[:1], named(site, "a"))) is None
    assert (
        len(nodes_between(site.graph, site.graph.inputs[0], root, dict.fromkeys(match.unused))) == 4
    )
    replace(
        site.graph,
        Match(match.op, [match.inputs[0], np.ones(4, np.float32)], root, (), match.unused),
    )
    (node,) = site.graph.nodes()
    assert node.op_type == "Sum" and node.inputs[1].constant is not None
    ir.verify(site.graph.root)


def test_a_root_has_type_and_shape_of_the_source():
    site = site_of(TEXT.replace("float[N, 4] x", "float[N, 1] x"))
    assert not site.stands_for(site.graph.inputs[0], named(site, "y"))
    assert site.stands_for(site.graph.inputs[0], named(site, "b"))
