"""The opset version in which a node is written."""

from harness import as_model
from straightline import ir
from straightline.ops.schema_queries import version_of_root


def test_each_domain_and_each_function_has_its_own_version():
    text = """<ir_version: 10, opset_import: ["" : 17, "local" : 2]>
    g (float[N] x) => (y, z) { y = local.f (x) z = If (q) <then_branch = t () => (u) {
        u = Neg (x) }, else_branch = e () => (v) { v = Abs (x) }> }
    <domain: "local", opset_import: ["" : 13]>
    f (a) => (b) { b = Relu (a) }"""
    text = text.replace("(float[N] x)", "(float[N] x, bool q)")
    model = ir.load(as_model(text))
    nodes = [node for graph in model.graphs() for node in graph.nodes()]
    found = {node.op_type: version_of_root(node) for node in nodes}
    assert found == {"f": 2, "If": 17, "Neg": 17, "Abs": 17, "Relu": 13}
