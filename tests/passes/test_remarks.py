import pytest
import straightline as sl
from harness import as_model
from straightline import ir
from straightline.passes import InlineIfs, Remark, UnrollLoops
from straightline.passes.remarks import RemarkLog, kept_constructs

TEXT = '<ir_version: 8, opset_import: ["" : 17]> g (float x) => (float y) { y = Neg (x) }'
KEPT = Remark("unroll-loops", "Neg", "y", "kept", "why")


def test_a_log_is_a_sequence_that_knows_nodes():
    log, model = RemarkLog(), ir.load(as_model(TEXT))
    (node,) = model.graph.nodes()
    log.add(KEPT, node)
    log.add_on_model(InlineIfs(), model, "noted", "this")
    assert len(log) == 2 and log[0] is KEPT and log[:1] == [KEPT]
    model.graph.set_outputs([model.graph.inputs[0]])
    model.graph.remove(node)
    log.forget_gone(model)
    assert [remark.action for remark in log] == ["noted"]
    log.forget_kept(InlineIfs())
    log.forget_kept(UnrollLoops())
    assert not log


def test_reasons_of_all_passes_stand_together():
    other = Remark("inline-ifs", "Neg", "y", "kept", "for this")
    done = Remark("inline-ifs", "Neg", "z", "rewritten", "what")
    (remark,) = kept_constructs([KEPT, done, other]).values()
    assert "why" in remark.reason and "for this" in remark.reason
    assert (KEPT.code, str(done)) == ("unroll-loops-kept", "Neg 'z': rewritten, what")


@pytest.mark.parametrize("passes", ["unroll-loops,inline-ifs", "inline-ifs,unroll-loops"])
def test_a_reason_goes_with_a_construct_into_another_graph(passes):
    """The Loop is 'y/p' when its pass keeps it, and 'p' in the end."""
    inner = """g (int64 n, float[2] x) => (float[2] y) <bool yes = {1}> {
        y = If (yes) <
            then_branch = t () => (float[2] p) {
                p = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {
                    d = Identity (c) e = Add (a, a) }> },
            else_branch = f () => (float[2] q) { q = Neg (x) }> }"""
    outcome = sl.transform(as_model(inner), passes, verify=False, hints=False)
    (left,) = outcome.left
    assert (left.op_type, left.path) == ("Loop", "p")
    assert "trip count depends on input 'n'" in left.reason
    assert [r.path for r in outcome.remarks if r.action == "kept"] == ["p"]
