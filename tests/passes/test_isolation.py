"""A fault of one pass costs its rewrite of one construct, and nothing else."""

import dataclasses
import warnings
from pathlib import Path
from typing import ClassVar

import numpy as np
import onnx
import pytest
import straightline as sl
from failing_passes import Raising
from harness import as_model, assert_equal_outputs, op_types
from straightline.passes import Pass, Pipeline, UnrollLoops
from straightline.passes.utils.fixpoint import Repeated
from straightline.passes.vetoes import NONE, Reproduction, isolated

CHAIN = (
    "g (float[2] x) => (float[2] y) { a = Identity (x) b = Neg (a) c = Identity (b) y = Abs (c) }"
)
LOOPS = """g (float[2] x, int64 n) => (float[2] p, float[2] q, float[2] y) {
    three = Constant <value_int = 3> ()
    p = Loop (n, , x) <body = b (int64 i, bool c, float[2] s) => (bool d, float[2] t) {
        d = Identity (c)  e = Neg (s)  t = Identity (e) }>
    q = Loop (three, , x) <body = b2 (int64 i2, bool c2, float[2] s2) => (bool d2, float[2] t2) {
        d2 = Identity (c2)  t2 = Exp (s2) }>
    y = Abs (q) }"""


@pytest.fixture(autouse=True)
def _survives(monkeypatch):
    monkeypatch.delenv("STRAIGHTLINE_FAULTS")


def parsed(text):
    return as_model(text)


def test_a_construct_stays_where_a_pass_raises_and_all_others_are_rewritten():
    with pytest.warns(sl.FaultWarning, match=r"^internal error in raising at Identity 'c'; "):
        result = Pipeline([Raising(at=("c",))]).run(parsed(CHAIN))
    assert op_types(result.model) == ["Neg", "Identity", "Abs"]
    (kept,) = result.kept
    assert (kept.code, kept.op_type, kept.path) == ("internal-error", "Identity", "c")
    assert kept.reason == (
        "internal error in raising at Identity 'c'; the Identity is kept; please report"
        " (IndexError: tuple index out of range)"
    )
    assert result.verdict.proved and result.changed


def test_each_call_isolates_warns_its_caller_and_returns_what_is_right(tmp_path):
    model = parsed(CHAIN)
    onnx.save(model, tmp_path / "m.onnx")
    passes = [Raising(at=("a",)), UnrollLoops()]
    calls = (
        lambda: sl.rewrite(model, passes),
        lambda: sl.rewrite(tmp_path / "m.onnx", passes, verify=False),
        lambda: sl.transform(model, passes, opset=18).model,
        lambda: sl.Pipeline(passes).run(model).model,
    )
    for call in calls:
        with pytest.warns(sl.FaultWarning, match="at Identity 'a'") as caught:
            found = call()
        assert [warning.filename for warning in caught] == [__file__]
        assert op_types(found) == ["Identity", "Neg", "Abs"]
        assert_equal_outputs(model, found, {"x": np.float32([1, -2])})


def test_all_that_fails_stays_each_with_its_remark():
    outcome = silenced(lambda: sl.transform(parsed(CHAIN), [Raising(at=("a", "c"))]))
    assert [remark.path for remark in outcome.alarms] == ["a", "c"]
    assert op_types(outcome.model) == ["Identity", "Neg", "Identity", "Abs"]
    assert outcome.verdict.proved


def test_a_shipped_pass_that_fails_at_a_loop_leaves_it_to_other_passes(monkeypatch):
    fail_at(monkeypatch, "q")
    outcome = silenced(lambda: sl.transform(parsed(LOOPS), hints=False))
    assert op_types(outcome.model).count("Loop") == 1 and outcome.verdict.proved
    (alarm,) = outcome.alarms
    assert alarm.action == "noted"
    assert "Loop 'q'; unroll-loops leaves the loop alone; please report" not in alarm.reason
    assert "internal error in vectorize-loops at Loop 'q'; vectorize-loops leaves" in alarm.reason


