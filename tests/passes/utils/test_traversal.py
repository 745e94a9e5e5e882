from nested import MODEL
from straightline import ir
from straightline.passes.utils.traversal import inside_out


def test_inner_nodes_come_first_and_each_with_its_graph():
    model = ir.parse(MODEL)
    found = list(inside_out(model.graphs(), "If", "Loop"))
    assert {node for _, node in found} == {n for g in model.graphs() for n in g.holders()}
    for place, (graph, node) in enumerate(found):
        assert node.graph is graph
        inner = {held for body in node.graphs() for held in body.walk()}
        assert all(other not in inner for other, _ in found[place:])


def test_a_graph_is_read_when_its_turn_comes():
    model = ir.parse(MODEL)
    for graph, node in inside_out(model.graphs(), "If"):
        if graph.holder is not None and not graph.is_needed(node):
            graph.remove(node)
    ir.verify(model)
