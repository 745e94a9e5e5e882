import networkx as nx
from harness import as_model
from hypothesis import given
from hypothesis import strategies as st
from straightline.ir import load
from straightline.passes.iteration.dependence_graph import DependenceGraph
from straightline.passes.iteration.loop_view import read

TEXT = """g (float[3] h0, int64 n) => (float[3] h) <bool yes = {1}> {
    h, other = Loop (n, yes, h0, h0) <body = b (int64 i, bool c, float[3] s, float[3] u)
            => (bool c2, float[3] t, float[3] v) {
        c2 = Identity (c) p = Exp (s) t = Neg (p) v = Sin (u) w = Cos (s) }> }"""


def test_only_what_outputs_are_made_of():
    loop_view = read(load(as_model(TEXT)).graph.nodes()[0])
    wanted, _ = loop_view.states
    dependences = DependenceGraph(loop_view, [], [])
    exp, neg = (loop_view.body.outputs[1].producer.inputs[0].producer, wanted.result.producer)
    edges = {(wanted, exp), (exp, neg), (neg, wanted)}
    assert {(v, r) for v, readers in dependences.readers.items() for r in readers} == edges
    assert {(s, v) for v, sources in dependences.sources.items() for s in sources} == edges
    assert (
        dependences.components() == [{wanted, exp, neg}] == list(dependences.components_in_order())
    )


def test_a_state_that_is_known_comes_after_nothing():
    loop_view = read(load(as_model(TEXT)).graph.nodes()[0])
    state = loop_view.states[0]
    assert not DependenceGraph(loop_view, [], [state]).sources[state]


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20))
def test_components_are_those_of_networkx(edges):
    """In its order, too: the names of new nodes follow it."""
    graph = nx.DiGraph(edges)
    dependences = object.__new__(DependenceGraph)
    dependences.readers = {vertex: dict.fromkeys(graph.successors(vertex)) for vertex in graph}
    assert dependences.components() == list(nx.strongly_connected_components(graph))
    condensed = nx.condensation(graph)
    expected = [condensed.nodes[k]["members"] for k in nx.topological_sort(condensed)]
    assert list(dependences.components_in_order()) == expected
