"""Data-flow graphs of ten vertices, and the edges that hypothesis draws for them."""

from hypothesis import strategies as st
from straightline.ir.dataflow_graph import Topology

EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)))


def built(edges: list[tuple[int, int]]) -> Topology:
    topology = Topology()
    for vertex in range(10):
        topology.insert(vertex)
    for source, target in edges:
        topology.connect(source, target)
    return topology
