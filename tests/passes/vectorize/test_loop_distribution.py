"""Which nodes stay inside."""

from harness import as_model
from loops import HEAD
from straightline.ir import load
from straightline.ops.batching import Unbatchable
from straightline.passes.iteration.dependence_graph import DependenceGraph
from straightline.passes.iteration.loop_view import read
from straightline.passes.vectorize.loop_distribution import Distribution

TEXT = """g (float[3] h0, float[N, 3] x) => (float[3] h, float[N, 3] y) {
    h, y = Scan <num_scan_inputs = 1, body = b (float[3] s, float[3] e)
            => (float[3] t, float[3] r) {
        before = Exp (e) odd = Sin (before) between = Neg (odd) other = Tanh (s)
        t = Add (other, between) behind = Mul (t, before) r = Cos (behind) }> (h0, x) }"""


def _divide(refused, ragged=()):
    node = load(as_model(HEAD + TEXT)).graph.nodes()[0]
    computed = []

    def compute(vertex):
        if getattr(vertex, "op_type", "") in refused:
            raise Unbatchable(f"refuses {vertex.op_type}")
        computed.append(vertex)

    def is_ragged(vertex):
        return getattr(vertex, "op_type", "") in ragged

    distribution = Distribution(DependenceGraph(read(node), [], []), compute, is_ragged)
    inside = {v.op_type for v in distribution.inside if hasattr(v, "op_type")}
    behind = {v.op_type for v in distribution.after}
    return inside, behind, distribution.reasons


def test_a_recurrence_alone():
    inside, behind, reasons = _divide(())
    assert (inside, behind) == ({"Tanh", "Add"}, {"Mul", "Cos"})
    assert reasons == ["carries 's', whose next value depends on the one before"]


def test_nodes_between_two_kept_ones():
    inside, behind, reasons = _divide(("Sin",))
    assert (inside, behind) == ({"Sin", "Neg", "Tanh", "Add"}, {"Mul", "Cos"})
    assert "refuses Sin" in reasons


def test_nodes_before_a_kept_one():
    inside, behind, _ = _divide(("Cos",))
    assert (inside, behind) == ({"Tanh", "Add", "Mul", "Cos"}, set())


def test_ragged_values_stay_with_their_readers():
    assert _divide((), ["Exp"])[:2] == _divide(())[:2]
    assert _divide((), ["Sin"])[:2] == ({"Tanh", "Add"}, {"Mul", "Cos"})
    inside, behind, reasons = _divide((), ["Sin", "Neg"])
    assert (inside, behind) == ({"Sin", "Neg", "Tanh", "Add"}, {"Mul", "Cos"})
    assert "which reads a number of elements" in reasons[-1]
    assert _divide((), ["Cos"])[0] == {"Tanh", "Add", "Mul", "Cos"}
