from straightline import ir
from straightline.passes.simplify.raising.region import (
    nodes_after,
    nodes_before,
    through_casts,
    unused_after,
)


def parts():
    text = """<ir_version: 10, opset_import: ["" : 17]>
    g (float[N, 4] x, float[4, 4] w) => (float[N, 4] y, float[N, 4] z) {
        a = Cast <to = 11> (x) b = Exp (a) c = Neg (b) d = Cast <to = 1> (c)
        p = MatMul (d, w) y = Exp (p) z = Sqrt (d) }"""
    graph = ir.parse(text).graph
    return graph, {v.name: n for n in graph.nodes() for v in n.outputs if v is not None}


def names(nodes):
    return [node.output().name for node in nodes]


def test_nodes_after_a_value_end_at_operators_without_a_sum():
    graph, _ = parts()
    assert names(nodes_after(graph, graph.inputs[0])) == ["a", "b", "c", "d", "z"]


def test_nodes_before_a_node_are_nearest_first():
    graph, nodes = parts()
    assert names(nodes_before(graph, nodes["z"])) == ["z", "d", "c", "b", "a"]
    assert names(nodes_before(graph, nodes["y"])) == ["y"]


def test_values_through_casts():
    graph, nodes = parts()
    assert [v.name for v in through_casts(graph, nodes["d"].output())] == ["d", "c"]
    assert [v.name for v in through_casts(graph, nodes["a"].output())] == ["a", "x"]


def test_nodes_with_other_readers_stay_in_use():
    graph, nodes = parts()
    assert names(unused_after(graph, [nodes["z"]], [])) == ["z"]
    assert names(unused_after(graph, [nodes["y"]], [])) == ["y", "p"]
