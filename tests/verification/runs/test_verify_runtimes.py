"""Runtimes that crash, refuse a model, take too long or disagree: what is compared then."""

import numpy as np
import onnx
import pytest
from straightline.runtimes import workers
from straightline.runtimes.workers import RuntimeFailure, Worker
from verified import LOOP, SCALE, UNROLLED, model


def test_a_crash_of_onnxruntime_is_contained_and_the_reference_used(check):
    crashing = model(LOOP.replace("(float[2] y, float[K,2] all)", "(float[K,2] all)", 1))
    crashing.graph.node[1].output[0] = ""
    alone = check(crashing, crashing, runtime="onnxruntime")
    assert alone.status == "not verified"
    assert "onnxruntime crashed: SIG" in alone.reason
    verdict = check(crashing, crashing)
    assert verdict.equal
    assert verdict.runtimes == ("reference",)
    assert "onnxruntime crashed: SIG" in str(verdict)


def test_an_original_that_onnxruntime_cannot_load_is_run_by_the_reference(check):
    text = "(complex64[2] x) => (complex64[2] y) { y = %s }"
    verdict = check(model(text % "Identity(x)"), model(text % "Identity(x)"))
    assert verdict.equal
    assert "the reference was used, because" in verdict.notes[0]


def test_a_valid_rewrite_that_onnxruntime_cannot_load_is_run_by_the_reference(check):
    text = "(float[2] x) => (float[2] y) { y = Neg(x) }"
    newest = onnx.defs.onnx_opset_version()
    before, after = model(text), model(text, opset=newest, ir_version=onnx.IR_VERSION)
    assert check(before, after).equal
    changed = model(text.replace("Neg", "Abs"), opset=newest, ir_version=onnx.IR_VERSION)
    assert check(before, changed).status == "different"


def test_departures_of_onnxruntime_are_judged_by_the_reference(check):
    text = "(double[4] x) => (double[4] y) { %s }"
    shrunk = model(text % "y = Shrink <bias = 0.3, lambd = 0.5> (x)")
    written = """s = Sign (x) m = Abs (x) b = Constant <value = double {%s}> () d = Sub (m, b)
        l = Constant <value = double {0.5}> () q = Less (l, m) z = Constant <value = double {0}> ()
        p = Mul (d, s) y = Where (q, p, z)"""
    right, wrong = (model(text % written % b) for b in (float(np.float32(0.3)), 0.31))
    verdict = check(shrunk, right)
    assert verdict.equal and "onnxruntime alone tells the two apart" in str(verdict)
    assert check(shrunk, wrong).status == "different"
    assert check(right, shrunk).status == "different", "the rewrite brings the departure in"


@pytest.mark.sample(2)
@pytest.mark.parametrize("runtime", ["auto", "onnxruntime", "reference", "both"])
def test_an_endless_loop_is_not_verified_after_one_timeout(check, runtime):
    endless = model(
        "(float[N] x) => (float[N] y) { one = Constant <value_int = 1> () go = Cast <to = 9> (one)"
        ' y = Loop ("", go, x) <body = b (int64 i, bool c, float[N] a) => (bool d, float[N] e)'
        " { d = Identity (c) e = Identity (a) }> }"
    )
    verdict = check(endless, endless, timeout=0.5, runtime=runtime)
    assert verdict.status == "not verified"
    assert "timed out: no answer within 0.5 s; allow more with --timeout" in verdict.reason
    assert len(verdict.runtimes) == 1
    assert not verdict.notes


def test_a_timeout_of_the_original_ends_the_samples(check, monkeypatch):
    small, large = {"n": np.int64(2)}, {"n": np.int64(2**62)}
    counting = model(
        "(int64 n) => (int64 y) { zero = Constant <value_int = 0> ()"
        ' y = Loop (n, "", zero) <body = b (int64 i, bool c, int64 a) => (bool d, int64 e)'
        " { d = Identity (c) e = Add (a, i) }> }"
    )
    runs, run = [], Worker.run
    monkeypatch.setattr(Worker, "run", lambda *a, **k: (runs.append(1), run(*a, **k))[1])
    samples = [small, *[large] * 20]
    verdict = check(counting, counting, feeds=samples, timeout=0.5, runtime="reference")
    assert verdict.status == "not verified"  # a given sample must be run
    assert len(runs) < 10


def test_without_onnxruntime_the_reference_is_used(check, monkeypatch):
    monkeypatch.setattr("straightline.verification.runs.verify.has_onnxruntime", lambda: False)
    verdict = check(model(LOOP), model(UNROLLED))
    assert verdict.equal
    assert verdict.runtimes == ("reference",)
    assert "not installed" in verdict.notes[0]


def _faulty(monkeypatch, fault):
    """Let the reference runtime change its outputs by `fault(model name, outputs)`."""
    honest = Worker.run

    def run(self, source, feeds, *, fresh=False):
        outputs = honest(self, source, feeds, fresh=fresh)
        name = source.proto.graph.name
        return fault(name, outputs) if self.runtime == "reference" else outputs

    monkeypatch.setattr(workers.Worker, "run", run)


def test_both_tells_a_disagreement_of_runtimes_from_one_of_models(check, monkeypatch):
    same = model(SCALE % "1, 2, 3")
    assert check(same, same, runtime="both").disagreements == ()
    _faulty(monkeypatch, lambda _, outputs: [outputs[0] + 1])
    verdict = check(same, same, runtime="both")
    assert verdict.equal
    assert [d.name for d in verdict.disagreements] == ["y"]
    assert "the runtimes disagree on the original: y" in str(verdict)


def test_both_tells_that_the_models_differ_in_one_runtime_only(check, monkeypatch):
    before, after = model(SCALE % "1, 2, 3"), model(SCALE % "1, 2, 3")
    after.graph.name = "rewritten"
    _faulty(monkeypatch, lambda name, outputs: [outputs[0] + (name == "rewritten")])
    verdict = check(before, after, runtime="both")
    assert verdict.status == "different"
    assert verdict.reason.startswith("under reference only (equal under onnxruntime)")
    assert verdict.disagreements == ()


def test_both_rests_on_the_one_that_can(check, monkeypatch):
    def refuse(_, outputs):
        raise RuntimeFailure("reference", "unsupported", "no such operator")

    _faulty(monkeypatch, refuse)
    same = model(SCALE % "1, 2, 3")
    verdict = check(same, same, runtime="both")
    assert verdict.equal
    assert verdict.runtimes == ("onnxruntime",)
    assert "reference returned no verdict" in verdict.notes[0]
