import networkx as nx
import pytest
from hypothesis import given
from straightline.ir import ModelError
from straightline.ir.dataflow_graph import FEW, Topology
from topologies import EDGES, built


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
        lambda: topology.rewire("new", [3, 2, 3]),
        lambda: topology.discard("new"),
    ):
        change()
        counts.append(topology.changes)
    assert counts == sorted(set(counts))


def test_long_chains_do_not_recurse() -> None:
    topology = Topology()
    size = 20_000
    for vertex in range(size):
        topology.insert(vertex)
    for vertex in range(size - 1):
        topology.connect(vertex + 1, vertex)
    assert topology.ordered()[0] == size - 1


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
    assert graph.ordered() == [0, 2, 3, 1] and list(graph.sources["out"]) == [3]
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
        other.feed([("a", [name])])
        other.feed([("a", [name])])
    assert other.changes > before
    assert list(other.users["a"]) == list(one.users["a"]) == names
    assert list(other.sources) == list(one.sources) == ["a", *names]
