import numpy as np
import onnx
import pytest
from failing_passes import Raising
from harness import as_model
from straightline import FaultWarning, ir, load, transform
from straightline.facts.reason import Message
from straightline.ir.faults import raises_faults
from straightline.passes import EliminateIdentities, InlineFunctions, PassContext, UnrollLoops
from straightline.passes.faults import Fault
from straightline.passes.vetoes import ALL, NONE, Veto, Vetoes, heeding_vetoes, is_alarm, warn_of
from straightline.targets import find
from straightline.targets.fit_target import FitTarget
from texts import HEADER, LOOP

WHY = Message("internal-error", "internal error in {pass_name}{place}")(pass_name="p", place="")
NESTED = """g (float[2] x) => (float[2] y, float[2] z) {
    two = Constant <value_int = 2> ()
    y = Loop (two, , x) <body = b (int64 i, bool c, float[2] s) => (bool d, float[2] t) {
        d = Identity (c)
        t = Loop (two, , s) <body = b2 (int64 i2, bool c2, float[2] s2) => (bool d2, float[2] t2) {
            d2 = Identity (c2)  t2 = Exp (s2) }> }>
    z = Loop (two, , x) <body = b3 (int64 i3, bool c3, float[2] s3) => (bool d3, float[2] t3) {
        d3 = Identity (c3)  t3 = Neg (s3) }> }"""


def kinds(model):
    return [node.op_type for node in model.graph.nodes()]


def loaded(text):
    return load(as_model(HEADER + text))


def run_pass(pass_, model, context):
    with heeding_vetoes(pass_, model, context) as may_run:
        return may_run and pass_.run(model, context)


def run_under(vetoes, pass_, model):
    context = PassContext()
    with vetoes.in_force():
        changed = run_pass(pass_, model, context)
    ir.verify(model)
    return changed


def on(pass_, *place):
    return Vetoes((Veto(pass_.name, place or None, WHY),))


def test_a_hidden_construct_stays_and_others_do_not():
    model = loaded(NESTED)
    before = model.graph.nodes()[1].op
    assert run_under(on(UnrollLoops(), "Loop", "y"), UnrollLoops(), model)
    assert kinds(model) == ["Constant", "Loop", "Neg", "Neg"]
    kept = model.graph.nodes()[1]
    assert kept.op is before
    assert sorted(kept.body("body").kinds()) == ["Exp", "Identity"]


def test_copies_of_a_hidden_construct_are_shown_again():
    model = loaded(NESTED)
    assert run_under(on(UnrollLoops(), "Loop", "y/t"), UnrollLoops(), model)
    assert kinds(model).count("Loop") == 2


def test_a_pass_in_a_pass_hides_more():
    model, context = loaded(NESTED), PassContext()
    before = [node.op for node in model.graph.nodes()]
    two, first, second = model.graph.nodes()
    with heeding_vetoes(UnrollLoops(), model, context, [two, first]):
        with heeding_vetoes(EliminateIdentities(), model, context, [first, second]):
            assert kinds(model) == ["kept_Constant", "kept_Loop", "kept_Loop"]
        assert kinds(model) == ["kept_Constant", "kept_Loop", "Loop"]
    assert [node.op for node in model.graph.nodes()] == before


def test_a_veto_is_one_on_a_pass_and_a_path():
    for vetoes in (on(UnrollLoops(), "Loop", "q"), on(EliminateIdentities(), "Loop", "y"), NONE):
        model = loaded(LOOP)
        assert run_under(vetoes, UnrollLoops(), model)
        assert "Loop" not in kinds(model)


def test_a_pass_is_left_out():
    for name in ("unroll-loops", ALL):
        vetoes = Vetoes((Veto(name, None, WHY),))
        assert vetoes.covers("unroll-loops")
        assert not run_under(vetoes, UnrollLoops(), loaded(LOOP))
    assert not vetoes.covers("freeze-initializers")


def test_a_hidden_call_does_not_lose_its_function():
    text = """<ir_version: 8, opset_import: ["" : 17, "d" : 1]>
    g (float[2] x) => (float[2] y) { y = d.f (x) }
    <domain: "d", opset_import: ["" : 17]> f (a) => (b) { b = Neg (a) }"""
    model = load(onnx.parser.parse_model(text))
    assert not run_under(on(InlineFunctions(), "f", "y"), InlineFunctions(), model)
    assert len(model.functions) == 1


