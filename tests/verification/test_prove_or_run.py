import dataclasses
import importlib
import re
from typing import ClassVar

import numpy as np
import onnx
import pytest
import straightline as sl
from harness import as_model
from straightline import ir
from straightline.ir.io import model_source
from straightline.passes import Pass
from straightline.runtimes.workers import Worker
from tables import table

SIDES = importlib.import_module("straightline.verification.proof.sides")

HEADER = '<ir_version: 8, opset_import: ["" : 17]>'
LOOP = """g (float[N] x) => (float[N] y) <int64 three = {3}> {
    y = Loop (three, , x) <body = b (int64 i, bool c, float[N] a) => (bool d, float[N] e) {
        d = Identity (c)
        e = Add (a, a) }> }"""
UNROLLED = "g (float[N] x) => (float[N] y) { a = Add (x, x)  b = Add (a, a)  y = Add (b, b) }"
TWICE = "g (float[N] x) => (float[N] y) { a = Add (x, x)  y = Add (a, a) }"
DIVIDED = "g (float[N] x) => (float[N] y) <float three = {3}> { y = Div (x, three) }"
MULTIPLIED = "g (float[N] x) => (float[N] y) <float third = {0.33333334}> { y = Mul (x, third) }"


def model(text):
    return onnx.parser.parse_model(HEADER + text)


@pytest.fixture
def ran(monkeypatch):
    """Count the runs of a model by a runtime."""
    calls, original = [], Worker.run

    def run(self, source, feeds, **options):
        calls.append(self.runtime)
        return original(self, source, feeds, **options)

    monkeypatch.setattr(Worker, "run", run)
    return calls


# prove


def test_a_proof_is_true_and_runs_nothing(ran):
    proof = sl.prove(model(LOOP), model(UNROLLED))
    assert isinstance(proof, sl.Proof)
    assert proof and proof.status == "proved" and proof.feeds is None
    assert set(proof.outputs) == {"y"}
    assert not ran


def test_a_difference_in_a_run_refutes():
    before, after = model(LOOP), model(TWICE)
    proof = sl.prove(before, after)
    assert not proof and proof.status == "refuted"
    assert proof.reason.startswith("y: different")
    assert proof.paths is not None and not proof.needed
    (one,), (other,) = (sl.reference.run(m, proof.feeds) for m in (before, after))
    assert not np.array_equal(one, other)


def test_a_difference_in_the_last_bit_is_open(ran):
    proof = sl.prove(model(DIVIDED), model(MULTIPLIED))
    assert not proof and proof.status == "open" and proof.feeds is not None
    assert proof.first is not None and proof.needed.startswith("a rule that ")
    assert ran


def test_without_a_search_nothing_is_run(ran):
    assert sl.prove(model(LOOP), model(TWICE), search=False).status == "open"
    assert not ran


@pytest.mark.parametrize("how", [{"dims": {"N": 5}}, {"sample_shapes": {"x": (5,)}}])
def test_sizes_of_the_inputs_of_a_search(how):
    assert sl.prove(model(LOOP), model(TWICE), **how).feeds["x"].shape == (5,)
    with pytest.raises((sl.BindingError, sl.SampleShapeError)):
        sl.prove(model(LOOP), model(TWICE), dims={"M": 5})


@table(
    ({"bound": {"z": 1}}, "the model has no input 'z'; it has 'x'"),
    ({"shapes": {"z": (1,)}}, "the model has no input 'z'; it has 'x'"),
    ({"shapes": {"x": ("q",)}}, "'q' is not a dimension"),
    ({"shapes": {"x": 5}}, "a shape of 'x' has dimensions such as"),
    ({"shapes": {"x": (1, 2)}}, "input 'x' has rank 1, not 2"),
)
def test_unfit_inputs(names, message):
    for call in (sl.prove, sl.verify):
        with pytest.raises(sl.BindingError, match=message):
            call(model(LOOP), model(TWICE), **names)


def test_a_fault_of_signatures_is_no_refutation():
    other = model(
        UNROLLED.replace("float[N] x", "double[N] x").replace("float[N] y", "double[N] y")
    )
    proof = sl.prove(model(LOOP), other)
    assert proof.status == "open" and "signatures differ" in proof.reason


def test_values_of_inputs_that_are_gone():
    text = LOOP.replace("x) => (float[N] y) <int64 three = {3}>", "x, int64 three) => (float[N] y)")
    assert sl.prove(model(text), model(UNROLLED), bound={"three": 3})
    assert not sl.prove(model(text), model(UNROLLED), bound={"three": 2}, search=False)
    with pytest.raises(sl.Error, match="'three'"):
        sl.prove(model(text), model(UNROLLED), bound={"three": "many"})


