import sys

import numpy as np
import onnx
import onnx_ir
import pytest
import straightline as sl
from harness import as_model, assert_equal_outputs, op_types
from onnx_ir.passes import common
from onnxscript import optimizer
from onnxscript.rewriter import RewriteRule, RewriteRuleSet
from straightline import interop
from straightline.passes import InlineIfs, UnrollLoops
from tables import table


@pytest.fixture
def model():
    text = """ g (float[2] x, int64 n, bool c) => (float[2] y) <float[2] zero = {0, 0}> {
        i = Identity (x)
        h = Loop (n, , i) <body = b (int64 k, bool g, float[2] a) => (bool d, float[2] e) {
            d = Identity (g)
            e = Add (a, a) }>
        z = If (c) <
            then_branch = t () => (float[2] r) { r = Relu (h) },
            else_branch = f () => (float[2] s) { s = Neg (h) } >
        y = Add (z, zero) }"""
    return as_model(text)


def ops(proto):
    return op_types(sl.ir.to_proto(proto))


def rule():
    def target(op, x):
        return op.Add(x, x)

    def replacement(op, x):
        return op.Mul(x, op.Constant(value_float=2.0))

    return RewriteRule(target, replacement, name="double")


def test_a_pass_of_onnx_ir(model):
    outcome = sl.transform(model, [interop.step(common.IdentityEliminationPass())], hints=False)
    assert ops(outcome.model) == ["Loop", "If", "Add"]
    (remark,) = outcome.remarks
    assert (remark.pass_name, remark.op_type, remark.action) == (
        "identity-elimination",
        "Model",
        "rewritten",
    )
    assert remark.reason == "8 nodes became 7: Identity 2 to 1"
    assert outcome.timings[0].pass_name == "identity-elimination"
    assert outcome.verdict.proved


def test_foreign_passes_among_ours(model):
    passes = [common.IdentityEliminationPass(), UnrollLoops(), InlineIfs()]
    outcome = sl.transform(model, passes, values={"n": 2, "c": True})
    assert ops(outcome.model) == ["Add", "Add", "Relu", "Add"]
    assert outcome.verdict.proved
    for alone in (common.IdentityEliminationPass(), RewriteRuleSet([rule()])):
        assert sl.transform(model, alone, hints=False).changed


def test_rewrite_rules_of_onnxscript(model):
    unrolled = [UnrollLoops(), InlineIfs()]
    for rules in (rule(), [rule()], RewriteRuleSet([rule()])):
        passes = [*unrolled, interop.step(rules)]
        outcome = sl.transform(model, passes, values={"n": 2, "c": True}, verify=True)
        assert "Mul" in ops(outcome.model) and outcome.verdict.equal
        assert "Mul 0 to 2" in outcome.remarks[-1].reason
    x = {"x": np.float32([1, -1])}
    assert_equal_outputs(sl.rewrite(model, unrolled, values={"n": 2, "c": True}), outcome.model, x)


def test_the_optimizer_of_onnxscript(model):
    for passes in (
        [interop.onnxscript_optimizer(num_iterations=1)],
        [interop.step(optimizer.optimize)],
    ):
        outcome = sl.transform(model, passes, hints=False)
        assert "Identity" not in ops(outcome.model)
        assert outcome.verdict.equal
    assert str(passes[0]) == "optimize"


def test_onnxscript_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(sl.PassOptionError, match="straightline\\[onnxscript\\]"):
        interop.onnxscript_optimizer()


def test_a_function_that_gives_another_model():
    def twice(model):
        copy = model.clone()
        copy.graph.node(0).op_type = "Exp"
        return copy

    model = as_model(" g (float x) => (float y) { y = Neg (x) }")
    result = sl.Pipeline([interop.step(twice, "twice")]).run(model, verify=False)
    assert ops(result.model) == ["Exp"]
    with pytest.raises(sl.MismatchError, match="the pass twice changed the outputs"):
        sl.transform(model, [interop.step(twice, "twice")])


def test_a_foreign_pass_without_effect_leaves_the_model(model):
    loaded = sl.load(model)
    graph = loaded.graph
    result = sl.Pipeline([interop.step(lambda model: None)]).apply(loaded)
    assert not result.changed and loaded.graph is graph and result.remarks == ()


