"""State of a rewrite: remarks, offers, trials, and what passes share."""

from harness import as_model
from straightline import ir, passes
from straightline.passes import InlineIfs, PassContext, Remark, UnrollLoops
from straightline.passes.base import Instrumentation


def node():
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float x) => (float y) { y = Neg (x) }'
    return ir.load(as_model(text)).graph.nodes()[0]


def test_remarks():
    context = PassContext()
    context.kept(UnrollLoops(), node(), "why")
    context.rewritten(InlineIfs(), node(), "a/b", "what")
    assert [str(remark) for remark in context.remarks] == [
        "Neg 'y': kept, why",
        "Neg 'a/b': rewritten, what",
    ]
    assert context.remarks[1].to_dict() == {
        "pass_name": "inline-ifs",
        "op_type": "Neg",
        "path": "a/b",
        "action": "rewritten",
        "reason": "what",
        "code": "inline-ifs-rewritten",
        "arguments": {},
    }


def test_a_pass_that_looks_again_forgets_what_it_kept_and_nothing_else():
    context = PassContext()
    context.kept(UnrollLoops(), node(), "why")
    context.kept(InlineIfs(), node(), "why")
    context.rewritten(UnrollLoops(), node(), "y", "what")
    context.remarks.forget_kept(UnrollLoops(max_trips=3))
    assert [(r.pass_name, r.action) for r in context.remarks] == [
        ("inline-ifs", "kept"),
        ("unroll-loops", "rewritten"),
    ]
    assert isinstance(context.remarks[0], Remark)
    context.remarks.restore([(context.remarks[0], None)])
    context.remarks.forget_kept(InlineIfs())
    assert not context.remarks


def test_kept_sites_are_recognized_in_new_graphs():
    context, old = PassContext(), node()
    context.kept(UnrollLoops(), old, "why")
    context.remarks.add_on_model(InlineIfs(), old.graph.root, "rewritten", "what")
    context.remarks.add_on_model(InlineIfs(), old.graph.root, "noted", "this")
    other = node().graph.root
    context.remarks.follow(other)
    context.remarks.forget_gone(other)
    assert [(r.op_type, r.action) for r in context.remarks] == [
        ("Neg", "kept"),
        ("Model", "rewritten"),
        ("Model", "noted"),
    ]
    assert [r.op_type for r in context.remarks[1:]] == ["Model", "Model"]


def test_the_former_name_of_the_context():
    assert passes.Run is PassContext


def test_progress_is_reported_every_hundred_steps():
    steps = []
    observers = Instrumentation(lambda *step: steps.append(step))
    for done in range(250):
        observers.report_step("work", done, 250)
    assert steps == [("work", 0, 250), ("work", 100, 250), ("work", 200, 250)]