def fail_at(monkeypatch, path):
    from straightline.passes.vectorize import vectorize_loops

    genuine = vectorize_loops.read

    def read(node, *more):
        if node.path == path:
            raise AssertionError("no such axis")
        return genuine(node, *more)

    monkeypatch.setattr(vectorize_loops, "read", read)


def test_a_loop_that_stays_names_the_fault_among_its_reasons(monkeypatch):
    fail_at(monkeypatch, "p")
    outcome = silenced(lambda: sl.transform(parsed(LOOPS), hints=False))
    (left,) = outcome.left
    assert "internal error in vectorize-loops at Loop 'p'; the loop is kept" in left.reason
    assert "trip count depends on input 'n'" in left.reason


@pytest.mark.parametrize("how", ["accelerate", "simplify", "selects"])
def test_a_fault_within_trials_and_groups_of_passes_is_one_of_the_inner_pass(monkeypatch, how):
    fail_at(monkeypatch, "p")
    outcome = silenced(lambda: sl.transform(parsed(LOOPS), how, hints=False))
    assert {alarm.pass_name for alarm in outcome.alarms} == {"vectorize-loops"}
    assert outcome.verdict.equal and "Exp" in op_types(outcome.model)


def test_an_inspection_notes_the_fault(monkeypatch):
    fail_at(monkeypatch, "p")
    found = sl.inspect(parsed(LOOPS))
    assert [note.code for note in found.notes] == ["internal-error"]
    assert [construct.outcome for construct in found.constructs] == ["kept", "rewritten"]


@dataclasses.dataclass(frozen=True)
class Failing(Pass):
    """Raises before it visits anything."""

    name: ClassVar[str] = "failing"
    error: type[BaseException] = dataclasses.field(
        default=RecursionError, metadata={"code_only": True}
    )

    def run(self, model, context):
        raise self.error("of its own")


def test_a_pass_is_left_out_where_no_construct_can_be_named():
    passes = (Repeated((Failing(), Raising(at=()))),)
    outcome = silenced(lambda: sl.transform(parsed(CHAIN), passes))
    assert op_types(outcome.model) == ["Neg", "Abs"]
    (alarm,) = outcome.alarms
    assert (alarm.op_type, alarm.action, alarm.pass_name) == ("Model", "noted", "failing")
    assert alarm.reason.startswith("internal error in failing; the pass is left out; please report")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError, OSError, sl.Error])
def test_errors_of_others_pass_through(error):
    with pytest.raises(error, match="of its own"):
        sl.rewrite(parsed(CHAIN), [Failing(error=error)])


def test_an_exception_of_the_caller_s_own_function_ends_the_work():
    def tell(stage, text, number, total):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        sl.transform(parsed(CHAIN), "simplify", on_progress=tell)


def test_strict_raises(tmp_path):
    onnx.save(parsed(CHAIN), tmp_path / "m.onnx")
    with pytest.raises(
        sl.StrictError, match=r"^internal error in failing; please report"
    ) as caught:
        sl.rewrite(tmp_path / "m.onnx", [Failing()], strict=True)
    assert isinstance(caught.value.__cause__, RecursionError)
    with pytest.raises(sl.StrictError, match=r"^internal error in raising at Identity 'y'"):
        Pipeline([Raising()]).run(parsed(CHAIN.replace("Abs", "Identity")), strict=True)


def test_the_tests_raise(monkeypatch):
    monkeypatch.setenv("STRAIGHTLINE_FAULTS", "raise")
    with pytest.raises(RecursionError):
        sl.rewrite(parsed(CHAIN), [Failing()])


def test_faults_without_end_end():
    """A pass that raises at ever other constructs is left out."""
    names = [f"v{n}" for n in range(40)]
    body = " ".join(f"{name} = Identity (x)" for name in names)
    text = f"g (float[2] x) => (float[2] y) {{ {body} y = Sum ({', '.join(names)}) }}"
    outcome = silenced(lambda: sl.transform(parsed(text), [Raising(at=tuple(names))]))
    (alarm,) = outcome.alarms
    assert alarm.op_type == "Model" and not outcome.changed


