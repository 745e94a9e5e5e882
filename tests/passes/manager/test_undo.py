import dataclasses
from typing import ClassVar

import numpy as np
import onnx
import pytest
import straightline as sl
from harness import assert_equal_outputs, op_types
from straightline.ir import Operator
from straightline.passes import FoldConstants, InlineIfs, Pass, Pipeline, UnrollLoops
from straightline.passes.manager.undo import BINDING, Task, settle
from straightline.passes.vetoes import NONE, isolated
from straightline.verification.runs.verdict import Verdict
from tables import table
from texts import LOOP_AND_IF
from wrong_passes import Invalidating, Negating, Selecting

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) '
CHAIN = HEAD + "{ a = Neg (x) b = Abs (a) c = Relu (b) d = Exp (c) e = Identity (d) y = Sin (e) }"


@dataclasses.dataclass(frozen=True)
class Spoiling(Pass):
    """Replaces the operators of all nodes but Sin by a longer form, which is wrong at some."""

    name: ClassVar[str] = "spoiling"
    at: tuple[str, ...] = dataclasses.field(default=(), metadata={"code_only": True})
    tells: bool = dataclasses.field(default=True, metadata={"code_only": True})

    def run(self, model, context):
        found = [n for n in model.graph.nodes() if n.is_op("Neg", "Abs", "Relu", "Exp")]
        for node in found:
            if node.op.extra == MARK:
                continue
            wrong = "Neg" if node.op_type != "Neg" else "Abs"
            op = Operator(wrong if node.label in self.at else node.op_type, {}, extra=MARK)
            if self.tells:
                context.rewritten(self, node, node.path, "is longer")
            model.graph.set_operator(node, op)
        return bool(found)


MARK = onnx.NodeProto(doc_string="longer")


def parsed(text):
    return onnx.parser.parse_model(text)


@pytest.fixture
def survives(monkeypatch):
    monkeypatch.delenv("STRAIGHTLINE_FAULTS")


def undone(call):
    with pytest.warns(sl.FaultWarning):
        return call()


@table(
    ("transform", lambda m, p, **how: sl.transform(m, p, **how).model),
    ("rewrite", sl.rewrite),
    ("convert", lambda m, p, **how: sl.transform(m, p, opset=18, **how).model),
    ("pipeline", lambda m, p, **how: Pipeline(p).run(m, **how).model),
)
@pytest.mark.parametrize("verify", ["proof", True])
def test_a_wrong_rewrite_of_a_construct_is_undone_alone(name, case, survives, verify):
    model = parsed(CHAIN)
    with pytest.warns(sl.FaultWarning) as caught:
        result = case(model, [Spoiling(at=("c",)), *EliminateIdentities], verify=verify)
    (warning,) = caught
    assert warning.filename == __file__
    text = str(warning.message)
    assert text.startswith("spoiling changed the outputs when it rewrote Relu 'c': y: different")
    assert "for x=[" in text and "; the Relu is kept; please report" in text
    assert op_types(result) == ["Neg", "Abs", "Relu", "Exp", "Sin"]
    assert [node.doc_string for node in result.graph.node[:4]] == ["longer"] * 2 + ["", "longer"]
    assert_equal_outputs(model, result, {"x": np.float32([1, -2])})


EliminateIdentities = [sl.passes.EliminateIdentities()]


def test_the_rest_is_compared_again_and_the_verdict_is_about_the_result(survives):
    outcome = undone(lambda: sl.transform(parsed(CHAIN), [Spoiling(at=("c", "d"))]))
    assert outcome.verdict.proved
    assert sorted(alarm.path for alarm in outcome.alarms) == ["c", "d"]
    assert {alarm.code for alarm in outcome.alarms} == {"refuted-rewrite"}
    assert outcome.alarms[0].arguments["pass_name"] == "spoiling"


def test_a_pass_without_remarks_is_left_out(survives):
    outcome = undone(lambda: sl.transform(parsed(CHAIN), [Spoiling(at=("c",), tells=False)]))
    (alarm,) = outcome.alarms
    assert alarm.reason.startswith("spoiling changed the outputs: y: different")
    assert "the pass is left out" in alarm.reason
    assert not outcome.changed and outcome.verdict.proved


