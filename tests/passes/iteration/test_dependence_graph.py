"""What a body computes of what."""

from harness import as_model
from loops import HEAD
from straightline.ir import load
from straightline.passes.iteration.dependence_graph import DependenceGraph
from straightline.passes.iteration.loop_view import read

TEXT = """g (float[3] h0, int64 n) => (float[3] h) <bool yes = {1}> {
    h, other = Loop (n, yes, h0, h0) <body = b (int64 i, bool c, float[3] s, float[3] u)
            => (bool c2, float[3] t, float[3] v) {
        c2 = Identity (c) p = Exp (s) t = Neg (p) v = Sin (u) w = Cos (s) }> }"""


def test_only_what_outputs_are_made_of():
    loop_view = read(load(as_model(HEAD + TEXT)).graph.nodes()[0])
    wanted, _ = loop_view.states
    found = DependenceGraph(loop_view, [], []).graph
    exp, neg = (loop_view.body.outputs[1].producer.inputs[0].producer, wanted.result.producer)
    assert set(found.edges) == {(wanted, exp), (exp, neg), (neg, wanted)}


def test_a_state_that_is_known_comes_after_nothing():
    loop_view = read(load(as_model(HEAD + TEXT)).graph.nodes()[0])
    state = loop_view.states[0]
    assert not DependenceGraph(loop_view, [], [state]).graph.in_degree(state)