@pytest.mark.parametrize("options", [{"timeout": 0}, {"timeout": "long"}])
def test_options_of_a_proof_are_checked(options):
    with pytest.raises(sl.Error, match="timeout is"):
        sl.prove(model(LOOP), model(UNROLLED), **options)


def test_bad_models_are_errors_of_ours():
    for source in ("none.onnx", b"no model", 5, onnx.ModelProto()):
        with pytest.raises(sl.Error):
            sl.prove(source, model(LOOP))
    broken = model("g (float[N] x) => (float[N] y) { y = Abs (z) }")
    with pytest.raises(sl.Error, match="'z'"):
        sl.prove(broken, model(LOOP))
    assert "'z' is not defined" in sl.prove(model(UNROLLED), broken).reason
    body = model(LOOP.replace("bool d, float[N] e)", "bool d)"))
    assert "its body has 1 outputs" in sl.prove(model(UNROLLED), body).reason
    twice = model("g (float[N] x) => (float[N] y) { y = Abs (x)  y = Neg (x) }")
    assert "'y' is defined twice" in sl.prove(model(UNROLLED), twice).reason
    odd = model("g (float[N] x) => (float[N] y) { y = Abs (x, x) }")
    assert "not a valid model" in sl.prove(model(UNROLLED), odd).reason


@pytest.mark.parametrize("index", ["{0}", "{7}", "{-9}"])
def test_a_part_that_is_not_there_is_open_or_an_error_of_ours(index):
    """Prove a node that fails in every run without an error of the prover."""
    nothing = f"g () => (float[1] y) <float[0] w = {{}}, int64[1] k = {index}> {{"
    some = f"g () => (float[1] y) <float[2] w = {{1, 2}}, int64[1] k = {index}> {{"
    for head in (nothing, some):
        taking = model(head + " y = Gather (w, k) }")
        assert sl.prove(taking, taking, search=False).status in ("proved", "open")


@table("{0}, int64[2] e = {2, 2}", "{0, 0}, int64[1] e = {2}", "{0, 1}, int64[2] e = {2, 3}")
def test_bounds_that_do_not_fit_each_other(bounds):
    size = 1 + bounds.split("}", maxsplit=1)[0].count(",")
    text = f"g (float[4] x) => (float[N] y) <int64[{size}] s = {bounds}> {{ y = Slice (x, s, e) }}"
    slicing = model(text)
    assert sl.prove(slicing, slicing, search=False).status in ("proved", "open")


@pytest.mark.parametrize("step", [0, -1, 2])
def test_steps(step):
    bounds = f"int64[1] s = {{3}}, int64[1] e = {{0}}, int64[1] t = {{{step}}}"
    text = f"g (float[4] x) => (float[N] y) <{bounds}, int64[1] a = {{0}}>"
    slicing = model(text + " { y = Slice (x, s, e, a, t) }")
    assert sl.prove(slicing, slicing, search=False).status in ("proved", "open")


# verify


def test_a_proof_makes_runs_unnecessary(ran):
    verdict = sl.verify(model(LOOP), model(UNROLLED))
    assert verdict and verdict.proved and verdict.samples == ()
    assert verdict.reason == "proved for every input"
    assert verdict.to_dict()["proved"] is True
    assert verdict.to_dict()["proof"]["outputs"]["y"] > 0
    assert not ran


def test_open_proofs_are_run(ran):
    verdict = sl.verify(model(DIVIDED), model(MULTIPLIED))
    assert verdict.equal and not verdict.proved
    assert len(verdict.samples) > 7 and ran
    assert verdict.proof.status == "open"


@table({"samples": 1}, {"runtime": "reference"}, {"feeds": {"x": np.float32([1, 2])}})
def test_runs_that_are_asked_for_are_made_after_a_proof_too(options, ran):
    verdict = sl.verify(model(LOOP), model(UNROLLED), **options)
    assert verdict.equal and verdict.proved and verdict.samples
    assert ran


def test_a_proof_can_be_demanded_or_left_out(ran):
    verdict = sl.verify(model(DIVIDED), model(MULTIPLIED), prove=True)
    assert verdict.status == "not verified" and not verdict.proved
    assert verdict.reason.startswith("not proved: equal over the reals, not proved bit for bit: ")
    assert re.search(r"all outputs agree on \d+ samples", verdict.reason)
    assert sl.verify(model(LOOP), model(TWICE), prove=True).status == "different"
    ran.clear()
    verdict = sl.verify(model(LOOP), model(UNROLLED), prove=False)
    assert verdict.equal and not verdict.proved and verdict.proof is None
    assert verdict.to_dict()["proof"] is None
    assert ran


