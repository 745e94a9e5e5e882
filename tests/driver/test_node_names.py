"""Names of nodes in results: each node has one of its own, also in bodies and functions."""

import onnx
import straightline as sl
from tables import table


def names(nodes):
    """The names of nodes and of those in their bodies."""
    for node in nodes:
        yield node.name
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from names(attribute.g.node)


@table(
    lambda model: sl.rewrite(model, "simplify", verify=False),
    lambda model: sl.convert_version(model, 17, rewrite=False, verify=False),
    lambda model: sl.transform(model, (), opset=21, verify=False).model,
)
def test_every_node_has_a_name_of_its_own(result):
    loop = """<ir_version: 8, opset_import: ["" : 13, "own" : 1]>
    g (float[4] x, int64 m) => (float[] y, float[4] w) <bool yes = {1}, float z = {0}> {
        [Add_1] k = Add (x, x)
        t = Neg (x)
        u = Neg (t)
        w = own.f (u)
        y = Loop (m, yes, z) <body = b (int64 i, bool c, float a) => (bool d, float e) {
            d = Identity (c)
            p = Gather <axis = 0> (k, i)
            [Mul_1] q = Mul (a, p)
            r = Mul (q, q)
            e = Add (r, p) }> }
    <domain: "own", opset_import: ["" : 13]> f (v) => (o) {
        n = Constant <value = float {2}> ()
        h = Mul (v, n)
        o = Mul (h, n) }"""
    model = result(onnx.parser.parse_model(loop))
    every = list(names(model.graph.node))
    assert all(every) and len(set(every)) == len(every)
    assert {"Add_1", "Mul_1"} <= set(every)
    for function in model.functions:
        every = list(names(function.node))
        assert all(every) and len(set(every)) == len(every)


def test_an_unchanged_model_keeps_its_nodes():
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[3] x) => (float[3] y) { y = Sin (x) }'
    model = onnx.parser.parse_model(text)
    assert sl.rewrite(model) == model and sl.convert_version(model, 17) == model