def test_a_wrong_guess_is_taken_back():
    """Here the frame of the exception names another node first."""

    @dataclasses.dataclass(frozen=True)
    class Confusing(Raising):
        name: ClassVar[str] = "confusing"

        def run(self, model, context):
            other = model.graph.nodes()[1]  # noqa: F841 - what a traceback shows
            return super().run(model, context)

    outcome = silenced(lambda: sl.transform(parsed(CHAIN), [Confusing(at=("c",))]))
    assert [alarm.path for alarm in outcome.alarms] == ["c"]
    assert op_types(outcome.model) == ["Neg", "Identity", "Abs"]


def test_without_a_fault_the_passes_run_once():
    runs = []
    result, vetoes = isolated(lambda: runs.append(1) or "result", NONE)
    assert (result, vetoes, runs) == ("result", NONE, [1])


def test_a_fault_has_a_command_that_makes_it_again():
    found = Reproduction("a b.onnx", ("--set", "n=3")).advice("internal error in p", what="E: m")
    assert found == (
        "; please report (E: m); for the smallest model straightline reduce 'a b.onnx'"
        " smallest.onnx --while 'straightline rewrite {} - --set n=3 --strict' --match"
        " 'internal error in p'"
    )
    assert "save the model as model.onnx and run straightline reduce model.onnx" in Reproduction(
        options=()
    ).advice("m")


def silenced(call):
    with pytest.warns(sl.FaultWarning):
        return call()


def test_a_copy_of_a_hidden_construct_is_shown_again():
    """`path` of a copy in an unrolled loop; the outer loop is unrolled around the inner one."""
    text = """g (float[2] x, int64 n) => (float[2] y) {
        two = Constant <value_int = 2> ()
        y = Loop (two, , x) <body = b (int64 i, bool c, float[2] s) => (bool d, float[2] t) {
            d = Identity (c)
            t = Loop (n, , s) <body = b2 (int64 i2, bool c2, float[2] s2) => (bool d2, float[2] t2)
                { d2 = Identity (c2)  t2 = Exp (s2) }> }> }"""
    unroll = UnrollLoops.run

    def run(self, model, context):
        for graph in model.graphs():
            for node in graph.nodes():
                if node.path == "y/t" and node.is_op("Loop"):
                    raise IndexError("nested")
        return unroll(self, model, context)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(UnrollLoops, "run", run)
        outcome = silenced(lambda: sl.transform(parsed(text), [UnrollLoops()]))
    assert op_types(outcome.model).count("Loop") == 2 and outcome.verdict.proved
    assert Path(outcome.alarms[0].path).parts == ("y", "t")


@pytest.mark.sample(10)
@pytest.mark.parametrize("index", range(len(sl.passes.straighten().passes)))
def test_each_pass_of_the_default_pipeline_may_fail_after_its_work(monkeypatch, index):
    kind = type(sl.passes.straighten().passes[index])
    genuine = kind.run

    def run(self, model, context):
        if genuine(self, model, context):
            raise ZeroDivisionError("after its work")
        return False

    monkeypatch.setattr(kind, "run", run)
    everything = """<ir_version: 8, opset_import: ["" : 17, "d" : 1]>
    g (float[2] x, int64 n, bool c) => (float[2] y) {
        two = Constant <value_int = 2> ()
        a = Identity (x)
        unused = Neg (a)
        f = d.f (a)
        l = Loop (two, , f) <body = b (int64 i, bool k, float[2] s) => (bool k2, float[2] t) {
            k2 = Identity (k)  t = Exp (s) }>
        m = Loop (n, , l) <body = b2 (int64 i2, bool j, float[2] u) => (bool j2, float[2] v) {
            j2 = Identity (j)  w = Neg (x)  v = Add (u, w) }>
        y = If (c) <then_branch = t1 () => (float[2] p) { o = Abs (m)  p = Relu (o) },
                    else_branch = e1 () => (float[2] q) { o2 = Abs (m)  q = Neg (o2) }> }
    <domain: "d", opset_import: ["" : 17]> f (h) => (r) { r = Sin (h) }"""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = sl.transform(parsed(everything), hints=False)
    assert outcome.verdict.proved
    named = {str(warning.message).split(";")[0] for warning in caught}
    assert named <= {f"internal error in {kind.name}"}