def test_a_pass_that_is_wrong_everywhere_is_left_out_in_the_end(survives):
    names = [f"v{n}" for n in range(12)]
    body = " ".join(f"{name} = Relu (x)" for name in names)
    model = parsed(HEAD + f"{{ {body} y = Sum ({', '.join(names)}) }}")
    outcome = undone(lambda: sl.transform(model, [Spoiling(at=tuple(names))]))
    (alarm,) = outcome.alarms
    assert alarm.op_type == "Model" and outcome.verdict.proved


def test_an_invalid_rewrite_is_undone(survives):
    model = parsed(CHAIN)
    outcome = undone(lambda: sl.transform(model, [Invalidating(unknown=False)]))
    assert outcome.alarms[0].code == "invalid-rewrite"
    assert outcome.alarms[0].reason.startswith("invalidating produced an invalid model when it")
    assert op_types(outcome.model)[:6] == op_types(model) and outcome.verdict.proved


UNDECIDED = parsed(LOOP_AND_IF)


def test_a_construct_in_a_body_is_kept_and_others_are_not(survives):
    model = parsed(LOOP_AND_IF)
    passes = [UnrollLoops(), Negating()]
    outcome = undone(lambda: sl.transform(model, passes, values={"n": 2}))
    (alarm,) = outcome.alarms
    assert (alarm.op_type, alarm.path) == ("Relu", "y/r")
    assert op_types(outcome.model) == ["Add", "Add", "If"] and outcome.verdict.proved


@pytest.mark.parametrize("unproved", ["samples", "keep", "allow"])
def test_an_open_proof_is_treated_as_asked(unproved):
    """`Relu (x)` is `x < 0 ? 0 : x`, which no proof shows."""
    model = parsed(HEAD + "{ a = Relu (x) y = Relu (a) }")
    outcome = sl.transform(model, [Selecting()], unproved=unproved)
    longer = ["Less", "Where"] * 2
    if unproved == "keep":
        assert op_types(outcome.model) == ["Relu", "Relu"] and outcome.verdict.proved
        assert [remark.code for remark in outcome.remarks] == ["unproved-rewrite"] * 2
        assert not outcome.alarms
        assert outcome.remarks[0].reason.endswith("; the Relu is kept")
        assert outcome.remarks[0].reason.startswith("the result of selecting of Relu '")
        return
    assert op_types(outcome.model) == longer
    status = {"samples": "equal", "allow": "open"}[unproved]
    assert (outcome.verdict.status, outcome.verdict.proved) == (status, False)


def test_proved_changes_stay_beside_unproved_ones():
    model = parsed(HEAD + "{ a = Identity (x) b = Relu (a) y = Sin (b) }")
    outcome = sl.transform(model, [*EliminateIdentities, Selecting()], unproved="keep")
    assert op_types(outcome.model) == ["Relu", "Sin"] and outcome.verdict.proved


def test_strict_and_the_tests_raise(monkeypatch):
    passes = [Spoiling(at=("c",))]
    words = r"the pass spoiling changed the outputs when it rewrote Neg 'a' \(and 3 more\)"
    with pytest.raises(sl.MismatchError, match=words):
        sl.rewrite(parsed(CHAIN), passes)
    monkeypatch.delenv("STRAIGHTLINE_FAULTS")
    for call in (sl.rewrite, lambda m, p, **how: Pipeline(p).run(m, **how)):
        with pytest.raises(sl.MismatchError, match=words):
            call(parsed(CHAIN), passes, strict=True)
    with pytest.raises(sl.StrictError, match="is not proved"):
        sl.rewrite(parsed(HEAD + "{ y = Relu (x) }"), [Selecting()], strict=True, unproved="keep")


def test_without_verification_nothing_is_undone(survives):
    assert op_types(sl.rewrite(parsed(CHAIN), [Spoiling(at=("a",))], verify=False))[0] == "Abs"


# The search itself

DIFFERENT = Verdict("different", "all of it")


def task(pipeline, judged, **settings):
    model = sl.load(parsed(LOOP_AND_IF))

    def fresh():
        copy = sl.load(model)
        copy.graph.bind_input(copy.graph.inputs[1], sl.ir.Tensor(array=np.array(2)))
        return copy

    def rerun(vetoes):
        with vetoes.in_force():
            return pipeline.apply(fresh())

    return Task(
        rerun=rerun,
        compare=lambda result: judged(result.model),
        watch=lambda observe, vetoes: isolated(
            lambda: pipeline.apply(fresh(), run=observe(BINDING)), vetoes
        ),
        probe=lambda verdict: judged,
        **settings,
    )


