"""What every pass shares: options, remarks, and the state of a run."""

from harness import as_model
from straightline import ir
from straightline.passes import InlineIfs, Remark, Run, UnrollLoops


def node():
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float x) => (float y) { y = Neg (x) }'
    return ir.load(as_model(text)).graph.nodes()[0]


def test_a_pass_is_written_with_the_options_that_differ():
    assert str(UnrollLoops()) == "unroll-loops"
    assert str(UnrollLoops(max_trips=3)) == "unroll-loops{max_trips=3}"
    assert dict(UnrollLoops(max_trips=3).options())["max_trips"] == 3
    assert InlineIfs().summary == "Inline the taken branch of every If whose condition is constant."


def test_remarks():
    run = Run()
    run.kept(UnrollLoops(), node(), "why")
    run.rewritten(InlineIfs(), node(), "a/b", "what")
    assert [str(remark) for remark in run.remarks] == [
        "Neg 'y': kept, why",
        "Neg 'a/b': rewritten, what",
    ]
    assert run.remarks[1].to_dict() == {
        "pass_name": "inline-ifs",
        "op_type": "Neg",
        "path": "a/b",
        "action": "rewritten",
        "reason": "what",
    }


def test_a_pass_that_looks_again_forgets_what_it_kept_and_nothing_else():
    run = Run()
    run.kept(UnrollLoops(), node(), "why")
    run.kept(InlineIfs(), node(), "why")
    run.rewritten(UnrollLoops(), node(), "y", "what")
    run.forget_kept(UnrollLoops(max_trips=3))
    assert [(r.pass_name, r.action) for r in run.remarks] == [
        ("inline-ifs", "kept"),
        ("unroll-loops", "rewritten"),
    ]
    assert isinstance(run.remarks[0], Remark)


def test_what_was_kept_is_known_again_in_graphs_made_anew():
    run, old = Run(), node()
    run.kept(UnrollLoops(), old, "why")
    run.rewritten_as_a_whole(InlineIfs(), old.graph.root, "what")
    run.noted_of_the_whole(InlineIfs(), old.graph.root, "this")
    other = node().graph.root
    run.follow(other)
    run.forget_gone(other)
    assert [(r.op_type, r.action) for r in run.remarks] == [
        ("Neg", "kept"),
        ("Model", "rewritten"),
        ("Model", "noted"),
    ]


def test_a_run_goes_on_with_what_another_one_said_of_a_copy():
    run, other = Run(), Run()
    run.kept(InlineIfs(), node(), "before")
    said = run.said()
    run.rewritten(UnrollLoops(), node(), "y", "given up")
    other.remark(Remark("unroll-loops", "Loop", "y", "kept", "why"))
    run.seconds, other.seconds = {"unroll-loops": 1.0}, {"unroll-loops": 2.0}
    run.take_over(other, said)
    assert [r.reason for r in run.remarks] == ["before", "why"]
    assert run.seconds == {"unroll-loops": 3.0}
