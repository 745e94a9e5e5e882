import pytest
from harness import as_model
from straightline import ir
from straightline.passes import InlineIfs, PassContext, UnrollLoops
from straightline.passes.base import Instrumentation
from straightline.passes.utils.trial import try_passes

TEXT = """g (float[2] x) => (float[2] y) <int64 n = {2}, bool yes = {1}> {
    z = Loop (n, yes, x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {
        d = Identity (c)
        e = Neg (a) }>
    y = Relu (z) }"""


@pytest.mark.parametrize("repeat", [False, True])
def test_a_trial_changes_the_copy_and_no_context(repeat):
    context = PassContext(default_passes=(InlineIfs(),))
    context.meter.added_nodes = 3
    context.instrumentation.progress = print
    trial = try_passes((UnrollLoops(),), ir.load(as_model(TEXT)), context, repeat=repeat)
    assert trial.changed
    assert [node.op_type for node in trial.model.graph.nodes()] == ["Neg", "Neg", "Relu"]
    assert [remark.action for remark in trial.context.remarks] == ["rewritten"]
    assert trial.context.meter.added_nodes == 2
    assert trial.context.analyses.memory is context.analyses.memory
    assert trial.context.default_passes == (InlineIfs(),)
    assert trial.context.instrumentation == Instrumentation()
    assert (len(context.remarks), context.meter.added_nodes) == (0, 3)


def test_a_trial_that_changes_nothing():
    trial = try_passes((InlineIfs(),), ir.load(as_model(TEXT)), PassContext())
    assert not trial.changed and not trial.context.remarks