def test_a_difference_holds_an_input_that_shows_it():
    verdict = sl.verify(model(LOOP), model(TWICE))
    assert verdict.status == "different" and set(verdict.feeds) == {"x"}
    assert "feeds" not in verdict.to_dict()


def test_a_run_overrides_a_proof(monkeypatch):
    monkeypatch.setattr(
        "straightline.verification.proof.prove", lambda *_, **__: sl.Proof("proved", ".")
    )
    verdict = sl.verify(model(LOOP), model(TWICE), samples=1)
    assert verdict.status == "contradictory" and verdict.differs and not verdict.proved
    assert verdict.reason.startswith(
        "a proof says equal, a run says different: the rewrite differs in"
    )
    assert "please report it" in verdict.notes[0]
    assert verdict.to_dict()["status"] == "contradictory"


def test_a_proof_counts_where_the_original_cannot_be_run():
    text = "g (float[2] x) => (float[2] y) { y = other.Unknown (x) }"
    header = '<ir_version: 8, opset_import: ["" : 17, "other" : 1]>'
    strange = onnx.parser.parse_model(header + text)
    verdict = sl.verify(strange, strange, samples=1)
    assert verdict.equal and verdict.proved
    assert verdict.notes[0].startswith("nothing was compared: ")


SOUND = "g (float[N] x) => (float[N] y) { a = Neg (x) y = Neg (a) }"
FAULTY = {
    "a rank": "g (float[N] x) => (float[N, 1] y) { a = Neg (x) y = Neg (a) }",
    "a size": "g (float[2] x) => (float[3] y) { a = Neg (x) y = Neg (a) }",
    "an attribute": "g (float[N] x) => (float[N] y) { a = Neg (x) y = Neg <alpha = 1> (a) }",
}


@pytest.mark.parametrize("options", [{}, {"prove": False}, {"prove": "only"}, {"prove": True}])
@pytest.mark.parametrize("fault", FAULTY)
def test_neither_a_proof_nor_samples_overrule_an_invalid_rewrite(fault, options):
    before = SOUND.replace("[N]", "[2]") if fault == "a size" else SOUND
    verdict = sl.verify(model(before), model(FAULTY[fault]), **options)
    assert verdict.status == "different" and verdict.fault
    assert verdict.reason.startswith("the rewrite is not a valid model: ")


def test_a_fault_that_the_original_has_as_well_counts_for_nothing():
    faulty = model(FAULTY["a rank"])
    changed = model(FAULTY["a rank"].replace("Neg (a)", "Neg (a) z = Abs (a)"))
    assert sl.verify(faulty, changed).equal


@pytest.mark.parametrize("options", [{"samples": 0}, {"rtol": -1}, {"seed": -1}, {"timeout": 0}])
def test_options_are_checked_before_the_proof(options):
    with pytest.raises(sl.Error, match=f"{next(iter(options))} is"):
        sl.verify(model(LOOP), model(UNROLLED), **options)


# rewrite and convert_version


def test_a_rewrite_is_proved_without_a_run(ran):
    sl.rewrite(model(LOOP), verify=True)
    sl.rewrite(model(LOOP), verify={"prove": True})
    sl.convert_version(model(LOOP), 18, verify={"prove": True})
    assert not ran


def test_a_model_in_which_nothing_was_changed_is_equal(ran, monkeypatch):
    before, failing = model(TWICE), sl.Proof("open", "out of steps")
    monkeypatch.setattr("straightline.verification.proof.prove", lambda *_, **__: failing)
    verdict = sl.verify(before, sl.load(before))
    assert verdict.proved and verdict.proof.reason == "both are the same model" and not ran
    assert sl.transform(before, verify={"prove": True}).verdict.proved and not ran
    changed = sl.load(before)
    changed.graph.nodes()[0].name = "other"
    assert not sl.verify(before, changed).proved


def test_equal_contents_are_recognized():
    before = model("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }")
    made = sl.load(before)
    (weights,) = made.graph.initializers
    made.graph.initializers[weights] = sl.ir.Tensor(
        onnx.numpy_helper.from_array(np.float32([1, 3]))
    )
    assert sl.verify(before, made).status == "different"
    made = sl.load(model(TWICE))
    made.opset_imports[""] = 18
    assert sl.verify(model(TWICE), made).proof.reason != "both are the same model"


