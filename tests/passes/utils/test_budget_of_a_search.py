"""A search among forms ends at a count of nodes, and says how many it left out."""

import pytest
import straightline as sl
from harness import as_model
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.analysis.shapes.onnx_inference_cache import Memory
from straightline.limits import LIMITS
from straightline.passes.utils.budget import SearchBudget

TEXT = """<ir_version: 8, opset_import: ["" : 17]> g (float[N] x) => (float[N] y) {
    a = Neg (x) y = Exp (a) }"""
LOOP = """g (float[N,2] x, float[2] s, int64 n) =>
    (float[2] t, float[M,2] y) {
    t, y = Loop (n, , s) <body = b (int64 i, bool c, float[2] p) =>
        (bool c2, float[2] q, float[2] z) { c2 = Identity (c) r = Gather (x, i) u = Sin (p)
        q = Add (u, r) z = Neg (r) }> }"""


@pytest.fixture
def small(monkeypatch):
    """A search that ends after its first copy."""
    for name, most in (("search_nodes", 3), ("search_nodes_per_node", 0)):
        monkeypatch.setitem(LIMITS, name, LIMITS[name]._replace(default=most))


def test_copies_and_inferred_nodes_count(small):
    model, memory = ir.parse(TEXT), Memory()
    budget = SearchBudget(model, memory)
    assert budget.allows_more() and budget.copy(model) is not model  # 2 of 3 nodes
    assert budget.allows_more() and not budget.left_out
    ShapeInference(model, memory=memory).fact(model.graph.outputs[0])  # 4 of 3
    assert not budget.allows_more() and not budget.allows_more()
    assert budget.left_out == 2
    assert budget.remark == (
        "2 more of its forms were not tried: the search needs more nodes than search_nodes=3 allows"
    )


def test_other_work_counts_as_copies(small):
    model = ir.parse(TEXT)
    budget = SearchBudget(model, Memory())
    budget.spend(model, 2)
    assert not budget.allows_more()


def test_a_new_search_does_not_count_what_was_before():
    model, memory = ir.parse(TEXT), Memory()
    memory.tally.nodes = 10**9
    assert SearchBudget(model, memory).allows_more()


@pytest.mark.parametrize("options", [{"passes": "accelerate"}, {"target": "onnxruntime"}])
def test_a_search_that_ends_says_so(small, options):
    outcome = sl.transform(as_model(LOOP), **options, hints=False)
    assert any("were not tried" in remark.reason for remark in outcome.remarks)
    assert outcome.verdict


@pytest.mark.parametrize("options", [{"passes": "accelerate"}, {"target": "onnxruntime"}])
def test_small_models_are_searched_whole(options):
    outcome = sl.transform(as_model(LOOP), **options, hints=False)
    assert not any("were not tried" in remark.reason for remark in outcome.remarks)