def test_a_veto_on_a_pass_replaces_those_on_its_constructs():
    vetoes = NONE.with_veto(Veto("p", ("Loop", "y"), WHY)).with_veto(Veto("q", ("Loop", "y"), WHY))
    assert vetoes.places("p") == {("Loop", "y")} and not vetoes.covers("p")
    assert vetoes.without("p", ("Loop", "y")).entries == vetoes.entries[1:]
    whole = vetoes.with_veto(Veto("p", None, WHY))
    assert [veto.pass_name for veto in whole.entries] == ["q", "p"] and whole.covers("p")


def test_a_remark_tells_what_became_of_the_construct():
    model = loaded(LOOP)
    texts = {
        ("Loop", "y"): ("kept", "internal error in p; the loop is kept; report it"),
        ("If", "gone"): ("noted", "internal error in p; p leaves the If alone; report it"),
        None: ("noted", "internal error in p; the pass is left out; report it"),
    }
    for place, expected in texts.items():
        remark = Veto("p", place, WHY, "; report it").remark(model)
        assert (remark.action, remark.reason) == expected
        assert remark.code == "internal-error" and is_alarm(remark)
        assert remark.arguments["pass_name"] == "p"
    (every,) = NONE.with_veto(Veto(ALL, None, WHY)).remarks(model)
    assert every.reason == "internal error in p; all passes are left out"
    with pytest.warns(FaultWarning, match="left out") as caught:
        warn_of([every])
    assert caught[0].filename == __file__


def test_a_fault_names_the_constructs_of_its_frames(monkeypatch):
    monkeypatch.delenv("STRAIGHTLINE_FAULTS")
    assert not raises_faults()
    text = "g (float[2] x) => (float[2] y) { a = Identity (x) b = Identity (a) y = Neg (b) }"
    with pytest.raises(Fault) as caught, NONE.in_force():
        run_pass(Raising(at=("b",)), loaded(text), PassContext())
    assert (caught.value.pass_name, caught.value.places) == ("raising", (("Identity", "b"),))
    assert isinstance(caught.value.__cause__, IndexError)
    with pytest.raises(IndexError):  # nobody would run it again
        run_pass(Raising(at=("b",)), loaded(text), PassContext())


def test_a_hidden_node_keeps_its_type_and_the_import_of_its_domain():
    # The definition of ScaledSiLU depends on the type of its operand.
    text = """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
        g (float[2] x) => (float[2] y) {
            a = com.microsoft.QuickGelu (x)  b = Exp (a)
            y = com.microsoft.ScaledSiLU (b) }"""
    model = ir.parse(text)
    place = "QuickGelu", "a"
    run_under(on(FitTarget(find("onnx"), ((),)), *place), FitTarget(find("onnx"), ((),)), model)
    assert [node.op_type for node in model.graph.nodes() if node.domain] == ["QuickGelu"]
    assert model.opset_imports["com.microsoft"] == 1


@pytest.mark.parametrize(
    "way", [{"passes": "simplify"}, {"passes": "accelerate"}, {"target": "qnn"}]
)
def test_attributes_that_calls_give_cost_their_nodes_alone(way):
    """Passes that read such an attribute run again without the nodes that have one."""
    model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["" : 18, "l" : 1]>
    g (float[2,3] x) => (float[3] y) { u = Identity (x) v = Neg (u) w = Neg (v)
        t = l.F <p = [1, 0], k = 0> (w) y = ReduceMax <keepdims = 0> (t, one) }
    <domain: "l", opset_import: ["" : 18]> F <p, k> (x) => (y) { s = Sqrt (x)
        t = Transpose <perm : ints = @p> (s) c = Concat <axis : int = @k> (t, t)
        d = ReduceLogSumExp <keepdims : int = @k> (c) e = Sub (t, d)
        y = Identity (e) }""")
    one = onnx.numpy_helper.from_array(np.array([1]), "one")
    model.graph.initializer.append(one)
    outcome = transform(model, **way)
    assert outcome.proved and kinds(outcome.ir)[-2:] == ["F", "ReduceMax"]
    assert any(remark.code == "open-attribute" for remark in outcome.remarks)