def test_a_demanded_proof_that_is_not_found_withholds_the_result():
    before = model(LOOP)
    wanted = {"verify": {"prove": True}}
    failing = sl.Proof("open", "out of steps")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("straightline.verification.proof.prove", lambda *_, **__: failing)
        with pytest.raises(sl.NotVerifiedError, match=r"the rewrite .* not proved: out of steps"):
            sl.rewrite(before, **wanted)
        with pytest.raises(sl.NotVerifiedError, match=r"conversion .* not proved: out of steps"):
            sl.convert_version(before, 18, **wanted)
        sl.rewrite(before, verify=True, strict=True)


def test_running_takes_no_more_memory_than_it_may():
    """Whoever gives more has it verified."""
    text = """g (int64[1] n) => (float[N] y) {
        a = ConstantOfShape (n) b = Neg (a) y = Slice (b, n, n) }"""
    model, feeds = as_model(text), {"n": np.int64([1 << 25])}
    verdict = sl.verify(model, model, prove=False, feeds=feeds, max_memory=1 << 20)
    assert verdict.status == "not verified"
    message = r"its limit is \d+ MB; raise it with --max-memory \(max_memory= in Python\)"
    assert re.search(message, verdict.reason)
    assert sl.verify(model, model, prove=False, feeds=feeds).equal


def test_a_default_proof_reads_and_writes_each_model_once(monkeypatch):
    """The driver has loaded the original; the proof and the checker share one message."""
    written = []
    serialize = model_source.serialize
    monkeypatch.setattr(model_source, "serialize", lambda m: written.append(m) or serialize(m))
    monkeypatch.setattr(SIDES, "load", None)  # a call of it would raise
    monkeypatch.setattr(SIDES, "check_well_formed", None)
    outcome = sl.transform(model(LOOP), hints=False)
    assert outcome.verdict is not None
    assert outcome.verdict.proved
    assert len(written) == 1


@dataclasses.dataclass(frozen=True)
class Multiply(Pass):
    """Multiply by a third in place of a division by 3, and claim no more than the reals."""

    name: ClassVar[str] = "multiply"
    third: float = 0.33333334

    @property
    def exactness(self):
        return "reals"

    def run(self, model, context):
        for node in list(model.graph.nodes()):
            if node.op_type == "Div":
                graph = node.graph
                third = graph.add_initializer("third", ir.Tensor(array=np.array(self.third, "f4")))
                product = graph.add_node(ir.Operator.make("Mul"), [node.input(0), third], ["p"])
                graph.supersede(node.output(), product.output())
                graph.remove(node)
                return True
        return False


def test_a_pass_that_claims_the_reals_is_proved_over_them(ran):
    before = model(DIVIDED)
    result = sl.Pipeline([Multiply()]).run(before)
    assert result.verdict.equal and result.verdict.reason.startswith(
        "proved over the reals for every input, if a constant"
    )
    assert sl.Pipeline([Multiply()]).run(before, verify={"prove": True}).verdict.proved
    assert not ran
    verdict = sl.Pipeline([Multiply()]).run(before, verify=True).verdict
    assert verdict.equal and verdict.proved and verdict.samples and ran
    exact = sl.Pipeline([Multiply()]).run(before, verify={"equality": "bits", "prove": "only"})
    assert exact.verdict.status == "open"
    with pytest.raises(sl.MismatchError):
        sl.Pipeline([Multiply(third=0.25)]).run(before, verify=True)


def test_over_the_reals_what_overflows_is_not_compared():
    head = "g (float[64] x) => (float[64] y) <float k = {4}> "
    before = model(head + "{ a = Mul (x, k) y = Div (a, k) }")
    right, wrong = (model(head + f"{{ y = {body} }}") for body in ("Identity (x)", "Abs (x)"))
    assert sl.verify(before, right, prove=False).status == "different"
    assert sl.verify(before, right, prove=False, equality="reals").equal
    assert sl.verify(before, wrong, prove=False, equality="reals").status == "different"


def test_a_rewrite_is_not_proved_where_onnx_refuses_both_models():
    head = "g (float[2] x, float[3] z, bool c) => (float[2] y) { y = If (c) <then_branch = a () =>"
    text = (
        head + " (u) { u = Neg (x) }, else_branch = b () => (v) { w = Add (x, z) v = Abs (x) }> }"
    )
    refused, other = model(text), model(text.replace("v = Abs", "k = Neg (x) v = Abs"))
    verdict = sl.verify(refused, other, prove="only")
    assert verdict.status == "open"
    assert "onnx's shape inference refuses Add 'w': Incompatible dimensions" in verdict.reason


@pytest.mark.parametrize("compare", [sl.prove, sl.verify])
def test_an_unknown_notion_is_refused(compare):
    with pytest.raises(sl.VerifyError, match="there is no equality 'foo'"):
        compare(model(LOOP), model(LOOP), equality="foo")