def relus(model):
    left = any("Relu" in graph.kinds() for graph in model.graphs())
    return Verdict("equal" if left else "different", "no Relu")


def settled(pipeline, judged, **settings):
    tried = task(pipeline, judged, **settings)
    return settle(tried, tried.rerun(NONE), NONE)


def test_the_first_pass_that_differs_is_named_with_its_remarks():
    with pytest.raises(sl.MismatchError) as caught:
        settled(Pipeline([UnrollLoops(), Negating(), InlineIfs()]), relus)
    error = caught.value
    assert error.culprit == "negating"
    assert {remark.pass_name for remark in error.remarks} == {"negating"}
    assert error.verdict.reason == "no Relu"


def test_without_a_single_culprit_the_whole_is_reported(survives):
    verdicts = iter([DIFFERENT])
    pipeline = Pipeline([UnrollLoops(), InlineIfs()])
    with pytest.raises(sl.MismatchError) as caught:
        settled(pipeline, lambda model: next(verdicts, Verdict("equal", "")))
    assert caught.value.culprit == "" and caught.value.verdict is DIFFERENT


def test_a_difference_before_the_first_pass_blames_no_pass(survives):
    with pytest.raises(sl.MismatchError, match="the pass that binds inputs"):
        settled(Pipeline([UnrollLoops()]), lambda model: DIFFERENT)


def test_unprovable_models_are_not_rewritten():
    pipeline = Pipeline([UnrollLoops(), InlineIfs()])
    unproved = Verdict("open", "no steps are left")
    result, verdict = settled(pipeline, lambda model: unproved, only_proved=True)
    assert verdict is unproved and not result.changed
    (remark,) = [r for r in result.remarks if r.code == "unproved-rewrite"]
    assert remark.reason.endswith("no steps are left; all passes are left out")


def test_a_run_that_contradicts_a_proof_differs():
    with pytest.raises(sl.MismatchError) as caught:
        settled(
            Pipeline([UnrollLoops(), Negating()]),
            lambda model: Verdict("equal" if relus(model) else "contradictory", "a run"),
        )
    assert caught.value.culprit == "negating"


def test_a_pipeline_withholds_what_a_run_tells_apart_although_it_is_proved(monkeypatch):
    monkeypatch.setattr(
        "straightline.verification.compare", lambda *_, **__: Verdict("contradictory", "a run")
    )
    with pytest.raises(sl.MismatchError, match="a run"):
        Pipeline([UnrollLoops()]).run(parsed(LOOP_AND_IF), verify=True)


# Declarations that become visible -----------------------------------------------------------------

CROPPED = """<ir_version: 8, opset_import: ["" : 17]> g (float[1,3,8,8] x) => (float[1,3,4,4] y)
    <int64[2] start = {0, 0}, int64[2] size = {5, 5}, int64[2] axes = {2, 3}> {
    end = Add (start, size) z = Slice (x, start, end, axes) y = Neg (z) }"""


@table(
    ("transform", lambda m: sl.transform(m).model),
    ("rewrite", sl.rewrite),
    ("file", lambda m: sl.transform(m.SerializeToString()).model),
    ("target", lambda m: sl.transform(m, target="mnn").model),
    ("pipeline", lambda m: Pipeline([FoldConstants()]).run(m, verify="proof").model),
)
def test_a_false_size_of_an_output_that_folding_shows_is_corrected(name, case):
    """Folding the end of a Slice changes no output, but lets inference find its sizes."""
    model = parsed(CROPPED)
    onnx.checker.check_model(model, full_check=True)
    result = case(model)
    assert op_types(result) == ["Slice", "Neg"]
    onnx.checker.check_model(result, full_check=True)
    dims = result.graph.output[0].type.tensor_type.shape.dim
    assert [dim.dim_value for dim in dims] == [1, 3, 5, 5]
    assert_equal_outputs(model, result, {"x": np.ones((1, 3, 8, 8), np.float32)})


def test_the_verdict_tells_which_declaration_was_false():
    verdict = sl.transform(parsed(CROPPED)).verdict
    (note,) = verdict.notes
    assert verdict.proved and "the output 'y' was declared as float[1,3,4,4], but is" in note
