"""Nodes: what they are called and what they hold."""

from __future__ import annotations

import pytest
from straightline import ir

TEXT = """
<ir_version: 10, opset_import: ["": 21, "own": 1]>
main (bool c, float[3] x) => (float[3] y) {
    [outer] y = If (c) <
        then_branch = yes () => (float[3] p) {
            p = If (c) <
                then_branch = a () => (float[3] d) { [deep] d = own.f <axis = 2> (x, , c) },
                else_branch = b () => (float[3] e) { e = Neg(x) }
            >
        },
        else_branch = no () => (float[3] q) { q = Neg(x) }
    >
}
<domain: "own", opset_import: ["": 21]> f (x, n, c) => (y) { [inside] y = Neg(x) }
"""


def test_paths_name_the_nodes_around() -> None:
    model = ir.parse(TEXT)
    paths = [node.path for graph in model.graphs() for node in graph.nodes()]
    assert paths == ["outer", "outer/p", "outer/p/deep", "outer/p/e", "outer/q", "own::f/inside"]


def test_what_a_node_says_of_itself() -> None:
    model = ir.parse(TEXT)
    node = next(n for g in model.graphs() for n in g.nodes() if n.name == "deep")
    assert (node.op_type, node.domain) == ("f", "own")
    assert node.is_op("Neg", "own::f") and not node.is_op("f")
    assert (node.attribute("axis"), node.attribute("none", 5)) == (2, 5)
    assert [None if v is None else v.name for v in node.inputs] == ["x", None, "c"]
    assert node.input(0) is model.graph.inputs[1]
    assert node.input(1) is None and node.input(7) is None
    assert node.output().name == "d"
    assert repr(node) == "own::f 'outer/p/deep'"
    assert list(node.graphs()) == []


def test_the_label_is_the_first_output_where_there_is_no_name() -> None:
    model = ir.parse(TEXT)
    graph = model.graph
    unnamed = graph.add_node(ir.Operator("F"), [], ["", "second"])
    assert unnamed.label == "second"
    assert graph.add_node(ir.Operator("F"), [], [""]).label == ""


def test_what_has_gone_with_a_body_around_it_does_not_stand() -> None:
    model = ir.parse(TEXT)
    outer = model.graph.nodes()[0]
    deep = outer.body("then_branch").nodes()[0].body("then_branch").nodes()[0]
    assert outer.stands and deep.stands
    model.graph.set_outputs([model.graph.inputs[1]])
    model.graph.remove(outer)
    assert deep.graph is not None
    assert not outer.stands and not deep.stands


@pytest.mark.parametrize(
    ("attribute", "given", "mutator"),
    [
        ("inputs", (), "Graph.set_input or Graph.resize_inputs"),
        ("outputs", (), "Graph.set_node_outputs"),
        ("op", ir.Operator("Neg"), "Graph.set_operator"),
    ],
)
def test_what_the_graph_keeps_account_of_cannot_be_assigned(
    attribute: str, given: object, mutator: str
) -> None:
    node = ir.parse(TEXT).graph.nodes()[0]
    before = getattr(node, attribute)
    with pytest.raises(ir.GraphError, match=f"If 'outer': its {attribute}.*{mutator}"):
        setattr(node, attribute, given)
    assert getattr(node, attribute) is before
