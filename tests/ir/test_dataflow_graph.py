"""The one record of who feeds whom."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from straightline.ir import ModelError
from straightline.ir.dataflow_graph import FEW, Topology, downstream, upstream

EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)))


def built(edges: list[tuple[int, int]]) -> Topology:
    topology = Topology()
    for vertex in range(10):
        topology.insert(vertex)
    for source, target in edges:
        topology.connect(source, target)
    return topology


@given(EDGES)
def test_order(edges: list[tuple[int, int]]) -> None:
    topology = built(edges)
    plain = nx.DiGraph(edges)
    if not nx.is_directed_acyclic_graph(plain):
        with pytest.raises(ModelError, match="cycle"):
            list(topology.ordered())
        return
    order = list(topology.ordered())
    assert sorted(order) == list(range(10))
    assert all(order.index(source) < order.index(target) for source, target in edges)
    if all(source < target for source, target in edges):
        assert order == list(range(10)), "an order that was right stays"


@given(EDGES, st.lists(st.integers(0, 9)))
def test_it_is_an_ordinary_networkx_graph(edges: list[tuple[int, int]], gone: list[int]) -> None:
    topology = built(edges)
    plain = nx.DiGraph(edges)
    plain.add_nodes_from(range(10))
    assert set(topology.edges) == set(plain.edges)
    for vertex in gone:
        if vertex in plain and not plain.succ[vertex]:
            topology.discard(vertex)
            plain.remove_node(vertex)
    for source, target in list(plain.edges):
        topology.disconnect(source, target)
        plain.remove_edge(source, target)
        assert set(topology.edges) == set(plain.edges)
    assert set(topology) == set(plain)
    assert nx.number_weakly_connected_components(nx.DiGraph(topology)) == len(plain)


def test_insert_with_sources() -> None:
    topology = Topology()
    topology.insert("a")
    topology.insert("b", ["a", "a"])
    assert list(topology.users["a"]) == ["b"] and list(topology.sources["b"]) == ["a"]


def test_every_change_is_counted() -> None:
    topology = built([])
    counts = [topology.changes]
    for change in (
        lambda: topology.insert("new", [1]),
        lambda: topology.connect(2, "new"),
        lambda: topology.disconnect(1, "new"),
        lambda: topology.discard("new"),
    ):
        change()
        counts.append(topology.changes)
    assert counts == sorted(set(counts))


def test_long_chains_do_not_recurse() -> None:
    topology = Topology()
    size = 200_000
    for vertex in range(size):
        topology.insert(vertex)
    for vertex in range(size - 1):
        topology.connect(vertex + 1, vertex)
    assert topology.ordered()[0] == size - 1


def test_vertices_and_edges_have_no_attributes() -> None:
    topology = built([(0, 1)])
    topology.insert("a", [1])
    assert all(data == {} for _, data in topology.nodes(data=True))
    assert [*topology.edges(data=True)] == [(0, 1, {}), (1, "a", {})]


@given(EDGES, st.lists(st.integers(0, 9), max_size=3))
def test_what_many_depend_on_and_what_depends_on_them(
    edges: list[tuple[int, int]], vertices: list[int]
) -> None:
    topology = built(edges)
    above = [nx.ancestors(topology, v) | {v} for v in vertices]
    below = [nx.descendants(topology, v) | {v} for v in vertices]
    assert upstream(topology.view(), vertices) == set().union(*above)
    assert downstream(topology.view(), vertices) == set().union(*below)


def test_a_view_follows_and_cannot_be_changed() -> None:
    topology = built([(0, 1)])
    view = topology.view()
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
    assert set(topology.edges) == {(0, 1), (1, "a")}


def test_those_that_were_fed_later_stand_behind_what_feeds_them() -> None:
    graph = Topology(sink="out")
    for vertex in range(4):
        graph.insert(vertex, [0] if vertex == 1 else [])
    graph.connect(3, "out")
    assert graph.late == set(), "of what is given out is known that it comes last"
    assert graph.ordered() == [0, 1, 2, 3]
    graph.connect(2, 1)
    graph.connect(1, 3)
    assert graph.late == {1, 3}
    assert graph.ordered() == [0, 2, 1, 3], "only those are looked at that may stand wrong"
    graph.disconnect(1, 3)
    graph.discard(1)
    assert graph.late == {3}
    graph.insert(1)
    assert graph.ordered() == [0, 2, 3, 1] and list(graph.pred["out"]) == [3]
    graph.connect(1, 2)
    graph.connect(2, 1)
    with pytest.raises(ModelError, match="cycle"):
        graph.ordered()


def test_vertices_that_are_wired_already_are_made_known_to_what_feeds_them() -> None:
    one, other = Topology(), Topology()
    names = [f"b{number}" for number in range(2 * FEW)]
    for graph in (one, other):
        graph.insert("a")
    for name in names:
        one.insert(name, ["a"])
    before = other.changes
    for name in names:
        other.sources[name], other.users[name] = ("a",), ()
        other.feed("a", [name])
        other.feed("a", [name])
    assert other.changes > before
    assert list(other.view().edges) == list(one.view().edges) == [("a", name) for name in names]
    assert list(other.view()) == list(one.view()) == ["a", *names]


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
    plain = nx.DiGraph(list(graph.edges))
    assert list(graph.pred["middle"]) == list(plain.pred["middle"]) == names
    assert set(graph.succ["middle"]) == set(map(str, names)) and len(graph.succ["middle"]) == count
    assert graph.has_edge(0, "middle") and not graph.has_edge("middle", 0)
    for name in names[::2]:
        graph.disconnect(name, "middle")
        with pytest.raises((KeyError, ValueError)):
            graph.disconnect(name, "middle")
        graph.discard(str(name))
    left = [(name, "middle") for name in names[1::2]] + [("middle", str(n)) for n in names[1::2]]
    assert sorted(map(str, graph.edges)) == sorted(map(str, left))
    with pytest.raises(KeyError):
        graph.nodes["0"]


def test_networkx_cannot_change_it() -> None:
    graph = built([(0, 1)])
    with pytest.raises(TypeError):
        graph.add_node("new")
    with pytest.raises(TypeError):
        graph.add_edge("new", 1)
    assert set(graph) == set(range(10)) and set(graph.edges) == {(0, 1)}