def test_repeated_foreign_passes_end(model):
    always = interop.step(lambda model: onnx_ir.passes.PassResult(model, True), "always")
    pipeline = sl.Pipeline([always, UnrollLoops()], repeat=True)
    result = pipeline.apply(sl.load(model))
    assert not result.changed


def test_remarks_survive_a_foreign_pass(model):
    outcome = sl.transform(model, [UnrollLoops(), interop.step(common.IdentityEliminationPass())])
    reasons = {remark.op_type: remark.reason for remark in outcome.left}
    assert "depends on input 'n'" in reasons["Loop"]
    found = sl.inspect(model, [common.IdentityEliminationPass(), UnrollLoops()], values={"n": 1})
    assert [(c.op_type, c.outcome) for c in found.constructs] == [
        ("Loop", "rewritten"),
        ("If", "kept"),
    ]


def test_the_invariants_of_the_graph_hold_after_it(model):
    loaded = sl.load(model)
    sl.Pipeline([interop.step(common.IdentityEliminationPass())]).apply(loaded)
    sl.ir.verify(loaded)
    assert loaded.graph.root is loaded


def fails(model):
    raise IndexError("list index out of range")


def breaks(model):
    model.graph.node(0).op_type = "NoSuchOperator"
    model.graph.node(0).domain = ""
    model.graph.opset_imports.clear()


def renames(model):
    model.graph.inputs[0].name = "other"


@table(
    (fails, "^fails: list index out of range"),
    (breaks, "^breaks produced an invalid model: "),
    (renames, "^renames changed the inputs: .*'x'.* became .*'other'"),
)
def test_a_fault_of_theirs_is_an_error_of_ours(call, words, model):
    before = model.SerializeToString(deterministic=True)
    loaded = sl.load(model)
    with pytest.raises(sl.RewriteError, match=words):
        sl.Pipeline([interop.step(call)]).apply(loaded)
    assert sl.ir.to_proto(loaded).SerializeToString(deterministic=True) == before


@pytest.mark.parametrize("thing", [5, "cse", common.IdentityEliminationPass, [], [5], None])
def test_objects_that_are_no_step(thing):
    with pytest.raises(sl.PassOptionError, match="a foreign step must be a pass of onnx_ir"):
        interop.step(thing)


def test_models_that_onnx_ir_would_change_are_left_alone():
    model = as_model(" g (float[4] x) => (float[4] y) { y = Add (x, w) }")
    sparse = model.graph.sparse_initializer.add(dims=[4])
    sparse.values.CopyFrom(onnx.numpy_helper.from_array(np.float32([3]), "w"))
    sparse.indices.CopyFrom(onnx.numpy_helper.from_array(np.int64([1]), "w_at"))
    outcome = sl.transform(model, [interop.step(fails)], verify=False)
    (remark,) = outcome.remarks
    assert remark.action == "noted" and "onnx_ir does not keep sparse initializers" in str(remark)
    assert outcome.model == model


@table(
    (common.CommonSubexpressionEliminationPass(), "common-subexpression-elimination"),
    (RewriteRuleSet([rule()]), "rewrite-rule-set"),
    ([rule()], "rewrite-rules"),
    (optimizer.optimize, "optimize"),
    (lambda model: None, "lambda"),
)
def test_names(thing, name):
    assert interop.step(thing).name == name
    assert str(interop.step(thing, "mine")) == "mine"


def test_large_weights_are_handed_over(tmp_path):
    model = as_model(" g (float[2000] x) => (float[2000] y) { i = Identity (x) y = Add (i, w) }")
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(2000, np.float32), "w"))
    loaded = sl.load(model)
    (tensor,) = loaded.graph.initializers.values()
    assert sl.Pipeline([interop.step(common.IdentityEliminationPass())]).apply(loaded).changed
    assert [*loaded.graph.initializers.values()] == [tensor]
    sl.save(loaded, tmp_path / "m.onnx")
    assert onnx.numpy_helper.to_array(onnx.load(tmp_path / "m.onnx").graph.initializer[0])[9] == 1
