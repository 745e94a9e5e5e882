import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from straightline.ir.dataflow_graph import FEW, Topology, downstream, upstream
from straightline.ir.networkx_view import view_of
from topologies import EDGES, built


@given(EDGES, st.lists(st.integers(0, 9)))
def test_views_are_ordinary_networkx_graphs(edges: list[tuple[int, int]], gone: list[int]) -> None:
    topology = built(edges)
    plain = nx.DiGraph(edges)
    plain.add_nodes_from(range(10))
    assert set(view_of(topology).edges) == set(plain.edges)
    for vertex in gone:
        if vertex in plain and not plain.succ[vertex]:
            topology.discard(vertex)
            plain.remove_node(vertex)
    for source, target in list(plain.edges):
        topology.disconnect(source, target)
        plain.remove_edge(source, target)
        assert set(view_of(topology).edges) == set(plain.edges)
    assert set(view_of(topology)) == set(plain)
    assert nx.number_weakly_connected_components(nx.DiGraph(view_of(topology))) == len(plain)


def test_vertices_and_edges_have_no_attributes() -> None:
    topology = built([(0, 1)])
    topology.insert("a", [1])
    view = view_of(topology)
    assert all(data == {} for _, data in view.nodes(data=True))
    assert [*view.edges(data=True)] == [(0, 1, {}), (1, "a", {})]


def test_a_view_follows_and_cannot_be_changed() -> None:
    topology = built([(0, 1)])
    view = view_of(topology)
    topology.insert("a", [1])
    assert nx.descendants(view, 0) == {1, "a"} and nx.shortest_path(view, 0, "a") == [0, 1, "a"]
    for change in (
        lambda: view.add_node("b"),
        lambda: view.add_edge(1, 2),
        lambda: view.remove_edge(0, 1),
        lambda: view.remove_node(0),
        view.clear,
    ):
        with pytest.raises(nx.NetworkXError, match="Frozen"):
            change()
    for attributes in (view.nodes[0], view.edges[0, 1], view.adj[0][1]):
        with pytest.raises(TypeError):
            attributes["weight"] = 2
    assert set(view_of(topology).edges) == {(0, 1), (1, "a")}


@pytest.mark.parametrize("count", [1, FEW, FEW + 1, 3 * FEW])
def test_few_neighbours_and_many(count: int) -> None:
    graph = Topology()
    names = list(range(count))
    for name in names:
        graph.insert(name)
    graph.insert("middle", [*names, *names])
    for name in names:
        graph.insert(str(name), ["middle"] if name % 2 else [])
        for _ in range(2):
            graph.connect("middle", str(name))
    view = view_of(graph)
    plain = nx.DiGraph(list(view.edges))
    assert list(view.pred["middle"]) == list(plain.pred["middle"]) == names
    assert set(view.succ["middle"]) == set(map(str, names)) and len(view.succ["middle"]) == count
    assert view.has_edge(0, "middle") and not view.has_edge("middle", 0)
    for name in names[::2]:
        graph.disconnect(name, "middle")
        with pytest.raises((KeyError, ValueError)):
            graph.disconnect(name, "middle")
        graph.discard(str(name))
    left = [(name, "middle") for name in names[1::2]] + [("middle", str(n)) for n in names[1::2]]
    assert sorted(map(str, view.edges)) == sorted(map(str, left))
    with pytest.raises(KeyError):
        view.nodes["0"]


@given(EDGES, st.lists(st.integers(0, 9), max_size=3))
def test_common_ancestors_and_descendants(
    edges: list[tuple[int, int]], vertices: list[int]
) -> None:
    topology = built(edges)
    above = [nx.ancestors(view_of(topology), v) | {v} for v in vertices]
    below = [nx.descendants(view_of(topology), v) | {v} for v in vertices]
    assert upstream(view_of(topology), vertices) == set().union(*above)
    assert topology.requirements(vertices) == set().union(*above)
    assert topology.dependents(vertices) == set().union(*below)
    assert downstream(view_of(topology), vertices) == set().union(*below)
