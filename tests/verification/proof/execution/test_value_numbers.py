"""Models of the same nodes: equal without a term; and what only looks the same."""

import pytest
from proofs import model, proof_of
from straightline.verification.proof import prove
from straightline.verification.proof.execution.value_numbers import ValueNumbers

CHAIN = "g (float[N] x, float[N] c) => (float[N] y) { a = Add (x, c) y = Relu (a) }"
RENAMED = "g (float[N] x, float[N] c) => (float[N] y) { q = Add (x, c) y = Relu (q) }"


@pytest.fixture
def answers(monkeypatch):
    """Answers of the numbers of values for each pair of models."""
    answers = []
    original = ValueNumbers.sizes_of_outputs

    def recorded(self, before, after):
        answers.append(original(self, before, after))
        return answers[-1]

    monkeypatch.setattr(ValueNumbers, "sizes_of_outputs", recorded)
    return answers


def test_names_and_opsets_make_no_difference(answers):
    for opset in (17, 21):
        proof = prove(model(CHAIN, 17), model(RENAMED, opset))
        assert proof.proved and proof.outputs == {"y": 4} and not proof.rules
    assert answers == [[4], [4]]


def test_constants_are_equal_however_a_model_holds_them(answers):
    initializer = "g (float[2] x) => (float[2] y, float[2] z) <float[2] c = {1, 2}>"
    node = "g (float[2] x) => (float[2] y, float[2] z) { c = Constant <value_floats = [1.0, %s]> ()"
    rest = "y = Add (x, c) z = Relu (y) }"
    assert proof_of(f"{initializer} {{ {rest}", node % "2.0" + rest).proved
    assert answers == [[3, 1]]
    assert not proof_of(f"{initializer} {{ {rest}", node % "3.0" + rest).proved
    assert answers[1] is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("y = Sub (x, c)", "y = Sub (c, x)"),
        ("y = Softmax <axis = 0> (x)", "y = Softmax <axis = 1> (x)"),
        ("y = Cast <to = 1> (x)", "y = Cast <to = 10> (x)"),
        ("y = RandomNormalLike (x)", "y = RandomNormalLike (x)"),
        ("y = Identity (x)", "y = Identity (x) z = Reshape (x, i)"),
        ("y = local.Own (x)", "y = local.Own (x)"),
        ("y, m = TopK (x, i)", "m, y = TopK (x, i)"),
        ("y = Clip (x, , s)", "y = Clip (x, s)"),
    ],
)
def test_what_differs_has_no_number(answers, one, other):
    text = "g (float[N, M] x, float[N, M] c, int64[1] i, float s) => (y) { %s }"
    assert not proof_of(text % one, text % other).proved or "Random" in one or "Own" in one
    assert answers and not any(answers)


def test_more_nodes_of_the_original_are_no_difference(answers):
    more = "g (float[N, M] x, int64[1] i) => (y) { y = Relu (x) z = Reshape (x, i) }"
    less = "g (float[N, M] x, int64[1] i) => (y) { y = Relu (x) }"
    assert proof_of(more, less).proved
    assert not proof_of(less, more).proved
    assert answers[0] == [2] and answers[1] is None


def test_types_that_an_opset_lacks():
    """Relu takes integers from opset 14 on."""
    text = "g (int32[N] x) => (int32[N] y) { y = Relu (x) }"
    proof = prove(model(text, 18), model(text, 13))
    assert proof.status == "refuted" and "not a valid model" in proof.reason
    proof = prove(model(text, 13), model(text, 13))
    assert proof.status == "open" and "the original is not a valid model" in proof.reason


def test_a_fault_of_the_original_comes_first():
    broken = "g (int32[N] x) => (int32[N] y) { y = Relu (x) }"
    unsupported = "g (int32[N] x) => (int32[N] y) { y = Mish (x) }"
    proof = prove(model(broken, 13), model(unsupported, 13))
    assert proof.status == "open" and "the original is not a valid model" in proof.reason


def test_a_declared_type_that_is_another_one():
    text = "g (float[N] x) => (int64[N] y) { y = Relu (x) }"
    assert not proof_of(text, text).proved
