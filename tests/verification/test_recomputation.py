import numpy as np
import onnx
import pytest
import straightline as sl
from proofs import model
from straightline.runtimes.workers import Workers
from straightline.verification import recomputation
from straightline.verification.proof import prove
from tables import table

FOLDED = "g (float[2] x) => (float[2] y) <float[2] c = {0.5, 2}> { e = %s (c) y = Add (x, e) }"

HUGE = FOLDED.replace("{0.5, 2}", "{0.5, 1e30}")


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch):
    monkeypatch.setattr(recomputation, "_agreed", set())


@pytest.fixture
def evaluations():
    """Evaluations of a proof for two models that fold operators."""

    def of(text):
        evaluations = []
        answer = prove(*pair(text), recompute=lambda new: evaluations.extend(new) or "")
        assert answer.proved
        return evaluations

    return of


def pair(text):
    """A model, and another one that reads its constants through Identity."""
    one, other = model(text), model(text)
    for tensor in other.graph.initializer:
        for node in other.graph.node:
            node.input[:] = [f"{name}_" if name == tensor.name else name for name in node.input]
        name = tensor.name
        other.graph.node.insert(0, onnx.helper.make_node("Identity", [name], [f"{name}_"]))
    return one, other


def wrong(evaluation, value):
    """Evaluation with another result."""
    return evaluation._replace(results=[sl.ir.Tensor(array=value)])


def test_agreeing_evaluations_are_asked_once(evaluations, monkeypatch):
    folds = evaluations(FOLDED % "Tanh")
    assert [each.head.name for each in folds] == ["Tanh"]
    with Workers() as workers:
        assert recomputation.disagreement([*folds, *folds], workers) == ""
        monkeypatch.setattr(workers, "get", lambda *_: 1 / 0)
        assert recomputation.disagreement(folds, workers) == "", "it is remembered"


def test_a_wrong_constant_is_named(evaluations):
    folds = evaluations(FOLDED % "Tanh")
    text = recomputation.disagreement([wrong(folds[0], np.array([1, 7], np.float32))])
    assert text.startswith("Tanh of float32[2] [0.5, 2.0] is float32[2] [1.0, 7.0] by the ref")
    assert recomputation.disagreement(folds) == "", "what differs is not remembered"


@table(
    (np.array([-0.5, -1e30]), True), (np.array([np.nextafter(np.float32(-0.5), 0), -1e30]), False)
)
def test_an_exact_operator_agrees_to_the_last_bit(value, agrees, evaluations):
    folds = evaluations(HUGE % "Neg")
    assert (recomputation.disagreement([wrong(folds[0], value.astype(np.float32))]) == "") == agrees


def test_the_sign_of_0_counts(evaluations):
    folds = evaluations(FOLDED.replace("{0.5, 2}", "{0, 2}") % "Neg")
    assert recomputation.disagreement(folds) == ""
    zero = np.array([0, -2], np.float32)
    assert "Neg of" in recomputation.disagreement([wrong(folds[0], zero)])


def test_a_last_bit_of_a_rounding_operator_is_no_disagreement(evaluations):
    folds = evaluations(FOLDED % "Tanh")
    near = np.nextafter(folds[0].results[0].numpy(), np.float32(9))
    assert recomputation.disagreement([wrong(folds[0], near)]) == ""


def test_a_wrong_shape_or_type_is_a_disagreement(evaluations):
    folds = evaluations(HUGE % "Neg")
    for value in (np.array([[-0.5, -1e30]], np.float32), np.array([-0.5, -1e30])):
        recomputation._agreed.clear()
        assert recomputation.disagreement([wrong(folds[0], value)]) != ""


def test_one_that_onnxruntime_lacks_leaves_the_others(evaluations):
    bfloat = """g (bfloat16[1] x, float[2] z) => (bfloat16[1] y, float[2] v)
        <bfloat16[1] c = {1}, float[2] d = {1, 2}> {
        e = Erf (c) y = Add (x, e) s = Sin (d) t = Tanh (d) u = Add (s, t) v = Add (z, u) }"""
    folds = evaluations(bfloat)
    assert {"Sin", "Tanh"} <= {each.head.name for each in folds}
    assert recomputation.disagreement(folds) == ""
    others = [wrong(e, e.results[0].numpy() * 2) if e.head.name == "Tanh" else e for e in folds]
    recomputation._agreed.clear()
    assert recomputation.disagreement(others).startswith("Tanh of")


def test_an_operator_with_two_outputs(evaluations):
    text = """g (float[2] x) => (float[2] y) <float[4] c = {4, 1, 3, 2}, int64[1] k = {2}> {
        v, i = TopK (c, k) f = Cast <to = 1> (i) y = Add (x, f) }"""
    assert recomputation.disagreement(evaluations(text)) == ""


def test_a_proof_with_a_disputed_constant_is_open(monkeypatch):
    one, other = pair(FOLDED % "Tanh")
    assert sl.prove(one, other).proved
    recomputation._agreed.clear()
    monkeypatch.setattr(recomputation, "_agree", lambda *_: False)
    proof = sl.prove(one, other, search=False)
    assert proof.status == "open"
    assert proof.reason.startswith("a constant of the proof depends on the runtime: Tanh of ")
    verdict = sl.verify(one, other, prove=True)
    assert not verdict.proved
    assert sl.verify(one, other, prove="only").proved, "the proof of every rewrite starts nothing"


def test_without_onnxruntime_nothing_is_asked(evaluations, monkeypatch):
    folds = evaluations(FOLDED % "Tanh")
    monkeypatch.setattr(recomputation, "has_onnxruntime", lambda: False)
    assert recomputation.disagreement([wrong(folds[0], np.zeros(2, np.float32))]) == ""
